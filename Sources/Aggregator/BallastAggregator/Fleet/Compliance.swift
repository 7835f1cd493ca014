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

    typealias Line = ComplianceLine

    private static let sitesMost = 64
    /// Of sites behind the places that are asked, in all periods.
    private static let linesMost = 5_000
    private static let longest: Int64 = 400 * 86_400_000
    private let sites: [Site]
    private let range: Range<Int64>
    private let isCSV: Bool
    private let codes: GridCodes

    /// - Throws: where the time is too long or the sites are too many for one answer.
    init(_ call: Call, of sites: [Site], by codes: GridCodes) throws(Refusal) {
        let until = try call.query.number(.until) ?? WallClock.nowMilliseconds()
        let from = try call.query.number(.from) ?? max(0, until - Self.longest)
        guard from <= until, until - from <= Self.longest else {
            throw Refusal(.badRequest, "from, until: at most 400 days")
        }
        guard sites.count <= Self.sitesMost else {
            throw Refusal(.badRequest, "\(sites.count) sites are too many for one answer: ask places below")
        }
        (self.sites, range, isCSV, self.codes) = (sites, from..<until, call.query.isCSV, codes)
    }

    /// Whole months and quarters, for the level above.
    init(of sites: [Site], by codes: GridCodes) {
        (self.sites, range, isCSV, self.codes) = (sites, 0..<Int64.max, false, codes)
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
        var count = 0
        for period in Self.periods(of: range) {
            let lines = try await lines(of: period, from: store)
            count += lines.count
            guard count <= Self.linesMost else {
                throw Refusal(
                    .badRequest, "more than \(Self.linesMost) lines: ask for less time, or places below")
            }
            periods.append((period.name, [Line.sum(lines)] + lines.map(\.line)))
        }
        return isCSV ? Answers.csv(Self.csv(periods)) : Answers.json(json(periods))
    }

    /// Each site in a period with its weight among the others: as it was told to us, or behind a level below
    /// as that one has told it, which is of the whole period.
    func lines(
        of period: (name: String, range: Range<Int64>), from store: TelemetryStore
    ) async throws -> [(line: Line, weight: Double)] {
        var lines: [(line: Line, weight: Double)] = []
        for site in sites {
            let below = try await store.months(of: site.id, period.name, told: period.range)
            guard below.isEmpty else {
                lines += Self.believed(below, of: site, beside: Set(sites.map(\.id)))
                continue
            }
            let line = try await line(of: site, in: period.range.clamped(to: range), from: store)
            lines.append((line, site.weight ?? 1))
        }
        return lines
    }

    /// What a level tells of its own: of no other place that is known here, and together no more than it is.
    private static func believed(
        _ told: [(line: Line, weight: Double)], of site: Site, beside known: Set<String>
    ) -> [(line: Line, weight: Double)] {
        let own = told.filter { $0.line.site.map { !known.contains($0) } ?? false }
        let sum = own.reduce(0) { $0 + $1.weight }
        guard let most = site.weight, sum > most else { return own }
        return own.map { ($0.line, $0.weight * most / sum) }
    }

    private func line(
        of site: Site, in range: Range<Int64>, from store: TelemetryStore
    ) async throws -> Line {
        let told = try await store.response(of: site.id, in: range, by: codes)
        var line = Line(site: site.id, isSimulated: told.isSimulated, events: told.eventCount)
        line.violationCount = told.violationCount
        line.violations = Line.text(told.violations)
        line.signals = try await store.signals(of: site.id, in: range)
        if case .scored(let score) = told.verdict {
            line.scored = 1
            line.parts = [score.total, score.accuracy, score.delay, score.sustained, score.inService]
        }
        return line
    }

    // MARK: Texts

    private static func number(_ value: Double?) -> String {
        value.map { Words.fixed($0, 4) } ?? ""
    }

    private static var columns: [String] {
        ["period", "site", "behind", "simulated", "sites", "sites_scored", "events", "violations"]
            + Line.partNames
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
                let names = [
                    period.name, line.site ?? "all", line.behind ?? "", line.isSimulated ? "1" : "0",
                ]
                text += (names + counts + values).joined(separator: ",") + "\n"
            }
        }
        return text
    }

    private func json(_ periods: [(name: String, lines: [Line])]) -> String {
        let list = periods.map { period in
            "{\"period\":\"\(period.name)\",\"lines\":[\(period.lines.map(\.json).joined(separator: ","))]}"
        }
        return "{\"note\":\"ours, not a regulator's\",\"from_ms\":\(range.lowerBound)"
            + ",\"until_ms\":\(range.upperBound),\"rules\":\(codes.json(at: range.upperBound))"
            + ",\"periods\":[\(list.joined(separator: ","))]}"
    }
}
