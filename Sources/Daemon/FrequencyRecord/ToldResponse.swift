import JSONText

/// What was not as the grid code asks, with where its evidence is.
public struct ResponseViolation: Sendable, Equatable {
    /// What the grid code asks of primary response.
    public enum Rule: String, Sendable, CaseIterable {
        /// 90 % of an event's peak within the time for full response.
        case fullResponse = "full_response"
        /// Held for its time, to 5 % of the rating.
        case held
        /// Something is given at a steady deviation beyond the code's deadband.
        case deadband
        /// What is given at a steady deviation lies between the flattest and the steepest droop.
        case droop
        /// Enough is given while the frequency is outside the grid's operating band.
        case operatingBand = "operating_band"
    }

    public var rule: Rule
    /// The event's begin, `t_ms` of its record, or that of the quarter of an hour, its `from_ms`; ms since
    /// 1970 UTC.
    public var eventMilliseconds: Int64
    /// 0 … 1 of what the rule asks.
    public var share: Double
    /// Of a quarter of an hour: the row of its table.
    public var row: DeviationTable.Told?
}

/// The response over a time as a site has told it: its events, each judged there, and the quarters of an hour
/// in which it was in service. Total: any bytes in, a verdict out.
public struct ToldResponse: Sendable {
    /// Events that were told, and those of them by a version that tells no weights: they give no score.
    public private(set) var eventCount = 0
    public private(set) var unweighted = 0
    /// What was not as the rules ask, the oldest first; the first `violationsMost` of them.
    public private(set) var violations: [ResponseViolation] = []
    /// All of them.
    public private(set) var violationCount = 0
    private var scores: [EventScore] = []
    private var shares: [Double] = []
    private var first: Int64?
    private var last: Int64?
    private var covered = 0.0
    private var inService = 0.0

    private static let violationsMost = 100
    private let codes: GridCodes

    /// - Parameter codes: what it is held against.
    public init(_ codes: GridCodes = GridCodes()) { self.codes = codes }

    /// Takes the record of an event, `{…,"event":{…}}`. One of a test, or not to be read, counts nowhere.
    public mutating func take(event record: [UInt8]) {
        var (numbers, isTest): ([String: Double], Bool) = ([:], false)
        var begin: Int64?
        do throws(JSONError) {
            var cursor = JSONCursor(record)
            try cursor.object { (key, cursor) throws(JSONError) in
                if key == "frequency" { isTest = true }
                guard key == "event", cursor.isAtObject else {
                    let text = String(decoding: record[try cursor.skipValue()], as: UTF8.self)
                    if key == "t_ms" { begin = Int64(text) }
                    return
                }
                numbers = try Self.numbers(&cursor, record)
            }
            try cursor.end()
        } catch { return }
        guard !isTest, numbers["duration_s"] != nil else { return }
        eventCount += 1
        judge(numbers, at: begin)
        if let share = numbers["beta_share"] { shares.append(share) }
        guard let accuracyWeight = numbers["accuracy_weight_s"],
            let sustainedWeight = numbers["sustained_weight_s"]
        else { return unweighted += 1 }
        scores.append(
            EventScore(
                accuracy: numbers["accuracy"], accuracyWeight: Self.milliseconds(accuracyWeight),
                delay: numbers["delay"], sustained: numbers["sustained"],
                sustainedWeight: Self.milliseconds(sustainedWeight)))
    }

    /// Holds an event against the rules of the grid code as the site judged it.
    private mutating func judge(_ numbers: [String: Double], at begin: Int64?) {
        guard let begin, let code = codes.code(at: begin) else { return }
        note(.fullResponse, begin, Self.fullResponse(numbers, code))
        // Sites of an older version tell their own time alone.
        let own = code.hold == FrequencyRules().hold ? numbers["sustained"] : nil
        note(.held, begin, numbers[FrequencyEvent.heldKey(code.hold)] ?? own)
    }

    /// As the site has judged it, or by the time that it took where the code asks for another one.
    private static func fullResponse(_ numbers: [String: Double], _ code: GridCode) -> Double? {
        let own = FrequencyRules().fullResponse
        guard code.fullResponse != own else { return numbers["delay"] }
        if let seconds = numbers["response_s"] { return 2 - seconds * 1_000 / Double(code.fullResponse) }
        // Never there in the site's time: not in a shorter one either.
        return code.fullResponse < own && numbers["delay"] == 0 ? 0 : nil
    }

    private mutating func note(
        _ rule: ResponseViolation.Rule, _ time: Int64, _ share: Double?, _ row: DeviationTable.Told? = nil
    ) {
        guard let share, share < 1 else { return }
        violationCount += 1
        guard violations.count < Self.violationsMost else { return }
        violations.append(
            ResponseViolation(rule: rule, eventMilliseconds: time, share: max(0, share), row: row))
    }

    /// Takes the record of a quarter of an hour (`FrequencyTime.members`).
    public mutating func take(time record: [UInt8]) {
        guard let numbers = Self.numbers(record), let from = numbers["from_ms"],
            let until = numbers["until_ms"], let covered = numbers["covered_s"],
            let inService = numbers["in_service_s"], from <= until
        else { return }
        let begin = Self.bounded(from)
        if let code = codes.code(at: begin), code.curve != nil {
            for row in DeviationTable.told(record) {
                if let broken = code.judge(row) { note(broken.rule, begin, broken.share, row) }
            }
        }
        first = min(first ?? .max, begin)
        last = max(last ?? .min, Self.bounded(until))
        self.covered += min(max(0, covered), 1e6)
        self.inService += min(max(0, inService), 1e6)
    }

    /// As the site's own report has it over the same time: gaps count as out of service.
    public var verdict: ScoreVerdict {
        guard let first, let last, last > first else { return eventCount > 0 ? .notJudged : .noData }
        guard eventCount > 0 else { return .noEvents }
        let share = min(1, inService * 1_000 / Double(last - first))
        return FrequencyScore(scores, betaShares: shares, inService: share).map { .scored($0) } ?? .notJudged
    }

    /// One object; `coverage_share` is of the time from the first to the last that was told.
    public var json: String {
        let length = first.flatMap { first in last.map { Double($0 - first) / 1_000 } } ?? 0
        return Words.object([
            ("first_ms", first.map(String.init) ?? "null"), ("last_ms", last.map(String.init) ?? "null"),
            ("coverage_share", Words.number(length > 0 ? min(1, covered / length) : nil, 6)),
            ("events", "\(eventCount)"), ("events_without_weight", "\(unweighted)"),
            ("score", verdict.json),
        ])
    }

    private static func numbers(_ record: [UInt8]) -> [String: Double]? {
        do throws(JSONError) {
            var cursor = JSONCursor(record)
            let numbers = try numbers(&cursor, record)
            try cursor.end()
            return numbers
        } catch { return nil }
    }

    /// The numbers of an object; whatever else stands there is passed over.
    private static func numbers(
        _ cursor: inout JSONCursor, _ bytes: [UInt8]
    ) throws(JSONError) -> [String: Double] {
        var numbers: [String: Double] = [:]
        try cursor.object { (key, cursor) throws(JSONError) in
            let text = String(decoding: bytes[try cursor.skipValue()], as: UTF8.self)
            if let value = Double(text), value.isFinite, value.magnitude < 1e15 { numbers[key] = value }
        }
        return numbers
    }

    private static func milliseconds(_ seconds: Double) -> Int64 { bounded(seconds * 1_000) }

    private static func bounded(_ value: Double) -> Int64 { Int64(min(1e15, max(0, value)).rounded()) }
}
