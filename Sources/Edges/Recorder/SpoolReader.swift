import Glibc
import LinuxIO

/// One record: its number and what was appended.
public struct SpoolRecord: Sendable, Equatable {
    public let number: UInt64
    public let payload: [UInt8]
}

/// Numbers that are in nobody's power to deliver any more: damaged on the disk, or removed for want of room.
public struct SpoolGap: Sendable, Equatable {
    public let from: UInt64
    /// Included.
    public let to: UInt64
}

/// Records and gaps in the order of their numbers; together they cover every number up to `through`.
public struct SpoolBatch: Sendable, Equatable {
    public fileprivate(set) var records: [SpoolRecord] = []
    public fileprivate(set) var gaps: [SpoolGap] = []
    /// The last number that the batch covers; the `after` of the next call.
    public fileprivate(set) var through: UInt64

    public var isEmpty: Bool { records.isEmpty && gaps.isEmpty }
}

/// The reading end of the spool, for another process than the writer's. Takes no lock and writes nothing.
public final class SpoolReader {
    private struct Place {
        var segment: SegmentName
        /// A segment that had to make room is another file of the same name.
        var file: UInt64
        var offset: Int
        /// The number before the record at `offset`, where that record begins, and its checksum.
        var before: UInt64
        var start: Int
        var checksum: UInt32

        /// Whether the file still has that record there: somebody may have written another one over it.
        func stands(in file: SpoolFile) throws(SystemError) -> Bool {
            let bytes = try file.read(at: start, count: SpoolFormat.recordHeaderSize)
            return bytes.count == SpoolFormat.recordHeaderSize
                && bytes.littleEndian32(at: 8) == checksum && bytes.littleEndian64(at: 12) == before
        }
    }

    public let epoch: SpoolEpoch
    private let directory: SpoolDirectory
    private var knownDurable: UInt64 = 0
    private var place: Place?
    /// Segments that are what their names say.
    private var sound: [SegmentName] = []
    /// Whether a number that this reader has handed out stands for another record by now: somebody has put
    /// older files back, and the writer went on from them.
    public private(set) var isSetBack = false

    /// - Throws: `.noSpool` where the writer has not made the store yet.
    public init(directory path: String) throws(SpoolError) {
        directory = SpoolDirectory(path: path)
        guard let epoch = StreamFile.read(in: directory) else { throw .noSpool(directory: path) }
        self.epoch = epoch
    }

    /// Up to which number there is something to read. Costs one small read.
    public func durableThrough() -> UInt64 {
        knownDurable = SyncedMark.read(in: directory, epoch: epoch) ?? knownDurable
        return knownDurable
    }

    /// Whether the writer's word on how far the records are whole can be read; it is written at the store's
    /// opening.
    public var hasMark: Bool { SyncedMark.read(in: directory, epoch: epoch) != nil }

    /// What stands on disk, for people.
    public struct State: Sendable, Equatable {
        /// The first number that may still be there, and the last that can be read.
        public var first: UInt64
        public var last: UInt64
        /// The last number that is taken: above `last` are records that wait for the disk, or are lost.
        public var taken: UInt64
        public var delivered: UInt64
        public var bytes: Int
        public var segments: Int
        /// Segments that had to make room and hold what is kept alone.
        public var thinned: Int
    }

    /// A folder that cannot be read shows as an empty one.
    public func state() -> State {
        let names = (try? directory.segments()) ?? []
        let headers = names.compactMap {
            directory.contents(of: directory.path(of: $0), limit: SpoolFormat.segmentHeaderSize)
        }
        let last = durableThrough()
        return State(
            first: names.first?.first ?? last + 1, last: last,
            taken: max(last, SyncedMark.taken(in: directory, epoch: epoch) ?? 0),
            delivered: DeliveryMark.read(in: directory, epoch: epoch),
            bytes: names.reduce(0) { $0 + directory.size(of: $1) }, segments: names.count,
            thinned: headers.filter { SpoolFormat.isThinned(segmentHeader: $0) }.count)
    }

    /// What has the name of one of the stream's files and is none: a pipe, a link, a copy under another name.
    public func strangers() -> [String] {
        // A folder that cannot be read has nothing to name; whoever reads records is told of it.
        let others = (try? directory.others()) ?? []
        let copies = ((try? directory.segments()) ?? []).filter { directory.isMisnamed($0) }
        return others + copies.map(\.text)
    }

    /// Whether the directory still holds the stream that this reader was opened on.
    public func isCurrent() -> Bool { StreamFile.read(in: directory).map { $0 == epoch } ?? true }

    /// What follows `number`, at least one record if there is one, within the limits otherwise.
    public func next(
        after number: UInt64, limitBytes: Int, limitCount: Int
    ) throws(SpoolError) -> SpoolBatch {
        var batch = SpoolBatch(through: number)
        let durable = durableThrough()
        guard durable > number else { return batch }
        do throws(SystemError) {
            let segments = try soundSegments()
            let first = segments.last { $0.first <= number + 1 }?.first
            var rest = segments.drop { $0.first < first ?? 0 }
            var room = limitBytes
            while batch.through < durable, !rest.isEmpty || segments.isEmpty {
                // Of several that begin with the same number a copy may be one: a number is missing only
                // where none of them has it.
                let alike = rest.prefix { $0.first == rest.first?.first }
                rest = rest.dropFirst(alike.count)
                let limit = min(durable, rest.first.map { $0.first - 1 } ?? durable)
                for name in alike where try read(name, to: limit, &batch, &room, limitCount) { return batch }
                if batch.through < limit { batch.addGap(to: limit) }
            }
        } catch { throw .system(error) }
        return batch
    }

    /// In the order of their numbers; what is not what its name says is nothing of the stream.
    private func soundSegments() throws(SystemError) -> [SegmentName] {
        let (names, known) = (try directory.segments(), sound)
        sound = names.filter { known.contains($0) || !directory.isMisnamed($0) }
        return sound.sorted { ($0.first, $0.index) < ($1.first, $1.index) }
    }

    /// - Returns: whether the batch can take no more.
    private func read(
        _ name: SegmentName, to limit: UInt64, _ batch: inout SpoolBatch, _ room: inout Int, _ limitCount: Int
    ) throws(SystemError) -> Bool {
        guard limit > batch.through else { return false }
        let file: SpoolFile
        do throws(SystemError) {
            file = try SpoolFile(path: directory.path(of: name), flags: O_RDONLY)
        } catch {
            // Removed for want of room since the directory was read: its numbers are a gap.
            if error.code == ENOENT { return false }
            throw error
        }
        var scanner = SegmentScanner(file)
        let identity = try file.identity()
        if let place, place.segment == name, place.file == identity, place.before <= batch.through,
            try place.stands(in: file)
        {
            scanner = SegmentScanner(file, at: place.offset, after: place.before)
        }
        while batch.through < limit, let record = try scanner.next() {
            if let place, record.number == place.before, record.checksum != place.checksum {
                isSetBack = true
            }
            if record.number > limit { break }
            if record.number <= batch.through { continue }
            if !batch.isEmpty, record.payload.count > room || batch.count >= limitCount { return true }
            if record.number > batch.through + 1 { batch.addGap(to: record.number - 1) }
            room -= record.payload.count
            batch.add(SpoolRecord(number: record.number, payload: record.payload))
            place = Place(
                segment: name, file: identity, offset: record.end, before: record.number,
                start: record.start, checksum: record.checksum)
        }
        return false
    }
}

extension SpoolBatch {
    fileprivate var count: Int { records.count + gaps.count }

    fileprivate mutating func add(_ record: SpoolRecord) {
        records.append(record)
        through = record.number
    }

    /// Everything after `through` up to `number` is gone; adjacent gaps become one.
    fileprivate mutating func addGap(to number: UInt64) {
        if let last = gaps.last, last.to == through {
            gaps[gaps.count - 1] = SpoolGap(from: last.from, to: number)
        } else {
            gaps.append(SpoolGap(from: through + 1, to: number))
        }
        through = number
    }
}
