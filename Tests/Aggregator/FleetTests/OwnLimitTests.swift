import ExactAmounts
import Fleet
import Testing

/// A level's own connection: whatever place was asked, and whatever else flows there.
@Suite struct OwnLimitTests {
    private static func level(_ change: (inout FleetController.Settings) -> Void) throws -> Level {
        var settings = FleetController.Settings()
        change(&settings)
        var level = try Level(settings)
        try level.run(1)
        return level
    }

    @Test func `dispatches at children stay together inside the limits of the level, the higher rank first`()
        throws
    {
        var level = try Self.level {
            $0.bounds = FleetBounds(importLimit: WholeWatts(-40_000), exportLimit: WholeWatts(60_000))
        }
        try level.ask("low", "A", 90_000, .schedule)
        try level.ask("also low", "B", 30_000, .schedule)
        try level.run(3)
        #expect(level.sum <= 60_000 && level.sum >= 59_998, "\(level.sum)")
        #expect(abs(level.power("A") - 45_000) <= 1 && abs(level.power("B") - 15_000) <= 1, "alike")
        #expect(level.stateOf("low") == .active(WholeWatts(level.power("A"))), "and it is told")
        try level.ask("high", "C", 40_000, .emergency)
        try level.run(3)
        #expect(level.power("C") == 40_000 && level.sum <= 60_000 && level.sum >= 59_998, "\(level.sum)")
        for (index, site) in ["A", "B", "C"].enumerated() {
            try level.ask("charge \(index)", site, -30_000, .emergency)
        }
        try level.run(4)
        #expect(level.sum >= -40_000 && level.sum <= -39_997, "\(level.sum)")
    }

    @Test func `a grant from above passes the level's own limit no more than a wish below it does`() throws {
        var level = try Self.level { $0.bounds = FleetBounds(exportLimit: WholeWatts(60_000)) }
        level.controller.take(
            FleetController.Grant(dispatch: "R", power: WholeWatts(150_000), until: level.now + 60_000))
        try level.ask("own", "A", 90_000)
        try level.run(3)
        #expect(level.sum <= 60_000 && level.sum > 59_990)
    }

    @Test func `a reserve is kept whoever is asked`() throws {
        var level = try Self.level { $0.bounds = FleetBounds(reserveUp: WholeWatts(50_000)) }
        for site in ["A", "B", "C"] { try level.ask(site, site, site == "A" ? 100_000 : 50_000) }
        try level.run(3)
        #expect(level.sum <= 150_000 && level.sum > 149_990, "\(level.sum)")
    }

    /// 80 kW of load: of 90 kW that may be drawn 10 are left for the storage.
    @Test(arguments: [nil, "A"] as [String?])
    func `what others draw at the connection is no room for the storage`(meter: String?) throws {
        var level = try Self.level {
            $0.bounds = FleetBounds(importLimit: WholeWatts(-90_000))
            $0.meter = meter
        }
        level.meterSite = "A"
        level.load = 80_000
        if meter == nil { level.meterSite = nil }
        try level.ask("charge", "C1", -60_000)
        level.siteLoad = meter == nil ? ["A": 50_000, "B": 30_000] : [:]
        try level.run(12)
        #expect(level.sum >= -10_000 && level.sum <= -9_990, "\(level.sum)")
        // The load goes: within its time the storage has the room.
        (level.load, level.siteLoad) = (0, [:])
        try level.run(12)
        #expect(level.sum == -60_000, "\(level.sum)")
    }

    @Test func `a level that begins anew gives nobody what a silent child may still have`() throws {
        var level = try Self.level { _ in }
        try level.ask("D", "C1", 90_000)
        try level.run(3)
        let before = level.power("C")
        #expect(level.sum == 90_000 && before > 0)
        level.alive.remove("C")
        // Killed and started within the second.
        level.controller = try FleetController(Level.tree(), place: "C1", .init())
        try level.ask("D", "C1", 90_000)
        for _ in 0..<5 {
            try level.run(1)
            #expect(level.sum <= 100_000, "\(level.sum)")
        }
        try level.run(3)
        #expect(level.power("C") == 0 && level.sum == 90_000, "its grant has ended")
    }
}
