import Testing

@testable import BallastAggregator

@Suite struct AlarmMachineTests {
    private typealias Machine = AlarmMachine

    private static func settings(
        _ severity: AlarmMachine.Severity = .critical, raise: Int64 = 5, clear: Int64 = 10,
        escalate: Int64? = nil
    ) -> AlarmMachine.Settings {
        .init(severity: severity, raiseAfter: raise, clearAfter: clear, escalateAfter: escalate)
    }

    private static func act(_ at: Int64, by: String = "ann") -> AlarmMachine.Act {
        .init(by: by, at: at, reason: "seen")
    }

    // swift-format-ignore
    static let rows: [(at: Int64, event: AlarmMachine.Event, output: AlarmMachine.Output, state: AlarmMachine.State, why: Comment)] = [
        (  0, .seen(false), .nothing, .clear, "well"),
        (  1, .seen(true), .nothing, .pending(since: 1), "not yet for its time"),
        (  4, .seen(false), .nothing, .clear, "a flicker is none"),
        (  5, .acknowledge(act(5)), .refused("the alarm is not raised"), .clear, "nothing to acknowledge"),
        ( 10, .seen(true), .nothing, .pending(since: 10), "again"),
        ( 14, .seen(true), .nothing, .pending(since: 10), "one step before its time"),
        ( 15, .seen(true), .tell(.raised), .raised(at: 15), "at its time"),
        ( 20, .seen(true), .nothing, .raised(at: 15), "once"),
        ( 21, .seen(false), .nothing, .leaving(raised: 15, nil, since: 21), "gone, not yet for its time"),
        ( 30, .seen(true), .nothing, .raised(at: 15), "back: the same occurrence"),
        ( 31, .acknowledge(act(31)), .nothing, .acknowledged(raised: 15, act(31)), "who and when"),
        ( 32, .acknowledge(act(32, by: "bob")), .refused("ann has acknowledged it already"), .acknowledged(raised: 15, act(31)), "the first stands"),
        ( 33, .seen(false), .nothing, .leaving(raised: 15, act(31), since: 33), "gone"),
        ( 42, .seen(false), .nothing, .leaving(raised: 15, act(31), since: 33), "one step before"),
        ( 43, .seen(false), .tell(.cleared), .clear, "over"),
        ( 44, .seen(true), .nothing, .pending(since: 44), "another occurrence"),
        ( 49, .seen(true), .tell(.raised), .raised(at: 49), "told anew"),
    ]

    @Test func `an alarm is told once for each occurrence`() {
        var machine = AlarmMachine(Self.settings())
        for row in Self.rows {
            let output = machine.handle(row.event, at: row.at)
            #expect(output == row.output, row.why)
            #expect(machine.state == row.state, row.why)
        }
    }

    @Test func `a shelf keeps it from people, ends by its time, and then what still stands is told`() {
        var machine = AlarmMachine(Self.settings(raise: 0))
        #expect(machine.handle(.shelve(.init(act: Self.act(0), until: 100)), at: 0) == .nothing)
        #expect(machine.handle(.seen(true), at: 10) == .nothing, "raised in silence")
        #expect(machine.isRaised && machine.isShelved(at: 99) && !machine.isShelved(at: 100))
        #expect(machine.handle(.seen(true), at: 100) == .tell(.raised), "its end")
        #expect(machine.handle(.seen(true), at: 101) == .nothing)
        #expect(
            machine.handle(.shelve(.init(act: Self.act(101), until: 101)), at: 101) != .nothing, "no time")
        let day = AlarmMachine.Settings.longestShelf
        #expect(
            machine.handle(.shelve(.init(act: Self.act(101), until: 102 + day)), at: 101) != .nothing,
            "no end")
        #expect(machine.handle(.shelve(.init(act: Self.act(101), until: 101 + day)), at: 101) == .nothing)
    }

    @Test func `nothing shelves or silences what endangers people`() {
        var machine = AlarmMachine(Self.settings(.lifeSafety, raise: 0))
        let shelf = AlarmMachine.Shelf(act: Self.act(0), until: 100)
        #expect(
            machine.handle(.shelve(shelf), at: 0) == .refused("an alarm of life safety cannot be shelved"))
        #expect(machine.handle(.seen(true), at: 1) == .tell(.raised))
        // Nor does a shelf in a database that somebody has written to, or a rule made graver afterwards.
        machine = AlarmMachine(Self.settings(.lifeSafety, raise: 0), shelf: shelf)
        #expect(!machine.isShelved(at: 1))
        #expect(machine.handle(.seen(true), at: 1) == .tell(.raised))
        let night = QuietHours(from: 22 * 60, until: 6 * 60, zoneMinutes: 330)
        // 18:30 UTC is midnight in India.
        let midnight: Int64 = 18 * 3_600_000 + 1_800_000
        for severity in AlarmMachine.Severity.allCases {
            #expect(
                QuietHours.silences(night, severity, at: midnight) == (severity < .critical), "\(severity)")
            #expect(
                !QuietHours.silences(night, severity, at: midnight - 3 * 3_600_000), "21:00 is not yet night")
            #expect(!QuietHours.silences(night, severity, at: midnight + 6 * 3_600_000), "06:00 is day")
        }
    }

    @Test func `it is told again where nobody has acknowledged it, once`() {
        var machine = AlarmMachine(Self.settings(raise: 0, escalate: 60))
        #expect(machine.handle(.seen(true), at: 0) == .tell(.raised))
        #expect(machine.handle(.seen(true), at: 59) == .nothing)
        #expect(machine.handle(.seen(true), at: 60) == .tell(.escalated))
        #expect(machine.handle(.seen(true), at: 600) == .nothing)
        var other = AlarmMachine(Self.settings(raise: 0, escalate: 60))
        _ = other.handle(.seen(true), at: 0)
        _ = other.handle(.acknowledge(Self.act(1)), at: 1)
        #expect(other.handle(.seen(true), at: 60) == .nothing)
    }

    /// A value that walks about a limit: what is told is compared with what a second, simple reading of the
    /// whole
    /// walk says.
    @Test
    func
        `ten thousand random walks: told once for each crossing with hysteresis, raised and cleared in turn`()
    {
        let rule = AlarmRule(
            id: "soc", condition: .below(channel: "soc_percent", limit: 10, hysteresis: 2),
            settings: Self.settings(.warning, raise: 0, clear: 0))
        var generator = SystemWalk(state: 20_261_124)
        var occurrences = 0
        for walk in 0..<10_000 {
            var machine = AlarmMachine(rule.settings)
            var value = 11.0
            var told: [AlarmMachine.Told] = []
            var values: [Double] = []
            for step in 0..<60 {
                value = max(5, min(16, value + generator.step()))
                values.append(value)
                let view = AlarmView(
                    site: "a", seenAt: Int64(step), units: [.init(id: "u", values: ["soc_percent": value])])
                for (_, holds) in view.findings(rule, at: Int64(step), was: { _ in machine.isRaised }) {
                    guard let holds, case .tell(let what) = machine.handle(.seen(holds), at: Int64(step))
                    else { continue }
                    told.append(what)
                }
            }
            // Under 10 it begins; it ends where it next is at 12 or above.
            var expected: [AlarmMachine.Told] = []
            var rest = values[...]
            while let begin = rest.firstIndex(where: { $0 < 10 }) {
                expected.append(.raised)
                rest = rest[begin...]
                guard let end = rest.firstIndex(where: { $0 >= 12 }) else { break }
                expected.append(.cleared)
                rest = rest[end...]
            }
            occurrences += expected.count
            #expect(told == expected, "walk \(walk): \(values)")
        }
        #expect(occurrences > 5_000, "the walks cross")
    }

    @Test func `silence heals nothing and raises no value; it is an alarm of its own`() {
        let now: Int64 = 1_000_000
        var view = AlarmView(
            site: "a", seenAt: now, units: [.init(id: "u", trips: ["smoke"], dangers: ["smoke: go"])])
        func finding(_ condition: AlarmRule.Condition, at time: Int64) -> [Bool?] {
            view.findings(AlarmRule(id: "r", condition: condition, settings: Self.settings()), at: time) {
                _ in false
            }
            .map(\.holds)
        }
        let later = now + AlarmView.silence + 1
        #expect(finding(.noReport, at: later - 1) == [false] && finding(.noReport, at: later) == [true])
        #expect(finding(.danger, at: later) == [true], "it stood when the site fell silent")
        #expect(finding(.trip, at: now) == [false], "danger is told by its own rule")
        view.units[0].trips = ["smoke", "emergency_stop"]
        #expect(finding(.trip, at: now) == [true], "a fire beside it ends no emergency stop")
        view.units[0].dangers = []
        view.units[0].trips = []
        #expect(finding(.danger, at: now) == [false])
        #expect(finding(.danger, at: later) == [nil], "nobody knows whether it is gone")
        view.units[0].values = ["soc_percent": 5]
        #expect(finding(.below(channel: "soc_percent", limit: 10, hysteresis: 0), at: now) == [true])
        #expect(finding(.below(channel: "soc_percent", limit: 10, hysteresis: 0), at: later) == [nil])
        #expect(
            AlarmView(site: "b").findings(AlarmRule.shipped[2], at: 0) { _ in false }.map(\.holds) == [true],
            "never seen")
    }
}

/// Steps of a walk, the same each time.
private struct SystemWalk {
    var state: UInt64

    /// −1 … 1.
    mutating func step() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(Int64(state >> 33) - (1 << 30)) / Double(1 << 30)
    }
}
