import ExactAmounts
import FrequencyRecord
import Hummingbird
import JSONText
import LinuxIO

/// How sites have done by months and quarters of the calendar (UTC): the score of their frequency response,
/// what of it was not as the grid code asks, and how they have followed powers from outside. Ours, not a
/// regulator's.
struct Compliance: Sendable {
    struct Site: Sendable {
        var id: String
        /// Its nameplate in W, by which it counts among the others; `nil` = as any other.
        var weight: Double?
    }

    /// One site, or all of them together, in one month or quarter.
    private struct Line {
        var site: String?
        var sites = 1
        var scored = 0
        var events = 0
        var violationCount = 0
        var violations: [ResponseViolation] = []
        /// Score, accuracy, delay, sustained, in service; `nil` = not judged.
        var parts: [Double?] = Array(repeating: nil, count: Line.partNames.count)
        var signals = ToldSignal.Source.allCases.map { ToldSignal($0) }

        static let partNames = ["score", "accuracy", "delay", "sustained", "in_service"]
    }

    private static let sitesMost = 64
    private static let longest: Int64 = 400 * 86_400_000
    private let sites: [Site]
    private let range: Range<Int64>
    private let isCSV: Bool

    /// - Throws: where the time is too long or the sites are too many for one answer.
    init(_ call: Call, of sites: [Site]) throws(Refusal) {
        let until = try call.query.number(.until) ?? WallClock.nowMilliseconds()
        let from = try call.query.number(.from) ?? max(0, until - Self.longest)
        guard from <= until, until - from <= Self.longest else {
            throw Refusal(.badRequest, "from, until: at most 400 days")
        }
        guard sites.count <= Self.sitesMost else {
            throw Refusal(.badRequest, "\(sites.count) sites are too many for one answer: ask places below")
        }
        (self.sites, range, isCSV) = (sites, from..<until, call.query.isCSV)
    }

    /// The months and quarters that `range` touches, each quarter behind its last month there.
    static func periods(of range: Range<Int64>) -> [(name: String, range: Range<Int64>)] {
        guard !range.isEmpty else { return [] }
        var periods: [(name: String, range: Range<Int64>)] = []
        let first = UTCInstant(seconds: range.lowerBound / 1_000).day
        guard let firstYear = Int(first.prefix(4)), let firstMonth = Int(first.dropFirst(5).prefix(2)) else {
            return []
        }
        // Months since the year 0.
        var month = firstYear * 12 + firstMonth - 1
        while let begin = begin(of: month), begin < range.upperBound, let end = Self.begin(of: month + 1) {
            periods.append((name(of: month), begin..<end))
            let quarter = month / 3 * 3
            if month % 3 == 2 || end >= range.upperBound, let start = Self.begin(of: quarter),
                let close = Self.begin(of: quarter + 3)
            {
                periods.append(("\(quarter / 12)-Q\(quarter % 12 / 3 + 1)", start..<close))
            }
            month += 1
        }
        return periods
    }

    private static func name(of month: Int) -> String {
        "\(month / 12)-\(month % 12 < 9 ? "0" : "")\(month % 12 + 1)"
    }

    private static func begin(of month: Int) -> Int64? {
        UTCInstant("\(name(of: month))-01T00:00:00Z").map { $0.seconds * 1_000 }
    }

    func answer(from store: TelemetryStore) async throws -> Response {
        var periods: [(name: String, lines: [Line])] = []
        for period in Self.periods(of: range) {
            var (whole, weights) = (Line(sites: 0), Line.partNames.map { _ in 0.0 })
            var lines: [Line] = []
            for site in sites {
                let line = try await line(of: site, in: period.range.clamped(to: range), from: store)
                lines.append(line)
                Self.add(line, weight: site.weight ?? 1, to: &whole, &weights)
            }
            for index in whole.parts.indices where weights[index] > 0 {
                whole.parts[index] = whole.parts[index].map { $0 / weights[index] }
            }
            periods.append((period.name, [whole] + lines))
        }
        return isCSV ? Answers.csv(Self.csv(periods)) : Answers.json(json(periods))
    }

    private func line(
        of site: Site, in range: Range<Int64>, from store: TelemetryStore
    ) async throws -> Line {
        let told = try await store.response(of: site.id, in: range)
        var line = Line(site: site.id, events: told.eventCount)
        line.violationCount = told.violationCount
        line.violations = told.violations
        line.signals = try await store.signals(of: site.id, in: range)
        if case .scored(let score) = told.verdict {
            line.scored = 1
            line.parts = [score.total, score.accuracy, score.delay, score.sustained, score.inService]
        }
        return line
    }

    /// Sites count by their nameplates; one that was not judged is counted, and moves nothing.
    private static func add(_ line: Line, weight: Double, to whole: inout Line, _ weights: inout [Double]) {
        whole.sites += 1
        whole.scored += line.scored
        whole.events += line.events
        whole.violationCount += line.violationCount
        for index in whole.parts.indices {
            guard let part = line.parts[index] else { continue }
            whole.parts[index] = (whole.parts[index] ?? 0) + part * weight
            weights[index] += weight
        }
        for index in whole.signals.indices { whole.signals[index].add(line.signals[index], weight: weight) }
    }

    // MARK: Texts

    private static func number(_ value: Double?) -> String {
        value.map { Words.fixed($0, 4) } ?? ""
    }

    private static var columns: [String] {
        ["period", "site", "sites", "sites_scored", "events", "violations"] + Line.partNames
            + ToldSignal.Source.allCases.flatMap { source in
                ToldSignal.columns.map { "\(source.rawValue)_\($0)" }
            }
    }

    private static func csv(_ periods: [(name: String, lines: [Line])]) -> String {
        var text = columns.joined(separator: ",") + "\n"
        for period in periods {
            for line in period.lines {
                let counts = [line.sites, line.scored, line.events, line.violationCount].map(String.init)
                let values = (line.parts + line.signals.flatMap(\.values)).map(number)
                // All of them together have no site's name.
                text += ([period.name, line.site ?? "all"] + counts + values).joined(separator: ",") + "\n"
            }
        }
        return text
    }

    private func json(_ periods: [(name: String, lines: [Line])]) -> String {
        let list = periods.map { period in
            "{\"period\":\"\(period.name)\",\"lines\":[\(period.lines.map(Self.json).joined(separator: ","))]}"
        }
        let rules = ResponseViolation.Rule.allCases.map { "\"\($0.rawValue)_s\":\($0.seconds)" }
        return "{\"note\":\"ours, not a regulator's\",\"from_ms\":\(range.lowerBound)"
            + ",\"until_ms\":\(range.upperBound),\"rules\":{\(rules.joined(separator: ","))}"
            + ",\"periods\":[\(list.joined(separator: ","))]}"
    }

    private static func json(_ line: Line) -> String {
        func known(_ value: Double?) -> String { value.map { Words.fixed($0, 4) } ?? "null" }
        func object(_ names: [String], _ values: [Double?]) -> String {
            zip(names, values).map { "\"\($0)\":\(known($1))" }.joined(separator: ",")
        }
        let signals = zip(ToldSignal.Source.allCases, line.signals).map { source, signal in
            "\"\(source.rawValue)\":{\(object(ToldSignal.columns, signal.values))}"
        }
        let violations = line.violations.map { one in
            "{\"rule\":\"\(one.rule.rawValue)\",\"event_ms\":\(one.eventMilliseconds)"
                + ",\"share\":\(Words.fixed(one.share, 4))}"
        }
        return "{\"site\":\(line.site.map(JSONText.quoted) ?? "null"),\"sites\":\(line.sites)"
            + ",\"sites_scored\":\(line.scored),\"events\":\(line.events)"
            + ",\(object(Line.partNames, line.parts)),\(signals.joined(separator: ","))"
            + ",\"violation_count\":\(line.violationCount),\"violations\":[\(violations.joined(separator: ","))]}"
    }
}
