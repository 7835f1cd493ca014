import Contracts
import ExactAmounts
import Metering
import Settlement

/// A small zone to settle: built up line by line, in blocks counted from its first.
struct Village {
    static let start = UTCInstant(seconds: 1_793_491_200)

    var blocks: Int64 = 4
    var length = BlockLength.quarterHour
    var parties = [Party(id: "grid", name: "Grid"), Party(id: "op", name: "Operator")]
    var zones = [Zone(id: "z", grid: "grid", operatingParty: "op")]
    var resources: [Resource] = []
    var contracts: [ContractInForce] = []
    var intervals: [Interval] = []
    var importPrice = Price(8_000_000)
    var feedIn = Price(3_000_000)
    var community = CommunityPrice.midpoint
    var fees: [Fee] = []
    var incentives: [Incentive] = []

    mutating func add(
        _ party: String, _ kind: Resource.Kind = .meter, owners: [Party.Owner] = [], wallet: Int64 = 0,
        zone: String = "z"
    ) {
        if !parties.contains(where: { $0.id == party }) {
            parties.append(Party(id: party, name: party, wallet: MinorUnits(wallet), owners: owners))
        }
        resources.append(
            Resource(
                id: "\(party)-\(kind.rawValue)", party: party, zone: zone, kind: kind,
                exportMax: WholeWatts(400_000)))
    }

    static func at(_ block: Int64, _ length: BlockLength = .quarterHour) -> UTCInstant {
        start + block * length.seconds
    }

    mutating func tell(
        _ resource: String, _ block: Int64, in imported: Int64 = 0, out exported: Int64 = 0,
        revision: Int = 0,
        kind: IntervalKind = .actual
    ) {
        intervals.append(
            Interval(
                resource: resource, kind: kind, start: Self.at(block, length), length: length,
                imported: WattHours(imported), exported: WattHours(exported), revision: revision,
                quality: .measured, mode: .production, record: "z:\(intervals.count)"))
    }

    /// A contract over the blocks, in force for all of them.
    mutating func sell(
        _ id: String, from resource: String, to buyer: String, _ energy: Int64, at price: Int64,
        penalty: Int64 = 0, over blocks: Range<Int64>, traded: Int64, payment: Contract.Payment = .postpaid,
        kind: Contract.Kind = .supply
    ) throws {
        let seller = resources.first { $0.id == resource }?.party ?? ""
        let from = Self.at(blocks.lowerBound, length)
        let window = Period(from: from, until: Self.at(blocks.upperBound, length))
        guard let window else { return }
        let terms = Contract(
            id: id, kind: kind, seller: seller, buyer: buyer, resource: resource, window: window,
            energy: WattHours(energy), price: Price(price), penalty: Price(penalty), payment: payment,
            tradedAt: Self.start + traded)
        contracts.append(ContractInForce(terms: terms, active: window))
    }

    func facts(_ told: [Interval]? = nil) throws -> Facts {
        var book = IntervalBook()
        for interval in told ?? intervals { try book.accept(interval) }
        let tariff = Tariff(
            id: "t", regulation: "r", source: "s", mark: .illustrative,
            effective: try Self.period(-1_000..<100_000), offsetMinutes: 330,
            bands: [
                TariffBand(name: "all", minutes: 0..<1_440, importPrice: importPrice, feedInPrice: feedIn)
            ],
            community: community, fees: fees)
        return Facts(
            period: try Self.period(0..<blocks, length), length: length, parties: parties,
            zones: zones, resources: resources, contracts: contracts, tariffs: try TariffBook([tariff]),
            incentives: incentives, intervals: book)
    }

    struct NoPeriod: Error {}

    static func period(_ blocks: Range<Int64>, _ length: BlockLength = .quarterHour) throws -> Period {
        let period = Period(from: at(blocks.lowerBound, length), until: at(blocks.upperBound, length))
        guard let period else { throw NoPeriod() }
        return period
    }
}

/// A run with all that follows from it.
struct Outcome {
    let facts: Facts
    let run: SettlementRun
    let bills: [Bill]

    init(_ facts: Facts, after earlier: Settled = Settled()) throws {
        self.facts = facts
        run = Settlement.run(facts, after: earlier)
        bills = try run.bills(facts, asset: .inr)
    }

    func total(_ party: String) -> String? { bills.first { $0.party == party }?.total.text(.inr) }

    func line(_ party: String, _ kind: EntryKind, _ reference: String? = nil) -> BillLine? {
        bills.first { $0.party == party }?.lines.first {
            $0.kind == kind && (reference == nil || $0.reference == reference)
        }
    }

    /// What no invariant of the run holds against it.
    func findings(after earlier: Settled = Settled()) throws -> [String] {
        let ledger = try run.ledger(facts, bills, asset: .inr, after: earlier)
        return run.check(facts, bills, ledger, asset: .inr).flatMap(\.findings)
    }

    /// As the next run finds it.
    func settled(_ name: String, after earlier: Settled = Settled()) -> Settled {
        var settled = earlier
        for entry in run.entries {
            var key = entry.key
            key.adjusts = ""
            settled.quantity[key, default: .zero] += entry.quantity
        }
        for block in run.settled {
            settled.run[block.at] = name
            settled.positions[block.at] = block.positions
        }
        settled.certificates = run.certificates
        return settled
    }
}
