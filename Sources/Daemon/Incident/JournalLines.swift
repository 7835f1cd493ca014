import JSONText

/// The journal as `journalctl --output=json` gives it, as lines that people read. A line of an event bears
/// the instant of the cycle (`BALLAST_AT`), as `trips` and the capture do; others the journal's own.
public enum JournalLines {
    /// What is asked of journalctl.
    public static let fields = "MESSAGE,BALLAST_AT,SYSLOG_IDENTIFIER,_COMM,_PID"

    private struct Line {
        var microseconds: Int64
        var text: String
    }

    /// In the order of their instants; what cannot be read stays as it is, where it stood.
    public static func text(_ journal: [UInt8]) -> [UInt8] {
        var lines: [Line] = []
        for row in journal.split(separator: 0x0A) {
            let before = lines.last?.microseconds ?? 0
            lines.append(
                line(Array(row)) ?? Line(microseconds: before, text: String(decoding: row, as: UTF8.self)))
        }
        let order = lines.indices.sorted {
            (lines[$0].microseconds, $0) < (lines[$1].microseconds, $1)
        }
        return order.flatMap { Array((lines[$0].text + "\n").utf8) }
    }

    private static func line(_ row: [UInt8]) -> Line? {
        var values: [String: String] = [:]
        var cursor = JSONCursor(row)
        do throws(JSONError) {
            try cursor.object { (key, cursor) throws(JSONError) in
                if cursor.isAtString {
                    values[key] = try cursor.string()
                } else if cursor.isAtArray {
                    // A text with bytes that are none.
                    var bytes: [UInt8] = []
                    try cursor.array { (_, cursor) throws(JSONError) in
                        if cursor.isAtString || cursor.isAtArray {
                            _ = try cursor.skipValue()
                        } else {
                            bytes.append(UInt8(truncatingIfNeeded: try cursor.integer()))
                        }
                    }
                    values[key] = String(decoding: bytes, as: UTF8.self)
                } else {
                    _ = try cursor.skipValue()
                }
            }
            try cursor.end()
        } catch {
            return nil
        }
        guard let stamp = values["__REALTIME_TIMESTAMP"].flatMap({ Int64($0) }),
            let message = values["MESSAGE"]
        else { return nil }
        let at = values["BALLAST_AT"].flatMap { TypedTime($0)?.microseconds } ?? stamp
        let program = values["SYSLOG_IDENTIFIER"] ?? values["_COMM"] ?? "?"
        let process = values["_PID"].map { "[\($0)]" } ?? ""
        return Line(
            microseconds: at, text: "\(CivilTime(microseconds: at).text) \(program)\(process): \(message)")
    }
}
