import JSONText
import LinuxIO
import SiteEvents

/// One line of `journalctl --output=json`, by the names that our records have.
struct JournalEntry {
    /// By syslog's numbers; what says none is of the least.
    private static let severities = [
        "emergency", "alert", "critical", "error", "warning", "notice", "info", "debug",
    ]
    private var fields: [String: String] = [:]

    /// - Returns: `nil` where it is no object.
    init?(json bytes: [UInt8]) {
        do throws(JSONError) {
            var cursor = JSONCursor(bytes)
            var found: [String: String] = [:]
            try cursor.object { (key, cursor) throws(JSONError) in
                found[key] = try Self.text(&cursor)
            }
            try cursor.end()
            fields = found
        } catch { return nil }
    }

    /// What is no text comes as its bytes; a field that came several times as a list, of which the first
    /// counts.
    private static func text(_ cursor: inout JSONCursor) throws(JSONError) -> String? {
        if cursor.isAtString { return try cursor.string() }
        guard cursor.isAtArray else {
            _ = try cursor.skipValue()
            return nil
        }
        var (bytes, texts) = ([UInt8](), [String]())
        try cursor.array { (_, cursor) throws(JSONError) in
            if cursor.isAtString {
                texts.append(try cursor.string())
            } else if cursor.isAtArray || cursor.isAtObject || cursor.isAtNull {
                _ = try cursor.skipValue()
            } else if let byte = UInt8(exactly: try cursor.integer()) {
                bytes.append(byte)
            }
        }
        return texts.first ?? String(decoding: bytes, as: UTF8.self)
    }

    /// One object; a key without a value is not there.
    ///
    /// - Parameter isExplained: with what the event means and what to do.
    func json(isExplained: Bool) -> String {
        var members: [(String, String)] = []
        func add(_ key: String, _ text: String?) {
            guard let text else { return }
            members.append((key, JSONText.quoted(text)))
        }
        let time = fields["__REALTIME_TIMESTAMP"].flatMap { Int64($0) }
        add("at", time.map { WallClock.text(milliseconds: $0 / 1_000) })
        let priority = fields["PRIORITY"].flatMap { Int($0) } ?? Self.severities.count - 1
        add("severity", Self.severities[min(max(0, priority), Self.severities.count - 1)])
        add("program", fields["SYSLOG_IDENTIFIER"])
        add("event", fields["BALLAST_EVENT"])
        add("text", fields["MESSAGE"])
        for field in EventField.allCases { add(Self.key(field), fields[field.rawValue]) }
        if isExplained, let event = fields["BALLAST_EVENT"].flatMap({ EventName(rawValue: $0) }) {
            let row = EventTable.row(event)
            add("meaning", row.explanation)
            add("advice", row.advice)
        }
        return "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    /// As in the records that go up; there three fields are one key, here each has its own.
    private static func key(_ field: EventField) -> String {
        switch field {
        case .site: "site"
        case .interlock: "row"
        case .source: "source"
        case .unit, .cause, .value, .limit, .from, .to, .cycle, .link, .userID, .role, .reason, .asked, .via,
            .saved, .digest:
            field.key ?? field.rawValue
        }
    }
}
