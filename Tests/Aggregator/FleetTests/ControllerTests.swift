import ExactAmounts
import Fleet
import Testing

/// A level over three sites; each second it shares, and the test plays the sites and their links.
struct Level {
    var controller: FleetController
    var now: Int64 = 1_000_000
    /// Sites whose link answers, and whose controller speaks.
    var alive: Set<String>
    var limits: [String: Int64] = ["A": 100_000, "B": 50_000, "C": 50_000]
    /// What each site does: the newest lease that holds.
    var held: [String: (power: Int64, until: Int64)] = [:]
    var refusing: Set<String> = []
    /// Every lease that went out.
    var sent: [FleetController.Command] = []
    /// Whose meter stands at the campus's connection, and sees what is drawn there too.
    var meterSite: String?
    var load: Int64 = 0

    static func tree(_ names: [String] = ["A", "B", "C"], nameplate: Int64 = 100_000) throws -> FleetTree {
        try FleetTree(
            [
                FleetPlace("IN", .country, parent: nil), FleetPlace("C1", .campus, parent: "IN"),
                FleetPlace("B1", .building, parent: "C1"),
            ]
                + names.map {
                    FleetPlace(
                        $0, .node, parent: $0 == "A" ? "C1" : "B1", nameplate: WholeWatts(nameplate),
                        capacity: WattHours(100_000))
                })
    }

    init(_ settings: FleetController.Settings = .init()) throws {
        controller = try FleetController(Self.tree(), place: "C1", settings)
        alive = ["A", "B", "C"]
    }

    /// What a site gives now.
    func power(_ site: String) -> Int64 {
        guard let lease = held[site], lease.until > now else { return 0 }
        return lease.power
    }

    var sum: Int64 { ["A", "B", "C"].reduce(0) { $0 + power($1) } }

    func state(_ site: String) -> SiteState {
        let limit = limits[site] ?? 0
        let meter = site == meterSite ? sum - load : power(site)
        return SiteState(
            power: WholeWatts(power(site)), charge: WholeWatts(-limit), discharge: WholeWatts(limit),
            stored: WattHours(50_000), capacity: WattHours(100_000), meter: WholeWatts(meter))
    }

    mutating func speak() throws {
        for site in alive {
            try controller.take(ChildReport(site, state(site), at: now), received: now)
        }
    }

    /// Seconds pass: sites speak, the level shares, links fetch and answer.
    mutating func run(_ seconds: Int) throws {
        for _ in 0..<seconds {
            now += 1_000
            try speak()
            for _ in 0..<2 {
                for command in controller.step(at: now) { deliver(command) }
            }
        }
    }

    mutating func deliver(_ command: FleetController.Command) {
        sent.append(command)
        guard alive.contains(command.place) else { return }
        controller.handedOut(command.sequence, to: command.place)
        if refusing.contains(command.place) {
            controller.answer(.refused("not_allowed"), to: command.sequence, of: command.place, at: now)
            return
        }
        held[command.place] = command.power.map { ($0.count, command.until) }
        controller.answer(.granted, to: command.sequence, of: command.place, at: now)
    }

    mutating func ask(
        _ id: String, _ place: String = "C1", _ power: Int64, _ priority: DispatchPriority = .market,
        seconds: Int64 = 600
    ) throws {
        let dispatch = try #require(
            Dispatch(
                id, priority, reason: "test", power: WholeWatts(power), from: now,
                until: now + seconds * 1_000))
        try controller.take(dispatch, for: place, at: now)
    }

    func stateOf(_ id: String) -> Dispatch.State? {
        controller.dispatches.first { $0.dispatch.id == id }?.dispatch.state
    }
}

@Suite struct ControllerTests {
    @Test func `a dispatch is shared over the tree, answered, active, done; sums are right to the watt`()
        throws
    {
        var level = try Level()
        try level.run(1)
        #expect(level.sent.isEmpty, "nobody asks for anything")
        try level.ask("D", "C1", 40_001, seconds: 10)
        try level.run(2)
        #expect(level.sum == 40_001)
        #expect(level.stateOf("D") == .active(WholeWatts(40_001)))
        let b1 = try #require(level.controller.tree.index(of: "B1"))
        #expect(level.controller.powers[b1] == level.power("B") + level.power("C"))
        try level.run(9)
        #expect(level.stateOf("D") == .done)
        #expect(level.sum == 0, "what was granted is released at the end")
        #expect(level.controller.following("D")?.deliveredMean ?? 0 > 30_000)
        #expect(level.sent.allSatisfy { $0.until <= level.now + 4_000 })
        let sequences = level.sent.map(\.sequence)
        #expect(zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 }, "each sequence once")
    }

    @Test func `more than all can give is clipped, and told`() throws {
        var level = try Level()
        try level.run(1)
        try level.ask("D", "C1", 250_000)
        try level.run(2)
        #expect(level.sum == 200_000)
        #expect(level.stateOf("D") == .active(WholeWatts(200_000)))
    }

    @Test func `a child that dies keeps its grant until it has ended; then others take its part, and back`()
        throws
    {
        var level = try Level()
        try level.run(1)
        try level.ask("D", "C1", 60_000)
        try level.run(3)
        let before = level.power("A")
        #expect(level.sum == 60_000 && before > 0)
        // The process is killed: it says nothing, answers nothing, and its grant ends by itself.
        level.alive.remove("A")
        var seconds = 0
        while level.sum != 60_000 || level.power("A") != 0 {
            #expect(level.sum <= 60_000, "never doubled")
            try level.run(1)
            seconds += 1
            if seconds > 20 { break }
        }
        #expect(seconds <= 5, "\(seconds) s")
        level.alive.insert("A")
        for _ in 0..<10 {
            try level.run(1)
            #expect(level.sum <= 60_000, "back, and not doubled")
        }
        #expect(level.power("A") > 0 && level.sum == 60_000)
    }

    @Test func `who is to give more waits until those that are to give less have said so`() throws {
        var level = try Level()
        try level.run(1)
        try level.ask("all", "C1", 60_000, .schedule)
        try level.run(2)
        try level.ask("one", "B", 50_000, .emergency)
        // Commands arrive one after the other, each answered before the next look.
        level.now += 1_000
        try level.speak()
        for _ in 0..<6 {
            guard let command = level.controller.step(at: level.now).first else { break }
            level.deliver(command)
            #expect(level.sum <= 60_000, "\(command)")
        }
        try level.run(2)
        #expect(level.power("B") == 50_000 && level.sum == 60_000)
        // No more leases than a child looks at: ten in a row, and one more each second.
        let first = level.now
        level.sent = []
        for turn in 0..<40 {
            try level.ask("X\(turn)", "A", 1_000 + Int64(turn), .emergency)
            level.now += 100
            try level.speak()
            for command in level.controller.step(at: level.now) { level.deliver(command) }
        }
        let most = 10 + (level.now - first) / 1_000
        #expect(level.sent.count { $0.place == "A" } <= most)
        try level.run(3)
        #expect(level.power("A") == 1_039, "the last one arrives all the same")
    }

    @Test
    func `a child that refuses gives its part to the others, and is told in the dispatch where all refuse`()
        throws
    {
        var level = try Level()
        level.refusing = ["A"]
        try level.run(1)
        try level.ask("D", "C1", 60_000)
        try level.run(3)
        #expect(level.sum == 60_000 && level.power("A") == 0)
        level.refusing = ["A", "B", "C"]
        var other = try Level()
        other.refusing = level.refusing
        try other.run(1)
        try other.ask("E", "C1", 60_000)
        try other.run(3)
        #expect(other.stateOf("E") == .refused("not_allowed"))
        #expect(other.sum == 0)
    }

    @Test func `what the level above grants is narrowed here, never widened, and ends with it`() throws {
        var level = try Level()
        try level.run(1)
        try level.ask("own", "C1", 90_000, .emergency)
        level.controller.take(
            FleetController.Grant(dispatch: "above", power: WholeWatts(30_000), until: level.now + 3_000))
        try level.run(1)
        #expect(level.sum == 30_000, "an emergency here does not widen it")
        let until = level.now + 2_000
        #expect(level.sent.allSatisfy { $0.until <= until }, "no lease outlives what was granted")
        try level.run(3)
        #expect(level.sum == 90_000, "and then its own word holds again")
        try level.ask("child", "A", -20_000, .emergency)
        level.controller.take(
            FleetController.Grant(dispatch: "above", power: WholeWatts(30_000), until: level.now + 3_000))
        try level.run(1)
        #expect(level.sum == 30_000 && level.power("A") == 0, "nor does one of a child turn it round")
    }

    @Test func `a child's dispatch of a higher rank holds, and the others take the rest`() throws {
        var level = try Level()
        try level.run(1)
        try level.ask("all", "C1", 60_000, .schedule)
        try level.ask("one", "B", 50_000, .emergency, seconds: 5)
        try level.run(2)
        #expect(level.power("B") == 50_000 && level.sum == 60_000)
        try level.run(5)
        #expect(level.sum == 60_000 && level.power("B") < 50_000)
        try level.ask("low", "B", 1, .schedule)
        try level.ask("high", "C1", 80_000, .agc)
        try level.run(2)
        #expect(level.power("B") > 1 && level.sum == 80_000, "a lower rank does not cut into it")
    }

    @Test func `tomorrow's dispatch leaves today's alone`() throws {
        var level = try Level()
        try level.run(1)
        try level.ask("today", "C1", 60_000)
        try level.run(2)
        let from = level.now + 5_000
        let later = Dispatch(
            "later", .market, reason: "test", power: WholeWatts(90_000), from: from, until: from + 5_000)
        try level.controller.take(try #require(later), for: "C1", at: level.now)
        for _ in 0..<4 {
            try level.run(1)
            #expect(level.sum == 60_000)
        }
        try level.run(2)
        #expect(level.sum == 90_000 && level.stateOf("today") == .expired(.superseded))
    }

    typealias Wish = (id: String, place: String, power: Int64, refusal: DispatchRefusal?, why: Comment)

    // swift-format-ignore
    static let wishes: [Wish] = [
        ("D1", "C1",  300_000, nil, "all nameplates together"),
        ("D2", "C1",  300_001, .aboveNameplate, "a watt more"),
        ("D3", "A",  -100_001, .aboveNameplate, "of one site"),
        ("D4", "IN",        1, .unknownPlace, "above this level: the wrong one"),
        ("D5", "XX",        1, .unknownPlace, "renamed, or never there"),
        ("D1", "A",         1, .sameName, "twice the same name"),
    ]

    @Test func `what cannot be asked for is refused by name`() throws {
        var level = try Level()
        for wish in Self.wishes {
            do throws(DispatchRefusal) {
                let dispatch = Dispatch(
                    wish.id, .market, reason: "r", power: WholeWatts(wish.power), from: level.now,
                    until: level.now + 1_000)
                guard let dispatch else { continue }
                try level.controller.take(dispatch, for: wish.place, at: level.now)
                #expect(wish.refusal == nil, wish.why)
            } catch {
                #expect(wish.refusal == error, wish.why)
            }
        }
    }

    @Test func `reports that cannot be true leave their child silent, and nothing is granted to it`() throws {
        let rows: [(ChildReport, Int64, ChildRefusal, Comment)] = [
            (
                ChildReport("A", try Level().state("A"), at: 1_000_000), 1_010_000, .clocksDiffer,
                "clocks 10 s apart"
            ),
            (ChildReport("Z", try Level().state("A"), at: 1_000_000), 1_000_000, .unknownPlace, "renamed"),
            (
                ChildReport(
                    "A",
                    SiteState(
                        power: WholeWatts(0), charge: WholeWatts(0), discharge: WholeWatts(100_001),
                        stored: WattHours(0), capacity: WattHours(1)), at: 1_000_000), 1_000_000,
                .aboveNameplate, "more than its nameplate"
            ),
        ]
        for (report, received, refusal, why) in rows {
            var level = try Level()
            do throws(ChildRefusal) {
                try level.controller.take(report, received: received)
                Issue.record("it is believed: \(why)")
            } catch { #expect(error == refusal, why) }
            level.alive = ["B"]
            try level.run(1)
            try level.ask("D", "C1", 10_000)
            try level.run(2)
            #expect(level.sent.allSatisfy { $0.place == "B" } && level.power("B") == 10_000, why)
        }
    }

    @Test func `a master that never confirms gets nothing more, and what it was granted ends`() throws {
        var level = try Level()
        try level.run(1)
        try level.ask("D", "A", 10_000)
        level.now += 1_000
        try level.speak()
        // Fetched and never answered, though it speaks.
        for _ in 0..<8 {
            for command in level.controller.step(at: level.now) {
                level.sent.append(command)
                level.controller.handedOut(command.sequence, to: command.place)
            }
            level.now += 1_000
            try level.speak()
        }
        let last = level.sent.suffix(3)
        #expect(last.allSatisfy { $0.power == WholeWatts(0) }, "it is asked for nothing: \(last)")
        #expect(level.stateOf("D") == .delivered)
    }

    @Test func `a peak limit asks the storage for what is drawn beyond it`() throws {
        var level = try Level()
        try level.run(1)
        let limit = try #require(PeakLimit(WholeWatts(20_000), from: level.now, until: level.now + 20_000))
        try level.controller.take(limit, "P", .market, reason: "peak", for: "A", at: level.now)
        for _ in 0..<18 {
            level.now += 1_000
            // 50 kW of load beside the battery.
            var state = level.state("A")
            state.meter = WholeWatts(level.power("A") - 50_000)
            try level.controller.take(ChildReport("A", state, at: level.now), received: level.now)
            for command in level.controller.step(at: level.now) { level.deliver(command) }
        }
        #expect(level.power("A") == 30_000)
        #expect(level.controller.verdict(ofPeak: "P", at: level.now) == .running)
        let wanted = PeakLimit.Verdict.held(peak: WholeWatts(50_000))
        #expect(level.controller.verdict(ofPeak: "P", at: level.now + 2_000) == wanted)
    }

    @Test func `ten thousand sites in three levels are shared, each level's sum to the watt`()
        throws
    {
        var places = [FleetPlace("IN", .country, parent: nil)]
        for state in 0..<25 {
            places.append(FleetPlace("S\(state)", .state, parent: "IN"))
            for campus in 0..<20 {
                places.append(FleetPlace("S\(state)-\(campus)", .campus, parent: "S\(state)"))
                places += (0..<20).map {
                    FleetPlace(
                        "S\(state)-\(campus)-\($0)", .node, parent: "S\(state)-\(campus)",
                        nameplate: WholeWatts(100_000))
                }
            }
        }
        let tree = try FleetTree(places)
        var controller = try FleetController(tree, place: "IN", .init())
        let now: Int64 = 1_000_000
        var random = Seeded(state: 7)
        for leaf in tree.leaves(under: 0) {
            let limit = Int64.random(in: 0...100_000, using: &random)
            let state = SiteState(
                power: WholeWatts(0), charge: WholeWatts(-limit), discharge: WholeWatts(limit),
                stored: WattHours(Int64.random(in: 0...100, using: &random)), capacity: WattHours(100))
            try controller.take(ChildReport(tree.nodes[leaf].place.id, state, at: now), received: now)
        }
        let dispatch = Dispatch(
            "D", .agc, reason: "r", power: WholeWatts(123_456_789), from: now, until: now + 60_000)
        try controller.take(try #require(dispatch), for: "IN", at: now)
        #expect(controller.step(at: now).count == 10_000)
        #expect(controller.powers[0] == 123_456_789)
        for (node, power) in zip(tree.nodes, controller.powers) where !node.isLeaf {
            #expect(node.children.reduce(0) { $0 + (controller.powers[$1] ?? 0) } == power)
        }
    }
}
