import CycleRecord

/// A capture among others: its file's name, and what stands at its head.
public struct KeptCapture: Sendable, Equatable {
    public let name: String
    /// Why it was kept, in words; `nil` = its head cannot be read.
    public let trigger: String?
    /// When that came about, since 1970-01-01 00:00 UTC, µs.
    public let wallMicroseconds: Int64?

    /// - Parameters:
    ///   - name: of the file, `20261124T140307.250Z-trip.cycles` as a daemon calls it.
    ///   - head: how it begins; some KiB are enough.
    public init(name: String, head: [UInt8]) {
        self.name = name
        let note = Self.note(head)
        trigger = note?.trigger
        wallMicroseconds =
            TypedTime(String(name.prefix { $0 != "-" }))?.microseconds ?? note?.wallMicroseconds
    }

    private static func note(_ head: [UInt8]) -> CaptureNote? {
        // What is no recording has no note.
        guard var reader = try? RecordingReader(head) else { return nil }
        while let record = try? reader.next() {
            if case .capture(let note) = record { return note }
            // The note comes behind the words about the program, and nowhere else.
            guard case .about = record else { return nil }
        }
        return nil
    }

    /// `trip`, as its name ends.
    private var kind: Substring? { name.split(separator: "-").last?.prefix { $0 != "." } }

    /// For people: when, and what for.
    public var text: String {
        let at = wallMicroseconds.map { CivilTime(microseconds: $0).text } ?? "at an unknown time"
        return "\(at)  \(trigger ?? kind.map(String.init) ?? "cannot be read")"
    }

    // MARK: Which one

    /// Why none is meant.
    public struct NotFound: Error, Equatable, CustomStringConvertible {
        public let description: String
    }

    /// What a window holds at most before its instant, and after it, µs.
    private static let before: Int64 = 50_000_000
    private static let after: Int64 = 15_000_000

    /// The newest that is meant: by how its name begins, by a time that its window holds, by what it was kept
    /// for (`trip`, `crash`), or by the trip or the unit that its trigger names.
    ///
    /// - Parameter captures: the oldest first.
    public static func find(
        _ which: String, in captures: [KeptCapture]
    ) throws(NotFound) -> KeptCapture {
        guard let newest = captures.last else { throw NotFound(description: "no capture is there yet") }
        if let begun = captures.last(where: { $0.name.hasPrefix(which) }) { return begun }
        if let time = TypedTime(which) { return try find(time, typed: which, in: captures) }
        if let kept = captures.last(where: { $0.isKept(for: which) }) { return kept }
        if let named = captures.last(where: { $0.names(which) }) { return named }
        throw NotFound(
            description:
                "no capture's name begins with \(which), and none was kept for it; the newest of "
                + "\(captures.count): \(newest.text)")
    }

    /// By the first of what it was kept for, or by a trip among the others.
    private func isKept(for which: String) -> Bool {
        kind.map(String.init) == which || which == "trip" && names("TRIP")
    }

    /// Whether its trigger has it as a word of its own: what came behind the first is named there too.
    private func names(_ word: String) -> Bool {
        trigger?.split { " ,;:".contains($0) }.contains { $0 == word } ?? false
    }

    /// Of what names no day, the newest day on which a window holds it; of several windows of it, the one
    /// whose instant is the nearest.
    private static func find(
        _ time: TypedTime, typed: String, in captures: [KeptCapture]
    ) throws(NotFound) -> KeptCapture {
        var dated: [(capture: KeptCapture, at: Int64, wanted: Int64, apart: UInt64)] = []
        for capture in captures {
            guard let at = capture.wallMicroseconds else { continue }
            let wanted = time.microseconds(near: at)
            dated.append((capture, at, wanted, (wanted - at).magnitude))
        }
        let fitting = dated.filter {
            $0.wanted + time.span > $0.at - Self.before && $0.wanted <= $0.at + Self.after
        }
        if let best = fitting.max(by: { ($0.wanted, $1.apart) < ($1.wanted, $0.apart) }) {
            return best.capture
        }
        let nearest = dated.min { $0.apart < $1.apart }
        throw NotFound(
            description: "no capture holds \(typed) (UTC)"
                + (nearest.map { "; the nearest: \($0.capture.name), \($0.capture.text)" } ?? ""))
    }
}

/// Lines of a log.
public enum LogLines {
    /// Those whose date and time lies in these minutes. One that begins with none goes with the line before
    /// it, and stays where none came before it.
    ///
    /// - Parameters:
    ///   - from: since 1970-01-01 00:00 UTC, µs; `to` likewise, included.
    public static func within(_ log: [UInt8], from: Int64, to: Int64) -> [UInt8] {
        var (kept, isIn): ([UInt8], Bool) = ([], true)
        for line in log.split(separator: 0x0A, omittingEmptySubsequences: false) {
            if let time = TypedTime(beginOf: line)?.microseconds { isIn = time >= from && time <= to }
            if isIn {
                kept += line
                kept.append(0x0A)
            }
        }
        // What ended with a line's end has an empty piece behind it.
        kept.removeLast(min(kept.count, isIn ? 1 : 0))
        return kept
    }
}
