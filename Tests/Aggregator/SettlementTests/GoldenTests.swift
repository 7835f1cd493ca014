import Contracts
import ExactAmounts
import Ledger
import Metering
import Settlement
import Testing

/// Every figure that the mission's documents work out by hand, a row each; stated here alone.
@Suite struct `The mission's figures` {
    private static func cost(_ energy: Int64, _ price: Int64) -> ExactMoney {
        WattHours(energy) * Price(price)
    }

    private static func rupees(_ exact: ExactMoney) -> String {
        exact.rounded(to: .inr)?.amount.text(.inr) ?? "none"
    }

    private static func quote(_ energy: Int64, late: Int64 = 0) -> String {
        rupees(
            Quote(
                energy: WattHours(energy), price: Price(8_000_000),
                latePenalty: ExactMoney(nano: Int128(late) * 1_000_000_000)
            ).payerSide)
    }

    private static func netto(made: Int64, used: Int64) throws -> String {
        var village = Village(blocks: 1)
        village.add("y")
        village.tell("y-meter", 0, in: used, out: made)
        let book = try village.facts().intervals
        let net = book.netto(of: ["y-meter"], at: Village.start, length: .quarterHour)
        return net?.kilowattHours ?? "none"
    }

    /// What a settlement came to, its invariants looked at first.
    private static func settled(_ village: Village) throws -> Outcome {
        let outcome = try Outcome(try village.facts())
        #expect(try outcome.findings().isEmpty)
        return outcome
    }

    private static func energy(_ outcome: Outcome, _ party: String, _ kind: EntryKind) -> String {
        outcome.line(party, kind)?.quantity.kilowattHours ?? "none"
    }

    private static func money(_ outcome: Outcome, _ party: String, _ kind: EntryKind) -> String {
        outcome.line(party, kind)?.amount.text(.inr) ?? "none"
    }

    private static func month() throws -> Outcome {
        var village = Village(blocks: 30)
        for party in ["y", "z"] { village.add(party) }
        for block in Int64(0)..<30 {
            village.tell("y-meter", block, out: block == 3 ? 20_000 : 0)
            village.tell("z-meter", block, in: block == 9 ? 5_000 : 0)
        }
        return try settled(village)
    }

    /// 8 kWh over trades of 5 at 09:00 and 4 at 09:30, which stand here in the other order.
    private static func trades() throws -> Outcome {
        var village = Village(blocks: 1)
        for party in ["s", "b", "c"] { village.add(party) }
        try village.sell(
            "late", from: "s-meter", to: "c", 4_000, at: 5_000_000, penalty: 2_000_000, over: 0..<1,
            traded: 34_200)
        try village.sell(
            "early", from: "s-meter", to: "b", 5_000, at: 5_000_000, penalty: 2_000_000, over: 0..<1,
            traded: 32_400)
        village.tell("s-meter", 0, out: 8_000)
        for buyer in ["b-meter", "c-meter"] { village.tell(buyer, 0, in: 5_000) }
        return try settled(village)
    }

    /// kW of baseline and of what was drawn, over hours, at 3.50.
    private static func reward(_ meters: [(Int64, Int64)], hours: Int64) throws -> String {
        var village = Village(blocks: hours, length: .hour)
        village.incentives = [
            Incentive(
                name: "cut", period: try Village.period(0..<hours, .hour), price: Price(3_500_000),
                source: "s")
        ]
        village.add("p")
        for index in meters.indices where index > 0 {
            village.resources.append(village.resources[0])
            village.resources[index].id = "m\(index)"
        }
        for block in 0..<hours {
            for (index, meter) in meters.enumerated() {
                let id = village.resources[index].id
                village.tell(id, block, in: meter.0 * 1_000, kind: .baseline)
                village.tell(id, block, in: meter.1 * 1_000)
            }
        }
        return money(try settled(village), "p", .incentive)
    }

    /// 5 kWh made and 3 drawn by a neighbour, with the mission's four fees.
    private static func neighbours() throws -> Outcome {
        var village = Village(blocks: 1)
        for party in ["y", "z"] { village.add(party) }
        village.tell("y-meter", 0, out: 5_000)
        village.tell("z-meter", 0, in: 3_000)
        village.fees = [
            ("wheeling", 100_000), ("platform", 10_000), ("metering", 20_000), ("reserve", 10_000),
        ]
        .map { Fee(name: $0.0, price: Price($0.1)) }
        return try settled(village)
    }

    private static func fees() throws -> String {
        let lines = try neighbours().bills.flatMap(\.lines).filter { $0.party == "z" && $0.kind == .fee }
        let exact = lines.reduce(ExactMoney.zero) { $0 - $1.exact }
        return rupees(ExactMoney(nano: exact.nano / 3))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var wanted: String
        var made: @Sendable () throws -> String

        init(_ name: String, _ wanted: String, _ made: @escaping @Sendable () throws -> String) {
            (self.name, self.wanted, self.made) = (name, wanted, made)
        }

        var testDescription: String { name }
    }

    static let rows = [
        Row("5 kWh produced less 3 consumed is 2 to spare", "2.000") { try netto(made: 5_000, used: 3_000) },
        Row("… which go to the grid", "-2.000") { energy(try neighbours(), "y", .gridFeedIn) },
        Row("… the others at the community's price", "16.50") { money(try neighbours(), "y", .community) },
        Row("month end: 20 kWh of y went to the grid", "20.000") { energy(try month(), "grid", .gridFeedIn) },
        Row("month end: 5 kWh for z came from the grid", "-5.000") {
            energy(try month(), "grid", .gridImport)
        },
        Row("month end: y and z never met in a block", "none") { money(try month(), "y", .community) },
        Row("month end: y gets", "60.00") { try month().total("y") ?? "none" },
        Row("month end: z pays", "-40.00") { try month().total("z") ?? "none" },
        Row("300 kWh stored at 8", "-2400.00") { quote(300_000) },
        Row("300 kWh stored at 8, a penalty of 2,000 for being late", "-400.00") {
            quote(300_000, late: 2_000)
        },
        Row("reduced to 200 kWh", "-1600.00") { quote(200_000) },
        Row("18.5 kWh at 12.5 and 14.2 at 14.5", "437.15") {
            rupees(cost(18_500, 12_500_000) + cost(14_200, 14_500_000))
        },
        Row("18.5 kWh at 12 and 14.2 at 14", "420.80") {
            rupees(cost(18_500, 12_000_000) + cost(14_200, 14_000_000))
        },
        Row("8 kWh over trades of 5 and 4: the first", "5.000") { energy(try trades(), "b", .delivery) },
        Row("8 kWh over trades of 5 and 4: the second", "3.000") { energy(try trades(), "c", .delivery) },
        Row("… its buyer gets a penalty for one", "2.00") { money(try trades(), "c", .penalty) },
        Row("… which the seller pays", "-2.00") { money(try trades(), "s", .penalty) },
        Row("… and the first buyer gets none", "none") { money(try trades(), "b", .penalty) },
        Row("… the grid gives what is missing", "2.000") { energy(try trades(), "c", .gridImport) },
        Row("45 → 20, 38 → 15, 52 → 25 kW for 2 h at 3.50", "525.00") {
            try reward([(45, 20), (38, 15), (52, 25)], hours: 2)
        },
        Row("20 kW less for 3 h at 3.50", "210.00") { try reward([(45, 25)], hours: 3) },
        Row("a meter that rose is no reward", "none") { try reward([(20, 45)], hours: 3) },
        Row("fees of 0.10, 0.01, 0.02 and 0.01 for each kWh", "0.14") { try fees() },
    ]

    @Test(arguments: rows) func `to the paisa and the Wh`(row: Row) throws {
        #expect(try row.made() == row.wanted)
    }

    // MARK: What no figure of theirs says

    @Test func `what is delivered above the contracts goes to the tariff`() throws {
        var village = Village(blocks: 1)
        for party in ["s", "b"] { village.add(party) }
        try village.sell("c", from: "s-meter", to: "b", 5_000, at: 5_000_000, over: 0..<1, traded: 0)
        village.tell("s-meter", 0, out: 8_000)
        village.tell("b-meter", 0, in: 5_000)
        let outcome = try Outcome(try village.facts())
        #expect(outcome.line("s", .delivery)?.amount.text(.inr) == "25.00", "capped at what was sold")
        #expect(outcome.line("s", .gridFeedIn)?.amount.text(.inr) == "9.00")
        #expect(outcome.total("b") == "-25.00" && outcome.total("grid") == "-9.00")
    }

    @Test func `a cooperative's revenue is shared to the last paisa`() throws {
        var village = Village(blocks: 1)
        village.add("coop", .pv, owners: ["a", "b", "c"].map { Party.Owner(party: $0, share: 1) })
        for party in ["a", "b", "c"] { village.parties.append(Party(id: party, name: party)) }
        village.tell("coop-pv", 0, out: 333)
        let outcome = try Outcome(try village.facts())
        #expect(outcome.line("coop", .gridFeedIn)?.amount.text(.inr) == "1.00", "0.999 exactly")
        #expect(["a", "b", "c"].map(outcome.total) == ["0.34", "0.33", "0.33"])
        #expect(outcome.total("coop") == "0.00")
        let ledger = try outcome.run.ledger(outcome.facts, outcome.bills, asset: .inr)
        let rounding = try #require(BookAccounts.equity("Rounding"))
        #expect(ledger.balance(AccountKey(rounding, .inr)) == .zero || ledger.check().isEmpty)
    }

    @Test func `what a cooperative lost stays with it`() throws {
        var village = Village(blocks: 1)
        village.add("coop", .meter, owners: ["a", "b"].map { Party.Owner(party: $0, share: 1) })
        village.parties += ["a", "b"].map { Party(id: $0, name: $0) }
        village.tell("coop-meter", 0, in: 1_000)
        let outcome = try Outcome(try village.facts())
        #expect(outcome.total("coop") == "-8.00" && outcome.line("coop", .share) == nil)
        #expect(outcome.total("a") == nil && outcome.total("b") == nil)
        #expect(try outcome.findings() == [])
    }

    @Test func `rupees become satoshi exactly, halves to even`() {
        let rate = ExchangeRate(microPerBitcoin: 8_000_000_000_000, source: "s")
        #expect(rate.satoshi(MinorUnits(43_715), of: .inr)?.text(.btc) == "0.00005464", "5464.375")
        #expect(rate.satoshi(MinorUnits(4), of: .inr) == .zero, "half a satoshi, to even")
        #expect(rate.satoshi(MinorUnits(12), of: .inr) == MinorUnits(2), "one and a half")
        #expect(rate.satoshi(MinorUnits(-800_000_000), of: .inr)?.text(.btc) == "-1.00000000")
        #expect(ExchangeRate(microPerBitcoin: 1, source: "s").satoshi(MinorUnits(.max), of: .inr) == nil)
        #expect(rate.satoshi(ExactMoney(nano: .max / 100_000 + 1)) == nil, "beyond 128 bits on the way")
    }

    @Test func `a bill is worked out in satoshi line by line, by the rate at its end`() throws {
        var village = Village(blocks: 1)
        village.add("s", .meter)
        village.add("b", .load)
        try village.sell("c", from: "s-meter", to: "b", 8_000, at: 12_500_000, over: 0..<1, traded: 0)
        village.tell("s-meter", 0, out: 18_500)
        village.tell("b-load", 0, in: 14_200)
        let outcome = try Outcome(try village.facts())
        func rate(_ rupees: Int64, _ blocks: Range<Int64>) throws -> ExchangeRate {
            ExchangeRate(
                microPerBitcoin: rupees * 1_000_000, source: "s", effective: try Village.period(blocks))
        }
        // A satoshi is 0.085 INR at 8,500,000 and 0.09 at 9,000,000.
        let table = RateTable([try rate(9_000_000, -4..<0), try rate(8_500_000, 0..<1), try rate(1, 1..<4)])
        #expect(table.rate(at: Village.at(-5)) == nil && table.rate(at: Village.at(4)) == nil)
        let found = try #require(table.rate(of: outcome.facts.period))
        #expect(found.microPerBitcoin == 8_500_000_000_000, "the end is not part of the period")
        for bill in outcome.bills {
            let satoshi = try #require(BitcoinBill(bill, found, asset: .inr))
            // 100 INR are 1176.47 satoshi; 6.2 kWh at 5.5 are 34.1 INR, 401.18; 4.3 at 3 are 12.9, 151.76.
            let wanted: [String: [Int64]] = [
                "s": [401, 1_176, 152], "b": [-401, -1_176], "grid": [-152],
            ]
            #expect(satoshi.lines.map(\.count).sorted() == wanted[bill.party]?.sorted(), "\(bill)")
            #expect(satoshi.total.count == wanted[bill.party]?.reduce(0, +))
        }
    }

    @Test func `what owners own of owners is passed on, whatever the names`() throws {
        for (top, middle) in [("aaa", "zzz"), ("zzz", "aaa")] {
            var village = Village(blocks: 1)
            village.add(
                top, .pv, owners: [Party.Owner(party: middle, share: 1), Party.Owner(party: "p", share: 1)])
            village.parties += [
                Party(
                    id: middle, name: middle,
                    owners: [Party.Owner(party: "p", share: 2), Party.Owner(party: "q", share: 1)]),
                Party(id: "p", name: "p"), Party(id: "q", name: "q"),
            ]
            village.tell("\(top)-pv", 0, out: 4_000)
            let outcome = try Outcome(try village.facts())
            #expect(outcome.total(top) == "0.00" && outcome.total(middle) == "0.00")
            #expect(outcome.total("p") == "10.00" && outcome.total("q") == "2.00", "6 + 2/3 of 6")
            let rate = ExchangeRate(microPerBitcoin: 7_000_000_000_000, source: "s")
            let bill = try #require(outcome.bills.first { $0.party == middle })
            #expect(BitcoinBill(bill, rate, asset: .inr)?.total == .zero, "nothing is left of it in satoshi")
        }
        let ring = ["a": "b", "b": "c", "c": "a"].map { one, owner in
            Party(id: one, name: one, owners: [Party.Owner(party: owner, share: 1)])
        }
        #expect(Facts.ring(ring) == "a" && Facts.ring(Array(ring.dropFirst())) == nil)
    }
}
