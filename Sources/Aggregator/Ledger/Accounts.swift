import ExactAmounts

/// A name in the tree of accounts: `Assets:Party:Asha:Wallet`. The books are those of the parties together:
/// positive under Assets is what a party has or is to get; Equity is where it came from.
public struct AccountName: Hashable, Comparable, Sendable {
    public enum Root: String, Sendable { case assets = "Assets", equity = "Equity" }

    public let text: String

    /// - Parameter parts: each 1 … 64 letters, digits and `-`, not beginning with `-`; the first letter
    ///   becomes a capital, so that all three programs that check the export take it.
    /// - Returns: `nil` for anything else.
    public init?(_ root: Root, _ parts: [String]) {
        guard !parts.isEmpty, parts.allSatisfy(Self.isPart) else { return nil }
        let names = parts.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        text = ([root.rawValue] + names).joined(separator: ":")
    }

    /// A name that was written by `text`.
    public init?(_ text: String) {
        var parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard let root = Root(rawValue: parts.removeFirst()) else { return nil }
        self.init(root, parts)
    }

    /// Whether a name may stand in the tree.
    public static func isPart(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "-")
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == UInt8(ascii: "-")
            }
    }

    public static func < (a: AccountName, b: AccountName) -> Bool { a.text < b.text }
}

/// One asset of one account: what has a balance.
public struct AccountKey: Hashable, Comparable, Sendable {
    public let name: AccountName
    public let asset: Asset

    public init(_ name: AccountName, _ asset: Asset) {
        self.name = name
        self.asset = asset
    }

    public static func < (a: AccountKey, b: AccountKey) -> Bool { (a.name, a.asset) < (b.name, b.asset) }
}

/// One leg of a transfer.
public struct Posting: Hashable, Sendable {
    public var account: AccountKey
    public var amount: MinorUnits

    public init(_ account: AccountKey, _ amount: MinorUnits) {
        self.account = account
        self.amount = amount
    }
}

/// What changes balances: its postings sum to zero for each asset.
public struct Transfer: Hashable, Sendable {
    public var at: UTCInstant
    /// What it was for.
    public var text: String
    public var postings: [Posting]

    public init(at: UTCInstant, text: String, postings: [Posting]) {
        self.at = at
        self.text = text
        self.postings = postings
    }
}

/// What may be asked of the ledger.
public enum LedgerCommand: Hashable, Sendable {
    /// - Parameter floor: the least that may be left, holds counted as gone; without one there is no limit.
    case open(AccountKey, floor: MinorUnits?)
    case post(Transfer)
    /// Sets an amount aside without moving it.
    case hold(AccountKey, MinorUnits)
    /// Ends the hold that was made under this key.
    case release(hold: String)
    /// Ends the hold and moves, in one step: what was held is there for it.
    case capture(hold: String, Transfer)
}

/// Why the ledger did not change.
public enum LedgerRefusal: Error, Equatable {
    /// The key was used with another body.
    case keyHasAnotherBody
    case openTwice(AccountKey)
    case unknownAccount(AccountKey)
    case noPostings
    case unbalanced(Asset, by: Int128)
    case belowFloor(AccountKey, available: MinorUnits, floor: MinorUnits)
    case outOfRange(AccountKey)
    case notPositive
    case unknownHold(String)

    /// What is wrong.
    public var text: String {
        switch self {
        case .keyHasAnotherBody: "this key was used with another body"
        case .openTwice(let key): "\(key.name.text) is open for \(key.asset.code) already"
        case .unknownAccount(let key): "there is no account \(key.name.text) for \(key.asset.code)"
        case .noPostings: "a transfer needs at least two postings"
        case .unbalanced(let asset, let difference):
            "the postings in \(asset.code) sum to "
                + "\(FixedText.write(difference, decimals: asset.decimals)), not to 0"
        case .belowFloor(let key, let available, let floor):
            "\(key.name.text) would have \(available.text(key.asset)) \(key.asset.code) left; "
                + "its floor is \(floor.text(key.asset))"
        case .outOfRange(let key): "the balance of \(key.name.text) would not fit 64 bits"
        case .notPositive: "only a positive amount can be held"
        case .unknownHold(let key): "there is no hold \(key)"
        }
    }
}
