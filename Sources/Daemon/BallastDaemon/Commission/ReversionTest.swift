import Quantities

/// Proves that an inverter goes to zero power by itself when we fall silent: first it is given a power of its
/// own, then no setpoint any more, and its measured power is watched. A value type; who looks on carries out
/// what it says.
struct ReversionTest: Equatable {
    /// What there is to know about the device.
    struct Plan: Equatable {
        var unit: Int
        /// What it is given first.
        var power: Watts
        var rating: Watts
        /// As it is set in the device.
        var reversion: Duration
        /// From a setpoint to its power.
        var response: Duration
        /// From zero to `power` over the site's ramp.
        var ramp: Duration

        /// Below this it counts as zero, as for a stop.
        var floor: Watts { rating * 0.02 }
        /// The longest that the whole test may take.
        var longest: Duration { ramp + response + reversion + response + .seconds(25) }
    }

    /// What is seen of the unit now.
    struct Sight {
        var isRunning: Bool
        var setpoint: Watts
        /// With the instant of the sample; `nil` where it is not fresh.
        var power: (value: Watts, at: MonotonicTime)?
        var isBroken: Bool
        var lastWrite: MonotonicTime?
    }

    enum Failure: Equatable {
        case notRunning
        /// The power that was asked for did not arrive.
        case noPower
        /// A setpoint of another value had to be written.
        case disturbed
        case notMeasured
        /// Still so much after that time.
        case keptPower(Watts, after: Duration)
        case cameBack(Watts)
    }

    enum Output: Equatable {
        case wait
        /// From now on no setpoint is repeated.
        case beSilent
        case proven(after: Duration, power: Watts)
        case failed(Failure)
    }

    private enum State: Equatable {
        case raising(until: MonotonicTime)
        case silent(from: MonotonicTime)
        case staying(lastWrite: MonotonicTime, zeroAt: MonotonicTime)
    }

    /// How long it must stay at zero.
    private static let stay = Duration.milliseconds(500)
    /// For the sample's way and our own look at it.
    private static let allowance = Duration.seconds(1)
    let plan: Plan
    private var state: State

    init(_ plan: Plan, at now: MonotonicTime) {
        self.plan = plan
        state = .raising(until: now + plan.ramp + plan.response + .seconds(10))
    }

    mutating func look(_ sight: Sight, at now: MonotonicTime) -> Output {
        guard sight.isRunning else { return .failed(.notRunning) }
        if sight.isBroken { return .failed(.disturbed) }
        switch state {
        case .raising(let limit): return raise(sight, until: limit, now)
        case .silent(let start): return listen(sight, from: start, now)
        case .staying(let lastWrite, let zeroAt):
            guard let power = sight.power else { return .failed(.notMeasured) }
            if power.value.magnitude > plan.floor { return .failed(.cameBack(power.value)) }
            guard power.at - zeroAt >= Self.stay else { return .wait }
            return .proven(after: zeroAt - lastWrite, power: power.value)
        }
    }

    private mutating func raise(_ sight: Sight, until limit: MonotonicTime, _ now: MonotonicTime) -> Output {
        let isThere = sight.power.map { ($0.value - plan.power).magnitude <= plan.rating * 0.03 } ?? false
        if sight.setpoint == plan.power, isThere {
            state = .silent(from: now)
            return .beSilent
        }
        return now > limit ? .failed(.noPower) : .wait
    }

    private mutating func listen(_ sight: Sight, from start: MonotonicTime, _ now: MonotonicTime) -> Output {
        guard let lastWrite = sight.lastWrite else {
            return now - start > .seconds(5) ? .failed(.disturbed) : .wait
        }
        if let power = sight.power, power.at > lastWrite, power.value.magnitude <= plan.floor {
            state = .staying(lastWrite: lastWrite, zeroAt: power.at)
            return .wait
        }
        guard now - lastWrite > plan.reversion + plan.response + Self.allowance else { return .wait }
        guard let power = sight.power else { return .failed(.notMeasured) }
        return .failed(.keptPower(power.value, after: now - lastWrite))
    }
}

extension ReversionTest.Failure {
    var text: String {
        switch self {
        case .notRunning: "the unit left service"
        case .noPower: "the power that was asked for did not arrive; is the battery full, empty or derated?"
        case .disturbed: "another setpoint had to be written meanwhile: nothing is proven"
        case .notMeasured: "its power cannot be measured"
        case .keptPower(let power, let time):
            "it still has \(Names.rounded(power.kilowatts)) kW after \(ReversionBook.seconds(time)) s of silence"
        case .cameBack(let power): "it came back to \(Names.rounded(power.kilowatts)) kW"
        }
    }
}
