import JSONText

/// An event that was not answered as the grid code asks, with where its evidence is.
public struct ResponseViolation: Sendable, Equatable {
    /// What the grid code asks of primary response; the times are `FrequencyRules`'.
    public enum Rule: String, Sendable, CaseIterable {
        /// 90 % of the peak within the time for full response.
        case fullResponse = "full_response"
        /// Held for its time, to 5 % of the rating.
        case held

        /// The member of the event that judges it, 1 = as asked.
        var part: String {
            switch self {
            case .fullResponse: "delay"
            case .held: "sustained"
            }
        }

        /// How long it may take, or must last, s.
        public var seconds: Int64 {
            let rules = FrequencyRules()
            switch self {
            case .fullResponse: return rules.fullResponse / 1_000
            case .held: return rules.hold / 1_000
            }
        }
    }

    public var rule: Rule
    /// The event's begin, ms since 1970 UTC: `t_ms` of its record.
    public var eventMilliseconds: Int64
    /// 0 … 1 of what the rule asks.
    public var share: Double
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

    public init() {}

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
        for rule in ResponseViolation.Rule.allCases {
            guard let share = numbers[rule.part], share < 1, let begin else { continue }
            violationCount += 1
            guard violations.count < Self.violationsMost else { continue }
            violations.append(ResponseViolation(rule: rule, eventMilliseconds: begin, share: max(0, share)))
        }
    }

    /// Takes the record of a quarter of an hour (`FrequencyTime.members`).
    public mutating func take(time record: [UInt8]) {
        guard let numbers = Self.numbers(record), let from = numbers["from_ms"],
            let until = numbers["until_ms"], let covered = numbers["covered_s"],
            let inService = numbers["in_service_s"], from <= until
        else { return }
        first = min(first ?? .max, Self.bounded(from))
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
