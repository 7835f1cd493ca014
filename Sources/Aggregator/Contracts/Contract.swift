import ExactAmounts

/// Energy that one party promises to another out of a resource, over a window, at a price.
public struct Contract: Equatable, Sendable {
    public enum Kind: String, CaseIterable, Sendable { case supply, storage }
    public enum Payment: String, CaseIterable, Sendable { case prepaid, postpaid }

    public var id: String
    public var kind: Kind
    public var seller: String
    public var buyer: String
    /// Whose export counts as delivery of a supply, and whose import as that of a storage. What a storage
    /// gives back later is a supply of its own, between the same parties.
    public var resource: String
    public var window: Period
    /// Over the whole window; greater than 0.
    public var energy: WattHours
    public var price: Price
    /// For each kWh that was promised and not delivered; paid by the seller.
    public var penalty: Price
    public var payment: Payment
    /// Earlier trades are served first.
    public var tradedAt: UTCInstant

    public init(
        id: String, kind: Kind, seller: String, buyer: String, resource: String, window: Period,
        energy: WattHours, price: Price, penalty: Price, payment: Payment, tradedAt: UTCInstant
    ) {
        self.id = id
        self.kind = kind
        self.seller = seller
        self.buyer = buyer
        self.resource = resource
        self.window = window
        self.energy = energy
        self.price = price
        self.penalty = penalty
        self.payment = payment
        self.tradedAt = tradedAt
    }

    /// What is promised in each block: the energy spread evenly, to the last Wh.
    ///
    /// - Returns: `nil` unless the window begins and ends with blocks.
    public func promised(_ length: BlockLength) -> [(start: UTCInstant, energy: WattHours)]? {
        guard let starts = length.starts(in: window) else { return nil }
        let parts = Rounding.shares(of: energy.count, by: starts.map { _ in 1 })
        return zip(starts, parts).map { ($0, WattHours($1)) }
    }
}

/// What a contract costs, seen from who pays: negative is to be paid.
public struct Quote: Equatable, Sendable {
    public var energy: WattHours
    public var price: Price
    /// What the seller owes the payer for being late, exactly.
    public var latePenalty: ExactMoney

    public init(energy: WattHours, price: Price, latePenalty: ExactMoney = .zero) {
        self.energy = energy
        self.price = price
        self.latePenalty = latePenalty
    }

    public var payerSide: ExactMoney { latePenalty - energy * price }
    public var sellerSide: ExactMoney { -payerSide }
}

/// What is promised of each resource in each block: never more than it has.
public struct ReservationBook: Sendable {
    public struct Slot: Hashable, Sendable {
        public var resource: String
        public var start: UTCInstant

        public init(resource: String, start: UTCInstant) {
            self.resource = resource
            self.start = start
        }
    }

    /// The first block that has not enough left.
    public struct Refusal: Error, Equatable {
        public var start: UTCInstant
        public var wanted: WattHours
        public var left: WattHours
    }

    public private(set) var reserved: [Slot: WattHours] = [:]
    private var held: [String: [(slot: Slot, energy: WattHours)]] = [:]

    public init() {}

    /// Reserves all blocks or none. A contract that has reserved already must release first.
    ///
    /// - Parameter capacity: what the resource can give in a block.
    public mutating func reserve(
        _ contract: String, resource: String, blocks: [(start: UTCInstant, energy: WattHours)],
        capacity: WattHours
    ) throws(Refusal) {
        precondition(held[contract] == nil)
        let wanted = blocks.map { (slot: Slot(resource: resource, start: $0.start), energy: $0.energy) }
        for block in wanted {
            let left = capacity - reserved[block.slot, default: .zero]
            if block.energy > left {
                throw Refusal(start: block.slot.start, wanted: block.energy, left: left)
            }
        }
        for block in wanted { reserved[block.slot, default: .zero] += block.energy }
        held[contract] = wanted
    }

    /// Gives back what the contract reserved from `time` on; earlier blocks stay.
    public mutating func release(_ contract: String, from time: UTCInstant = UTCInstant(seconds: .min)) {
        guard let blocks = held.removeValue(forKey: contract) else { return }
        for block in blocks where block.slot.start >= time {
            reserved[block.slot, default: .zero] -= block.energy
        }
        let kept = blocks.filter { $0.slot.start < time }
        if !kept.isEmpty { held[contract] = kept }
    }
}
