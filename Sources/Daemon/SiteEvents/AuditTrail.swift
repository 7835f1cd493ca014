import LinuxIO
import Quantities
import Recorder
import SiteAudit

/// The site's audit on disk: what people, other programs and the safety functions did, as a chain of hashes
/// (`AuditRecord`). Its head goes up as a record of the spool, so that the aggregator holds what nobody on
/// site can make anew.
public struct AuditTrail {
    /// Requests and refusals, leases, trips and resets, starts and ends, configurations.
    public static let kinds: Set<EventName> = [
        .trip, .contactorFault, .openedUnderLoad, .reset, .resetRefused, .resetNeedsService, .maintenance,
        .maintenanceEnd, .maintenanceRefused, .override, .overrideEnd, .overrideRefused, .held, .holdEnd,
        .resumeRefused, .reversionTest, .reversionProven, .reversionFailed, .reversionUnproven,
        .outputWatchdogTest, .outputWatchdogProven, .outputWatchdogFailed, .basePointSet, .basePointRefused,
        .basePointRevoked, .basePointLapsed, .stop, .resume, .unplannedRestart, .latchRecord,
        .latchesNotSaved, .started, .stopping, .stopped, .eventsLost, .recordsLost,
        .spoolSetBack, .clockStep, .riskAccepted, .remoteLease, .remoteLeaseRefused, .operator,
        .operatorRefused, .commission, .frequencyTest, .frequencyTestEnd, .reloaded, .reloadRefused,
        .modbusWrite, .proxyRefused,
    ]

    private static let options = SpoolOptions(segmentBytes: 1 << 20, totalBytes: 32 << 20)
    /// Those that wait for a disk; beyond it the oldest go, and leave their numbers.
    private static let mostWaiting = 4_096
    private static let headPace = Duration.seconds(60)

    private let writer: SpoolWriter
    private var previous: String
    private var waiting: [[UInt8]] = []
    /// Of the last record that was written, and of the last that is on the disk.
    private var written: AuditHead?
    private var durable: AuditHead?
    private var toldHead: AuditHead?
    private var told: MonotonicTime?
    /// How many have found no room since this was looked at.
    private var lost = 0

    /// - Parameter directory: the site's state folder.
    public init(directory: String) throws(SpoolError) {
        let path = directory + "/audit"
        writer = try SpoolWriter(directory: path, options: Self.options)
        try writer.sync()
        durable = try Self.last(of: path)
        written = durable
        // What cannot be read any more shows as a break: nothing is made up.
        previous = durable?.hash ?? AuditRecord.beginning
    }

    /// The last record that is there.
    private static func last(of path: String) throws(SpoolError) -> AuditHead? {
        let reader = try SpoolReader(directory: path)
        let end = reader.durableThrough()
        var position = end > 1_000 ? end - 1_000 : 0
        var head: AuditHead?
        while true {
            let batch = try reader.next(after: position, limitBytes: 1 << 20, limitCount: 1_000)
            if batch.isEmpty { return head }
            if let record = batch.records.last {
                head = AuditRecord(number: record.number, payload: record.payload)?.head
            }
            position = batch.through
        }
    }

    /// Appends events in their order; those that the disk does not take wait for it.
    public mutating func append(_ events: [[UInt8]]) {
        waiting += events
        var done = 0
        for event in waiting {
            let record = AuditRecord(number: writer.nextNumber, previous: previous, event: event)
            // A disk that says no says so for the spool as well, which tells it.
            guard (try? writer.append(record.payload)) != nil else { break }
            written = record.head
            previous = record.head.hash
            done += 1
        }
        waiting.removeFirst(done)
        let tooMany = max(0, waiting.count - Self.mostWaiting)
        waiting.removeFirst(tooMany)
        lose(UInt64(tooMany))
        if isWaiting { writer.reserve(waiting.count) }
    }

    /// Whether some wait for a disk: their numbers are taken.
    public var isWaiting: Bool { !waiting.isEmpty }

    /// Gives numbers to events that have found no room, so that their absence shows.
    public mutating func lose(_ count: UInt64) {
        writer.skip(count)
        lost += Int(count)
    }

    /// Whether an audit of so many bytes may have lost its oldest records by making room: a smaller one has
    /// never been full.
    public static func mayHaveMadeRoom(bytes: Int) -> Bool {
        bytes > options.totalBytes - 2 * options.segmentBytes
    }

    /// - Throws: where the disk says no.
    public mutating func sync() throws(SpoolError) {
        try writer.restoreAndSync()
        durable = written
    }

    /// What happened to its files since this was asked last.
    public mutating func takeReports() -> [SpoolReport] { writer.takeReports() }

    /// How many events have found no room since this was asked last.
    public mutating func takeLost() -> Int {
        defer { lost = 0 }
        return lost
    }

    /// The head on the disk, where it is to be told now: each minute at most, and at the end.
    public mutating func headToTell(at now: MonotonicTime, isLast: Bool) -> AuditHead? {
        guard let durable, durable != toldHead, isLast || told.map({ now - $0 >= Self.headPace }) ?? true
        else { return nil }
        (toldHead, told) = (durable, now)
        return durable
    }
}
