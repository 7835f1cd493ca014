import Quantities

/// Droop with a memory for the moments when nobody measures frequency: the last response is held for a short
/// time and then ramps to zero. The base point is not its business.
public struct FrequencyResponder: Sendable, BitwiseCopyable {
    /// Frequencies outside are taken for a broken measurement.
    public static let plausible = (low: Hertz(40), high: Hertz(70))

    public static func isPlausible(_ frequency: Hertz) -> Bool {
        frequency >= plausible.low && frequency <= plausible.high
    }

    private let curve: DroopCurve
    private let hold: Duration
    private let ramp: WattsPerSecond
    private var response: Watts = .zero
    private var lastSeen: MonotonicTime?

    /// - Parameters:
    ///   - hold: longest use of the last response without a frequency.
    ///   - ramp: how fast the response then goes to zero.
    public init(curve: DroopCurve, hold: Duration, ramp: WattsPerSecond) {
        self.curve = curve
        self.hold = hold
        self.ramp = ramp
    }

    /// The response now. `frequency` is `nil` where no fresh and plausible measurement exists.
    public mutating func respond(
        to frequency: Hertz?, rated: Watts, at now: MonotonicTime, after elapsed: Duration
    ) -> Watts {
        if let frequency, Self.isPlausible(frequency) {
            lastSeen = now
            response = curve.power(at: frequency, rated: rated)
            return response
        }
        guard let lastSeen, now - lastSeen <= hold else {
            let step = ramp * elapsed
            response =
                response.magnitude <= step ? .zero : (response > .zero ? response - step : response + step)
            return response
        }
        return response
    }
}
