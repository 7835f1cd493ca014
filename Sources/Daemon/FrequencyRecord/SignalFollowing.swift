/// How a site has followed a power that somebody outside asks for, by quarters of an hour: one sample a
/// second, and correlation, delay and precision from them. The parts are those by which PJM judges regulation
/// (manual 12, section 4.5.6), over a quarter instead of an hour; ours, not a market operator's number.
public struct SignalFollowing: Sendable {
    /// In ms; begins at multiples of it since 1970.
    public static let length: Int64 = 900_000
    /// The longest delay that is looked for, in s; it gives no point any more.
    static let longestDelay = 300
    /// A signal that moves by less says nothing of correlation and delay: a share of the rating, as its
    /// standard deviation.
    static let leastMove = 0.01
    /// Below so many seconds nothing is judged.
    static let leastSamples = 60

    /// Of the quarter's begin, ms since 1970 UTC.
    public let from: Int64
    /// In kW, by the second of the quarter; `nil` = nothing was asked for.
    private var asked: [Double?]
    /// In kW; `nil` = nobody measured it.
    private var given: [Double?]
    private let rating: Double

    /// - Parameters:
    ///   - time: any instant of the quarter, ms since 1970 UTC.
    ///   - rating: of the site, kW.
    public init(at time: Int64, rating: Double) {
        from = time / Self.length * Self.length
        self.rating = rating
        asked = Array(repeating: nil, count: Int(Self.length / 1_000))
        given = asked
    }

    /// Whether an instant belongs to this quarter.
    public func holds(_ time: Int64) -> Bool { time >= from && time < from + Self.length }

    /// Takes what was asked for and what was given beside everything else, in kW; of one second the last.
    public mutating func take(asked: Double, given: Double?, at time: Int64) {
        guard holds(time) else { return }
        let second = Int((time - from) / 1_000)
        self.asked[second] = asked
        self.given[second] = given
    }

    /// What became of it.
    public var quarter: SignalQuarter {
        let pairs = zip(asked, given).compactMap { asked, given in
            asked.flatMap { asked in given.map { (asked: asked, given: $0) } }
        }
        var quarter = SignalQuarter(
            from: from, askedSeconds: asked.count { $0 != nil }, measuredSeconds: pairs.count)
        guard pairs.count >= Self.leastSamples, rating > 0 else { return quarter }
        let count = Double(pairs.count)
        let error = pairs.reduce(0) { $0 + abs($1.given - $1.asked) } / count
        let size = pairs.reduce(0) { $0 + abs($1.asked) } / count
        quarter.precision = 1 - min(1, error / max(size, 0.02 * rating))
        let mean = pairs.reduce(0) { $0 + $1.asked } / count
        let variance = pairs.reduce(0) { $0 + ($1.asked - mean) * ($1.asked - mean) } / count
        guard variance.squareRoot() >= Self.leastMove * rating else { return quarter }
        let best = bestDelay()
        quarter.correlation = best.map { max(0, $0.correlation) }
        quarter.delay = best?.seconds
        return quarter
    }

    /// The delay at which what was given looks most like the signal; of equals the shortest.
    private func bestDelay() -> (seconds: Int, correlation: Double)? {
        var best: (seconds: Int, correlation: Double)?
        for delay in 0...Self.longestDelay {
            guard let found = correlation(after: delay) else { continue }
            if found > (best?.correlation ?? -.infinity) + 1e-9 { best = (delay, found) }
        }
        return best
    }

    /// Pearson's, of the signal and what was given so many seconds later; `nil` where too little is known, or
    /// one of the two does not move.
    private func correlation(after delay: Int) -> Double? {
        var (count, sumA, sumG, sumAA, sumGG, sumAG) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for second in 0..<(asked.count - delay) {
            guard let signal = asked[second], let power = given[second + delay] else { continue }
            count += 1
            sumA += signal
            sumG += power
            sumAA += signal * signal
            sumGG += power * power
            sumAG += signal * power
        }
        guard count >= Double(Self.leastSamples) else { return nil }
        let (spreadA, spreadG) = (sumAA - sumA * sumA / count, sumGG - sumG * sumG / count)
        let least = count * 1e-6 * rating * rating
        guard spreadA > least, spreadG > least else { return nil }
        return (sumAG - sumA * sumG / count) / (spreadA * spreadG).squareRoot()
    }
}

/// A quarter of an hour in which a site was asked for a power from outside.
public struct SignalQuarter: Sendable, Equatable {
    /// Ms since 1970 UTC.
    public var from: Int64
    /// Seconds in which something was asked for, and those of them in which the power was measured.
    public var askedSeconds: Int
    public var measuredSeconds: Int
    /// 0 … 1; `nil` = not judged: too short, or a signal that stands still.
    public var correlation: Double?
    /// In s.
    public var delay: Int?
    /// 1 − mean error ÷ mean magnitude of the signal (2 % of the rating at least), 0 … 1; `nil` = too short.
    public var precision: Double?

    /// Members of a JSON object.
    public var members: String {
        "\"from_ms\":\(from),\"asked_s\":\(askedSeconds),\"measured_s\":\(measuredSeconds)"
            + ",\"correlation\":\(Words.number(correlation, 6)),\"delay_s\":\(delay.map(String.init) ?? "null")"
            + ",\"precision\":\(Words.number(precision, 6))"
    }
}
