import BooksSupport
import Contracts
import ExactAmounts
import Metering
import Settlement
import Testing

@Suite struct `Storage and cooperatives` {
    @Test func `a storage takes its buyer's surplus in, is paid for it, and pays for what it let lie`() throws
    {
        var village = Village(blocks: 2)
        village.add("sun", .pv)
        village.add("cell", .battery)
        try village.sell(
            "keep", from: "cell-battery", to: "sun", 8_000, at: 2_000_000, penalty: 1_000_000, over: 0..<2,
            traded: 0, kind: .storage)
        village.tell("sun-pv", 0, out: 5_000)
        village.tell("cell-battery", 0, in: 4_000)
        // In the second block the sun gives 3 of the 4 kWh that were promised, and the battery takes 1.
        village.tell("sun-pv", 1, out: 3_000)
        village.tell("cell-battery", 1, in: 1_000)
        let outcome = try Outcome(try village.facts())
        let paid = try #require(outcome.line("sun", .storage))
        #expect(paid.quantity == WattHours(-5_000) && paid.amount.text(.inr) == "-10.00")
        #expect(outcome.line("cell", .storage)?.amount.text(.inr) == "10.00")
        #expect(outcome.line("cell", .penalty)?.amount.text(.inr) == "-2.00", "3 were offered, 1 taken")
        #expect(outcome.line("sun", .gridFeedIn)?.quantity == WattHours(-3_000), "the rest is fed in")
        #expect(outcome.line("cell", .gridImport) == nil, "it drew nothing of its own")
        #expect(try outcome.findings() == [])
    }

    // swift-format-ignore
    static let cycles: [(drawn: Int64, given: Int64, stored: Int64, why: Comment)] = [
        (3_000,     0, 3_000, "all of it stays"),
        (3_000,     1, 2_999, "one Wh comes back"),
        (3_000, 1_000, 2_000, "a third comes back"),
        (9_000, 6_000, 3_000, "it turns over thrice as much, and what was promised stays"),
        (3_000, 3_000,     0, "it only turns over"),
        (    0, 3_000,     0, "it gives"),
        (3_000, 3_001,     0, "it gives more than it draws"),
    ]

    /// By plain numbers: the sun has 5 kWh, promises 3 to the cell at 2, and feeds the rest in at 3. What the cell
    /// gives back is its own to sell, and what it lacks its own to buy.
    @Test(arguments: cycles.indices)
    func `a storage is paid for what stays in it, not for what it turns over`(index: Int) throws {
        let row = Self.cycles[index]
        var village = Village(blocks: 1)
        village.add("sun", .pv)
        village.add("cell", .battery)
        try village.sell(
            "keep", from: "cell-battery", to: "sun", 3_000, at: 2_000_000, penalty: 1_000_000, over: 0..<1,
            traded: 0, kind: .storage)
        village.tell("sun-pv", 0, out: 5_000)
        village.tell("cell-battery", 0, in: row.drawn, out: row.given)
        let outcome = try Outcome(try village.facts())
        func count(_ party: String, _ kind: EntryKind) -> Int64 {
            outcome.line(party, kind)?.quantity.count ?? 0
        }
        #expect(count("cell", .storage) == row.stored && count("sun", .storage) == -row.stored, row.why)
        #expect(count("cell", .penalty) == 3_000 - row.stored, row.why)
        let sum = 5_000 + row.given - row.drawn
        #expect(count("grid", .gridFeedIn) + count("grid", .gridImport) == sum, row.why)
        let money = outcome.line("cell", .storage)?.exact.nano ?? 0
        #expect(money == Int128(row.stored) * 2_000_000, row.why)
        #expect(try outcome.findings() == [], row.why)
    }

    @Test func `what a storage supplies under another contract did not stay in it`() throws {
        var village = Village(blocks: 1)
        village.add("sun", .pv)
        village.add("cell", .battery)
        village.add("flat", .load)
        try village.sell(
            "keep", from: "cell-battery", to: "sun", 3_000, at: 2_000_000, penalty: 1_000_000, over: 0..<1,
            traded: 0, kind: .storage)
        try village.sell(
            "give", from: "cell-battery", to: "flat", 1_000, at: 6_000_000, over: 0..<1, traded: 1)
        village.tell("sun-pv", 0, out: 3_000)
        village.tell("cell-battery", 0, in: 3_000, out: 1_000)
        village.tell("flat-load", 0, in: 1_000)
        let outcome = try Outcome(try village.facts())
        #expect(outcome.line("flat", .delivery)?.quantity == WattHours(1_000))
        #expect(outcome.line("cell", .storage)?.quantity == WattHours(2_000))
        // The cell drew 3, had 2 of them from the contract and handed 1 on: that one it buys of the sun.
        #expect(outcome.line("cell", .community)?.quantity == WattHours(1_000))
        #expect(outcome.line("sun", .community)?.quantity == WattHours(-1_000))
        #expect(try outcome.findings() == [])
    }

    @Test func `a storage's own charging is its own, and earlier trades come first`() throws {
        var village = Village(blocks: 1)
        for party in ["a", "b"] { village.add(party, .pv) }
        village.add("cell", .battery)
        for (id, buyer, traded) in [("late", "a", Int64(9)), ("early", "b", 1)] {
            try village.sell(
                id, from: "cell-battery", to: buyer, 2_000, at: 1_000_000, over: 0..<1, traded: traded,
                kind: .storage)
        }
        village.tell("a-pv", 0, out: 2_000)
        village.tell("b-pv", 0, out: 1_000)
        village.tell("cell-battery", 0, in: 2_500)
        let outcome = try Outcome(try village.facts())
        #expect(outcome.line("b", .storage)?.quantity == WattHours(-1_000), "no more than it had")
        #expect(outcome.line("a", .storage)?.quantity == WattHours(-1_500))
        #expect(outcome.total("cell") == "2.50")
        #expect(try outcome.findings() == [])
    }

    @Test func `of two storages the earlier trade is served first, whatever they are called`() throws {
        var village = Village(blocks: 1)
        village.add("sun", .pv)
        for (party, traded) in [("acell", Int64(9)), ("zcell", 1)] {
            village.add(party, .battery)
            try village.sell(
                "keep-\(party)", from: "\(party)-battery", to: "sun", 1_000, at: 2_000_000, over: 0..<1,
                traded: traded, kind: .storage)
            village.tell("\(party)-battery", 0, in: 1_000)
        }
        village.tell("sun-pv", 0, out: 1_000)
        let outcome = try Outcome(try village.facts())
        #expect(outcome.line("zcell", .storage)?.quantity == WattHours(1_000))
        #expect(outcome.line("acell", .storage) == nil)
        #expect(try outcome.findings() == [])
    }

    static func cooperative(_ name: String? = "valley") -> Village {
        var village = Village(blocks: 1)
        village.parties.append(Party(id: "grid2", name: "Another grid"))
        village.zones = [
            Zone(id: "z", grid: "grid", operatingParty: "op", cooperative: name),
            Zone(id: "z2", grid: "grid2", operatingParty: "op", cooperative: name),
        ]
        village.add("y")
        village.add("x", zone: "z2")
        village.fees = [Fee(name: "wheeling", price: Price(100_000))]
        village.tell("y-meter", 0, out: 4_000)
        village.tell("x-meter", 0, in: 3_000)
        return village
    }

    @Test func `what a zone has to spare goes to the cooperative's other zones before the grid has it`()
        throws
    {
        let outcome = try Outcome(try Self.cooperative().facts())
        // 5.50 is half way between 3 and 8.
        #expect(outcome.line("y", .cooperative)?.amount.text(.inr) == "16.50")
        #expect(outcome.line("y", .gridFeedIn)?.quantity == WattHours(-1_000))
        #expect(outcome.line("x", .cooperative)?.amount.text(.inr) == "-16.50")
        #expect(outcome.line("x", .fee)?.amount.text(.inr) == "-0.30", "the grid between is paid for")
        #expect(outcome.line("x", .gridImport) == nil)
        #expect(
            outcome.line("grid", .cooperative)?.quantity == WattHours(3_000), "it carries, and earns nothing")
        #expect(outcome.line("grid2", .cooperative)?.quantity == WattHours(-3_000))
        #expect(try outcome.findings() == [])
        let apart = try Outcome(try Self.cooperative(nil).facts())
        #expect(apart.line("y", .cooperative) == nil && apart.total("x") == "-24.00")
    }

    @Test func `one zone waits for the others of its cooperative, and says what is missing`() throws {
        var village = Self.cooperative()
        village.intervals.removeAll { $0.resource == "x-meter" }
        let run = try Outcome(try village.facts()).run
        #expect(run.settled.isEmpty && run.open.map(\.at.zone) == ["z", "z2"])
        #expect(run.open.allSatisfy { $0.missing == ["x-meter"] })
    }

    @Test func `a late correction in one zone is corrected in the others too`() throws {
        var village = Self.cooperative()
        let first = try Outcome(try village.facts())
        village.tell("x-meter", 0, in: 2_000, revision: 1)
        let second = try Outcome(try village.facts(), after: first.settled("r1"))
        #expect(second.run.adjusted.map(\.zone) == ["z", "z2"])
        #expect(second.line("y", .cooperative)?.amount.text(.inr) == "-5.50")
        #expect(second.run.entries.allSatisfy { $0.key.adjusts == "r1" })
        let anew = try Outcome(try village.facts())
        for party in ["x", "y", "grid", "grid2", "op"] {
            let parts = [first, second].flatMap(\.run.entries).filter { $0.key.party == party }
            let whole = anew.run.entries.filter { $0.key.party == party }
            #expect(parts.reduce(ExactMoney.zero) { $0 + $1.value } == whole.reduce(.zero) { $0 + $1.value })
        }
    }

    /// Totals that share no code: sums over plain integers.
    @Test func `random zones of a cooperative share as much as there is, and every block sums to 0`() throws {
        var dice = Dice(seed: 66)
        for round in 0..<max(1, operations(3_000) / 60) {
            var village = Village(blocks: 8)
            village.zones = (0..<dice.roll(2...4)).map {
                Zone(id: "z\($0)", grid: "grid", operatingParty: "op", cooperative: "c")
            }
            for index in 0..<dice.roll(2...9) {
                village.add(
                    "p\(index)", dice.pick([.pv, .meter, .battery]), zone: dice.pick(village.zones).id)
            }
            if dice.roll(0...1) == 1, let cell = village.resources.first(where: { $0.kind == .battery }),
                let buyer = village.resources.first(where: { $0.party != cell.party })
            {
                try village.sell(
                    "k", from: cell.id, to: buyer.party, Int64(dice.roll(1...9_000)), at: 1_500_000,
                    penalty: 300_000, over: 0..<8, traded: 0, kind: .storage)
                village.resources.removeAll {
                    $0.kind == .battery && $0.zone != buyer.zone && $0.id == cell.id
                }
                village.contracts.removeAll { one in
                    !village.resources.contains { $0.id == one.terms.resource }
                }
            }
            for block in Int64(0)..<8 {
                for resource in village.resources {
                    village.tell(
                        resource.id, block, in: Int64(max(0, dice.roll(-2_000...4_000))),
                        out: Int64(max(0, dice.roll(-2_000...4_000))))
                }
            }
            let outcome = try Outcome(try village.facts())
            #expect(try outcome.findings() == [], "seed 66, round \(round)")
            if village.contracts.isEmpty { Self.compare(village, outcome, round) }
        }
    }

    private static func compare(_ village: Village, _ outcome: Outcome, _ round: Int) {
        for block in Int64(0)..<8 {
            let told = village.intervals.filter { $0.start == Village.at(block) }
            let sums = village.zones.map { zone in
                told.filter { one in
                    village.resources.contains { $0.id == one.resource && $0.zone == zone.id }
                }.reduce(Int64(0)) { $0 + $1.exported.count - $1.imported.count }
            }
            let (spare, lack) = (sums.filter { $0 > 0 }.reduce(0, +), -sums.filter { $0 < 0 }.reduce(0, +))
            let entries = outcome.run.entries.filter {
                $0.key.block == Village.at(block) && $0.key.party != "grid"
            }
            func sum(_ kind: EntryKind) -> Int64 {
                entries.filter { $0.key.kind == kind && $0.quantity > .zero }.reduce(0) {
                    $0 + $1.quantity.count
                }
            }
            #expect(sum(.cooperative) == min(spare, lack), "seed 66, round \(round)")
            #expect(sum(.gridImport) == max(0, lack - spare), "seed 66, round \(round)")
        }
    }
}
