import LinuxIO
import Quantities
import Recorder
import SiteConfig
import SiteEvents

/// The main thread's side of the latches on disk: gives the keepers what the cycle does not tell them, and
/// knows what may be told to people.
struct LatchDesk: ~Copyable {
    private var latches: Latches
    private let keepers: [LatchKeeper]
    /// Of the state folder's keeper, where there is one.
    private let reports: FixedList<TripleBufferReader<LatchKeeper.Report>>
    private var watch = LatchWatch()
    /// What was handed to the state folder's keeper and is not known to be on disk yet, oldest first.
    private var handed: [(version: UInt64, record: LatchRecord)]
    private static let mostHanded = 16
    let units: [String]

    /// - Parameters:
    ///   - keepers: of the state folder, then of the runtime folder; none on a site without a latch record.
    init(_ latches: Latches, units: [String], keepers: [LatchKeeper]) {
        self.latches = latches
        self.units = units
        self.keepers = keepers
        handed = [(0, latches.record)]
        reports = FixedList(capacity: 1)
        if let first = keepers.first { reports.append(first.reader()) }
    }

    var record: LatchRecord { latches.record }

    /// Whether anybody keeps them at all.
    var keeps: Bool { !keepers.isEmpty }

    /// Whether the newest that the cycle has latched is on disk. What is on its way there is not.
    var isSaved: Bool { !keepers.isEmpty && watch.isSaved }

    /// Whether what a cycle has latched is known to be on disk.
    func isSaved(cycle: UInt64) -> Bool { !keepers.isEmpty && watch.savedCycle >= cycle }

    /// Whether the newest decision must not be told yet, since its latches may still be on disk in time.
    func mustWait(at now: MonotonicTime) -> Bool { !keepers.isEmpty && watch.mustWait(at: now) }

    /// Stops and locks as they stand on disk since a moment ago; `nil` where nothing has changed since it was
    /// asked last.
    mutating func newlyOnDisk() -> LatchRecord? {
        guard !keepers.isEmpty, let version = reports[0].pointee.latest.pointee.version,
            let last = handed.lastIndex(where: { $0.version <= version })
        else { return nil }
        defer { handed.removeFirst(last + 1) }
        return handed[last].record
    }

    /// Hands on what has changed.
    ///
    /// - Parameter told: what the cycle's events have told; its entries do not count.
    /// - Returns: what is to be logged.
    mutating func tend(_ image: LatchImage, _ told: LatchRecord, at now: MonotonicTime) -> LogRecord? {
        // The first record is made by a person who has looked at the site, never by the daemon.
        guard !keepers.isEmpty, image.cycle > 0 else { return nil }
        var told = told
        told.entries = units.map { LatchRecord.Entry(unit: $0, trips: 0, firstOut: nil) }
        let record = image.applied(to: latches.updated(told))
        if record != latches.record {
            latches.record = record
            for keeper in keepers.dropFirst() { keeper.update(record) }
            handed.append((keepers[0].update(record), record))
            // Of those between two on disk nobody waits for the oldest.
            if handed.count > Self.mostHanded { handed.removeFirst() }
        }
        reports[0].pointee.update()
        let report = reports[0].pointee.latest.pointee
        guard let outcome = watch.look(image, report, at: now) else { return nil }
        switch outcome {
        case .notSaved(let why):
            var line = LogRecord(
                .latchesNotSaved,
                "latched trips are NOT SAVED: \(why); tried again until the disk takes them", [.cause: why])
            line.mustBeKept = true
            return line
        case .saved:
            return LogRecord(.latchesSaved, "latched trips are on disk again")
        }
    }
}
