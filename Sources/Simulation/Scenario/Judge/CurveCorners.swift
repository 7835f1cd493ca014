import FrequencyResponse
import Quantities

extension DroopCurve {
    /// The frequencies at which the curve bends or jumps, with the inner edges of a hysteresis.
    var corners: [Hertz] {
        var millihertz: [Double] = []
        var hysteresis = 0.0
        switch shape {
        case .subtracted, .renormalised: break
        case .stepped(let width): hysteresis = Double(width)
        case .points(let points):
            for index in 0..<points.count {
                millihertz.append(nominal.value * 1_000 + Double(points.point(index).deviation))
            }
        }
        if let under {
            millihertz += [Double(under.edgeMillihertz), Double(under.edgeMillihertz) + hysteresis]
        }
        if let over { millihertz += [Double(over.edgeMillihertz), Double(over.edgeMillihertz) - hysteresis] }
        return millihertz.map { Hertz($0 / 1_000) }
    }
}
