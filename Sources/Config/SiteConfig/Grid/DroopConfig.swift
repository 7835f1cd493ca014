import FrequencyResponse
import Quantities

/// What the site answers to the grid's frequency.
public struct DroopConfig: Sendable, Equatable {
    /// Where the numbers come from; `nil` = from the file alone.
    public var preset: GridCode?
    public var curve: DroopCurve
    public var service: ServiceSettings

    /// The lower edge of the deadband; belongs to the inside. Nominal where there is no response below.
    public var deadbandLow: Hertz { edge(curve.under, of: { $0 <= 0 }) { $0.max() } }

    /// The upper edge of the deadband; belongs to the inside. Nominal where there is no response above.
    public var deadbandHigh: Hertz { edge(curve.over, of: { $0 >= 0 }) { $0.min() } }

    /// Share of nominal frequency that asks for full power, for example 5 %; `nil` for a service by points.
    public var droop: Fraction? { curve.under?.droop ?? curve.over?.droop }

    private func edge(
        _ side: DroopCurve.Side?, of isOnSide: (Int) -> Bool, _ nearest: ([Int]) -> Int?
    ) -> Hertz {
        // Divided, so that the edge is the same double as 49.97 in a file.
        if let side { return Hertz(Double(side.edgeMillihertz) / 1_000) }
        guard case .points(let points) = curve.shape else { return curve.nominal }
        let edges = (0..<points.count).map { points.point($0) }.filter {
            isOnSide($0.deviation) && $0.share == 0
        }
        .map(\.deviation)
        return Hertz((curve.nominal.value * 1_000 + Double(nearest(edges) ?? 0)) / 1_000)
    }
}

extension GridCode {
    public static var all: [GridCode] { (0..<count).compactMap { GridCode(rawValue: $0) } }

    /// The word in the site's configuration.
    public var name: String { "\(preset.name)" }
}
