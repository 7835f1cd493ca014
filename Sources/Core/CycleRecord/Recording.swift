import Control
import Plant
import Quantities

/// What was on disk when the controller was started, and when that was.
public struct RecordedStart: Sendable, Equatable {
    public var wallSeconds: Int64
    public var now: MonotonicTime
    /// In place of the one in the site's file.
    public var enterService: Duration?
    public var latches: [UInt8]?
    public var run: [UInt8]?

    public init(
        wallSeconds: Int64, now: MonotonicTime, enterService: Duration?, latches: [UInt8]?, run: [UInt8]?
    ) {
        self.wallSeconds = wallSeconds
        self.now = now
        self.enterService = enterService
        self.latches = latches
        self.run = run
    }
}

/// The controller's state before a cycle, as it lay in the memory of the program that recorded it.
public struct RecordedCheckpoint: Sendable, Equatable {
    public var wallSeconds: Int64
    public var now: MonotonicTime
    /// Only the very same program can take the state up.
    public var program: String
    public var words: [UInt64]

    public init(wallSeconds: Int64, now: MonotonicTime, program: String, words: [UInt64]) {
        self.wallSeconds = wallSeconds
        self.now = now
        self.program = program
        self.words = words
    }
}

/// Makes a recording out of cycles as they go by. Its bytes may be taken at any time: what was taken is
/// readable up to the last whole record.
public struct CycleRecorder: Sendable {
    private let unitCount: Int
    private var inputs: CycleInputs
    private var walk: WordWalk
    private var before: [UInt64]
    private var writer: RecordWriter
    private let inputCount: Int
    public var bytes: [UInt8] { writer.bytes }
    public private(set) var cycles: UInt64 = 0
    /// Over the words of all decisions so far.
    public private(set) var digest = Checksum()

    /// - Parameters:
    ///   - about: program and version, for people.
    ///   - files: the site's file first.
    public init(unitCount: Int, about: String, files: [(path: String, bytes: [UInt8])]) {
        self.unitCount = unitCount
        inputs = CycleInputs(unitCount: unitCount)
        inputCount = CycleNames.inputs(unitCount).count
        let count = inputCount + CycleNames.decision(unitCount).count
        walk = .taking(count)
        before = [UInt64](repeating: 0, count: count)
        writer = RecordWriter(unitCount: unitCount)
        writer.append(.about, Array(about.utf8))
        writer.append(.fields, FieldMap.own)
        for file in files {
            var body: [UInt8] = []
            let path = Array(file.path.utf8.prefix(Int(UInt16.max)))
            body.append(littleEndian: UInt16(path.count))
            writer.append(.file, body + path + file.bytes)
        }
    }

    public mutating func start(_ start: RecordedStart) {
        var body: [UInt8] = []
        body.append(littleEndian: start.wallSeconds)
        body.append(littleEndian: start.now.nanoseconds)
        body.append(littleEndian: start.enterService?.nanoseconds ?? -1)
        for part in [start.latches, start.run] {
            body.append(littleEndian: part.map { UInt32($0.count) } ?? UInt32.max)
            body += part ?? []
        }
        writer.append(.start, body)
        for index in before.indices { before[index] = 0 }
    }

    /// The controller's state in place of a start.
    public mutating func checkpoint(_ found: RecordedCheckpoint) {
        var body: [UInt8] = []
        body.append(littleEndian: found.wallSeconds)
        body.append(littleEndian: found.now.nanoseconds)
        let program = Array(found.program.utf8.prefix(Int(UInt16.max)))
        body.append(littleEndian: UInt16(program.count))
        body += program
        body.append(littleEndian: UInt32(found.words.count))
        WordDelta.encode(found.words, into: &body)
        writer.append(.checkpoint, body)
        for index in before.indices { before[index] = 0 }
    }

    /// The bytes since they were taken last; what follows goes on from there.
    public mutating func drain() -> [UInt8] {
        defer { writer.bytes = [] }
        return writer.bytes
    }

    public mutating func command(_ command: Controller.Command, at now: MonotonicTime) {
        var body: [UInt8] = []
        body.append(littleEndian: now.nanoseconds)
        for word in CommandWords.of(command) { body.append(littleEndian: word) }
        writer.append(.command, body)
    }

    /// What the wall clock showed at an instant; `Trace` makes people's times of it.
    ///
    /// - Parameter nanoseconds: since 1970-01-01 00:00 UTC.
    public mutating func instant(_ now: MonotonicTime, wallNanoseconds nanoseconds: Int64) {
        var body: [UInt8] = []
        body.append(littleEndian: now.nanoseconds)
        body.append(littleEndian: nanoseconds)
        writer.append(.instant, body)
    }

    public mutating func endAsked(at now: MonotonicTime) {
        var body: [UInt8] = []
        body.append(littleEndian: now.nanoseconds)
        writer.append(.endAsked, body)
    }

    /// - Parameter eventDigest: over what people are told of the cycle.
    public mutating func cycle(
        grid: GridImage, units: Span<UnitImage>, wallSeconds: Int64, at now: MonotonicTime,
        _ decision: inout Decision, eventDigest: UInt64
    ) {
        inputs.now = now
        inputs.wallSeconds = wallSeconds
        inputs.grid = grid
        for index in 0..<unitCount { inputs.units[index] = units[index] }
        walk.begin()
        walk.walk(&inputs)
        walk.walk(&decision, eventDigest: eventDigest)
        for index in 0..<unitCount { walk.walk(&decision.units[index], index: index) }
        for word in walk.words[inputCount...] { digest.add(word) }
        var body: [UInt8] = []
        WordDelta.encode(walk.words, from: &before, into: &body)
        writer.append(.cycle, body)
        cycles += 1
    }

    /// The words of the last cycle.
    public var words: [UInt64] { before }

    public mutating func end() {
        var body: [UInt8] = []
        body.append(littleEndian: cycles)
        body.append(littleEndian: digest.value)
        writer.append(.end, body)
    }
}

/// What the words of a cycle are called.
public enum CycleNames {
    public static func inputs(_ unitCount: Int) -> [String] {
        var walk = WordWalk.naming
        var inputs = CycleInputs(unitCount: unitCount)
        walk.walk(&inputs)
        return walk.names
    }

    public static func decision(_ unitCount: Int) -> [String] {
        var walk = WordWalk.naming
        var decision = Decision()
        walk.walk(&decision, eventDigest: 0)
        for index in 0..<unitCount { walk.walk(&decision.units[index], index: index) }
        return walk.names
    }
}
