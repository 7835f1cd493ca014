import JSONText
import LinuxIO
import Quantities
import SiteAudit
import SiteEvents
import Synchronization

/// The events on their way to the spool: every line of the log about an event whose row says that it goes up.
///
/// Who writes a line never waits. The recorder takes what is here; what finds no room is counted, and takes
/// numbers of the spool, so that the aggregator sees the hole.
final class EventOutbox: Sendable {
    /// More than a bad hour of a large site has.
    static let capacity = 4_096
    /// A peer's words are bounded by it, and with them the record.
    private static let longestText = 2_000

    struct Content: Sendable, Equatable {
        /// Oldest first.
        var records: [[UInt8]] = []
        /// Of these, those that belong into the audit.
        var audited: [[UInt8]] = []
        var refused: UInt64 = 0
    }

    private let content = Mutex(Content())
    private let mode: String

    /// - Parameter mode: the site's, as its file has it.
    init(mode: String) { self.mode = mode }

    /// Takes a line; one about no event, or about one that stays here, is passed over.
    func put(_ line: LogLine) {
        guard let event = line.record.event, EventTable.row(event).way == .up else { return }
        let record = Self.record(event, line, mode: mode)
        content.withLock { content in
            guard content.records.count < Self.capacity || line.record.mustBeKept else {
                content.refused += 1
                return
            }
            content.records.append(record)
            if AuditTrail.kinds.contains(event) { content.audited.append(record) }
        }
    }

    /// The record that says where the audit stands.
    func record(of head: AuditHead, wall: Int64, monotonic: MonotonicTime) -> [UInt8] {
        Array(
            ("{\"v\":1,\"kind\":\"audit\",\"mono_ms\":\(monotonic.nanoseconds / 1_000_000),\"t_ms\":\(wall)"
                + ",\"mode\":\(JSONString.quoted(mode)),\"head\":\"\(head.text)\"}").utf8)
    }

    func take() -> Content {
        content.withLock { content in
            defer { content = Content() }
            return content
        }
    }

    /// The record as JSON; what each key says stands in `EventField`.
    static func record(_ event: EventName, _ line: LogLine, mode: String) -> [UInt8] {
        let (record, wall) = (line.record, line.record.happened?.wallMilliseconds ?? line.wallMilliseconds)
        let monotonic = (record.happened?.monotonic ?? line.monotonic).nanoseconds / 1_000_000
        var text = "{\"v\":1,\"kind\":\"event\",\"event\":\"\(event.rawValue)\""
        text += ",\"priority\":\(record.priority.rawValue),\"mono_ms\":\(monotonic),\"t_ms\":\(wall)"
        text += ",\"at\":\"\(WallClock.text(milliseconds: wall))\",\"mode\":\(JSONString.quoted(mode))"
        text += ",\"text\":\(quoted(record.text))"
        for field in EventField.allCases {
            guard let key = field.key, let value = record[field] else { continue }
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

    private static func quoted(_ text: String) -> String {
        JSONString.quoted(String(text.prefix(longestText)))
    }

    /// Where a field's text is a number, its text is JSON's.
    private static func number(_ text: String) -> String? {
        if let whole = Int64(text) { return String(whole) }
        return Double(text).flatMap { $0.isFinite ? "\($0)" : nil }
    }
}
