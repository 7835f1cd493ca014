import ExactAmounts

/// Double entry in whole smallest units. Every command has a key: the same again changes nothing.
public struct Ledger: Sendable {
    public enum Outcome: Equatable, Sendable { case applied, alreadyApplied }

    struct State: Sendable {
        var balance = MinorUnits.zero
        var held = MinorUnits.zero
        var floor: MinorUnits?
    }

    struct Entry: Sendable {
        var key: String
        var transfer: Transfer
    }

    private(set) var accounts: [AccountKey: State] = [:]
    /// In the order they were posted.
    private(set) var entries: [Entry] = []
    private var commands: [String: LedgerCommand] = [:]
    private var holds: [String: (account: AccountKey, amount: MinorUnits)] = [:]

    public init() {}

    /// How an account stands in a store.
    public struct Standing: Equatable, Sendable {
        public var balance: MinorUnits
        public var held: MinorUnits
        public var floor: MinorUnits?

        public init(balance: MinorUnits, held: MinorUnits, floor: MinorUnits?) {
            self.balance = balance
            self.held = held
            self.floor = floor
        }
    }

    /// A part of a store's books: the accounts that a command names, as they stand there, and the holds that
    /// it names. What was posted and which keys were used is the store's to know.
    public init(
        part: [AccountKey: Standing], holds: [String: (account: AccountKey, amount: MinorUnits)] = [:]
    ) {
        accounts = part.mapValues { State(balance: $0.balance, held: $0.held, floor: $0.floor) }
        self.holds = holds
    }

    /// How an account stands; `nil` for one that is not open.
    public func standing(_ account: AccountKey) -> Standing? {
        accounts[account].map { Standing(balance: $0.balance, held: $0.held, floor: $0.floor) }
    }

    /// All that was posted, in its order, with the keys.
    public var posted: [(key: String, transfer: Transfer)] { entries.map { ($0.key, $0.transfer) } }

    /// The balance; `nil` for an account that is not open.
    public func balance(_ account: AccountKey) -> MinorUnits? { accounts[account]?.balance }

    /// The balance less what is held.
    public func available(_ account: AccountKey) -> MinorUnits? {
        accounts[account].flatMap { $0.balance.adding(-$0.held) }
    }

    public func isOpen(_ account: AccountKey) -> Bool { accounts[account] != nil }

    /// How many transfers were posted.
    public var transferCount: Int { entries.count }

    /// Carries out one command whole, or refuses it and leaves everything as it was.
    @discardableResult
    public mutating func apply(_ command: LedgerCommand, key: String) throws(LedgerRefusal) -> Outcome {
        if let known = commands[key] {
            if known != command { throw .keyHasAnotherBody }
            return .alreadyApplied
        }
        switch command {
        case .open(let account, let floor): try open(account, floor)
        case .post(let transfer): try post(transfer, key: key, freeing: nil)
        case .hold(let account, let amount): try hold(account, amount, key: key)
        case .release(let hold): try release(hold)
        case .capture(let hold, let transfer):
            guard let held = holds[hold] else { throw .unknownHold(hold) }
            try post(transfer, key: key, freeing: held)
            holds[hold] = nil
        }
        commands[key] = command
        return .applied
    }

    private mutating func open(_ account: AccountKey, _ floor: MinorUnits?) throws(LedgerRefusal) {
        if isOpen(account) { throw .openTwice(account) }
        if let floor, floor > .zero { throw .belowFloor(account, available: .zero, floor: floor) }
        accounts[account] = State(floor: floor)
    }

    private mutating func hold(
        _ account: AccountKey, _ amount: MinorUnits, key: String
    ) throws(LedgerRefusal) {
        guard var state = accounts[account] else { throw .unknownAccount(account) }
        if amount <= .zero { throw .notPositive }
        guard let held = state.held.adding(amount) else { throw .outOfRange(account) }
        state.held = held
        try Self.check(state, account)
        accounts[account] = state
        holds[key] = (account, amount)
    }

    private mutating func release(_ hold: String) throws(LedgerRefusal) {
        guard let (account, amount) = holds.removeValue(forKey: hold) else { throw .unknownHold(hold) }
        free(amount, in: account, of: &accounts)
    }

    private func free(
        _ amount: MinorUnits, in account: AccountKey, of accounts: inout [AccountKey: State]
    ) {
        guard let held = accounts[account]?.held.adding(-amount) else { return }
        accounts[account]?.held = held
    }

    private mutating func post(
        _ transfer: Transfer, key: String, freeing held: (account: AccountKey, amount: MinorUnits)?
    ) throws(LedgerRefusal) {
        if transfer.postings.count < 2 { throw .noPostings }
        var sums: [Asset: Int128] = [:]
        for posting in transfer.postings {
            sums[posting.account.asset, default: 0] += Int128(posting.amount.count)
        }
        for (asset, sum) in sums.sorted(by: { $0.key < $1.key }) where sum != 0 {
            throw .unbalanced(asset, by: sum)
        }
        var changed: [AccountKey: State] = [:]
        if let held { changed[held.account] = accounts[held.account] }
        if let held { free(held.amount, in: held.account, of: &changed) }
        for posting in transfer.postings {
            guard var state = changed[posting.account] ?? accounts[posting.account] else {
                throw .unknownAccount(posting.account)
            }
            guard let balance = state.balance.adding(posting.amount) else {
                throw .outOfRange(posting.account)
            }
            state.balance = balance
            changed[posting.account] = state
        }
        for account in changed.keys.sorted() {
            if let state = changed[account] { try Self.check(state, account) }
        }
        accounts.merge(changed) { $1 }
        entries.append(Entry(key: key, transfer: transfer))
    }

    private static func check(_ state: State, _ account: AccountKey) throws(LedgerRefusal) {
        guard let floor = state.floor else { return }
        guard let available = state.balance.adding(-state.held) else { throw .outOfRange(account) }
        if available < floor { throw .belowFloor(account, available: available, floor: floor) }
    }

    /// Every account with its balance, in the order of names.
    public var trialBalance: [(account: AccountKey, balance: MinorUnits)] {
        accounts.sorted { $0.key < $1.key }.map { ($0.key, $0.value.balance) }
    }

    /// What does not hold, added up anew from the postings themselves: B1 and B2; empty where all does.
    public func check() -> [String] {
        var findings: [String] = []
        var totals: [AccountKey: Int128] = [:]
        for entry in entries {
            var sums: [Asset: Int128] = [:]
            for posting in entry.transfer.postings {
                sums[posting.account.asset, default: 0] += Int128(posting.amount.count)
                totals[posting.account, default: 0] += Int128(posting.amount.count)
            }
            if sums.values.contains(where: { $0 != 0 }) {
                findings.append("B1: \(entry.key) does not sum to 0")
            }
        }
        for (account, state) in accounts.sorted(by: { $0.key < $1.key }) {
            if totals[account, default: 0] != Int128(state.balance.count) {
                findings.append("B1: \(account.name.text) is not the sum of its postings")
            }
            if let floor = state.floor, Int128(state.balance.count) - Int128(state.held.count) < floor.count {
                findings.append("B2: \(account.name.text) is below its floor")
            }
        }
        return findings
    }
}
