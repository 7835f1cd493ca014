import ExactAmounts
import Fleet
import Testing

/// A campus whose connection is metered at site A. Leases hold for a minute, so that it is the meter that
/// shows who is missing. The plant is the test's: what a site holds flows, what is killed does not.
@Suite struct CampusMeterTests {
    static let asked: Int64 = 60_000

    private static func level(metered: Bool = true, limit: Int64? = nil) throws -> Level {
        var settings = FleetController.Settings()
        (settings.lease, settings.meter) = (60_000, metered ? "A" : nil)
        settings.bounds.exportLimit = limit.map { WholeWatts($0) }
        var level = try Level(settings)
        (level.meterSite, level.load) = ("A", 35_000)
        try level.run(1)
        try level.ask("D", "C1", asked, seconds: 3_000)
        try level.run(12)
        #expect(level.sum == asked && level.power("B") > 10_000)
        return level
    }

    /// - Returns: the seconds until the campus gives again what it was asked for.
    private static func secondsUntilBack(_ level: inout Level) throws -> Int {
        for second in 1...70 {
            try level.run(1)
            #expect(level.sum <= asked, "never doubled, in second \(second)")
            if level.sum == asked { return second }
        }
        return 71
    }

    @Test func `a site that the meter shows to be missing is made up for at once, and comes back undoubled`()
        throws
    {
        var blind = try Self.level(metered: false)
        blind.alive.remove("B")
        blind.held["B"] = nil
        #expect(try Self.secondsUntilBack(&blind) > 40, "without the meter its lease must end first")
        var level = try Self.level()
        level.alive.remove("B")
        level.held["B"] = nil
        let seconds = try Self.secondsUntilBack(&level)
        #expect(seconds <= 8, "\(seconds) s")
        #expect(level.controller.missingChildren(at: level.now) == ["B"])
        level.alive.insert("B")
        for _ in 0..<15 {
            try level.run(1)
            #expect(level.sum <= Self.asked, "back, and not doubled")
        }
        #expect(level.power("B") > 0 && level.sum == Self.asked)
        #expect(level.controller.missingChildren(at: level.now).isEmpty)
    }

    @Test func `a site that nobody hears and that gives on is not taken for missing, whatever is drawn`()
        throws
    {
        for seed in 0..<20 {
            var level = try Self.level()
            var random = Seeded(state: UInt64(seed))
            // From still to wild: what is drawn beside it moves by up to so much each second.
            let most = Int64(seed) * 2_000
            for second in -12..<40 {
                if second == 0 { level.alive.remove("B") }
                level.load = 35_000 + Int64.random(in: -most...most, using: &random)
                try level.run(1)
                #expect(level.sum == Self.asked, "seed \(seed), second \(second)")
            }
        }
    }

    @Test func `one that gives again unheard is seen at the meter, and the others make room`() throws {
        var level = try Self.level()
        let lease = level.held["B"]
        level.alive.remove("B")
        level.held["B"] = nil
        _ = try Self.secondsUntilBack(&level)
        level.held["B"] = lease
        var most: Int64 = 0
        for _ in 0..<8 {
            try level.run(1)
            most = max(most, level.sum)
        }
        #expect(most > Self.asked && level.sum == Self.asked, "at most \(most) W flowed")
    }

    @Test func `no limit is passed for one that is missing: it may come back any moment`() throws {
        var level = try Self.level(limit: Self.asked)
        let lease = level.held["B"]
        level.alive.remove("B")
        level.held["B"] = nil
        try level.run(12)
        #expect(level.controller.missingChildren(at: level.now) == ["B"])
        level.held["B"] = lease
        for _ in 0..<10 {
            #expect(level.sum <= Self.asked, "\(level.sum) W")
            try level.run(1)
        }
    }

    @Test func `a meter that nobody has, or that its own site takes with it, shows nothing`() throws {
        var settings = FleetController.Settings()
        settings.meter = "Z"
        #expect(throws: FleetFaults.self) { try Level(settings) }
        settings.meter = "C1"
        #expect(throws: FleetFaults.self) { try Level(settings) }
        var level = try Self.level()
        level.alive.remove("A")
        level.held["A"] = nil
        try level.run(20)
        #expect(level.controller.missingChildren(at: level.now).isEmpty)
    }

    @Test func `the connection is what its own meter shows, not the sum of the sites'`() throws {
        let level = try Self.level()
        #expect(level.controller.connection(at: level.now) == WholeWatts(Self.asked - 35_000))
        let sites = try Self.level(metered: false)
        let sum = sites.sum - 35_000 + sites.power("B") + sites.power("C")
        #expect(sites.controller.connection(at: sites.now) == WholeWatts(sum))
    }
}
