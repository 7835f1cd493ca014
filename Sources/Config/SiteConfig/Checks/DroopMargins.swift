import FrequencyResponse
import Quantities

/// How far a droop is from hunting with the grid that it supports: the loop of curve, delay, inverter and the
/// grid's inertia, in small signals.
///
/// Deadband, steps and rate limits are not in it: a loop inside a deadband is open, and what limits the rate
/// is judged by simulation (`grid` in a scenario).
public struct DroopMargins: Sendable, Equatable {
    /// A grid as seen from the site, all on the grid's own power.
    public struct Grid: Sendable, Equatable {
        /// H, s.
        public var inertia: Double
        /// Change of load per change of frequency, per unit.
        public var damping: Double
        /// The site's power as a share of all that runs.
        public var share: Double

        public init(inertia: Double = 3, damping: Double = 1, share: Double = 0.1) {
            self.inertia = inertia
            self.damping = damping
            self.share = share
        }
    }

    /// Per unit of power for one per unit of frequency, at its steepest.
    public var gain: Double
    /// From a change of frequency to the setpoint's arrival: measured, held, decided, written.
    public var delay: Duration
    /// Time constants of what follows: the curve's own answer, the inverter.
    public var lags: [Duration]

    public init(gain: Double, delay: Duration, lags: [Duration]) {
        self.gain = gain
        self.delay = delay
        self.lags = lags
    }

    /// `nil` where the curve answers nothing.
    ///
    /// - Parameters:
    ///   - measuring: the window over which the source measures and how long its value is held.
    ///   - write: from the decision to its arrival at the inverter.
    ///   - response: from there to 90 % of a step.
    public init?(
        _ curve: DroopCurve, _ dynamics: ResponseDynamics, measuring: Duration, period: Duration,
        write: Duration, response: Duration
    ) {
        let gain = Self.steepest(curve)
        guard gain > 0 else { return nil }
        // A first-order answer has done 90 % of a step after 2.3 time constants.
        func lag(_ ninety: Duration) -> Duration { ninety * 10 / 23 }
        self.init(
            gain: gain,
            // A value is held for a period, which delays by half of one; the decision takes another.
            delay: measuring + period * 3 / 2 + write + dynamics.initiationDelay,
            lags: [lag(dynamics.openLoopTime), lag(response)].filter { $0 > .zero })
    }

    private static func steepest(_ curve: DroopCurve) -> Double {
        guard case .points(let points) = curve.shape else {
            let sides = [curve.under, curve.over].compactMap { $0 }
            return sides.map { 1 / $0.droop.value }.max() ?? 0
        }
        let nominal = curve.nominal.value * 1_000
        var steepest = 0.0
        for index in 1..<Swift.max(1, points.count) {
            let (low, high) = (points.point(index - 1), points.point(index))
            let wide = Double(high.deviation - low.deviation)
            if wide > 0 { steepest = max(steepest, (high.share - low.share).magnitude / wide * nominal) }
        }
        return steepest
    }

    // MARK: Margins

    /// What is demanded: 6 dB and 45°.
    public static let gainMargin = 2.0
    public static let phaseMarginCosine = 0.707_106_8

    /// Whether gain and phase margin are kept on a grid.
    public func hold(on grid: Grid) -> Bool {
        var before = loop(at: 0.001, grid)
        if before.magnitude < 1 / Self.gainMargin { return true }
        var frequency = 0.001
        while frequency < 1_000 {
            frequency *= 1.005
            let now = loop(at: frequency, grid)
            // Through the gain of one: its angle from −180° is the phase margin.
            let isThroughOne = before.magnitude >= 1 && now.magnitude < 1
            if isThroughOne, -now.real / now.magnitude > Self.phaseMarginCosine { return false }
            // Through −180°: what is missing to one there is the gain margin.
            let isTurned = before.imaginary < 0 && now.imaginary >= 0 && now.real < 0
            if isTurned, now.magnitude * Self.gainMargin > 1 { return false }
            before = now
        }
        return before.magnitude < 1
    }

    /// The largest share of a grid's running power at which both margins are kept; `nil` = not even 0.1 %.
    public func shareMax(inertia: Double = Grid().inertia, damping: Double = Grid().damping) -> Double? {
        func holds(_ share: Double) -> Bool {
            hold(on: Grid(inertia: inertia, damping: damping, share: share))
        }
        if holds(1) { return 1 }
        guard holds(0.001) else { return nil }
        var (low, high) = (0.001, 1.0)
        for _ in 0..<20 {
            let middle = (low + high) / 2
            if holds(middle) { low = middle } else { high = middle }
        }
        return low
    }

    /// The open loop at an angular frequency, rad/s.
    private func loop(at frequency: Double, _ grid: Grid) -> Complex {
        let swing = Complex(grid.damping, 2 * grid.inertia * frequency)
        var loop = Complex(gain * grid.share, 0) / swing
        for lag in lags { loop = loop / Complex(1, frequency * lag.seconds) }
        return loop * Self.delay(frequency * delay.seconds)
    }

    /// e^(−jx), by halves small enough for a rational form that is exact in magnitude.
    private static func delay(_ x: Double) -> Complex {
        var parts = 0
        var part = x
        while part > 0.5 {
            part /= 2
            parts += 1
        }
        let even = 1 - part * part / 12
        var result = Complex(even, -part / 2) / Complex(even, part / 2)
        for _ in 0..<parts { result = result * result }
        return result
    }
}

private struct Complex {
    var real: Double
    var imaginary: Double

    init(_ real: Double, _ imaginary: Double) {
        self.real = real
        self.imaginary = imaginary
    }

    var magnitude: Double { (real * real + imaginary * imaginary).squareRoot() }

    static func * (a: Complex, b: Complex) -> Complex {
        Complex(
            a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real)
    }

    static func / (a: Complex, b: Complex) -> Complex {
        let square = b.real * b.real + b.imaginary * b.imaginary
        return Complex(
            (a.real * b.real + a.imaginary * b.imaginary) / square,
            (a.imaginary * b.real - a.real * b.imaginary) / square)
    }
}
