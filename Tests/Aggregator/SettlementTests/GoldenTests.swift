import Contracts
import ExactAmounts
import Ledger
import Metering
import Settlement
import Testing

/// The figures that the mission's documents work out by hand.
@Suite struct `Settlement by the mission's figures` {
    @Test func `eight kilowatt hours over trades of five and four: five and three, and a penalty for one`()
        throws
    {
        var village = Village(blocks: 1)
        for party in ["s", "b", "c"] { village.add(party) }
        try village.sell(
            "late", from: "s-meter", to: "c", 4_000, at: 5_000_000, penalty: 2_000_000, over: 0..<1,
            traded: 1_800)
        try village.sell(
            "early", from: "s-meter", to: "b", 5_000, at: 5_000_000, penalty: 2_000_000, over: 0..<1,
            traded: 0)
        village.tell("s-meter", 0, out: 8_000)
        for buyer in ["b-meter", "c-meter"] { village.tell(buyer, 0, in: 5_000) }
        let outcome = try Outcome(try village.facts())
        #expect(outcome.line("b", .delivery)?.quantity == WattHours(5_000))
        #expect(outcome.line("c", .delivery)?.quantity == WattHours(3_000))
        #expect(outcome.line("c", .penalty)?.amount.text(.inr) == "2.00")
        #expect(outcome.line("s", .penalty)?.amount.text(.inr) == "-2.00")
        #expect(outcome.line("b", .penalty) == nil)
        #expect(
            outcome.line("c", .gridImport)?.quantity == WattHours(2_000), "the grid gives what is missing")
        #expect(try outcome.findings().isEmpty)
    }

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

    @Test func `at the month's end the grid account has taken twenty from y and given five to z`() throws {
        var village = Village(blocks: 30)
        for party in ["y", "z"] { village.add(party) }
        for block in Int64(0)..<30 {
            village.tell("y-meter", block, out: block == 3 ? 20_000 : 0)
            village.tell("z-meter", block, in: block == 9 ? 5_000 : 0)
        }
        let outcome = try Outcome(try village.facts())
        #expect(outcome.line("grid", .gridFeedIn)?.quantity == WattHours(20_000))
        #expect(outcome.line("grid", .gridImport)?.quantity == WattHours(-5_000))
        #expect(outcome.line("y", .community) == nil, "they never met in a block")
        #expect(outcome.total("y") == "60.00" && outcome.total("z") == "-40.00")
    }

    @Test func `five produced and three used are two to spare, at the community's price first`() throws {
        var village = Village(blocks: 1)
        for party in ["y", "z"] { village.add(party) }
        village.tell("y-meter", 0, out: 5_000)
        village.tell("z-meter", 0, in: 3_000)
        village.fees = [
            ("wheeling", 100_000), ("platform", 10_000), ("metering", 20_000), ("reserve", 10_000),
        ]
        .map { Fee(name: $0.0, price: Price($0.1)) }
        let outcome = try Outcome(try village.facts())
        #expect(outcome.line("y", .gridFeedIn)?.quantity == WattHours(-2_000))
        #expect(outcome.line("y", .community)?.amount.text(.inr) == "16.50")
        let fees = outcome.bills.flatMap(\.lines).filter { $0.party == "z" && $0.kind == .fee }
        #expect(fees.reduce(ExactMoney.zero) { $0 + $1.exact }.nano == -420_000_000, "0.14 for each of three")
        #expect(try outcome.findings().isEmpty)
    }

    /// 20, 22 and 27 kW less, as hours of kWh; the mission's rows are their sums.
    @Test(
        arguments: [
            ([(45, 20), (38, 15), (52, 25)], Int64(2), "525.00"), ([(45, 25)], 3, "210.00"),
            ([(20, 45)], 3, nil),
        ] as [([(Int64, Int64)], Int64, String?)])
    func `drawing less than the baseline is rewarded, drawing more costs nothing`(
        meters: [(Int64, Int64)], hours: Int64, reward: String?
    ) throws {
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
        let outcome = try Outcome(try village.facts())
        #expect(outcome.line("p", .incentive)?.amount.text(.inr) == reward)
        #expect(try outcome.findings().isEmpty)
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

    @Test func `rupees become satoshi exactly, halves to even`() {
        let rate = ExchangeRate(microPerBitcoin: 8_000_000_000_000, source: "s")
        #expect(rate.satoshi(MinorUnits(43_715), of: .inr)?.text(.btc) == "0.00005464", "5464.375")
        #expect(rate.satoshi(MinorUnits(4), of: .inr) == .zero, "half a satoshi, to even")
        #expect(rate.satoshi(MinorUnits(12), of: .inr) == MinorUnits(2), "one and a half")
        #expect(rate.satoshi(MinorUnits(-800_000_000), of: .inr)?.text(.btc) == "-1.00000000")
        #expect(ExchangeRate(microPerBitcoin: 1, source: "s").satoshi(MinorUnits(.max), of: .inr) == nil)
    }
}
