import Control
import Plant
import Quantities

/// Why a recording, or the rest of one, cannot be read, and where.
public struct RecordingFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// Of the file, from 0 on.
    public var byte: Int
    /// Of the records, from 1 on; 0 = the header.
    public var record: Int
    public var text: String

    public var description: String {
        record == 0 ? "byte \(byte): \(text)" : "byte \(byte), record \(record): \(text)"
    }
}

/// Reads a recording record by record. Total: any bytes give records and then a fault with its place, and
/// what comes before the fault is good.
public struct RecordingReader: Sendable {
    public enum Record: Sendable {
        case about(String)
        case file(path: String, bytes: [UInt8])
        case start(RecordedStart)
        case checkpoint(RecordedCheckpoint)
        case capture(CaptureNote)
        case command(Controller.Command, at: MonotonicTime)
        /// With the words of its decision.
        case cycle(CycleInputs, decision: [UInt64])
        case endAsked(at: MonotonicTime)
        /// What the wall clock showed then, ns since 1970-01-01 00:00 UTC.
        case instant(MonotonicTime, wallNanoseconds: Int64)
        /// Another version has other words; `nil` = it has the same.
        case fields(FieldMap?)
        /// Nothing may come after it.
        case end(cycles: UInt64, digest: UInt64)
    }

    public let unitCount: Int
    private let bytes: [UInt8]
    /// Of the first byte that is not read yet.
    private(set) var place = RecordingFormat.headerSize
    private var number = 0
    private var check = Checksum()
    private var words: [UInt64]
    private let names: [String]
    /// How its words lie in this version's; `nil` = they are the same.
    public private(set) var fields: FieldMap?
    public let version: UInt32
    private var hasStart = false
    /// The end of the record whose check was wrong last, and what the check should have been.
    private var refused: (end: Int, sum: UInt64)?
    /// Behind damage: what rests on what was there before is passed over.
    private var isSkipping = false
    /// The recording was ended; without that its writer was killed, and everything that is there counts.
    public private(set) var isEnded = false

    public init(_ bytes: [UInt8]) throws(RecordingFault) {
        func refuse(_ byte: Int, _ text: String) -> RecordingFault {
            RecordingFault(byte: byte, record: 0, text: text)
        }
        var header = bytes.prefix(RecordingFormat.headerSize)
        guard header.take(bytes: 8) == RecordingFormat.magic else { throw refuse(0, "it is no recording") }
        guard let version = header.take(UInt32.self), let units = header.take(UInt32.self) else {
            throw refuse(bytes.count, "it ends inside its header")
        }
        guard RecordingFormat.versions.contains(version) else {
            throw refuse(
                8,
                "its form is version \(version), and this program reads \(RecordingFormat.versions.lowerBound) to"
                    + " \(RecordingFormat.versions.upperBound): nothing of it can be compared or shown here")
        }
        guard units >= 1, units <= UInt32(maximumUnitCount) else { throw refuse(12, "\(units) units") }
        self.bytes = bytes
        self.version = version
        unitCount = Int(units)
        check.add(bytes.prefix(RecordingFormat.headerSize))
        names = CycleNames.inputs(unitCount)
        fields = version == 1 ? FieldMap(FieldMap.firstForm[...], unitCount: unitCount) : nil
        let count = fields?.recordedCount ?? names.count + CycleNames.decision(unitCount).count
        words = [UInt64](repeating: 0, count: count)
    }

    /// The next record; `nil` at the end of the file.
    public mutating func next() throws(RecordingFault) -> Record? {
        while let (kind, body, begun) = try whole() {
            switch kind {
            case .start, .checkpoint: isSkipping = false
            case .cycle, .command, .endAsked, .end: if isSkipping { continue }
            case .about, .file, .capture, .instant, .fields: break
            }
            guard let record = try read(kind, body, at: begun) else {
                throw fault(begun, "its contents are of no known form")
            }
            return record
        }
        return nil
    }

    /// After a fault: goes on behind the damage, at the next record whose check follows from the bytes before
    /// it, or where the check alone was damaged, from what it should have been.
    ///
    /// - Returns: whether there is one.
    public mutating func skipDamage() -> Bool {
        // Enough for any recording that a daemon writes; a crafted one ends here.
        var work = 32 << 20
        if let refused, isWhole(at: refused.end, after: refused.sum) {
            return resume(at: refused.end, after: refused.sum)
        }
        var from = place + 13
        while from + 13 <= bytes.count, work > 0 {
            defer { from += 1 }
            var before = bytes[(from - 8)..<from]
            guard let length = bodyLength(at: from), let begun = before.take(UInt64.self) else { continue }
            work -= length + 5
            if isWhole(at: from, after: begun) { return resume(at: from, after: begun) }
        }
        return false
    }

    /// Of what would be a record at this place; `nil` where none can be.
    private func bodyLength(at place: Int) -> Int? {
        var rest = bytes[min(place, bytes.count)...]
        guard let raw = rest.take(UInt8.self), RecordingFormat.Kind(rawValue: raw) != nil,
            let length = rest.take(UInt32.self), length <= RecordingFormat.longestBody,
            rest.count >= Int(length) + 8
        else { return nil }
        return Int(length)
    }

    /// Whether a record stands there whose check follows from that sum.
    private func isWhole(at place: Int, after sum: UInt64) -> Bool {
        guard let length = bodyLength(at: place) else { return false }
        let end = place + 5 + length
        var (check, told) = (Checksum(sum), bytes[end..<(end + 8)])
        check.add(bytes[place..<end])
        return told.take(UInt64.self) == check.value
    }

    private mutating func resume(at place: Int, after sum: UInt64) -> Bool {
        (self.place, check) = (place, Checksum(sum))
        (isSkipping, isEnded, refused) = (true, false, nil)
        return true
    }

    /// The next record whose check is right, and where it begins.
    private mutating func whole() throws(RecordingFault) -> (RecordingFormat.Kind, ArraySlice<UInt8>, Int)? {
        guard place < bytes.count else { return nil }
        let begun = place
        number += 1
        if isEnded { throw fault(begun, "something follows the end") }
        var rest = bytes[place...]
        guard let raw = rest.take(UInt8.self), let length = rest.take(UInt32.self) else {
            throw fault(begun, "it is cut off here")
        }
        guard let kind = RecordingFormat.Kind(rawValue: raw), length <= RecordingFormat.longestBody else {
            throw fault(begun, "it is damaged here: no such record")
        }
        guard let body = rest.take(bytes: Int(length)), let told = rest.take(UInt64.self) else {
            throw fault(begun, "it is cut off here")
        }
        var sum = check
        sum.add(bytes[begun..<(begun + 5 + Int(length))])
        guard sum.value == told else {
            refused = (rest.startIndex, sum.value)
            throw fault(begun, "it is damaged here: wrong check")
        }
        (check, place) = (sum, rest.startIndex)
        return (kind, body[...], begun)
    }

    private func fault(_ byte: Int, _ text: String) -> RecordingFault {
        RecordingFault(byte: byte, record: number, text: text)
    }

    private mutating func read(
        _ kind: RecordingFormat.Kind, _ body: ArraySlice<UInt8>, at byte: Int
    ) throws(RecordingFault) -> Record? {
        var body = body
        switch kind {
        case .about: return .about(String(decoding: body, as: UTF8.self))
        case .file:
            guard let length = body.take(UInt16.self), let path = body.take(bytes: Int(length)) else {
                return nil
            }
            return .file(path: String(decoding: path, as: UTF8.self), bytes: Array(body))
        case .start:
            hasStart = true
            for index in words.indices { words[index] = 0 }
            return Self.start(body).map { .start($0) }
        case .checkpoint:
            hasStart = true
            for index in words.indices { words[index] = 0 }
            return Self.checkpoint(body).map { .checkpoint($0) }
        case .capture:
            guard let wall = body.take(Int64.self), wall.magnitude < 1 << 60,
                let cycle = body.take(UInt64.self)
            else { return nil }
            return .capture(
                CaptureNote(
                    trigger: String(decoding: body, as: UTF8.self), wallMicroseconds: wall, cycle: cycle))
        case .instant:
            guard let now = body.take(Int64.self), let wall = body.take(Int64.self), body.isEmpty,
                now.magnitude < 1 << 61, wall.magnitude < 1 << 61
            else { return nil }
            return .instant(MonotonicTime(nanoseconds: now), wallNanoseconds: wall)
        case .fields:
            // Words that are there already would become others.
            guard !hasStart, let found = FieldMap(body, unitCount: unitCount) else { return nil }
            fields = found.isOwn ? nil : found
            words = [UInt64](repeating: 0, count: found.recordedCount)
            return .fields(fields)
        case .command:
            guard hasStart, let now = body.take(Int64.self) else { return nil }
            var words: [UInt64] = []
            while let word = body.take(UInt64.self) { words.append(word) }
            guard body.isEmpty else { return nil }
            return CommandWords.command(words).map { .command($0, at: MonotonicTime(nanoseconds: now)) }
        case .cycle: return try cycle(body, at: byte)
        case .endAsked:
            guard hasStart, let now = body.take(Int64.self), body.isEmpty else { return nil }
            return .endAsked(at: MonotonicTime(nanoseconds: now))
        case .end:
            guard let cycles = body.take(UInt64.self), let digest = body.take(UInt64.self), body.isEmpty
            else {
                return nil
            }
            isEnded = true
            return .end(cycles: cycles, digest: digest)
        }
    }

    private static func checkpoint(_ bytes: ArraySlice<UInt8>) -> RecordedCheckpoint? {
        var body = bytes
        guard let wall = body.take(Int64.self), let now = body.take(Int64.self), wall.magnitude < 1 << 40,
            now.magnitude < 1 << 62, let length = body.take(UInt16.self),
            let program = body.take(bytes: Int(length)), let count = body.take(UInt32.self), count <= 1 << 20
        else { return nil }
        var words = [UInt64](repeating: 0, count: Int(count))
        guard WordDelta.decode(body, onto: &words) else { return nil }
        return RecordedCheckpoint(
            wallSeconds: wall, now: MonotonicTime(nanoseconds: now),
            program: String(decoding: program, as: UTF8.self), words: words)
    }

    private static func start(_ bytes: ArraySlice<UInt8>) -> RecordedStart? {
        var body = bytes
        guard let wall = body.take(Int64.self), let now = body.take(Int64.self),
            let enter = body.take(Int64.self)
        else { return nil }
        var parts: [[UInt8]?] = []
        for _ in 0..<2 {
            guard let length = body.take(UInt32.self) else { return nil }
            if length == .max {
                parts.append(nil)
            } else {
                guard let part = body.take(bytes: Int(length)) else { return nil }
                parts.append(part)
            }
        }
        guard body.isEmpty, wall.magnitude < 1 << 40, now.magnitude < 1 << 62, enter >= -1 else { return nil }
        return RecordedStart(
            wallSeconds: wall, now: MonotonicTime(nanoseconds: now),
            enterService: enter < 0 ? nil : .nanoseconds(enter), latches: parts[0], run: parts[1])
    }

    private mutating func cycle(
        _ body: ArraySlice<UInt8>, at byte: Int
    ) throws(RecordingFault) -> Record? {
        guard hasStart, WordDelta.decode(body, onto: &words) else { return nil }
        let words = fields?.own(words) ?? words
        var walk = WordWalk.filling(words)
        var inputs = CycleInputs(unitCount: unitCount)
        walk.walk(&inputs)
        if let refused = walk.refused, names.indices.contains(refused) {
            throw fault(byte, "\(names[refused]): no such value")
        }
        // From 1970 into the year 6325: what is printed of it stays a date.
        guard (0..<1 << 37).contains(inputs.wallSeconds) else {
            throw fault(byte, "wallSeconds: no such value")
        }
        return .cycle(inputs, decision: Array(words[names.count...]))
    }
}
