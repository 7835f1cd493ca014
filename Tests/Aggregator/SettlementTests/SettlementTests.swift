import BooksSupport
import Contracts
import ExactAmounts
import Ledger
import Metering
import Settlement
import Testing

@Suite struct `A settlement` {
    /// Random meters, contracts and prices; now and then an interval is missing.
    static func random(_ dice: inout Dice, blocks: Int64) throws -> Village {
        var village = Village(blocks: blocks)
        village.importPrice = Price(Int64(dice.roll(0...9_999_999)))
        village.feedIn = Price(Int64(dice.roll(0...4_000_000)))
        village.fees = (0..<dice.roll(0...2)).map {
            Fee(name: "f\($0)", price: Price(Int64(dice.roll(0...99_999))))
        }
        let names = (0..<dice.roll(2...6)).map { "p\($0)" }
        for name in names { village.add(name, dice.pick([.pv, .meter, .battery])) }
        if dice.roll(0...2) == 0 { village.add("op", .meter) }
        let hasFeeder = dice.roll(0...1) == 0
        if hasFeeder { village.add("grid", .gridConnection) }
        for index in 0..<dice.roll(0...3) {
            let resource = dice.pick(village.resources.filter { names.contains($0.party) })
            let first = Int64(dice.roll(0...Int(blocks) - 1))
            let last = first + Int64(dice.roll(1...Int(blocks - first)))
            try village.sell(
                "c\(index)", from: resource.id, to: dice.pick(names.filter { $0 != resource.party }),
                Int64(dice.roll(1...3_000)) * (last - first), at: Int64(dice.roll(0...9_000_000)),
                penalty: Int64(dice.roll(0...2_000_000)), over: first..<last, traded: Int64(dice.roll(0...2)))
        }
        for block in 0..<blocks {
            for resource in village.resources where dice.roll(0...99) > 0 {
                village.tell(
                    resource.id, block, in: Int64(max(0, dice.roll(-2_000...4_000))),
                    out: Int64(max(0, dice.roll(-2_000...4_000))))
            }
        }
        return village
    }

    /// B1 … B5 and B7, and every party's money against a second count that shares no code.
    @Test func `agrees with a shadow, and the same in any order is the same`() throws {
        var dice = Dice(seed: 61)
        for round in 0..<max(1, operations(6_000) / 60) {
            let village = try Self.random(&dice, blocks: 12)
            let facts = try village.facts()
            let outcome = try Outcome(facts)
            #expect(try outcome.findings() == [], "seed 61, round \(round)")
            let shadow = Shadow(village).money
            for party in village.parties {
                let exact = outcome.run.entries.filter { $0.key.party == party.id }.reduce(Int128(0)) {
                    $0 + $1.value.nano
                }
                #expect(exact == shadow[party.id, default: 0], "seed 61, round \(round), \(party.id)")
            }
            var mixed = village
            mixed.resources = dice.shuffled(village.resources)
            mixed.contracts = dice.shuffled(village.contracts)
            mixed.parties = dice.shuffled(village.parties)
            let again = try Outcome(try mixed.facts(dice.shuffled(village.intervals + village.intervals)))
            #expect(again.bills == outcome.bills && again.run.entries == outcome.run.entries)
            #expect(
                again.run.open == outcome.run.open
                    && again.run.settled.map(\.at) == outcome.run.settled.map(\.at))
        }
    }

    static func pair() -> Village {
        var village = Village(blocks: 3)
        for party in ["y", "z"] { village.add(party) }
        for block in Int64(0)..<3 {
            village.tell("y-meter", block, out: 2_000)
            village.tell("z-meter", block, in: 1_000)
        }
        return village
    }

    @Test func `leaves a block open that lacks a meter, and says which`() throws {
        var village = Self.pair()
        village.intervals.removeAll { $0.resource == "z-meter" && $0.start == Village.at(1) }
        let outcome = try Outcome(try village.facts())
        let block = ZoneBlock(zone: "z", start: Village.at(1))
        #expect(outcome.run.open == [OpenBlock(at: block, missing: ["z-meter"], lacksTariff: false)])
        #expect(outcome.run.settled.count == 2 && outcome.run.metered["y"] == WattHours(4_000))
    }

    @Test func `waits for who belongs to the zone, from their first block to their last`() throws {
        var village = Self.pair()
        village.add("new")
        village.resources[2].from = Village.at(1)
        village.resources[2].until = Village.at(2)
        let open = try Outcome(try village.facts()).run.open
        #expect(open.map(\.at.start) == [Village.at(1)] && open.map(\.missing) == [["new-meter"]])
        for block in Int64(0)..<3 { village.tell("new-meter", block, in: 500) }
        let outcome = try Outcome(try village.facts())
        #expect(outcome.run.settled.count == 3 && outcome.run.metered["new"] == WattHours(-500))
        #expect(try outcome.findings() == [])
    }

    @Test func `corrects what came late by an adjustment that names its run`() throws {
        var village = Self.pair()
        village.add("sun", .pv)
        for block in Int64(0)..<3 { village.tell("sun-pv", block, out: 500) }
        let first = try Outcome(try village.facts())
        let settled = first.settled("run-1")
        let same = try Outcome(try village.facts(), after: settled)
        #expect(same.run.entries.isEmpty && same.run.settled.isEmpty && same.bills.isEmpty, "nothing twice")

        village.tell("z-meter", 1, in: 1_500, revision: 1)
        village.tell("sun-pv", 2, out: 100, revision: 1)
        let second = try Outcome(try village.facts(), after: settled)
        #expect(second.run.adjusted.map(\.start) == [Village.at(1), Village.at(2)])
        #expect(!second.run.entries.isEmpty && second.run.entries.allSatisfy { $0.key.adjusts == "run-1" })
        #expect(try second.findings(after: settled) == [])
        #expect(second.run.certified == ["sun": WattHours(-400)], "a certificate follows the final export")
        let anew = try Outcome(try village.facts())
        for party in ["y", "z", "sun", "grid"] {
            let parts = [first, second].flatMap(\.run.entries).filter { $0.key.party == party }
            let whole = anew.run.entries.filter { $0.key.party == party }
            #expect(
                parts.reduce(ExactMoney.zero) { $0 + $1.value } == whole.reduce(.zero) { $0 + $1.value },
                "first and adjustment are what one late run would have been")
        }
    }

    @Test func `takes back from a cooperative's owners what it takes back from the cooperative`() throws {
        var village = Village(blocks: 1)
        village.add("coop", .pv, owners: ["a", "b"].map { Party.Owner(party: $0, share: 1) })
        village.parties += ["a", "b"].map { Party(id: $0, name: $0) }
        village.tell("coop-pv", 0, out: 333)
        let settled = try Outcome(try village.facts()).settled("run-1")
        village.tell("coop-pv", 0, out: 100, revision: 1)
        let second = try Outcome(try village.facts(), after: settled)
        #expect(second.line("coop", .gridFeedIn)?.amount.text(.inr) == "-0.70", "0.699 too much")
        #expect(["a", "b", "coop"].map(second.total) == ["-0.35", "-0.35", "0.00"])
        #expect(second.line("a", .share)?.adjusts == "run-1")
    }

    @Test func `never changes a frozen block`() throws {
        var village = Self.pair()
        var settled = try Outcome(try village.facts()).settled("run-1")
        settled.frozenBefore = Village.at(2)
        village.tell("z-meter", 1, in: 1_500, revision: 1)
        village.tell("z-meter", 2, in: 1_500, revision: 1)
        let run = try Outcome(try village.facts(), after: settled).run
        #expect(run.frozen.map(\.start) == [Village.at(1)] && run.adjusted.map(\.start) == [Village.at(2)])
    }

    @Test func `keeps a change of tariff away from what is settled`() throws {
        var village = Self.pair()
        let settled = try Outcome(try village.facts()).settled("run-1")
        village.blocks = 4
        village.tell("y-meter", 3, out: 2_000)
        village.tell("z-meter", 3, in: 1_000)
        let run = try Outcome(try village.facts(), after: settled).run
        #expect(Set(run.entries.map(\.key.block)) == [Village.at(3)])
    }

    @Test func `pays a prepaid contract out of escrow and gives the rest back`() throws {
        var village = Village(blocks: 2)
        village.add("s")
        village.add("b", wallet: 4_000)
        try village.sell(
            "c", from: "s-meter", to: "b", 8_000, at: 5_000_000, over: 0..<2, traded: 0, payment: .prepaid)
        for block in Int64(0)..<2 {
            village.tell("s-meter", block, out: 3_000)
            village.tell("b-meter", block, in: 4_000)
        }
        let outcome = try Outcome(try village.facts())
        let ledger = try outcome.run.ledger(outcome.facts, outcome.bills, asset: .inr)
        func balance(_ name: AccountName?) -> String? {
            name.flatMap { ledger.balance(AccountKey($0, .inr))?.text(.inr) }
        }
        #expect(balance(BookAccounts.wallet("b")) == "10.00", "40 in escrow, 30 delivered")
        #expect(balance(BookAccounts.escrow("c")) == "0.00")
        #expect(balance(BookAccounts.bills("b")) == "-16.00", "the grid's two kilowatt hours are not prepaid")
        #expect(try outcome.findings().isEmpty)
        village.parties[3].wallet = MinorUnits(3_999)
        let poor = try Outcome(try village.facts())
        #expect(throws: PostingRefusal.self, "one paisa short") {
            try poor.run.ledger(poor.facts, poor.bills, asset: .inr)
        }
    }

    @Test func `finds what is promised twice`() throws {
        var village = Village(blocks: 2)
        for party in ["s", "b", "c"] { village.add(party) }
        try village.sell("a", from: "s-meter", to: "b", 120_000, at: 0, over: 0..<2, traded: 0)
        #expect(Reservations.check(try village.facts()).isEmpty)
        try village.sell("b", from: "s-meter", to: "c", 40_001, at: 0, over: 1..<2, traded: 1)
        let found = Reservations.check(try village.facts())
        #expect(found.map(\.contract) == ["b"] && found.first?.refusal.left == WattHours(40_000))
    }

    @Test func `says no to amounts that do not fit, and takes the highest price`() throws {
        var village = Self.pair()
        village.importPrice = .limit
        village.feedIn = .limit
        village.community = .fixed(.limit)
        #expect(try Outcome(try village.facts()).findings().isEmpty)
        village.importPrice = .zero
        village.feedIn = .zero
        village.community = .fixed(.zero)
        #expect(try Outcome(try village.facts()).total("z") == "0.00", "a price of 0 is a price")
    }

    // swift-format-ignore
    static let lives: [(from: BlockLife.State, event: BlockLife.Event, to: BlockLife.State, output: BlockLife.Output)] = [
        (.open, .complete, .metered, .nothing), (.metered, .settle, .settled, .post), (.settled, .lateData, .settled, .adjust),
        (.settled, .freeze, .frozen, .nothing), (.frozen, .lateData, .frozen, .refused), (.open, .settle, .open, .refused),
        (.frozen, .settle, .frozen, .refused), (.settled, .settle, .settled, .nothing), (.metered, .freeze, .metered, .refused),
    ]

    @Test(arguments: lives.indices)
    func `moves a block from open to frozen and never back`(index: Int) {
        let row = Self.lives[index]
        var life = BlockLife(row.from)
        #expect(life.handle(row.event) == row.output && life.state == row.to)
        for state in BlockLife.State.allCases {
            for event in BlockLife.Event.allCases {
                var life = BlockLife(state)
                _ = life.handle(event)
                let order = BlockLife.State.allCases
                #expect((order.firstIndex(of: life.state) ?? 0) >= (order.firstIndex(of: state) ?? 0))
            }
        }
    }
}
