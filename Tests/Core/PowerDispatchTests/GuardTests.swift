import Plant
import PowerDispatch
import Quantities
import Testing

/// Conditions that stand together: every combination of them, so that none can be left out or turned round.
@Suite struct GuardTests {
    static let now = MonotonicTime(nanoseconds: 100_000_000_000)
    static let sources: [BasePointSource] = [.operator, .agc, .aggregator, .schedule, .siteDefault]

    @Test func `a lease is granted to every source but the default, for a time above zero and up to a week`()
    {
        let week = Duration.seconds(604_800)
        for source in Self.sources {
            for (time, isTime) in [
                (Duration.nanoseconds(-1), false), (.zero, false), (.nanoseconds(1), true), (week, true),
                (week + .nanoseconds(1), false),
            ] {
                var point = BasePoint(standing: Watts(7), reversion: .nextSource)
                let isGranted = point.grant(source, Watts(50), for: time, at: Self.now)
                #expect(isGranted == (source != .siteDefault && isTime), "\(source) \(time)")
                #expect(point.current(at: Self.now).power == Watts(isGranted ? 50 : 7), "\(source) \(time)")
            }
        }
    }

    @Test func `only a remote source reverts by the rule, and only once it has lapsed`() {
        let rules: [(rule: BasePoint.Reversion, power: Double)] = [
            (.nextSource, 7), (.hold(.seconds(5)), 50), (.zero, 0),
        ]
        for source in Self.sources where source != .siteDefault {
            for (rule, power) in rules {
                var point = BasePoint(standing: Watts(7), reversion: rule)
                _ = point.grant(source, Watts(50), for: .seconds(10), at: Self.now)
                #expect(point.current(at: Self.now) == (source, Watts(50)))
                let end = Self.now + .seconds(10)
                _ = point.tick(source, at: end)
                let isRemote = source == .agc || source == .aggregator
                #expect(point.current(at: end).power == Watts(isRemote ? power : 7), "\(source) \(rule)")
                _ = point.revoke(source, at: end)
                #expect(point.current(at: end) == (.siteDefault, Watts(7)), "revoked")
            }
        }
    }

    @Test func `a limit that is not set stays unset`() {
        for bits in 0..<4 {
            func isSet(_ bit: Int) -> Bool { bits & (1 << bit) != 0 }
            let limits = SiteLimits(
                imports: isSet(0) ? Watts(100) : nil, exports: isSet(1) ? Watts(80) : nil, loadMax: Watts(10))
            let window = limits.window(beside: SiteLimits.Rest(least: Watts(30), most: Watts(30)))
            #expect(window.lowest == (isSet(0) ? Watts(-70) : nil), "\(bits)")
            #expect(window.highest == (isSet(1) ? Watts(110) : nil), "\(bits)")
        }
    }

    @Test func `nothing is shared without a target or without room`() {
        for (target, room) in [(0, 0), (0, 100), (50, 0), (50, 100), (-50, 0), (-50, 100)]
            as [(Double, Double)]
        {
            for mode in [SharingSettings.Mode.proportional, .minimumLoss] {
                var sharing = PowerSharing(SharingSettings(mode: mode))
                var units = [UnitShare(window: .rating(Watts(room)))]
                units[0].power = Watts(99)
                var span = units.mutableSpan
                let given = sharing.share(Watts(target), over: &span, count: 1)
                #expect(given == Watts(room > 0 ? target : 0) && units[0].power == given, "\(target) \(room)")
            }
        }
    }

    // swift-format-ignore
    static let favours: [(gain: Double, full: Double?, empty: Double?, first: Double, why: Comment)] = [
        (0,  0.9, 0.1, 50,              "no gain"),
        (0,  nil, 0.1, 50,              "no gain and nothing known"),
        (1,  0.9, 0.1, 100 * 1.4 / (1.4 + 1 / 1.4), "the fuller one gives more"),
        (1,  nil, 0.1, 50,              "the mean is the other one's: neither is ahead"),
        (1,  0.9, nil, 50,              "the same the other way"),
        (1,  nil, nil, 50,              "no mean"),
    ]

    @Test(arguments: favours) func `a unit is preferred only by a known mean and a known charge of its own`(
        row: (gain: Double, full: Double?, empty: Double?, first: Double, why: Comment)
    ) {
        var sharing = PowerSharing(SharingSettings(balancing: row.gain))
        var units = [
            UnitShare(window: .rating(Watts(100)), stateOfCharge: row.full.map { Fraction($0) }),
            UnitShare(window: .rating(Watts(100)), stateOfCharge: row.empty.map { Fraction($0) }),
        ]
        var span = units.mutableSpan
        _ = sharing.share(Watts(100), over: &span, count: 2)
        #expect((units[0].power - Watts(row.first)).magnitude < Watts(1e-6), row.why)
        #expect((units[1].power - Watts(100 - row.first)).magnitude < Watts(1e-6), row.why)
    }
}
