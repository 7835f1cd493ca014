import Plant
import Quantities
import Testing

@testable import Interlocks

/// Contactors: every pair of state and event, then whole sequences against a plant that obeys or does not.
@Suite struct ContactorSequenceTests {
    typealias State = ContactorSequence.State
    typealias Event = ContactorSequence.Event
    static let now = MonotonicTime(nanoseconds: 100_000_000_000)
    /// Before every bound has passed.
    static let early = now - .milliseconds(100)
    /// When every bound is just reached.
    static let due = now - .seconds(1)
    static let events: [Event] = [
        .reset, .disagreement, .discharged, .open, .openUnloaded, .surge, .charged, .close,
    ]

    static func settings(_ drive: ContactorSettings.Drive = .own) -> ContactorSettings {
        ContactorSettings(
            drive: drive, prechargeLimit: .seconds(1), prechargeCurrentMax: Amperes(20), attempts: 2,
            pause: .seconds(1), zeroCurrent: Amperes(2), openingLimit: .seconds(1),
            dischargedVoltage: Volts(60),
            dischargeLimit: .seconds(1), feedbackDebounce: .milliseconds(100))
    }

    /// The way to a state, entered at `since` where it has an instant.
    static func machine(in state: State, since: MonotonicTime) -> ContactorSequence {
        var sequence = ContactorSequence(settings(), hasFormerFault: false)
        func go(_ events: Event...) { for event in events { _ = sequence.handle(event, at: since) } }
        switch state {
        case .unchecked: break
        case .proving: go(.close)
        case .open: go(.discharged)
        case .precharging(1, _): go(.discharged, .close)
        case .precharging:
            go(.discharged, .close, .surge)
            _ = sequence.handle(.close, at: since + .seconds(1))
        case .pausing: go(.discharged, .close, .surge)
        case .closed: go(.discharged, .close, .charged)
        case .opening(_, nil): go(.discharged, .close, .charged, .open)
        case .opening: go(.discharged, .close, .charged, .disagreement)
        case .checking: go(.discharged, .close, .charged, .openUnloaded)
        case .welded:
            go(.discharged, .close, .charged, .openUnloaded)
            _ = sequence.handle(.open, at: since + .seconds(1))
        case .faulted: go(.disagreement)
        }
        return sequence
    }

    struct Row: Sendable {
        var from: State
        /// In the order of `events`.
        var to: [State]
        var why: Comment
    }

    static func stays(_ state: State) -> [State] { [State](repeating: state, count: events.count) }

    // swift-format-ignore
    static let earlyRows: [Row] = [
        Row(from: .unchecked,
            to: [.unchecked, .faulted(.feedback), .open, .unchecked, .unchecked, .proving(since: now),
                 .proving(since: now), .proving(since: now)],
            why: "nothing closes before the DC side was seen discharged"),
        Row(from: .proving(since: early),
            to: [.proving(since: early), .faulted(.feedback), .open, .unchecked, .unchecked,
                 .proving(since: early), .proving(since: early), .proving(since: early)],
            why: "it waits for the proof as long as somebody wants it closed"),
        Row(from: .open, to: [.open, .faulted(.feedback), .open, .open, .open, .open,
                              .precharging(attempt: 1, since: now), .precharging(attempt: 1, since: now)],
            why: "closing begins with a precharge, whatever the DC side has"),
        Row(from: .precharging(attempt: 1, since: early),
            to: [.precharging(attempt: 1, since: early), .faulted(.feedback), .precharging(attempt: 1, since: early),
                 .checking(since: now), .checking(since: now), .pausing(attempt: 1, since: now), .closed,
                 .precharging(attempt: 1, since: early)],
            why: "it ends charged, called off, or with too much current"),
        Row(from: .pausing(attempt: 1, since: early),
            to: [.pausing(attempt: 1, since: early), .faulted(.feedback), .pausing(attempt: 1, since: early),
                 .checking(since: now), .checking(since: now), .pausing(attempt: 1, since: early),
                 .pausing(attempt: 1, since: early), .pausing(attempt: 1, since: early)],
            why: "the resistor cools for its whole time"),
        Row(from: .closed,
            to: [.closed, .opening(since: now, .feedback), .closed, .opening(since: now, nil),
                 .checking(since: now), .closed, .closed, .closed],
            why: "a fault also waits for the current to end"),
        Row(from: .opening(since: early, nil),
            to: [.opening(since: early, nil), .opening(since: early, .feedback), .opening(since: early, nil),
                 .opening(since: early, nil), .checking(since: now), .opening(since: early, nil),
                 .opening(since: early, nil), .opening(since: early, nil)],
            why: "nobody changes his mind before it has opened"),
        Row(from: .opening(since: early, .feedback),
            to: [.opening(since: early, .feedback), .opening(since: early, .feedback), .opening(since: early, .feedback),
                 .opening(since: early, .feedback), .faulted(.feedback), .opening(since: early, .feedback),
                 .opening(since: early, .feedback), .opening(since: early, .feedback)],
            why: "the fault stands when it has opened; a reset before that is none"),
        Row(from: .checking(since: early),
            to: [.checking(since: early), .faulted(.feedback), .open, .checking(since: early), .checking(since: early),
                 .checking(since: early), .checking(since: early), .checking(since: early)],
            why: "nothing closes before the DC side was seen discharged"),
        Row(from: .welded, to: [.checking(since: now)] + stays(.welded).dropFirst(), why: "only a reset, and then the proof again"),
        Row(from: .faulted(.feedback), to: [.checking(since: now)] + stays(.faulted(.feedback)).dropFirst(),
            why: "only a reset, and then the proof"),
    ]

    // swift-format-ignore
    static let dueRows: [Row] = [
        Row(from: .proving(since: due),
            to: [.proving(since: due), .faulted(.feedback), .open, .unchecked, .unchecked,
                 .faulted(.notDischarged), .faulted(.notDischarged), .faulted(.notDischarged)],
            why: "its time is over, and the fault has a name"),
        Row(from: .precharging(attempt: 1, since: due),
            to: [.precharging(attempt: 1, since: due), .faulted(.feedback), .precharging(attempt: 1, since: due),
                 .checking(since: now), .checking(since: now), .pausing(attempt: 1, since: now), .closed,
                 .pausing(attempt: 1, since: now)],
            why: "its time is over: once more after a pause; charged in the last moment is charged"),
        Row(from: .precharging(attempt: 2, since: now),
            to: [.precharging(attempt: 2, since: now), .faulted(.feedback), .precharging(attempt: 2, since: now),
                 .checking(since: now), .checking(since: now), .faulted(.prechargeCurrent), .closed,
                 .precharging(attempt: 2, since: now)],
            why: "the last attempt ends in a fault"),
        Row(from: .pausing(attempt: 1, since: due),
            to: [.pausing(attempt: 1, since: due), .faulted(.feedback), .pausing(attempt: 1, since: due),
                 .checking(since: now), .checking(since: now), .precharging(attempt: 2, since: now),
                 .precharging(attempt: 2, since: now), .precharging(attempt: 2, since: now)],
            why: "cool again"),
        Row(from: .opening(since: due, nil),
            to: [.checking(since: now), .faulted(.feedback), .checking(since: now), .checking(since: now),
                 .checking(since: now), .checking(since: now), .checking(since: now), .checking(since: now)],
            why: "the bound opens it under load"),
        Row(from: .opening(since: due, .feedback), to: stays(.faulted(.feedback)), why: "the bound opens it under load"),
        Row(from: .checking(since: due),
            to: [.welded, .faulted(.feedback), .open, .welded, .welded, .welded, .welded, .welded],
            why: "the voltage did not fall; if it falls in the last moment it fell"),
    ]

    @Test(arguments: earlyRows)
    func `every pair of state and event leads where the table says`(row: Row) {
        Self.check(row, since: Self.early)
    }

    @Test(arguments: dueRows)
    func `every pair leads where the table says once the time is over`(row: Row) {
        Self.check(row, since: Self.due)
    }

    static func check(_ row: Row, since: MonotonicTime) {
        #expect(row.to.count == events.count)
        for (event, expected) in zip(events, row.to) {
            var sequence = machine(in: row.from, since: since)
            #expect(sequence.state == row.from, "the test's own way to the state")
            let output = sequence.handle(event, at: now)
            #expect(sequence.state == expected, "\(row.from) + \(event): \(row.why)")
            let isBound = { if case .opening = row.from { since == due } else { false } }()
            #expect(output.opensUnderLoad == (isBound && event != .openUnloaded), "\(row.from) + \(event)")
        }
    }

    // swift-format-ignore
    static let names: [(state: State, name: String, fault: String?)] = [
        (.unchecked, "unchecked", nil), (.proving(since: now), "proving", nil), (.open, "open", nil), (.closed, "closed", nil),
        (.precharging(attempt: 1, since: now), "precharging", nil),
        (.pausing(attempt: 1, since: now), "pausing", nil),
        (.opening(since: now, nil), "opening", nil), (.opening(since: now, .feedback), "opening", "feedback"),
        (.checking(since: now), "checking", nil), (.welded, "welded", "welded"),
        (.faulted(.prechargeVoltage), "faulted", "precharge_voltage"),
        (.faulted(.prechargeCurrent), "faulted", "precharge_current"),
        (.faulted(.formerRun), "faulted", "former_run"), (.faulted(.welded), "faulted", "welded"),
        (.faulted(.notDischarged), "faulted", "not_discharged"),
    ]

    @Test(arguments: names)
    func `a state and a fault have one name`(row: (state: State, name: String, fault: String?)) {
        #expect("\(row.state.name)" == row.name)
        let fault: ContactorSequence.Fault? =
            switch row.state {
            case .faulted(let fault): fault
            case .opening(_, let fault): fault
            case .welded: .welded
            case _: nil
            }
        #expect(fault.map { "\($0.name)" } == row.fault)
    }

    // swift-format-ignore
    static let bounds: [(from: State, event: Event, why: Comment)] = [
        (.precharging(attempt: 1, since: due), .close, "precharge"),
        (.pausing(attempt: 1, since: due),     .close, "pause"),
        (.opening(since: due, nil),            .open,  "opening under load"),
        (.checking(since: due),                .open,  "weld check"),
        (.proving(since: due),                 .close, "proof before the first closing"),
    ]

    @Test(arguments: bounds)
    func `a bound holds to the nanosecond, and a clock that goes back passes none`(
        row: (from: State, event: Event, why: Comment)
    ) {
        for offset in [Duration.nanoseconds(-1), .seconds(-5)] {
            var sequence = Self.machine(in: row.from, since: Self.due)
            _ = sequence.handle(row.event, at: Self.now + offset)
            #expect(sequence.state == row.from, row.why)
        }
    }
}
