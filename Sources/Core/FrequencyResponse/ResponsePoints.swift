import Quantities

/// A response as points: the share of the contracted power at a deviation from nominal frequency, with
/// straight lines between and the last share held beyond the ends.
public struct ResponsePoints: Sendable, BitwiseCopyable, Equatable {
    public static let capacity = 8

    public private(set) var count = 0
    private var deviations: InlineArray<8, Int> = InlineArray(repeating: 0)
    private var shares: InlineArray<8, Double> = InlineArray(repeating: 0)

    /// No response at all.
    public init() {}

    /// Adds a point above all former ones.
    ///
    /// - Parameters:
    ///   - deviation: from nominal, in whole millihertz; rising from point to point.
    ///   - share: of the contracted power; positive = inject; never rising from point to point.
    /// - Returns: `false` where the point is refused: full, out of order or not finite.
    public mutating func append(deviation: Int, share: Double) -> Bool {
        guard count < Self.capacity, share.isFinite else { return false }
        if count > 0 {
            guard deviation > deviations[count - 1], share <= shares[count - 1] else { return false }
        }
        deviations[count] = deviation
        shares[count] = share
        count += 1
        return true
    }

    /// The same shape below and above nominal: zero inside the edge.
    ///
    /// - Parameter knee: deviation and share between the edge and full power; `nil` = one straight line.
    public static func symmetric(
        edge: Int, knee: (deviation: Int, share: Double)? = nil, full: Int
    ) -> ResponsePoints {
        var points = ResponsePoints()
        var isInOrder = points.append(deviation: -full, share: 1)
        if let knee { isInOrder = points.append(deviation: -knee.deviation, share: knee.share) && isInOrder }
        isInOrder = points.append(deviation: -edge, share: 0) && isInOrder
        if edge > 0 { isInOrder = points.append(deviation: edge, share: 0) && isInOrder }
        if let knee { isInOrder = points.append(deviation: knee.deviation, share: -knee.share) && isInOrder }
        isInOrder = points.append(deviation: full, share: -1) && isInOrder
        precondition(isInOrder)
        return points
    }

    private static let tolerance = 1e-6

    /// One of the points, from 0.
    public func point(_ index: Int) -> (deviation: Int, share: Double) {
        (deviations[index], shares[index])
    }

    /// The share at a deviation in millihertz.
    public func share(at deviation: Double) -> Double {
        guard count > 0 else { return 0 }
        if deviation <= Double(deviations[0]) { return shares[0] }
        for index in 1..<count where deviation <= Double(deviations[index]) + Self.tolerance {
            let (low, high) = (Double(deviations[index - 1]), Double(deviations[index]))
            // On the point whatever its binary form: an edge belongs to the inside.
            if high - deviation <= Self.tolerance { return shares[index] }
            if deviation - low <= Self.tolerance { return shares[index - 1] }
            let part = (deviation - low) / (high - low)
            return shares[index - 1] + (shares[index] - shares[index - 1]) * part
        }
        return shares[count - 1]
    }

    public static func == (a: ResponsePoints, b: ResponsePoints) -> Bool {
        guard a.count == b.count else { return false }
        for index in 0..<a.count {
            guard a.deviations[index] == b.deviations[index], a.shares[index] == b.shares[index] else {
                return false
            }
        }
        return true
    }
}
