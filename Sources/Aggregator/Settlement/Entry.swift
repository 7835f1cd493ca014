import ExactAmounts

/// What an entry, and so a bill line, is for.
public enum EntryKind: String, CaseIterable, Sendable {
    case delivery, community
    /// What of a buyer's surplus stayed in a storage at the block's end, under a contract; its price is
    /// negative, for who gives the energy pays.
    case storage
    /// Between zones of one cooperative, over the grid, at the community's price.
    case cooperative
    case gridImport = "grid_import"
    case gridFeedIn = "grid_feed_in"
    case penalty, fee, incentive
    /// An owner's part of a cooperative's revenue; only lines have it.
    case share

    /// Whether energy changes hands with it.
    public var movesEnergy: Bool {
        switch self {
        case .delivery, .community, .storage, .cooperative, .gridImport, .gridFeedIn: true
        case .penalty, .fee, .incentive, .share: false
        }
    }

    /// Whether it is what a contract promised.
    public var isOfContract: Bool {
        switch self {
        case .delivery, .storage: true
        case .community, .cooperative, .gridImport, .gridFeedIn, .penalty, .fee, .incentive, .share: false
        }
    }

    /// For people.
    public var words: String {
        switch self {
        case .delivery: "energy under a contract"
        case .community: "energy within the community"
        case .storage: "energy taken into storage under a contract"
        case .cooperative: "energy of the cooperative's other zones, over the grid"
        case .gridImport: "energy from the grid"
        case .gridFeedIn: "energy fed into the grid"
        case .penalty: "penalty for energy not delivered"
        case .fee: "fee"
        case .incentive: "incentive for drawing less than the baseline"
        case .share: "share of a cooperative's revenue"
        }
    }
}

/// One party's side of what happened in one block. The sides of a block sum to zero, in energy and in money.
public struct Entry: Hashable, Sendable {
    /// What makes two entries add up to one.
    public struct Key: Hashable, Comparable, Sendable {
        public var party: String
        public var zone: String
        public var block: UTCInstant
        public var kind: EntryKind
        /// The contract, or the tariff and its band or fee, or the incentive.
        public var reference: String
        public var price: Price
        /// The run that it corrects; empty where it corrects none.
        public var adjusts: String

        public init(
            party: String, zone: String, block: UTCInstant, kind: EntryKind, reference: String, price: Price,
            adjusts: String = ""
        ) {
            self.party = party
            self.zone = zone
            self.block = block
            self.kind = kind
            self.reference = reference
            self.price = price
            self.adjusts = adjusts
        }

        public static func < (a: Key, b: Key) -> Bool {
            if a.party != b.party { return a.party < b.party }
            if a.kind != b.kind { return a.kind.rawValue < b.kind.rawValue }
            if a.reference != b.reference { return a.reference < b.reference }
            if a.price != b.price { return a.price < b.price }
            if a.adjusts != b.adjusts { return a.adjusts < b.adjusts }
            return (a.block, a.zone) < (b.block, b.zone)
        }
    }

    public var key: Key
    /// Positive: the party got it, and pays. For a penalty, a fee or an incentive: what it is counted by.
    public var quantity: WattHours

    public init(_ key: Key, _ quantity: WattHours) {
        self.key = key
        self.quantity = quantity
    }

    /// Positive: the party gets it.
    public var value: ExactMoney { -(quantity * key.price) }
}

/// A zone in a block.
public struct ZoneBlock: Hashable, Comparable, Sendable {
    public var zone: String
    public var start: UTCInstant

    public init(zone: String, start: UTCInstant) {
        self.zone = zone
        self.start = start
    }

    public static func < (a: ZoneBlock, b: ZoneBlock) -> Bool { (a.start, a.zone) < (b.start, b.zone) }
}

/// How far a block is.
public struct BlockLife: Equatable, Sendable {
    public enum State: String, CaseIterable, Sendable { case open, metered, settled, frozen }
    public enum Event: String, CaseIterable, Sendable { case complete, settle, lateData, freeze }
    public enum Output: Equatable, Sendable { case nothing, post, adjust, refused }

    public private(set) var state: State

    public init(_ state: State = .open) { self.state = state }

    public mutating func handle(_ event: Event) -> Output {
        switch (state, event) {
        case (.open, .complete):
            state = .metered
            return .nothing
        case (.metered, .settle):
            state = .settled
            return .post
        case (.open, .lateData), (.metered, .lateData), (.metered, .complete): return .nothing
        case (.settled, .lateData): return .adjust
        case (.settled, .complete), (.settled, .settle), (.frozen, .freeze): return .nothing
        case (.settled, .freeze):
            state = .frozen
            return .nothing
        case (.open, .settle), (.open, .freeze), (.metered, .freeze), (.frozen, .complete),
            (.frozen, .settle), (.frozen, .lateData):
            return .refused
        }
    }
}
