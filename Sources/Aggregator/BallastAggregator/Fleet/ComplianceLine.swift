import FrequencyRecord
import JSONText

/// One site, or several together, in one month or quarter.
struct ComplianceLine: Sendable {
    static let partNames = ["score", "accuracy", "delay", "sustained", "in_service"]

    /// `nil` = several.
    var site: String?
    /// The level below that has told it; `nil` = it reports here.
    var behind: String?
    /// Whether anything that it stands on was simulated: worth nothing to who settles. What a level that
    /// simulates tells is, and what says nothing of it.
    var isSimulated = false
    var sites = 1
    var scored = 0
    var events = 0
    var violationCount = 0
    /// A list, as JSON.
    var violations = "[]"
    /// By `partNames`; `nil` = not judged.
    var parts: [Double?] = Array(repeating: nil, count: partNames.count)
    var signals = ToldSignal.Source.allCases.map { ToldSignal($0) }

    /// Sites count by their weights; one that was not judged is counted, and moves nothing.
    static func sum(_ lines: [(line: ComplianceLine, weight: Double)]) -> ComplianceLine {
        var (whole, weights) = (ComplianceLine(sites: 0), partNames.map { _ in 0.0 })
        for (line, weight) in lines {
            whole.isSimulated = whole.isSimulated || line.isSimulated
            whole.sites += line.sites
            whole.scored += line.scored
            whole.events += line.events
            whole.violationCount += line.violationCount
            for index in whole.parts.indices {
                guard let part = line.parts[index] else { continue }
                whole.parts[index] = (whole.parts[index] ?? 0) + part * weight
                weights[index] += weight
            }
            for index in whole.signals.indices {
                whole.signals[index].add(line.signals[index], weight: weight)
            }
        }
        for index in whole.parts.indices where weights[index] > 0 {
            whole.parts[index] = whole.parts[index].map { $0 / weights[index] }
        }
        return whole
    }

    static func text(_ violations: [ResponseViolation]) -> String {
        let list = violations.map { one in
            let row = one.row.map { row in
                ",\"deviation_hz\":\(Words.fixed(row.deviation, 4))"
                    + ",\"given_share\":\(Words.fixed(row.share, 5)),\"seconds\":\(Words.fixed(row.seconds, 0))"
            }
            return "{\"rule\":\"\(one.rule.rawValue)\",\"event_ms\":\(one.eventMilliseconds)"
                + ",\"share\":\(Words.fixed(one.share, 4))\(row ?? "")}"
        }
        return "[\(list.joined(separator: ","))]"
    }

    /// One object.
    var json: String {
        func known(_ value: Double?) -> String { value.map { Words.fixed($0, 4) } ?? "null" }
        func object(_ names: [String], _ values: [Double?]) -> String {
            zip(names, values).map { "\"\($0)\":\(known($1))" }.joined(separator: ",")
        }
        let told = zip(ToldSignal.Source.allCases, signals).map { source, signal in
            "\"\(source.rawValue)\":{\(object(ToldSignal.columns, signal.values))}"
        }
        func name(_ text: String?) -> String { text.map(JSONText.quoted) ?? "null" }
        return "{\"site\":\(name(site)),\"behind\":\(name(behind))"
            + ",\"simulated\":\(isSimulated),\"sites\":\(sites),\"sites_scored\":\(scored),\"events\":\(events)"
            + ",\(object(Self.partNames, parts)),\(told.joined(separator: ","))"
            + ",\"violation_count\":\(violationCount),\"violations\":\(violations)}"
    }

    // MARK: To the level above

    /// The members of a record that tell it there.
    func told(_ period: String, weight: Double) -> String {
        let parts = parts.map { $0.map { Words.fixed($0, 6) } ?? "null" }.joined(separator: ",")
        let sums = signals.map { signal in
            "[\(signal.sums.map { Words.fixed($0, 6) }.joined(separator: ","))]"
        }
        return "\"period\":\(JSONText.quoted(period)),\"site\":\(JSONText.quoted(site ?? ""))"
            + ",\"simulated\":\(isSimulated),\"weight\":\(Words.fixed(weight, 0)),\"sites_scored\":\(scored),\"events\":\(events)"
            + ",\"violation_count\":\(violationCount),\"parts\":[\(parts)]"
            + ",\"signals\":[\(sums.joined(separator: ","))],\"violations\":\(violations)"
    }

    /// A line as a level below has told it.
    ///
    /// - Throws: what is wrong with it.
    static func read(
        _ record: [UInt8], from level: String
    ) throws(JSONError) -> (line: ComplianceLine, weight: Double) {
        var line = ComplianceLine(site: "", behind: level)
        var texts: [String: String] = [:]
        var (parts, signals): ([Double?], [[Double?]]) = ([], [])
        var cursor = JSONCursor(record)
        try cursor.object { (key, cursor) throws(JSONError) in
            switch key {
            case "site": line.site = try cursor.string()
            case "violations" where cursor.isAtArray:
                line.violations = String(decoding: record[try cursor.skipValue()], as: UTF8.self)
            case "parts": parts = try row(&cursor, record)
            case "signals":
                try cursor.array { (_, cursor) throws(JSONError) in
                    signals.append(try row(&cursor, record))
                }
            default: texts[key] = String(decoding: record[try cursor.skipValue()], as: UTF8.self)
            }
        }
        func number(_ name: String) -> Double? { texts[name].flatMap(Double.init) }
        func whole(_ name: String) throws(JSONError) -> Int {
            guard let number = number(name), (0...1e9).contains(number) else {
                throw JSONError("is missing or absurd", at: 0, path: name)
            }
            return Int(number)
        }
        (line.scored, line.events) = (try whole("sites_scored"), try whole("events"))
        line.violationCount = try whole("violation_count")
        let read = zip(ToldSignal.Source.allCases, signals).compactMap { source, sums in
            ToldSignal(source, sums: sums.compactMap { $0 })
        }
        guard parts.count == partNames.count, read.count == line.signals.count,
            let weight = number("weight"), weight > 0, weight <= 1e15, isName(line.site ?? ""),
            (0...100).contains(parts[0] ?? 0), parts.dropFirst().allSatisfy({ (0...1).contains($0 ?? 0) })
        else { throw JSONError("is no line of a month", at: 0) }
        line.isSimulated = texts["simulated"] != "false" || texts["mode"] != "\"production\""
        (line.parts, line.signals) = (parts, read)
        return (line, weight)
    }

    /// As a place may be called, which nothing reads as anything else.
    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
                    || ["_", ".", "-"].contains(scalar)
            } && !text.hasPrefix("-")
    }

    /// `nil` = not known.
    private static func row(_ cursor: inout JSONCursor, _ record: [UInt8]) throws(JSONError) -> [Double?] {
        var cells: [Double?] = []
        try cursor.array { (_, cursor) throws(JSONError) in
            let value = Double(String(decoding: record[try cursor.skipValue()], as: UTF8.self))
            cells.append(value.flatMap { $0.isFinite && $0.magnitude <= 1e15 ? $0 : nil })
        }
        return cells
    }
}
