import Incident
import JSONText
import Recorder
import SiteAudit

/// The audit's records of some minutes as lines for people, and what a check of the whole audit finds.
struct AuditText {
    /// What `audit verify` says, or why there is none.
    private(set) var finding: String
    private(set) var lines: [String] = []

    /// - Parameters:
    ///   - folder: the state folder.
    ///   - from: since 1970-01-01 00:00 UTC, ms; `to` likewise, included.
    init(state folder: String, from: Int64, to: Int64) {
        var found: [String] = []
        do {
            let said = try AuditCommand.Verify.finding(of: folder) { record in
                let (at, text) = Self.line(record)
                // What tells no time is not left out: somebody may have wanted that.
                if at.map({ (from...to).contains($0) }) ?? true { found.append(text) }
            }
            finding = "\(said)"
        } catch {
            finding = "No audit is at hand: \(error)"
        }
        lines = found
    }

    /// The finding in the first line, then the records.
    var text: String { ([finding] + lines).map { Self.plain($0) + "\n" }.joined() }

    /// One line, whatever somebody has put into it.
    private static func plain(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar -> Unicode.Scalar in scalar.value < 32 ? " " : scalar }))
    }

    private static func line(_ record: SpoolRecord) -> (at: Int64?, text: String) {
        guard let one = AuditRecord(number: record.number, payload: record.payload) else {
            return (nil, "\(record.number)  it is no record of an audit")
        }
        var at: Int64?
        var (name, words, more) = ("", "", "")
        var cursor = JSONCursor(one.event)
        // What cannot be read is shown as far as it can be.
        try? cursor.object { (key, cursor) throws(JSONError) in
            switch key {
            case "t_ms": at = try cursor.integer()
            case "event" where cursor.isAtString: name = try cursor.string()
            case "text" where cursor.isAtString: words = try cursor.string()
            case "v", "kind", "priority", "mono_ms", "at", "mode": _ = try cursor.skipValue()
            case _:
                let place = try cursor.skipValue()
                more += " \(key)=" + String(decoding: one.event[place], as: UTF8.self)
            }
        }
        let time = at.flatMap(Self.time) ?? "no time"
        return (at, "\(one.number)  \(time)  \(name): \(words)\(more)  hash \(one.head.hash.prefix(16))")
    }

    /// Out of what a date can say is no time.
    private static func time(_ milliseconds: Int64) -> String? {
        guard (0..<1 << 47).contains(milliseconds) else { return nil }
        return CivilTime(microseconds: milliseconds * 1_000).text
    }
}
