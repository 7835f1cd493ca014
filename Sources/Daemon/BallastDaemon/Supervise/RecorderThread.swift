import ControlSocket
import LinuxIO
import Quantities
import Recorder
import SafeOutput
import SiteEvents
import Synchronization

/// Puts records and small files on disk, on a thread that nothing waits for: a slow disk delays neither the
/// cycle nor the watchdog, nor the latches, which have threads of their own (`LatchKeeper`).
final class RecorderThread: Sendable {
    private struct Inbox: Sendable {
        var records: [[UInt8]] = []
        /// Those that outlast the others: energy.
        var kept: [[UInt8]] = []
        /// For the performance record: a spool of its own, which nobody delivers.
        var performance: [[UInt8]] = []
        /// Small files of the state folder, by name.
        var files: [String: [UInt8]] = [:]
        var awaited: [AwaitedEntry] = []
        var refused: UInt64 = 0
    }

    /// An entry of the audit that somebody waits for.
    private final class AwaitedEntry: Sendable {
        let event: [UInt8]
        let isOnDisk = Atomic<Bool>(false)

        init(_ event: [UInt8]) { self.event = event }
    }

    /// Longer than a disk that is well takes, and not so long that who waits counts as standing still.
    private static let longestWait = Duration.seconds(3)

    /// About ten minutes of telemetry and events of a large site.
    private static let longestInbox = 4_096
    private let inbox = Mutex(Inbox())
    private let areFilesLost = Atomic<Bool>(false)
    private let areRecordsLost = Atomic<Bool>(false)
    private let isAuditFailing = Atomic<Bool>(false)
    private let stop = StopFlag()
    private let directory: String
    private let journal: Journal
    private let beat: Beat

    /// What happened, which no telemetry keeps from its place.
    private let outbox: EventOutbox

    /// How often something has not reached the spool: what comes next must not build on what came before.
    let losses = Atomic<UInt64>(0)
    private let spoolMegabytes: Int

    init(directory: String, spoolMegabytes: Int, journal: Journal, beat: Beat, outbox: EventOutbox) {
        self.spoolMegabytes = spoolMegabytes
        self.outbox = outbox
        self.beat = beat
        self.directory = directory
        self.journal = journal
    }

    /// What happened last, newest first.
    var recentEvents: [EventStatus] { outbox.recent }

    /// Queues a record; one that finds no room is counted and said.
    func record(_ bytes: [UInt8], lane: SpoolLane = .telemetry) {
        switch lane {
        case .telemetry: queue(bytes, \.records)
        case .kept: queue(bytes, \.kept)
        }
    }

    /// Queues a record of the performance spool.
    func recordPerformance(_ bytes: [UInt8]) { queue(bytes, \.performance) }

    /// Puts a line into the audit alone, and waits for the disk.
    ///
    /// - Returns: whether it is there; where not, it may still come there.
    func keepInAudit(_ line: LogLine) -> Bool {
        guard let event = outbox.record(of: line) else { return false }
        let entry = AwaitedEntry(event)
        inbox.withLock { $0.awaited.append(entry) }
        let limit = MonotonicTime.now() + Self.longestWait
        while !entry.isOnDisk.load(ordering: .acquiring) {
            if MonotonicTime.now() > limit { return false }
            (MonotonicTime.now() + .milliseconds(1)).sleep()
        }
        return true
    }

    private func queue(_ bytes: [UInt8], _ list: WritableKeyPath<Inbox, [[UInt8]]>) {
        inbox.withLock { inbox in
            guard inbox[keyPath: list].count < Self.longestInbox else {
                inbox.refused += 1
                return
            }
            inbox[keyPath: list].append(bytes)
        }
    }

    /// Whether what is recorded from now on is of a test with a simulated frequency.
    func mark(isFrequencySimulated: Bool) {
        outbox.isFrequencySimulated.store(isFrequencySimulated, ordering: .relaxed)
    }

    /// Queues a small file of the state folder; only the newest of a name matters.
    func persist(_ name: String, _ bytes: [UInt8]) { inbox.withLock { $0.files[name] = bytes } }

    /// Ends `run()` after what is queued has been written.
    func end() { stop.raise() }

    func run() {
        let spool = openSpool("spool", SpoolOptions(totalBytes: spoolMegabytes * 1_000_000), "telemetry is")
        var unwritten: [[UInt8]] = []
        var watch = SpoolWatch()
        var audit = openAudit()
        // At rest about three weeks.
        let performance = openSpool(
            "performance", SpoolOptions(totalBytes: 128 << 20), "the performance record is")
        var lastSync = MonotonicTime.now()
        var unsavedFiles: [String: [UInt8]] = [:]
        while true {
            let isLast = stop.isRaised
            beat.turn()
            let work = inbox.withLock { inbox -> Inbox in
                let taken = inbox
                inbox = Inbox()
                return taken
            }
            for (name, bytes) in work.files { unsavedFiles[name] = write(name, bytes) ? nil : bytes }
            let events = outbox.take()
            audit?.lose(events.refusedAudited)
            audit?.append(events.audited + work.awaited.map(\.event))
            settle(work.awaited, &audit)
            unwritten = append(unwritten + events.records + work.kept, work.records, to: spool)
            lose(work.refused + events.refused, of: spool)
            append(work.performance, to: performance)
            let now = MonotonicTime.now()
            if isLast || now - lastSync >= .seconds(1) {
                unsavedFiles = unsavedFiles.filter { !write($0.key, $0.value) }
                if let head = sync(&audit, at: now, isLast: isLast) { unwritten.append(head) }
                unwritten = append(unwritten, [], to: spool)
                sync(spool, .spool)
                if let spool { watch.look(spool, journal, at: now) }
                sync(performance, .performance)
                lastSync = now
            }
            if isLast { return }
            (now + .milliseconds(10)).sleep()
        }
    }

    /// Writes down what is said when the recorder has ended already, last of all; a disk that stands still
    /// keeps no process from ending.
    static func keepLast(_ outbox: EventOutbox, in directory: String) {
        let content = outbox.take()
        let events = content.records
        guard !events.isEmpty else { return }
        // Neither a thread nor a spool to be had: the journal has these lines.
        let thread = try? SystemThread(name: "recorder") {
            guard let spool = try? SpoolWriter(directory: directory + "/spool") else { return }
            var audit = try? AuditTrail(directory: directory)
            // What the recorder had to leave is said before anything stands behind it.
            let ends = [(Kept.spool, spool.takeReports()), (.audit, audit?.takeReports() ?? [])]
            let declared = ends.flatMap { kept, reports in
                reports.compactMap { endLost($0, of: kept) }.compactMap { outbox.record(of: $0) }
            }
            let lost = (declared + events).drop { (try? spool.append($0, lane: .kept)) != nil }
            spool.skip(UInt64(lost.count))
            if audit != nil {
                audit?.append(declared + content.audited)
                try? audit?.sync()
                if let head = audit?.headToTell(at: .now(), isLast: true) {
                    let record = outbox.record(of: head, wall: WallClock.nowMilliseconds(), monotonic: .now())
                    _ = try? spool.append(record, lane: .kept)
                }
            }
            try? spool.sync()
        }
        _ = thread?.join(until: .now() + .seconds(1))
    }

    /// Tells those who wait that their entries are on the disk, if they are.
    private func settle(_ entries: [AwaitedEntry], _ audit: inout AuditTrail?) {
        guard !entries.isEmpty, audit != nil else { return }
        // What the disk says is told by the sync of each second.
        do throws(SpoolError) { try audit?.sync() } catch { return }
        guard audit?.isWaiting == false else { return }
        for entry in entries { entry.isOnDisk.store(true, ordering: .releasing) }
    }

    private func openAudit() -> AuditTrail? {
        do throws(SpoolError) {
            return try AuditTrail(directory: directory)
        } catch {
            journal.write(
                LogRecord(.spoolFailed, "no audit: \(error); control goes on, nothing is kept of who asks"))
            return nil
        }
    }

    /// - Returns: the record of its head, where that is to go up now.
    private func sync(_ audit: inout AuditTrail?, at now: MonotonicTime, isLast: Bool) -> [UInt8]? {
        guard audit != nil else { return nil }
        do throws(SpoolError) {
            defer { for report in audit?.takeReports() ?? [] { tell(report, of: .audit) } }
            try audit?.sync()
        } catch {
            if !isAuditFailing.exchange(true, ordering: .relaxed) {
                journal.write(LogRecord(.spoolFailed, "audit: \(error)"))
            }
            return nil
        }
        isAuditFailing.store(false, ordering: .relaxed)
        if let lost = audit?.takeLost(), lost > 0 {
            journal.write(
                LogRecord(
                    .recordsLost, "\(lost) entries of the audit found no room: the disk is too slow or full",
                    [.value: "\(lost)"]))
        }
        return audit?.headToTell(at: now, isLast: isLast).map {
            outbox.record(of: $0, wall: WallClock.nowMilliseconds(), monotonic: now)
        }
    }

    private func openSpool(_ name: String, _ options: SpoolOptions, _ what: String) -> SpoolWriter? {
        do throws(SpoolError) {
            return try SpoolWriter(directory: directory + "/" + name, options: options)
        } catch {
            journal.write(
                LogRecord(.spoolFailed, "no \(name): \(error); control goes on, \(what) not kept"))
            return nil
        }
    }

    /// - Returns: whether the disk took it; if not it is tried again each second, where no newer one came.
    private func write(_ name: String, _ bytes: [UInt8]) -> Bool {
        if name == WirePlan.name, let folder = WireBook.runtimeFolder {
            do throws(SystemError) { try DurableFile.replace(folder + "/" + name, with: bytes) } catch {
                // What counts is the state folder; the copy is for a disk that goes bad later.
            }
        }
        do throws(SystemError) {
            try DurableFile.replace(directory + "/" + name, with: bytes)
        } catch {
            if !areFilesLost.exchange(true, ordering: .relaxed) {
                journal.write(
                    LogRecord(
                        .stateNotSaved,
                        "\(directory)/\(name) is not on disk: \(error); tried again each second"))
            }
            return false
        }
        areFilesLost.store(false, ordering: .relaxed)
        return true
    }

    /// What found no room takes numbers, so that the reader sees the hole.
    private func lose(_ count: UInt64, of spool: SpoolWriter?) {
        guard count > 0 else { return }
        losses.wrappingAdd(count, ordering: .relaxed)
        spool?.skip(count)
        journal.write(
            LogRecord(
                .recordsLost, "\(count) records found no room: the disk is too slow or full",
                [.value: "\(count)"]))
    }

    /// Events that the disk does not take wait for it; telemetry is lost, and its numbers say so.
    ///
    /// - Returns: the events that wait.
    private func append(
        _ events: [[UInt8]], _ telemetry: [[UInt8]], to spool: SpoolWriter?
    ) -> [[UInt8]] {
        guard let spool else { return [] }
        var waiting: [[UInt8]] = []
        for event in events where !waiting.isEmpty || !append(event, .kept, to: spool) {
            waiting.append(event)
        }
        var lost: UInt64 = 0
        for record in telemetry where !waiting.isEmpty || !append(record, .telemetry, to: spool) { lost += 1 }
        if waiting.count > EventOutbox.capacity {
            lost += UInt64(waiting.count - EventOutbox.capacity)
            waiting.removeFirst(waiting.count - EventOutbox.capacity)
        }
        lose(lost, of: spool)
        if !waiting.isEmpty { spool.reserve(waiting.count) }
        return waiting
    }

    private func append(_ record: [UInt8], _ lane: SpoolLane, to spool: SpoolWriter) -> Bool {
        do throws(SpoolError) {
            _ = try spool.append(record, lane: lane)
            areRecordsLost.store(false, ordering: .relaxed)
            return true
        } catch {
            if !areRecordsLost.exchange(true, ordering: .relaxed) {
                journal.write(LogRecord(.spoolFailed, "record not kept: \(error)"))
            }
            return false
        }
    }

    private func append(_ records: [[UInt8]], to spool: SpoolWriter?) {
        guard let spool else { return }
        for record in records where !append(record, .telemetry, to: spool) { return }
    }

    private func sync(_ spool: SpoolWriter?, _ kept: Kept) {
        guard let spool else { return }
        do throws(SpoolError) {
            try spool.restoreAndSync()
        } catch {
            journal.write(LogRecord(.spoolFailed, "\(kept.rawValue): \(error)"))
        }
        for report in spool.takeReports() { tell(report, of: kept) }
    }

    /// What is kept, in words.
    private enum Kept: String {
        case spool = "the spool"
        case performance = "the performance record"
        case audit = "the audit"
    }

    private func tell(_ report: SpoolReport, of kept: Kept) {
        switch report {
        case .setBack, .neverWritten: return  // They are told where they are done.
        case .removed(let from, let to, let undelivered):
            losses.wrappingAdd(1, ordering: .relaxed)
            let words = kept == .spool ? ", \(undelivered) of them undelivered" : ""
            lost(
                to - from + 1,
                "somebody has removed files of \(kept.rawValue): records \(from) to \(to) are gone\(words)")
        case .endLost:
            if let line = Self.endLost(report, of: kept) { journal.write(line.record) }
        case .droppedUndelivered(let from, let to) where kept == .audit:
            let (count, range) = (to - from + 1, "\(from) to \(to)")
            lost(count, "the audit's oldest \(count) records, \(range), have made room for newer ones")
        case .droppedUndelivered where kept == .performance:
            return  // Nobody delivers it: that its oldest part makes room is no loss.
        case .stranger(let name):
            let text =
                "\(name) is none of \(kept.rawValue)'s files (a copy, or no regular file): it is set "
                + "aside as \(name).aside"
            journal.write(LogRecord(.spool, text))
        case .tornTailCut, .damaged, .droppedUndelivered, .thinned, .madeAnew, .segmentAbandoned,
            .streamRestored:
            journal.write(LogRecord(.spool, "\(kept.rawValue): \(report)"))
        }
    }

    /// The line about numbers that a writer found taken, and nothing under them; `nil` about all else.
    private static func endLost(_ report: SpoolReport, of kept: Kept) -> LogLine? {
        guard case .endLost(let from, let to) = report else { return nil }
        let text =
            "records \(from) to \(to) of \(kept.rawValue) are lost: their numbers were taken, and the disk "
            + "does not have them (it was full, or somebody has removed them)"
        return LogLine(
            record: LogRecord(.recordsLost, text, [.value: "\(to - from + 1)"]), file: #file, line: #line,
            function: #function, wallMilliseconds: WallClock.nowMilliseconds())
    }

    private func lost(_ count: UInt64, _ text: String) {
        journal.write(LogRecord(.recordsLost, text, [.value: "\(count)"]))
    }
}

/// Looks how full the spool is, and whether its files are older than what was delivered from them.
private struct SpoolWatch {
    private static let interval = Duration.seconds(10)
    /// Whoever says at each look that the spool was set back gets all of it once an hour, not each time.
    private static let renewal = Duration.seconds(3_600)

    private var due = MonotonicTime(nanoseconds: 0)
    private var renewalDue = MonotonicTime(nanoseconds: 0)
    private var isNearlyFull = false

    mutating func look(_ spool: SpoolWriter, _ journal: Journal, at now: MonotonicTime) {
        guard now >= due else { return }
        due = now + Self.interval
        let (undelivered, whole) = spool.occupancy
        let limit = max(1, whole - spool.reserve)
        if undelivered * 5 >= limit * 4, !isNearlyFull {
            isNearlyFull = true
            let text = "the spool is \(undelivered * 100 / limit) % full: the oldest telemetry will make room"
            journal.write(LogRecord(.spoolNearlyFull, text, [.value: "\(undelivered * 100 / limit)"]))
        } else if undelivered * 10 < limit * 7, isNearlyFull {
            isNearlyFull = false
            journal.write(LogRecord(.spoolHasRoom, "the spool has room again"))
        }
        guard now >= renewalDue else { return }
        // A disk that says no is told of by the sync that follows.
        guard (try? spool.renewIfSetBack()) == true else { return }
        renewalDue = now + Self.renewal
        let text = "the spool is older than what was delivered: all of it goes again, as epoch \(spool.epoch)"
        journal.write(LogRecord(.spoolSetBack, text))
    }
}
