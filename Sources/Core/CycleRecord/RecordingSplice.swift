import Control
import Plant
import Quantities

/// Why a window of cycles was kept, and when that came about.
public struct CaptureNote: Sendable, Equatable {
    /// In words: `TRIP cell_overvoltage of BESS_01`.
    public var trigger: String
    /// Since 1970-01-01 00:00 UTC, µs.
    public var wallMicroseconds: Int64
    /// The controller's cycle.
    public var cycle: UInt64

    public init(trigger: String, wallMicroseconds: Int64, cycle: UInt64) {
        self.trigger = trigger
        self.wallMicroseconds = wallMicroseconds
        self.cycle = cycle
    }
}

/// Puts recordings of one site that follow each other together as one. Their records go over as they stand,
/// each with its check made anew; what of a recording cannot be read, and all that comes after it there, does
/// not. A first one may be cut to what a window wants of it: at a state, from where it can be replayed.
public struct RecordingSplice: Sendable {
    private var writer: RecordWriter
    private let unitCount: Int
    private var hasFiles = false
    /// What their words are called; `nil` = no recording was taken yet.
    private var fields: [UInt8]?
    /// Its words are another version's: what this one makes of them is no digest of what was decided.
    private var isForeign = false
    private var digest = Checksum()
    public private(set) var cycles: UInt64 = 0
    public var bytes: [UInt8] { writer.bytes }

    /// The bytes since they were taken last; what follows goes on from there.
    public mutating func drain() -> [UInt8] {
        defer { writer.bytes = [] }
        return writer.bytes
    }

    public init(unitCount: Int, about: String, note: CaptureNote) {
        self.unitCount = unitCount
        writer = RecordWriter(unitCount: unitCount)
        writer.append(.about, Array(about.utf8))
        var body: [UInt8] = []
        body.append(littleEndian: note.wallMicroseconds)
        body.append(littleEndian: note.cycle)
        writer.append(.capture, body + Array(note.trigger.utf8))
    }

    /// - Parameter since: what comes before the last state of a controller that is not later than this is
    ///   left out; `nil` = all of it is taken.
    /// - Returns: how many cycles of it were taken over; `nil` where it is none of this site, or another
    ///   version has given its cycles other words than those of the recordings before.
    @discardableResult
    public mutating func add(_ recording: [UInt8], since: MonotonicTime? = nil) -> Int? {
        guard var reader = try? RecordingReader(recording), reader.unitCount == unitCount else { return nil }
        let begin = since.map { Self.lastState(of: recording, notAfter: $0) } ?? 0
        guard agreesInFields(recording) else { return nil }
        isForeign = isForeign || fields.map { !$0.isEmpty && $0 != FieldMap.own } ?? false
        var place = RecordingFormat.headerSize
        var taken = 0
        while let record = try? reader.next() {
            let end = reader.place
            // Kind and length stand before the body, the check behind it.
            let body = Array(recording[(place + 5)..<(end - 8)])
            let isBefore = place < begin
            place = end
            if isBefore {
                if case .file = record, !hasFiles { writer.append(.file, body) }
                continue
            }
            switch record {
            case .about, .end, .capture, .fields: break
            case .instant: writer.append(.instant, body)
            case .file: if !hasFiles { writer.append(.file, body) }
            case .start: writer.append(.start, body)
            case .checkpoint: writer.append(.checkpoint, body)
            case .command: writer.append(.command, body)
            case .endAsked: writer.append(.endAsked, body)
            case .cycle(_, let decision):
                writer.append(.cycle, body)
                for word in decision { digest.add(word) }
                cycles += 1
                taken += 1
            }
        }
        hasFiles = hasFiles || taken > 0
        return taken
    }

    /// The first recording's fields are the whole's.
    private mutating func agreesInFields(_ recording: [UInt8]) -> Bool {
        let found = FieldMap.record(of: recording)
        if let fields { return fields == found }
        fields = found
        if !found.isEmpty { writer.append(.fields, found) }
        return true
    }

    /// Where the record of that state begins; 0 where there is none.
    private static func lastState(of recording: [UInt8], notAfter time: MonotonicTime) -> Int {
        guard var reader = try? RecordingReader(recording) else { return 0 }
        var (found, place) = (0, reader.place)
        while let record = try? reader.next() {
            switch record {
            case .start(let start) where start.now <= time: found = place
            case .checkpoint(let state) where state.now <= time: found = place
            case .about, .file, .start, .checkpoint, .capture, .command, .cycle, .endAsked, .end, .instant,
                .fields:
                break
            }
            place = reader.place
        }
        return found
    }

    /// A file more that it carries.
    public mutating func carry(_ path: String, _ bytes: [UInt8]) {
        var body: [UInt8] = []
        body.append(littleEndian: UInt16(path.utf8.count))
        writer.append(.file, body + Array(path.utf8) + bytes)
    }

    public mutating func end() {
        guard !isForeign else { return }
        var body: [UInt8] = []
        body.append(littleEndian: cycles)
        body.append(littleEndian: digest.value)
        writer.append(.end, body)
    }
}
