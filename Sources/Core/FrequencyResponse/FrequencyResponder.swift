import Quantities

/// A response with its memory: where frequency stands, what the event has asked for so far, how fast power
/// may follow, and what is left when nobody measures frequency. The base point is not its business.
public struct FrequencyResponder: Sendable, BitwiseCopyable {
    /// Frequencies outside are taken for a broken measurement.
    public static let plausible = (low: Hertz(40), high: Hertz(70))

    public static func isPlausible(_ frequency: Hertz) -> Bool {
        frequency >= plausible.low && frequency <= plausible.high
    }

    /// What is there to respond with, and on what it comes.
    public struct Situation: Sendable, BitwiseCopyable {
        /// The nameplate, on which the slope stands.
        public var rated: Watts
        /// What may flow in total.
        public var bounds: PowerBounds
        /// Before the response; inside the bounds.
        public var base: Watts

        public init(rated: Watts, bounds: PowerBounds = .unlimited, base: Watts = .zero) {
            self.rated = rated
            self.bounds = bounds
            self.base = base
        }
    }

    /// Share of nameplate that counts as nothing, far below what any meter sees.
    private static let negligible = 1e-10

    private let curve: DroopCurve
    private let dynamics: ResponseDynamics
    private let hold: Duration
    private let ramp: WattsPerSecond
    private var region = DroopCurve.Region.inside
    /// When frequency left the deadband, and when it came back; the later of the two holds.
    private var leftAt = MonotonicTime(nanoseconds: 0)
    private var returnedAt = MonotonicTime(nanoseconds: 0)
    private var largest: Watts = .zero
    private var lag: FirstOrderLag
    private var lastSeen: MonotonicTime?
    /// A frequency is there again after the response had begun to fade: it comes back as it went.
    private var isReturning = false

    /// What is added to the base: after dynamics, inside the bounds at the time of asking.
    public private(set) var response: Watts = .zero
    /// What the bounds leave out of what the curve asks for.
    private var shortfall: Watts = .zero
    /// The frequency asks for power now, by the last word that was heard of it. A response that only goes
    /// back to nothing on a grid that is well again is asked for by nobody.
    public private(set) var isAsked = false

    /// What the frequency asks for, after dynamics, whatever may flow.
    public var wanted: Watts { response + shortfall }

    /// - Parameters:
    ///   - hold: longest use of the last response without a frequency.
    ///   - ramp: how fast the response then goes to zero where the dynamics have no ramp.
    public init(
        curve: DroopCurve, dynamics: ResponseDynamics = ResponseDynamics(), hold: Duration,
        ramp: WattsPerSecond
    ) {
        self.curve = curve
        self.dynamics = dynamics
        self.hold = hold
        self.ramp = ramp
        lag = FirstOrderLag(openLoopTime: dynamics.openLoopTime)
    }

    /// Whether an event goes on with `frequency`: outside the deadband, or the response not yet back to
    /// nothing. `nil` where there is no measurement.
    public func isEvent(at frequency: Hertz?) -> Bool {
        guard wanted == .zero else { return true }
        guard let frequency, Self.isPlausible(frequency) else { return region != .inside }
        return curve.region(at: frequency, after: region) != .inside
    }

    /// The response now. `frequency` is `nil` where no fresh and plausible measurement exists.
    public mutating func respond(
        to frequency: Hertz?, rated: Watts, at now: MonotonicTime, after elapsed: Duration
    ) -> Watts {
        respond(to: frequency, in: Situation(rated: rated), at: now, after: elapsed)
    }

    /// The response now, as far as it fits on top of the base.
    public mutating func respond(
        to frequency: Hertz?, in situation: Situation, at now: MonotonicTime, after elapsed: Duration
    ) -> Watts {
        guard let frequency, Self.isPlausible(frequency) else {
            fade(situation.rated, at: now, after: elapsed)
            return response
        }
        lastSeen = now
        notice(frequency, at: now)
        let asked = demand(frequency, situation.rated, at: now)
        isAsked = asked != .zero
        let goal = situation.bounds.allowed(asked, on: situation.base)
        shortfall = asked - goal
        follow(goal, situation.rated, after: elapsed)
        return response
    }

    private mutating func notice(_ frequency: Hertz, at now: MonotonicTime) {
        let next = curve.region(at: frequency, after: region)
        if region == .inside, next != .inside { leftAt = now }
        if region != .inside, next == .inside { returnedAt = now }
        region = next
    }

    /// What the curve asks for, after the initiation delay and with the hold.
    private mutating func demand(_ frequency: Hertz, _ rated: Watts, at now: MonotonicTime) -> Watts {
        var power = curve.power(at: frequency, rated: rated, in: region)
        let isWaiting = region != .inside && now - leftAt < dynamics.initiationDelay
        if isWaiting { power = .zero }
        guard dynamics.hold > .zero else { return power }
        let isSameSide = power.value * largest.value >= 0
        let isHeld = isSameSide && largest.magnitude > power.magnitude
        let isOver = region == .inside && now - returnedAt >= dynamics.hold
        largest = isHeld && !isOver ? largest : power
        return largest
    }

    private mutating func follow(_ goal: Watts, _ rated: Watts, after elapsed: Duration) {
        let lagged = lag.follow(goal, after: elapsed)
        let isRecovering = region == .inside && lagged.magnitude < response.magnitude
        var time = dynamics.fullActivation
        if isRecovering && dynamics.recovery > .zero { time = dynamics.recovery }
        let step = rampStep(time, rated, elapsed)
        let next = step.map { lagged.clamped(response - $0, response + $0) } ?? lagged
        let back = fadeStep(rated, elapsed)
        response = isReturning ? next.clamped(response - back, response + back) : next
        if response == next { isReturning = false }
        // A lag never arrives: the event would have no end.
        if goal == .zero, response.magnitude <= rated * Self.negligible {
            response = .zero
            lag.restart(from: .zero)
        }
    }

    /// `nil` = no limit.
    private func rampStep(_ whole: Duration, _ rated: Watts, _ elapsed: Duration) -> Watts? {
        whole > .zero ? rated * (elapsed.seconds / whole.seconds) : nil
    }

    /// How far it goes in one cycle when the frequency is lost, and when it is back.
    private func fadeStep(_ rated: Watts, _ elapsed: Duration) -> Watts {
        rampStep(dynamics.fullActivation, rated, elapsed) ?? ramp * elapsed
    }

    /// Nobody measures: the last response for its time, then to zero.
    private mutating func fade(_ rated: Watts, at now: MonotonicTime, after elapsed: Duration) {
        if let lastSeen, now - lastSeen <= hold { return }
        isReturning = lastSeen != nil
        let step = fadeStep(rated, elapsed)
        response =
            response.magnitude <= step ? .zero : (response > .zero ? response - step : response + step)
        shortfall = .zero
        largest = response
        lag.restart(from: response)
    }
}
