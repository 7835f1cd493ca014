import JSONText
import LinuxIO
import Quantities
import SiteAudit

/// An event as the record that goes up.
public enum EventText {
    /// A peer's words are bounded by it, and with them the record.
    private static let longestText = 2_000

    /// The record that says where the audit stands.
    ///
    /// - Parameters:
    ///   - mode: the site's, as its file has it.
    ///   - mark: stands behind the mode as it is.
    public static func record(
        of head: AuditHead, wall: Int64, monotonic: MonotonicTime, mode: String, mark: String = ""
    ) -> [UInt8] {
        Array(
            ("{\"v\":1,\"kind\":\"audit\",\"mono_ms\":\(monotonic.nanoseconds / 1_000_000),\"t_ms\":\(wall)"
                + ",\"mode\":\(JSONString.quoted(mode))\(mark),\"head\":\"\(head.text)\"}").utf8)
    }

    /// The record as JSON; what each key says stands in `EventField`.
    public static func record(
        _ event: EventName, _ line: LogLine, mode: String, mark: String = ""
    ) -> [UInt8] {
        let (record, wall) = (line.record, line.record.happened?.wallMilliseconds ?? line.wallMilliseconds)
        let monotonic = (record.happened?.monotonic ?? line.monotonic).nanoseconds / 1_000_000
        var text = "{\"v\":1,\"kind\":\"event\",\"event\":\"\(event.rawValue)\""
        text += ",\"priority\":\(record.priority.rawValue),\"mono_ms\":\(monotonic),\"t_ms\":\(wall)"
        text += ",\"at\":\"\(WallClock.text(milliseconds: wall))\",\"mode\":\(JSONString.quoted(mode))\(mark)"
        text += ",\"text\":\(quoted(record.text))"
        for field in EventField.allCases {
            guard let own = field.key, let value = record[field] else { continue }
            // Three fields may be a record's cause; with a key twice it would be no JSON object above.
            let key = own == "cause" && field != cause(record) ? beside(field) : own
            switch field {
            case .value where record.measured != nil, .limit where record.measured != nil: break
            case .value, .limit, .cycle: text += ",\"\(key)\":\(number(value) ?? quoted(value))"
            case .site, .unit, .interlock, .cause, .source, .from, .to, .link, .userID, .role, .reason,
                .asked,
                .via, .saved, .digest:
                text += ",\"\(key)\":\(quoted(value))"
            }
        }
        if let measured = record.measured {
            if let value = measured.value, value.isFinite { text += ",\"value\":\(value)" }
            if let limit = measured.limit, limit.isFinite { text += ",\"limit\":\(limit)" }
            if let symbol = measured.symbol { text += ",\"symbol\":\(quoted(symbol))" }
        }
        return Array((text + "}").utf8)
    }

    /// Which field is the record's `cause`.
    private static func cause(_ record: LogRecord) -> EventField {
        [.cause, .interlock].first { record[$0] != nil } ?? .source
    }

    /// Its key beside another one that is the `cause`.
    private static func beside(_ field: EventField) -> String { field == .interlock ? "interlock" : "source" }

    private static func quoted(_ text: String) -> String {
        JSONString.quoted(String(text.prefix(longestText)))
    }

    /// Where a field's text is a number, its text is JSON's.
    private static func number(_ text: String) -> String? {
        if let whole = Int64(text) { return String(whole) }
        return Double(text).flatMap { $0.isFinite ? "\($0)" : nil }
    }
}
