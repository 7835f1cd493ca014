import JSONText

/// The signal-following of a site over a time, from the quarters of an hour that it has told: each part is a
/// mean by the seconds that were measured. Total: any bytes in, a mean or none out.
public struct ToldSignal: Sendable, Equatable {
    /// Who asked.
    public enum Source: String, Sendable, CaseIterable {
        /// The grid's control centre.
        case agc
        /// The level above.
        case aggregator
    }

    private struct Mean: Sendable, Equatable {
        var sum = 0.0
        var weight = 0.0
        var value: Double? { weight > 0 ? sum / weight : nil }

        mutating func add(_ value: Double?, _ weight: Double) {
            guard let value else { return }
            sum += value * weight
            self.weight += weight
        }
    }

    public private(set) var quarters = 0
    public private(set) var askedSeconds = 0.0
    public private(set) var measuredSeconds = 0.0
    private var correlations = Mean()
    private var delays = Mean()
    private var precisions = Mean()
    private let source: Source

    public init(_ source: Source) { self.source = source }

    /// All that it is made of, in the order that `init(_:sums:)` takes: quarters, seconds asked and measured,
    /// and sum and weight of each mean.
    public var sums: [Double] {
        [Double(quarters), askedSeconds, measuredSeconds]
            + [correlations, delays, precisions].flatMap { [$0.sum, $0.weight] }
    }

    /// Puts one together again; `nil` where these are no sums of one.
    public init?(_ source: Source, sums: [Double]) {
        guard sums.count == 9, sums.allSatisfy({ (0...1e15).contains($0) }) else { return nil }
        self.source = source
        (quarters, askedSeconds, measuredSeconds) = (Int(sums[0]), sums[1], sums[2])
        correlations = Mean(sum: sums[3], weight: sums[4])
        delays = Mean(sum: sums[5], weight: sums[6])
        precisions = Mean(sum: sums[7], weight: sums[8])
    }

    /// Takes the record of a quarter; one of another source, of a test, or not to be read, counts nowhere.
    public mutating func take(_ record: [UInt8]) {
        var numbers: [String: Double] = [:]
        var (name, isTest) = ("", false)
        do throws(JSONError) {
            var cursor = JSONCursor(record)
            try cursor.object { (key, cursor) throws(JSONError) in
                if key == "frequency" { isTest = true }
                if key == "source" { return name = try cursor.string() }
                let text = String(decoding: record[try cursor.skipValue()], as: UTF8.self)
                if let value = Double(text), value.isFinite, value.magnitude < 1e15 { numbers[key] = value }
            }
            try cursor.end()
        } catch { return }
        guard name == source.rawValue, !isTest, let asked = numbers["asked_s"],
            let measured = numbers["measured_s"], (0...900).contains(measured), measured <= asked,
            asked <= 900
        else { return }
        func share(_ key: String) -> Double? { numbers[key].map { min(1, max(0, $0)) } }
        quarters += 1
        askedSeconds += asked
        measuredSeconds += measured
        correlations.add(share("correlation"), measured)
        precisions.add(share("precision"), measured)
        delays.add(numbers["delay_s"].map { min(Double(SignalFollowing.longestDelay), max(0, $0)) }, measured)
    }

    /// Takes what another site was told, with its weight among the others.
    public mutating func add(_ other: ToldSignal, weight: Double) {
        quarters += other.quarters
        askedSeconds += other.askedSeconds
        measuredSeconds += other.measuredSeconds
        correlations.add(other.correlation, other.correlations.weight * weight)
        precisions.add(other.precision, other.precisions.weight * weight)
        delays.add(other.delaySeconds, other.delays.weight * weight)
    }

    /// 0 … 1; `nil` = no quarter had a signal that moved.
    public var correlation: Double? { correlations.value }
    /// In s.
    public var delaySeconds: Double? { delays.value }
    /// 0 … 1; `nil` = no quarter was long enough.
    public var precision: Double? { precisions.value }

    /// 100 · (correlation + delay's share of five minutes that is left + precision) ÷ 3; `nil` where one of
    /// the three is not judged.
    public var score: Double? {
        guard let correlation, let delaySeconds, let precision else { return nil }
        return 100 * (correlation + 1 - delaySeconds / Double(SignalFollowing.longestDelay) + precision) / 3
    }

    /// As the columns of `ToldSignal.columns`; `nil` = not judged.
    public var values: [Double?] {
        [askedSeconds, measuredSeconds, correlation, delaySeconds, precision, score]
    }

    /// What `values` are.
    public static let columns = ["asked_s", "measured_s", "correlation", "delay_s", "precision", "score"]
}
