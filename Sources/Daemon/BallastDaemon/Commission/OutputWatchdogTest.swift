import ModbusBus
import Plant
import Quantities

/// Proves that an I/O module drops its outputs by itself when we fall silent: the unit's power goes to zero,
/// then the module hears nothing at all for a little longer than its watchdog, and only then its coils are
/// looked at. The unit trips meanwhile, since nobody sees its emergency stop: that is as it should be. A
/// value type; who looks on carries out what it says.
struct OutputWatchdogTest: Equatable {
    struct Plan: Equatable {
        var unit: Int
        var rating: Watts
        /// As it is set in the module.
        var watchdog: Duration
        /// From a setpoint to its power, and from full power to zero over the site's ramp.
        var response: Duration
        var ramp: Duration

        var floor: Watts { rating * 0.02 }
        /// A module's clock is no instrument; one poll may lie between.
        var silence: Duration { watchdog + max(.milliseconds(200), .nanoseconds(watchdog.nanoseconds / 5)) }
        var longest: Duration { ramp + response + silence + .seconds(25) }
    }

    struct Sight {
        var isRunning: Bool
        var setpoint: Watts
        /// `nil` where it is not fresh.
        var power: Watts?
        var latched: InterlockSet
        var outcome: ModbusHush.Outcome?
    }

    enum Failure: Equatable {
        case notRunning
        case keepsPower
        /// Something else than the silence wanted the outputs off.
        case tripped
        case unreadable
        case nothingOn
        /// These still stood, bit 0 = the lowest coil.
        case stayed(UInt64, after: Duration)
    }

    enum Output: Equatable {
        case wait
        /// From now on the module hears nothing.
        case beSilent(Duration)
        case proven(within: Duration)
        case failed(Failure)
    }

    private enum State: Equatable { case lowering(until: MonotonicTime), silent(until: MonotonicTime) }

    let plan: Plan
    private var state: State
    /// What follows from the silence itself.
    private static let expected = InterlockSet(.lostInputs).union(
        InterlockSet(.contactorFeedback))

    init(_ plan: Plan, at now: MonotonicTime) {
        self.plan = plan
        state = .lowering(until: now + plan.ramp + plan.response + .seconds(10))
    }

    mutating func look(_ sight: Sight, at now: MonotonicTime) -> Output {
        switch state {
        case .lowering(let limit):
            guard sight.isRunning else { return .failed(.notRunning) }
            if sight.setpoint == .zero, let power = sight.power, power.magnitude <= plan.floor {
                state = .silent(until: now + plan.silence + .seconds(5))
                return .beSilent(plan.silence)
            }
            return now > limit ? .failed(.keepsPower) : .wait
        case .silent(let limit):
            guard sight.latched.subtracting(Self.expected).isEmpty else { return .failed(.tripped) }
            switch sight.outcome {
            case nil: return now > limit ? .failed(.unreadable) : .wait
            case .unreadable: return .failed(.unreadable)
            case .looked(0, _, _): return .failed(.nothingOn)
            case .looked(_, 0, let time): return .proven(within: time)
            case .looked(_, let after, let time): return .failed(.stayed(after, after: time))
            }
        }
    }
}

extension OutputWatchdogTest.Failure {
    var text: String {
        switch self {
        case .notRunning: "the unit left service before its module fell silent"
        case .keepsPower: "the unit does not come to zero power"
        case .tripped: "something else tripped the unit meanwhile: nothing is proven"
        case .unreadable: "its coils cannot be read"
        case .nothingOn: "none of its coils was on: nothing could fall"
        case .stayed(let levels, let time):
            "its coils \(String(levels, radix: 2)) (the lowest address last) still stand after"
                + " \(ReversionBook.seconds(time)) s of silence: is the watchdog set in the module?"
        }
    }
}
