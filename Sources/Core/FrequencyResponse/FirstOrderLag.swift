import Quantities

/// A first-order lag that is exact for an input of straight lines between its samples.
///
/// A step is 90 % done after the open-loop response time: y = y₁ + (y₀ − y₁)·10^(−t/Tr).
///
/// - Source: IEEE 1547-2018 (open-loop response time), IEEE 1547.1-2020 for the form of the answer.
public struct FirstOrderLag: Sendable, BitwiseCopyable, Equatable {
    private let openLoopTime: Duration
    public private(set) var value: Watts = .zero
    private var input: Watts = .zero

    /// - Parameter openLoopTime: to 90 % of a step; zero = no lag.
    public init(openLoopTime: Duration) { self.openLoopTime = openLoopTime }

    /// Moves on by `elapsed`, in which the input went in a straight line from its last value to `input`.
    public mutating func follow(_ input: Watts, after elapsed: Duration) -> Watts {
        defer { self.input = input }
        guard openLoopTime > .zero else {
            value = input
            return value
        }
        let x = elapsed.seconds / openLoopTime.seconds * Self.logarithmOfTen
        let mean = Self.meanDecay(x)
        let decay = 1 - x * mean
        value = input + (value - self.input) * decay - (input - self.input) * mean
        return value
    }

    /// Starts again from `value`, at rest.
    public mutating func restart(from value: Watts) {
        self.value = value
        input = value
    }

    private static let logarithmOfTen = 2.302_585_092_994_046

    /// The mean of e^(−s) over 0 … x, that is (1 − e^(−x)) / x; without libm, whose bits differ from machine
    /// to machine.
    static func meanDecay(_ x: Double) -> Double {
        if x > 40 { return 1 / x }
        // The series converges fast below a quarter; every halving of x is undone by one step of
        // m(2x) = m(x)·(1 + e^(−x))/2.
        var part = x
        var halvings = 0
        while part > 0.25 {
            part /= 2
            halvings += 1
        }
        var term = 1.0
        var mean = 1.0
        for index in 2...14 {
            term *= -part / Double(index)
            mean += term
        }
        for _ in 0..<halvings {
            mean *= 1 - part * mean / 2
            part *= 2
        }
        return mean
    }
}
