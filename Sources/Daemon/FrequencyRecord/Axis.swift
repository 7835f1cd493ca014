/// A linear axis with round ticks.
struct Axis: Equatable {
    let low: Double
    let high: Double
    let ticks: [Double]
    private let decimals: Int

    /// - Parameters:
    ///   - ticks: about so many.
    ///   - isTight: the axis ends at the outermost value, not at a tick.
    init(over values: [Double], ticks wanted: Int, isTight: Bool) {
        let finite = values.filter(\.isFinite)
        var low = finite.min() ?? 0
        var high = finite.max() ?? 1
        // Flat curves need some height; beyond this the digits of a Double end.
        let least = max(1e-3, max(low.magnitude, high.magnitude) * 1e-6)
        if high - low < least {
            low -= least / 2
            high += least / 2
        }
        var step = 1e-9
        var factors = [2.0, 2.5, 2.0]
        while step * Double(wanted) < high - low {
            step *= factors[0]
            factors = Array(factors.dropFirst()) + [factors[0]]
        }
        var first = (low / step).rounded(.down)
        var last = (high / step).rounded(.up)
        if isTight {
            first = (low / step).rounded(.up)
            last = (high / step).rounded(.down)
        }
        self.low = isTight ? low : first * step
        self.high = isTight ? high : last * step
        ticks = last < first ? [] : (0...min(100, Int(last - first))).map { (first + Double($0)) * step }
        var decimals = 0
        var unit = step
        while unit < 0.999_999, decimals < 9 {
            unit *= 10
            decimals += 1
        }
        self.decimals = decimals
    }

    /// 0 at the low end, 1 at the high end.
    func share(_ value: Double) -> Double { (value - low) / (high - low) }

    func text(_ tick: Double) -> String { Words.fixed(tick, decimals) }
}
