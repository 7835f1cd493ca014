import Glibc
import LinuxIO

/// Why a spool did not do what was asked.
public enum SpoolError: Error, Equatable {
    /// Another process writes to this directory.
    case inUse(directory: String)
    /// There is no spool (yet) in this directory.
    case noSpool(directory: String)
    /// A payload of `size` bytes is more than one record takes.
    case tooLarge(size: Int, limit: Int)
    case system(SystemError)
}

/// How large a spool may grow.
public struct SpoolOptions: Sendable {
    /// A segment is closed before it grows beyond this.
    public var segmentBytes: Int
    /// All segments together; the oldest is removed before this is passed.
    public var totalBytes: Int

    public init(segmentBytes: Int = 4 << 20, totalBytes: Int = 256 << 20) {
        self.segmentBytes = segmentBytes
        self.totalBytes = totalBytes
    }
}

/// The writing end of the spool: an append-only log of numbered records in a directory of its own.
///
/// One thread uses it. A record reaches the reader when `sync()` has made it durable. Numbers begin at 1 and
/// go up by one; a number that a reader has seen never comes again with another payload.
public final class SpoolWriter {
    /// More than this many bytes never wait for a `sync()`: `append` then does it.
    private static let unsyncedLimit = 256 * 1_024
    private static let reportLimit = 64

    public private(set) var epoch: SpoolEpoch
    /// The number that the next record gets.
    public private(set) var nextNumber: UInt64 = 1
    /// The last number that is known to be on the disk.
    public private(set) var syncedThrough: UInt64 = 0
    /// The last number of which the disk knows that it is taken.
    private var takenThrough: UInt64 = 0

    /// How many undelivered records had to go since this writer was opened.
    public internal(set) var droppedUndelivered: UInt64 = 0

    let directory: SpoolDirectory
    private let options: SpoolOptions
    var lock: SpoolFile
    var syncedMark: SpoolFile
    private let makeDurable: (SpoolFile) throws(SystemError) -> Void
    var segment: SpoolFile?
    /// The segments that there should be, in their order.
    var segments: [SegmentName] = []
    /// How far was delivered when the mark was there last.
    var lastDelivered: UInt64 = 0
    private var segmentEnd = 0
    /// The encoded records since the last sync, to be written again elsewhere if that sync fails.
    private var unsynced: [UInt8] = []
    var reports: [SpoolReport] = []

    /// Opens the spool in `directory` (made if absent), and recovers it: only a directory that cannot be
    /// used, or that another writer uses, is refused.
    public convenience init(directory: String, options: SpoolOptions = SpoolOptions()) throws(SpoolError) {
        try self.init(directory: directory, options: options) { file throws(SystemError) in try file.sync() }
    }

    init(
        directory path: String, options: SpoolOptions,
        makeDurable: @escaping (SpoolFile) throws(SystemError) -> Void
    ) throws(SpoolError) {
        directory = SpoolDirectory(path: path)
        self.options = options
        self.makeDurable = makeDurable
        do throws(SystemError) {
            if mkdir(path, 0o750) < 0, errno != EEXIST { throw SystemError.last("mkdir") }
            lock = try SpoolFile(path: directory.lockPath, flags: O_RDWR | O_CREAT)
        } catch { throw .system(error) }
        if flock(lock.number, LOCK_EX | LOCK_NB) < 0 { throw .inUse(directory: path) }
        do throws(SystemError) {
            let strangers = try directory.setOthersAside()
            var names = try directory.segments()
            let restored = try SpoolRecovery.epoch(in: directory, segments: names)
            epoch = restored.epoch
            syncedMark = try SpoolFile(path: directory.syncedPath, flags: O_RDWR | O_CREAT)
            try directory.letGroupDeliver()
            if restored.isReported { reports.append(.streamRestored(epoch)) }
            reports += strangers.map { .stranger(name: $0) }
            names = try withoutStrangers(names)
            try recover(&names)
            segments = try directory.segments()
            lastDelivered = DeliveryMark.read(in: directory, epoch: epoch)
        } catch { throw .system(error) }
    }

    /// Said aloud, since a child that this process is just starting holds the closed descriptor until its
    /// exec.
    deinit { _ = flock(lock.number, LOCK_UN) }

    /// Adds a record behind all others.
    ///
    /// - Returns: its number. A record is durable, and is seen by the reader, after the next `sync()`.
    /// - Throws: with no number taken; the next call tries again.
    public func append(
        _ payload: [UInt8], lane: SpoolLane = .telemetry
    ) throws(SpoolError) -> UInt64 {
        guard payload.count <= SpoolFormat.payloadLimit else {
            throw .tooLarge(size: payload.count, limit: SpoolFormat.payloadLimit)
        }
        let record = SpoolFormat.record(number: nextNumber, payload: payload, isKept: lane == .kept)
        let isFull = segmentEnd + record.count > options.segmentBytes
        if unsynced.count + record.count > Self.unsyncedLimit || isFull { try sync() }
        do throws(SystemError) {
            if segment == nil || (isFull && segmentEnd > SpoolFormat.segmentHeaderSize) {
                try openNextSegment()
            }
            try segment?.write(record, at: segmentEnd)
        } catch { throw .system(error) }
        segmentEnd += record.count
        unsynced += record
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// Gives numbers to records that could not be written, so that the reader sees a gap where they would be.
    ///
    /// Where the disk does not even take the mark the gap is seen with the next record; only if the process
    /// is killed before that does nobody know of it.
    public func skip(_ count: UInt64) {
        guard count > 0 else { return }
        // A disk that says no now keeps what is not synced in memory; numbers go on behind it.
        try? sync()
        report(.neverWritten(from: nextNumber, to: nextNumber + count - 1))
        nextNumber += count
        droppedUndelivered += count
        if unsynced.isEmpty { try? publish(nextNumber - 1) }
        reserve(0)
    }

    /// Takes numbers for `waiting` records that the disk does not have yet, behind those that are not synced:
    /// if the process ends first, the next writer leaves all of them as a gap.
    public func reserve(_ waiting: Int) {
        let (known, through) = (takenThrough, nextNumber - 1 + UInt64(waiting))
        guard through > known else { return }
        takenThrough = through
        do throws(SystemError) {
            try publish(syncedThrough)
            try syncedMark.sync()
        } catch {
            // Who has records that wait tries again.
            takenThrough = known
        }
    }

    /// Bytes that wait for delivery, and how many there may be.
    public var occupancy: (undelivered: Int, limit: Int) {
        let delivered = DeliveryMark.read(in: directory, epoch: epoch)
        // A folder that cannot be read is told of by whoever writes to it.
        let names = (try? directory.segments()) ?? []
        var undelivered = 0
        for (index, name) in names.enumerated() {
            let last = index + 1 < names.count ? names[index + 1].first - 1 : nextNumber - 1
            if last > delivered { undelivered += directory.size(of: name) }
        }
        return (undelivered, options.totalBytes)
    }

    /// Room that a new segment needs: so much earlier than at the limit something has to go.
    public var reserve: Int { options.segmentBytes }

    /// Looks whether the link knows of deliveries that these files know nothing of; if so they were set back,
    /// and all of them begins again under a new epoch, from which nothing is delivered yet.
    ///
    /// - Returns: whether it did.
    public func renewIfSetBack() throws(SpoolError) -> Bool {
        let claim = DeliveryMark.claim(in: directory, epoch: epoch)
        let delivered = claim ?? DeliveryMark.read(in: directory, epoch: epoch)
        // A claim was beyond the end when it was made, wherever that is by now.
        guard claim != nil || delivered >= nextNumber, delivered <= DeliveryMark.largest else { return false }
        try sync()
        let renewed = SpoolEpoch.random()
        do throws(SystemError) {
            try StreamFile.write(renewed, in: directory)
            report(.setBack(delivered: delivered, last: nextNumber - 1))
            epoch = renewed
            // The next record opens a segment that names the new epoch.
            segment = nil
            try publish(nextNumber - 1)
        } catch { throw .system(error) }
        return true
    }

    /// Makes all records durable and shows them to the reader.
    ///
    /// A failed sync is never tried again on the same file, whose pages the kernel may have dropped: the
    /// records go into a new segment. Throws where that fails too; nothing is lost then while the process
    /// lives.
    public func sync() throws(SpoolError) {
        if unsynced.isEmpty { return }
        do throws(SystemError) {
            do throws(SystemError) {
                guard let segment else { throw SystemError("fdatasync", code: EBADF) }
                try makeDurable(segment)
            } catch {
                if segment != nil { report(.segmentAbandoned(error)) }
                segment = nil
                try openNextSegment()
                try makeNewSegmentDurable()
            }
            unsynced.removeAll(keepingCapacity: true)
            try publish(nextNumber - 1)
        } catch {
            reserve(0)
            throw .system(error)
        }
    }

    /// A new segment that fails at once is removed again: a sick disk must not fill the store with copies.
    private func makeNewSegmentDurable() throws(SystemError) {
        guard let file = segment else { return }
        do throws(SystemError) { try makeDurable(file) } catch {
            unlink(file.path)
            segment = nil
            segments.removeLast()
            throw error
        }
    }

    /// What happened since the last call, oldest first; at most 64, the newest ones are kept.
    public func takeReports() -> [SpoolReport] {
        defer { reports = [] }
        return reports
    }

    func report(_ report: SpoolReport) {
        if reports.count == Self.reportLimit { reports.removeFirst() }
        reports.append(report)
    }

    func publish(_ number: UInt64) throws(SystemError) {
        syncedThrough = number
        takenThrough = max(takenThrough, number)
        try syncedMark.write(SyncedMark.encode(number, taken: takenThrough, epoch: epoch), at: 0)
    }

    /// Begins a segment with all that is not synced yet.
    private func openNextSegment() throws(SystemError) {
        let names = try directory.segments()
        try makeRoom(names)
        let name = SegmentName(index: (names.last?.index ?? 0) + 1, first: syncedThrough + 1)
        let file = try SpoolFile(path: directory.path(of: name), flags: O_RDWR | O_CREAT | O_EXCL)
        do throws(SystemError) {
            let content = SpoolFormat.segmentHeader(epoch: epoch, first: name.first) + unsynced
            try file.write(content, at: 0)
            try directory.sync()
            segmentEnd = content.count
        } catch {
            unlink(file.path)
            throw error
        }
        segment = file
        segments.append(name)
    }

    /// Makes room for one more segment: what is delivered goes first, then telemetry, oldest first, and what
    /// is kept only where nothing else is left. Says which undelivered numbers went.
    private func makeRoom(_ names: [SegmentName]) throws(SystemError) {
        var total = names.reduce(0) { $0 + directory.size(of: $1) }
        let delivered = DeliveryMark.read(in: directory, epoch: epoch)
        func last(_ index: Int) -> UInt64 {
            (index + 1 < names.count ? names[index + 1].first : syncedThrough + 1) - 1
        }
        func isFull() -> Bool { total + options.segmentBytes > options.totalBytes }
        var thinned: [Int] = []
        for (index, name) in names.enumerated() where isFull() {
            total -= directory.size(of: name)
            if last(index) <= delivered {
                try remove(name)
            } else if let kept = try thin(name, to: last(index), delivered) {
                total += kept
                thinned.append(index)
            }
        }
        for index in thinned where isFull() {
            total -= directory.size(of: names[index])
            let numbers = try keptNumbers(of: names[index]).filter { $0 > delivered }
            try remove(names[index])
            guard let from = numbers.first, let to = numbers.last else { continue }
            report(.droppedUndelivered(from: from, to: to))
            droppedUndelivered += UInt64(numbers.count)
        }
    }

    private func remove(_ name: SegmentName) throws(SystemError) {
        if unlink(directory.path(of: name)) < 0, errno != ENOENT { throw SystemError.last("unlink") }
        segments.removeAll { $0 == name }
    }

    private func keptNumbers(of name: SegmentName) throws(SystemError) -> [UInt64] {
        var scanner = SegmentScanner(try SpoolFile(path: directory.path(of: name), flags: O_RDONLY))
        var numbers: [UInt64] = []
        while let record = try scanner.next() { if record.isKept { numbers.append(record.number) } }
        return numbers
    }

    /// Takes from a segment all but what is kept; one that holds nothing of that goes.
    ///
    /// - Returns: its size now; `nil` where it is gone.
    private func thin(
        _ name: SegmentName, to last: UInt64, _ delivered: UInt64
    ) throws(SystemError) -> Int? {
        let file = try SpoolFile(path: directory.path(of: name), flags: O_RDONLY)
        let header = try file.read(at: 0, count: SpoolFormat.segmentHeaderSize)
        if SpoolFormat.isThinned(segmentHeader: header) { return try file.size() }
        var content = SpoolFormat.segmentHeader(
            epoch: epoch, first: name.first, version: SpoolFormat.thinnedVersion)
        let from = max(delivered + 1, name.first)
        var kept: UInt64 = 0
        var scanner = SegmentScanner(file)
        while let record = try scanner.next() {
            guard record.isKept else { continue }
            content += SpoolFormat.record(number: record.number, payload: record.payload, isKept: true)
            if record.number >= from { kept += 1 }
        }
        let dropped = last + 1 > from + kept ? last + 1 - from - kept : 0
        droppedUndelivered += dropped
        if content.count == SpoolFormat.segmentHeaderSize {
            try remove(name)
            report(.droppedUndelivered(from: from, to: last))
            return nil
        }
        let beside = directory.path(of: name) + ".new"
        let replacement = try SpoolFile(path: beside, flags: O_RDWR | O_CREAT | O_TRUNC)
        try replacement.write(content, at: 0)
        try replacement.sync()
        if rename(beside, directory.path(of: name)) < 0 { throw SystemError.last("rename") }
        report(.thinned(from: from, to: last, dropped: dropped))
        return content.count
    }

    /// Finds where the log ends. Numbers that were shown to a reader, or were taken, count as used even if
    /// their records are gone.
    private func recover(_ names: inout [SegmentName]) throws(SystemError) {
        var last = (names.last?.first ?? 1) - 1
        if let name = names.last {
            let found = try SpoolRecovery.tail(of: name, in: directory, epoch: epoch)
            last = found.last
            for damage in found.reports { report(damage) }
            if let file = found.file {
                segment = file
                segmentEnd = found.end
                do throws(SystemError) { try makeDurable(file) } catch {
                    report(.segmentAbandoned(error))
                    segment = nil
                }
            }
        }
        // The synced mark is our own. The delivery mark is the link's word: it only helps where ours is gone.
        let delivered = min(DeliveryMark.read(in: directory, epoch: epoch), DeliveryMark.largest)
        let seen = SyncedMark.read(in: directory, epoch: epoch) ?? delivered
        let taken = max(last, seen, SyncedMark.taken(in: directory, epoch: epoch) ?? 0)
        if taken > last { report(.endLost(from: last + 1, to: taken)) }
        nextNumber = taken + 1
        try publish(nextNumber - 1)
    }
}
