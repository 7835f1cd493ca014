import ControlSocket
import LinuxIO
import Quantities
import SiteAudit
import SiteEvents
import SiteRecords
import Synchronization

/// The events on their way to the spool: every line of the log about an event whose row says that it goes up.
///
/// Who writes a line never waits. The recorder takes what is here; what finds no room is counted, and takes
/// numbers of the spool, so that the aggregator sees the hole.
final class EventOutbox: Sendable {
    /// More than a bad hour of a large site has.
    static let capacity = 4_096
    /// What people at the site are shown of it.
    private static let mostRecent = 20
    private static let longestRecent = 300

    struct Content: Sendable, Equatable {
        /// Oldest first.
        var records: [[UInt8]] = []
        /// Of these, those that belong into the audit.
        var audited: [[UInt8]] = []
        var refused: UInt64 = 0
        /// Of those, such as belong into the audit.
        var refusedAudited: UInt64 = 0
    }

    private let content = Mutex(Content())
    /// What is told meanwhile is of a test.
    let isFrequencySimulated = Atomic<Bool>(false)
    /// Oldest first.
    private let newest = Mutex<[EventStatus]>([])
    private let mode: String

    /// - Parameter mode: the site's, as its file has it.
    init(mode: String) { self.mode = mode }

    /// Takes a line; one about no event, or about one that stays here, is passed over.
    func put(_ line: LogLine) {
        guard let event = line.record.event, EventTable.row(event).way == .up else { return }
        let status = EventStatus(
            at: WallClock.text(milliseconds: line.record.happened?.wallMilliseconds ?? line.wallMilliseconds),
            event: event.rawValue, text: String(line.record.text.prefix(Self.longestRecent)),
            grave: line.record.priority.rawValue <= LogRecord.Priority.warning.rawValue)
        newest.withLock { $0 = $0.suffix(Self.mostRecent - 1) + [status] }
        let record = EventText.record(event, line, mode: mode, mark: mark)
        content.withLock { content in
            guard content.records.count < Self.capacity || line.record.mustBeKept else {
                content.refused += 1
                if AuditTrail.kinds.contains(event) { content.refusedAudited += 1 }
                return
            }
            content.records.append(record)
            if AuditTrail.kinds.contains(event) { content.audited.append(record) }
        }
    }

    /// A line as the record of its event, which goes nowhere by itself; `nil` for one about no event.
    func record(of line: LogLine) -> [UInt8]? {
        line.record.event.map { EventText.record($0, line, mode: mode, mark: mark) }
    }

    private var mark: String {
        isFrequencySimulated.load(ordering: .relaxed) ? ColumnEncoder.simulatedMark : ""
    }

    /// The record that says where the audit stands.
    func record(of head: AuditHead, wall: Int64, monotonic: MonotonicTime) -> [UInt8] {
        EventText.record(of: head, wall: wall, monotonic: monotonic, mode: mode, mark: mark)
    }

    /// What happened last, newest first, whether or not it has been written down.
    var recent: [EventStatus] { newest.withLock { $0.reversed() } }

    func take() -> Content {
        content.withLock { content in
            defer { content = Content() }
            return content
        }
    }
}
