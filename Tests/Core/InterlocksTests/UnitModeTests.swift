import Interlocks
import Plant
import Quantities
import Testing

/// The unit's state machine: first every pair of state and event, then what holds of every state that can be
/// reached.
@Suite struct UnitModeTests {
    typealias State = UnitMode.State
    typealias Event = UnitMode.Event
    static let enterService = Duration.seconds(3)
    static let start = MonotonicTime(nanoseconds: 0)
    static let now = start + .seconds(10)
    static let events: [Event] = [.trip, .maintain, .unseen, .stop, .stopped, .ready, .connected]

    /// How each state is reached from a new machine, ending before `now`.
    static func machine(in state: State.Kind) -> UnitMode {
        var mode = UnitMode(enterService: enterService)
        switch state {
        case .offline: break
        case .standby: mode.handle(.ready, at: now - .seconds(1))
        case .precharge:
            mode.handle(.ready, at: now - .seconds(4))
            mode.handle(.ready, at: now - .seconds(1))
        case .running:
            mode = machine(in: .precharge)
            mode.handle(.connected, at: now - .seconds(1))
        case .stopping:
            mode = machine(in: .running)
            mode.handle(.stop, at: now - .seconds(1))
        case .tripped: mode.handle(.trip, at: now - .seconds(1))
        case .maintenance: mode.handle(.maintain, at: now - .seconds(1))
        }
        return mode
    }

    // swift-format-ignore
    static let pairs: [(from: State.Kind, event: Event, to: State, why: Comment)] = [
        (.offline,  .trip,    .tripped,                               "a trip wins everywhere"),
        (.offline,  .unseen,  .offline,                               "still nothing"),
        (.offline,  .stop,    .standby(since: now),                   "seen good"),
        (.offline,  .stopped, .standby(since: now),                   "seen good"),
        (.offline,  .ready,   .standby(since: now),                   "enter service begins"),
        (.standby,  .trip,    .tripped,                               "a trip wins everywhere"),
        (.standby,  .unseen,  .offline,                               "silent"),
        (.standby,  .stop,    .standby(since: now),                   "its time starts again"),
        (.standby,  .stopped, .standby(since: now),                   "its time starts again"),
        (.standby,  .ready,   .standby(since: now - .seconds(1)),     "1 s of 3 s: its time runs on"),
        (.precharge, .trip,    .tripped,                              "a trip wins everywhere"),
        (.precharge, .unseen,  .offline,                              "silent"),
        (.precharge, .stop,    .standby(since: now),                  "nothing flows: the contactors open again"),
        (.precharge, .stopped, .standby(since: now),                  "nothing flows: the contactors open again"),
        (.precharge, .ready,   .precharge(since: now - .seconds(1)),  "the contactors are not closed yet"),
        (.precharge, .connected, .running,                            "they are"),
        (.running,  .connected, .running,                             "all is well"),
        (.offline,  .connected, .standby(since: now),                 "closed contactors shorten no enter service"),
        (.standby,  .connected, .standby(since: now - .seconds(1)),   "closed contactors shorten no enter service"),
        (.stopping, .connected, .standby(since: now),                 "resumed: enter service begins anew"),
        (.tripped,  .connected, .standby(since: now),                 "the latch is gone: enter service begins anew"),
        (.maintenance, .connected, .standby(since: now),              "given back: enter service begins anew"),
        (.precharge, .maintain, .maintenance(since: now),             "nothing flows"),
        (.running,  .trip,    .tripped,                               "a trip wins everywhere"),
        (.running,  .unseen,  .offline,                               "silent"),
        (.running,  .stop,    .stopping(since: now),                  "on its way to zero"),
        (.running,  .stopped, .stopping(since: now),                  "not before it was seen stopping"),
        (.running,  .ready,   .running,                               "all is well"),
        (.stopping, .trip,    .tripped,                               "a trip wins everywhere"),
        (.stopping, .unseen,  .offline,                               "silent"),
        (.stopping, .stop,    .stopping(since: now - .seconds(1)),    "not at zero yet: its time runs on"),
        (.stopping, .stopped, .standby(since: now),                   "arrived"),
        (.stopping, .ready,   .standby(since: now),                   "resumed: enter service begins anew"),
        (.tripped,  .trip,    .tripped,                               "latched"),
        (.tripped,  .unseen,  .offline,                               "the latch is gone, the device too"),
        (.tripped,  .stop,    .standby(since: now),                   "the latch is gone"),
        (.tripped,  .stopped, .standby(since: now),                   "the latch is gone"),
        (.tripped,  .ready,   .standby(since: now),                   "the latch is gone: enter service begins anew"),
        (.offline,  .maintain, .maintenance(since: now),              "nothing flows"),
        (.standby,  .maintain, .maintenance(since: now),              "nothing flows"),
        (.running,  .maintain, .stopping(since: now),                 "power goes before the contactors"),
        (.stopping, .maintain, .maintenance(since: now),              "arrived"),
        (.tripped,  .maintain, .maintenance(since: now),              "the latch is gone"),
        (.maintenance, .trip,     .tripped,                           "a trip wins everywhere"),
        (.maintenance, .maintain, .maintenance(since: now - .seconds(1)), "it stays"),
        (.maintenance, .unseen,   .offline,                           "given back, and silent"),
        (.maintenance, .stop,     .standby(since: now),               "given back while the site is stopped"),
        (.maintenance, .stopped,  .standby(since: now),               "given back while the site is stopped"),
        (.maintenance, .ready,    .standby(since: now),               "given back: enter service begins anew"),
    ]

    @Test(arguments: pairs)
    func `every pair of state and event leads where the table says`(
        row: (from: State.Kind, event: Event, to: State, why: Comment)
    ) {
        var mode = Self.machine(in: row.from)
        #expect(mode.state.kind == row.from, "the test's own way to the state")
        mode.handle(row.event, at: Self.now)
        #expect(mode.state == row.to, row.why)
    }

    @Test func `the table names every pair`() {
        #expect(Self.pairs.count == 7 * Self.events.count)
        #expect(Set(Self.pairs.map { "\($0.from) \($0.event)" }).count == Self.pairs.count)
    }

    // swift-format-ignore
    static let waits: [(after: Duration, isRunning: Bool, why: Comment)] = [
        (.nanoseconds(2_999_999_999), false, "one nanosecond early"),
        (.seconds(3),                 true,  "just reached"),
        (.seconds(4),                 true,  "later"),
        (.seconds(-1),                false, "a clock that goes back starts nothing"),
    ]

    @Test(arguments: waits)
    func `a unit runs only after its time of continuous good`(
        row: (after: Duration, isRunning: Bool, why: Comment)
    ) {
        var mode = UnitMode(enterService: Self.enterService)
        mode.handle(.ready, at: Self.now)
        mode.handle(.ready, at: Self.now + row.after)
        mode.handle(.connected, at: Self.now + row.after)
        #expect(mode.isRunning == row.isRunning, row.why)
    }

    /// A state as a whole number of seconds, so that equal states are recognised.
    private struct Place: Hashable {
        var kind: State.Kind
        var age: Int
    }

    private static func place(_ mode: UnitMode, at now: MonotonicTime) -> Place {
        switch mode.state {
        case .offline, .running, .tripped: Place(kind: mode.state.kind, age: 0)
        // Older than enter service is all the same.
        case .standby(let since), .precharge(let since), .stopping(let since), .maintenance(let since):
            Place(kind: mode.state.kind, age: min(Int((now - since).seconds), 4))
        }
    }

    private struct Step {
        var before: Place
        var event: Event
        var after: UnitMode
        var now: MonotonicTime
    }

    /// Every step from every state that can be reached in whole seconds, by every event.
    private static func everyStep() -> [Step] {
        var seen: Set<Place> = []
        var open = [(mode: UnitMode(enterService: enterService), now: start)]
        var steps: [Step] = []
        while let (mode, time) = open.popLast() {
            guard seen.insert(place(mode, at: time)).inserted else { continue }
            let now = time + .seconds(1)
            for event in events {
                var next = mode
                next.handle(event, at: now)
                steps.append(Step(before: place(mode, at: now), event: event, after: next, now: now))
                open.append((next, now))
            }
        }
        return steps
    }

    @Test func `in every state that can be reached the rules of service hold`() {
        let steps = Self.everyStep()
        #expect(Set(steps.map(\.before.kind)).count == 7, "every kind of state is reached")
        for step in steps {
            let to = step.after.state.kind
            switch step.event {
            case .trip: #expect(to == .tripped)
            case .maintain: #expect(to == (step.before.kind == .running ? .stopping : .maintenance))
            case .unseen: #expect(to == .offline)
            case .stop, .stopped: #expect(to == .standby || to == .stopping)
            case .ready: #expect(to == .standby || to == .precharge || to == .running)
            case .connected: #expect(to == .standby || to == .precharge || to == .running)
            }
            if to == .precharge && step.before.kind != .precharge {
                #expect(step.before.kind == .standby && step.before.age >= 3, "only out of a whole standby")
            }
            if to == .running && step.before.kind != .running {
                #expect(step.before.kind == .precharge && step.event == .connected, "only connected")
            }
            let serves: [State.Kind] = [.precharge, .running, .stopping]
            #expect(step.after.connects == serves.contains(to))
            #expect(step.after.permitsContactors == (to == .standby || serves.contains(to)))
            #expect(step.after.isRunning == (to == .running))
        }
    }

    @Test func `from every state that is not running, steady good leads to running and not before its time`()
    {
        for step in Self.everyStep() where step.after.state.kind != .running {
            var mode = step.after
            var seconds = 0
            while !mode.isRunning && seconds < 10 {
                seconds += 1
                mode.handle(.ready, at: step.now + .seconds(seconds))
                if mode.state.kind == .precharge {
                    mode.handle(.connected, at: step.now + .seconds(seconds))
                }
            }
            let isFresh = step.after.state.kind != .standby && step.after.state.kind != .precharge
            #expect(mode.isRunning && seconds <= 4)
            if isFresh { #expect(seconds == 4, "one step into standby, then 3 s") }
        }
    }
}
