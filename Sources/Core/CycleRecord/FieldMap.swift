/// How the words of a recording's cycles lie in this version's: one that knows more, or less, reads by name.
///
/// The record `fields` is UTF-8: what the words of a cycle's inputs are called, one a line, a blank line, and
/// what those of its decision are; both of a site with one unit. Names that begin with `units[0].` stand
/// last, and come again for each unit more. Where that record is damaged the words count as this version's.
public struct FieldMap: Sendable, Equatable {
    /// Where each word of this version stands in a recorded cycle; `nil` = it was not recorded.
    private let places: [Int?]
    /// What counts for a word that was not recorded: readings that nobody ever saw, decisions about nothing.
    private let defaults: [UInt64]
    private let inputCount: Int
    /// Of a recorded cycle.
    let recordedCount: Int
    /// It has this version's words.
    let isOwn: Bool
    /// What this version looks at, and what it decides, that the recording does not have; each name once.
    public let missing: (inputs: [String], decision: [String])
    /// What the recording has of the same, and this version does not know.
    public let unknown: (inputs: [String], decision: [String])

    /// More than any version has of one unit and the site.
    private static let mostNames = 4_096

    private typealias Names = (inputs: [String], decision: [String])

    init?(_ body: ArraySlice<UInt8>, unitCount: Int) {
        let text = String(decoding: body, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count <= Self.mostNames, let gap = lines.firstIndex(of: ""), gap > 0,
            gap + 1 < lines.count, !lines[(gap + 1)...].contains("")
        else { return nil }
        let recorded: Names = (Array(lines[..<gap]), Array(lines[(gap + 1)...]))
        let own: Names = (CycleNames.inputs(1), CycleNames.decision(1))
        isOwn = recorded == own
        missing = (Self.others(own.inputs, recorded.inputs), Self.others(own.decision, recorded.decision))
        unknown = (Self.others(recorded.inputs, own.inputs), Self.others(recorded.decision, own.decision))
        let here: Names = (Self.all(own.inputs, unitCount), Self.all(own.decision, unitCount))
        let there: Names = (Self.all(recorded.inputs, unitCount), Self.all(recorded.decision, unitCount))
        places =
            Self.places(here.inputs, in: there.inputs, from: 0)
            + Self.places(here.decision, in: there.decision, from: there.inputs.count)
        recordedCount = there.inputs.count + there.decision.count
        inputCount = here.inputs.count
        var walk = WordWalk.taking(here.inputs.count)
        var inputs = CycleInputs(unitCount: unitCount)
        walk.walk(&inputs)
        defaults = walk.words + [UInt64](repeating: .max, count: here.decision.count)
    }

    public static func == (one: FieldMap, other: FieldMap) -> Bool {
        one.places == other.places && one.recordedCount == other.recordedCount
    }

    /// The words of a recorded cycle as this version has them.
    func own(_ recorded: [UInt64]) -> [UInt64] {
        zip(places, defaults).map { place, other in place.map { recorded[$0] } ?? other }
    }

    /// - Parameter index: of a decision's words.
    public func isRecorded(_ index: Int) -> Bool { places[inputCount + index] != nil }

    /// Of the words of a decision in this version, how many were recorded.
    public var recordedDecisionCount: Int { places[inputCount...].count { $0 != nil } }
    public var decisionCount: Int { places.count - inputCount }

    private static func record(_ inputs: [String], _ decision: [String]) -> [UInt8] {
        Array((inputs.joined(separator: "\n") + "\n\n" + decision.joined(separator: "\n")).utf8)
    }

    /// The body of this version's record.
    static let own = record(CycleNames.inputs(1), CycleNames.decision(1))

    /// Words of a decision that came after the first form, which does not say what its words are called.
    private static let later: Set<String> = ["units[0].restsUntil"]
    /// What a recording of the first form would say.
    static let firstForm = record(CycleNames.inputs(1), CycleNames.decision(1).filter { !later.contains($0) })

    /// The body of a recording's record; empty where it has none.
    static func record(of recording: [UInt8]) -> [UInt8] {
        guard var reader = try? RecordingReader(recording) else { return [] }
        if reader.version == 1 { return firstForm }
        while true {
            let begun = reader.place
            switch try? reader.next() {
            case .fields: return Array(recording[(begun + 5)..<(reader.place - 8)])
            case .about, .file, .capture, .instant: continue
            case .start, .checkpoint, .command, .cycle, .endAsked, .end, nil: return []
            }
        }
    }

    private static func places(_ own: [String], in recorded: [String], from first: Int) -> [Int?] {
        var rest: [String: [Int]] = [:]
        for (index, name) in recorded.enumerated().reversed() { rest[name, default: []].append(index) }
        return own.map { name in rest[name]?.popLast().map { $0 + first } }
    }

    /// What the first has and the second has not, or not as often.
    private static func others(_ names: [String], _ others: [String]) -> [String] {
        var counts = others.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        var found: [String] = []
        for name in names {
            counts[name, default: 0] -= 1
            if counts[name, default: 0] < 0, found.last != name { found.append(name) }
        }
        return found
    }

    private static let unitPrefix = "units[0]."

    private static func all(_ names: [String], _ unitCount: Int) -> [String] {
        let ofUnit = names.filter { $0.hasPrefix(unitPrefix) }.map { $0.dropFirst(unitPrefix.count) }
        var all = names.filter { !$0.hasPrefix(unitPrefix) }
        for unit in 0..<unitCount { all += ofUnit.map { "units[\(unit)].\($0)" } }
        return all
    }
}
