import Contracts
import ExactAmounts
import Metering

/// What was measured in a zone and a block, and what follows from it.
public struct SettledBlock: Equatable, Sendable {
    public var at: ZoneBlock
    public var exported: WattHours
    public var imported: WattHours
    /// Came in from the grid; negative went out.
    public var grid: WattHours
    /// What neither resources nor grid account for; 0 where the connection has no meter of its own.
    public var losses: WattHours
    /// What each party made more than it used, the grid's and the losses' sides included: they sum to zero.
    public var positions: [String: WattHours]
    public var entries: [Entry]
}

/// What a block still lacks.
public struct OpenBlock: Equatable, Sendable {
    public var at: ZoneBlock
    /// Resources without their whole energy.
    public var missing: [String]
    /// No tariff applies.
    public var lacksTariff: Bool

    public init(at: ZoneBlock, missing: [String], lacksTariff: Bool) {
        self.at = at
        self.missing = missing
        self.lacksTariff = lacksTariff
    }
}

/// A zone with what belongs to it, looked up once.
struct ZoneFacts {
    let zone: Zone
    let facts: Facts
    let resources: [Resource]
    let connections: [Resource]
    /// For each resource, earlier trades first.
    let contracts: [String: [ContractBlocks]]
    /// Of all resources, in the order of their trades.
    let storages: [ContractBlocks]

    struct ContractBlocks {
        var terms: Contract
        var promised: [UTCInstant: WattHours]
    }

    init(_ zone: Zone, _ facts: Facts) {
        self.zone = zone
        self.facts = facts
        let all = facts.resources.filter { $0.zone == zone.id }.sorted { $0.id < $1.id }
        resources = all.filter { $0.kind != .gridConnection }
        connections = all.filter { $0.kind == .gridConnection }
        let known = Set(resources.map(\.id))
        let ordered = facts.contracts.filter { known.contains($0.terms.resource) }.sorted {
            ($0.terms.tradedAt, $0.terms.id) < ($1.terms.tradedAt, $1.terms.id)
        }
        let blocks = ordered.map { ContractBlocks(terms: $0.terms, promised: $0.promised(facts.length)) }
        contracts = Dictionary(grouping: blocks, by: \.terms.resource)
        storages = blocks.filter { $0.terms.kind == .storage }
    }

    /// The block's settlement, or what it lacks.
    func settle(_ start: UTCInstant) -> Result<SettledBlock, OpenBlockError> {
        begin(start).map { finish($0) }
    }

    /// Meters, contracts and community: what is left in the positions goes to the cooperative or the grid.
    func begin(_ start: UTCInstant) -> Result<BlockWork, OpenBlockError> {
        let at = ZoneBlock(zone: zone.id, start: start)
        var energies: [String: BlockEnergy] = [:]
        var missing: [String] = []
        // Who came later or has gone is not waited for; what it promised it owes all the same.
        for resource in resources + connections where resource.belongs(at: start) {
            if let energy = facts.intervals.energy(of: resource.id, at: start, length: facts.length) {
                energies[resource.id] = energy
            } else {
                missing.append(resource.id)
            }
        }
        guard missing.isEmpty, let tariff = facts.tariffs.tariff(at: start), let band = tariff.band(at: start)
        else {
            let lacksTariff = facts.tariffs.tariff(at: start) == nil
            return .failure(OpenBlockError(OpenBlock(at: at, missing: missing, lacksTariff: lacksTariff)))
        }
        var block = BlockWork(at: at, zone: zone, tariff: tariff, band: band)
        block.meter(resources, connections.filter { $0.belongs(at: start) }, energies)
        for resource in resources {
            block.deliver(contracts[resource.id] ?? [], energies[resource.id]?.exported ?? .zero)
        }
        block.store(storages, energies)
        block.nett()
        return .success(block)
    }

    /// The grid, fees and incentives.
    func finish(_ begun: BlockWork) -> SettledBlock {
        var block = begun
        let start = block.at.start
        block.useGrid()
        block.charge()
        for resource in resources {
            guard let reduced = facts.intervals.reduction(of: resource.id, at: start, length: facts.length)
            else { continue }
            block.reward(resource.party, reduced, facts.incentives.filter { $0.period.contains(start) })
        }
        return block.result
    }
}

/// What `Result` needs to carry an open block.
struct OpenBlockError: Error {
    let block: OpenBlock
    init(_ block: OpenBlock) { self.block = block }
}

extension ContractInForce {
    /// What it promises in each block in which it is in force.
    public func promised(_ length: BlockLength) -> [UTCInstant: WattHours] {
        guard let active, let blocks = terms.promised(length) else { return [:] }
        return Dictionary(uniqueKeysWithValues: blocks.filter { active.contains($0.start) }.map { ($0, $1) })
    }
}

/// One block on its way: meters, contracts, community, cooperative, grid, fees, incentives, in this order.
struct BlockWork {
    let at: ZoneBlock
    let zone: Zone
    let tariff: Tariff
    let band: TariffBand
    var exported = WattHours.zero
    var imported = WattHours.zero
    var grid = WattHours.zero
    var losses = WattHours.zero
    var measured: [String: WattHours] = [:]
    /// What is left after each step; positive is surplus.
    var position: [String: WattHours] = [:]
    /// What each party bought within the community: fees are counted by it.
    var bought: [String: WattHours] = [:]
    var sums: [Entry.Key: WattHours] = [:]

    init(at: ZoneBlock, zone: Zone, tariff: Tariff, band: TariffBand) {
        self.at = at
        self.zone = zone
        self.tariff = tariff
        self.band = band
    }

    mutating func meter(
        _ resources: [Resource], _ connections: [Resource], _ energies: [String: BlockEnergy]
    ) {
        for resource in resources {
            guard let energy = energies[resource.id] else { continue }
            exported += energy.exported
            imported += energy.imported
            position[resource.party, default: .zero] += energy.net
        }
        let net = exported - imported
        if connections.isEmpty {
            grid = -net
        } else {
            grid = connections.reduce(.zero) {
                $0 + ((energies[$1.id]?.imported ?? .zero) - (energies[$1.id]?.exported ?? .zero))
            }
            losses = net + grid
            position[zone.operatingParty, default: .zero] -= losses
        }
        measured = position
        measured[zone.grid, default: .zero] += grid
    }

    /// Serves the resource's contracts in the order of their trades, each up to what it promised.
    mutating func deliver(_ contracts: [ZoneFacts.ContractBlocks], _ exported: WattHours) {
        var left = exported
        for contract in contracts where contract.terms.kind == .supply {
            guard let promised = contract.promised[at.start] else { continue }
            let terms = contract.terms
            let delivered = min(left, promised)
            left -= delivered
            add(.delivery, terms.id, terms.price, to: terms.buyer, from: terms.seller, delivered)
            position[terms.seller, default: .zero] -= delivered
            position[terms.buyer, default: .zero] += delivered
            bought[terms.buyer, default: .zero] += delivered
            // The quantity is on the side of who pays.
            add(.penalty, terms.id, terms.penalty, to: terms.seller, from: terms.buyer, promised - delivered)
        }
    }

    /// Storages take their buyers' surplus in, earlier trades first, whosever they are, as far as it stays:
    /// what one gave back within the block, to whomever, was not stored. What it lets lie of the surplus is
    /// its penalty.
    mutating func store(_ contracts: [ZoneFacts.ContractBlocks], _ energies: [String: BlockEnergy]) {
        var rest = energies.mapValues { max(WattHours.zero, -$0.net) }
        for contract in contracts {
            guard let promised = contract.promised[at.start] else { continue }
            let terms = contract.terms
            let left = rest[terms.resource] ?? .zero
            let offered = min(promised, max(.zero, position[terms.buyer] ?? .zero))
            let stored = min(left, offered)
            rest[terms.resource] = left - stored
            add(.storage, terms.id, Price(-terms.price.micro), to: terms.seller, from: terms.buyer, stored)
            position[terms.seller, default: .zero] += stored
            position[terms.buyer, default: .zero] -= stored
            add(.penalty, terms.id, terms.penalty, to: terms.seller, from: terms.buyer, offered - stored)
        }
    }

    private var reference: String { "\(tariff.id)/\(band.name)" }
    private var communityPrice: Price { tariff.communityPrice(in: band) }

    private func parties(_ isWanted: (WattHours) -> Bool) -> [(key: String, value: WattHours)] {
        position.filter { isWanted($0.value) }.sorted { $0.key < $1.key }
    }

    /// What is to spare in the zone.
    var surplus: Int64 { position.values.reduce(0) { $0 + max(0, $1.count) } }
    /// What is lacking in it.
    var deficit: Int64 { position.values.reduce(0) { $0 + max(0, -$1.count) } }

    /// Surplus pays deficit, each party in proportion.
    mutating func nett() {
        let matched = min(surplus, deficit)
        if matched == 0 { return }
        let (givers, takers) = (parties { $0 > .zero }, parties { $0 < .zero })
        for (party, part) in zip(givers, Rounding.shares(of: matched, by: givers.map(\.value.count))) {
            add(.community, reference, communityPrice, party.key, WattHours(-part))
            position[party.key] = WattHours(party.value.count - part)
        }
        for (party, part) in zip(takers, Rounding.shares(of: matched, by: takers.map { -$0.value.count })) {
            add(.community, reference, communityPrice, party.key, WattHours(part))
            bought[party.key, default: .zero] += WattHours(part)
            position[party.key] = WattHours(party.value.count + part)
        }
    }

    /// Gives so much of what is to spare to the cooperative's other zones, by way of the grid's account.
    mutating func give(_ energy: Int64) {
        let givers = parties { $0 > .zero }
        if energy == 0 || givers.isEmpty { return }
        for (party, part) in zip(givers, Rounding.shares(of: energy, by: givers.map(\.value.count))) {
            add(.cooperative, reference, communityPrice, to: zone.grid, from: party.key, WattHours(part))
            position[party.key] = WattHours(party.value.count - part)
        }
    }

    /// Takes so much of what the cooperative's other zones have to spare.
    mutating func take(_ energy: Int64) {
        let takers = parties { $0 < .zero }
        if energy == 0 || takers.isEmpty { return }
        for (party, part) in zip(takers, Rounding.shares(of: energy, by: takers.map { -$0.value.count })) {
            add(.cooperative, reference, communityPrice, to: party.key, from: zone.grid, WattHours(part))
            bought[party.key, default: .zero] += WattHours(part)
            position[party.key] = WattHours(party.value.count + part)
        }
    }

    /// The grid gives and takes the rest.
    mutating func useGrid() {
        for (party, rest) in parties({ $0 != .zero }) {
            if rest > .zero {
                add(.gridFeedIn, reference, band.feedInPrice, to: zone.grid, from: party, rest)
            } else {
                add(.gridImport, reference, band.importPrice, to: party, from: zone.grid, -rest)
            }
        }
    }

    mutating func charge() {
        for (party, energy) in bought.sorted(by: { $0.key < $1.key }) {
            for fee in tariff.fees {
                add(
                    .fee, "\(tariff.id)/\(fee.name)", fee.price, to: party, from: zone.operatingParty, energy)
            }
        }
    }

    mutating func reward(_ party: String, _ reduced: WattHours, _ incentives: [Incentive]) {
        for incentive in incentives {
            add(.incentive, incentive.name, incentive.price, to: zone.operatingParty, from: party, reduced)
        }
    }

    /// Both sides: `to` gets the quantity and pays.
    private mutating func add(
        _ kind: EntryKind, _ reference: String, _ price: Price, to buyer: String, from seller: String,
        _ quantity: WattHours
    ) {
        if buyer == seller { return }
        add(kind, reference, price, buyer, quantity)
        add(kind, reference, price, seller, -quantity)
    }

    private mutating func add(
        _ kind: EntryKind, _ reference: String, _ price: Price, _ party: String, _ quantity: WattHours
    ) {
        if quantity == .zero { return }
        let key = Entry.Key(
            party: party, zone: at.zone, block: at.start, kind: kind, reference: reference, price: price)
        sums[key, default: .zero] += quantity
    }

    var result: SettledBlock {
        SettledBlock(
            at: at, exported: exported, imported: imported, grid: grid, losses: losses, positions: measured,
            entries: sums.filter { $0.value != .zero }.map { Entry($0.key, $0.value) }.sorted {
                $0.key < $1.key
            })
    }
}
