import Glibc
import LinuxIO
import Synchronization
import Testing

@testable import Recorder

/// A disk in memory that fails as it is told.
final class SickDisk: Sendable {
    struct State: Sendable {
        var bytes: [UInt8]?
        /// The next write does so much and then throws.
        var failure: (done: Int, code: CInt)?
        var creation: CInt?
        var writes = 0
    }
    let state = Mutex(State())

    var medium: SlotWriter.Medium {
        SlotWriter.Medium(
            write: { (bytes, offset, size) throws(SystemError) in
                try self.state.withLock { (state) throws(SystemError) in
                    state.writes += 1
                    guard let old = state.bytes, old.count == size else {
                        throw SystemError("open", code: ENOENT)
                    }
                    let done = state.failure?.done ?? bytes.count
                    state.bytes?.replaceSubrange(offset..<offset + done, with: bytes[..<done])
                    if let failure = state.failure { throw SystemError("pwrite", code: failure.code) }
                }
            },
            create: { (bytes) throws(SystemError) in
                try self.state.withLock { (state) throws(SystemError) in
                    if let code = state.creation { throw SystemError("open", code: code) }
                    state.bytes = bytes
                }
            })
    }

    func fail(_ failure: (done: Int, code: CInt)?) { state.withLock { $0.failure = failure } }
    var pair: SlotPair? { state.withLock { $0.bytes }.map { SlotPair(bytes: $0) } }
}

@Suite struct SlotTests {
    static let size = 512
    static let old = Array("old".utf8)
    static let new = Array("what is new, and longer than before".utf8)

    private func writer(_ disk: SickDisk) -> SlotWriter {
        SlotWriter(disk.medium, slotSize: Self.size, after: disk.pair, file: 7)
    }

    @Test func `a slot is read as it was written, and one that was touched or cut is not`() {
        let slot = Slot(file: 7, generation: 42, at: -5, payload: Self.new)
        #expect(Slot(bytes: slot.bytes + [0, 1, 2]) == slot, "what follows belongs to a record before")
        for index in slot.bytes.indices {
            var bytes = slot.bytes
            bytes[index] ^= 1
            #expect(Slot(bytes: bytes[...]) == nil, "byte \(index)")
            #expect(Slot(bytes: slot.bytes[..<index]) == nil, "cut at \(index)")
        }
    }

    @Test func `a write cut at any byte leaves the record before it, and is noticed`() throws {
        let whole = Slot(file: 7, generation: 2, at: 1, payload: Self.new).bytes.count
        for cut in 1..<whole {
            let disk = SickDisk()
            var writer = writer(disk)
            try writer.write(Self.old, wallSeconds: 1)
            disk.fail((cut, EIO))
            #expect(throws: SystemError("pwrite", code: EIO)) { try writer.write(Self.new, wallSeconds: 1) }
            #expect(disk.pair?.newest?.payload == Self.old && disk.pair?.isTorn == true, "cut at \(cut)")
            // A process that comes after it writes over the torn one, never over the whole one.
            disk.fail(nil)
            var next = self.writer(disk)
            try next.write(Self.new, wallSeconds: 2)
            #expect(disk.pair?.newest?.payload == Self.new && disk.pair?.isTorn == false, "cut at \(cut)")
            #expect(disk.pair?.newest?.generation == 2)
        }
    }

    @Test func `however often the disk refuses, the last that it took stands`() throws {
        let disk = SickDisk()
        var writer = writer(disk)
        try writer.write(Self.old, wallSeconds: 1)
        for (round, code) in [ENOSPC, EIO, EROFS, ENOSPC, EIO].enumerated() {
            disk.fail((round * 9, code))
            #expect(throws: SystemError("pwrite", code: code)) { try writer.write(Self.new, wallSeconds: 2) }
            #expect(disk.pair?.newest?.payload == Self.old)
        }
        disk.fail(nil)
        for round in 0..<5 {
            try writer.write(Self.new + [UInt8(round)], wallSeconds: 3)
            #expect(disk.pair?.newest?.payload == Self.new + [UInt8(round)])
            #expect(disk.pair?.newest?.generation == UInt64(round) + 2)
        }
    }

    @Test func `a file that is gone is made anew and goes on counting, where there is an inode for it`()
        throws
    {
        let disk = SickDisk()
        var writer = writer(disk)
        try writer.write(Self.old, wallSeconds: 1)
        disk.state.withLock {
            $0.bytes = nil
            $0.creation = ENOSPC
        }
        #expect(throws: SystemError("open", code: ENOSPC)) { try writer.write(Self.new, wallSeconds: 2) }
        disk.state.withLock { $0.creation = nil }
        try writer.write(Self.new, wallSeconds: 3)
        #expect(disk.pair?.newest == Slot(file: 7, generation: 2, at: 3, payload: Self.new))
    }

    @Test func `a record that does not fit is refused, and spoils nothing`() throws {
        let disk = SickDisk()
        var writer = writer(disk)
        try writer.write(Self.old, wallSeconds: 1)
        #expect(throws: SystemError("write", code: EFBIG)) {
            try writer.write([UInt8](repeating: 65, count: Self.size), wallSeconds: 1)
        }
        #expect(disk.pair?.newest?.payload == Self.old && disk.pair?.isTorn == false)
    }
}

@Suite struct LatchSearchTests {
    static let now: Int64 = 1_800_000_000
    static let tripped = LatchRecord(entries: [.init(unit: "A", trips: 1, firstOut: 0)])
    static let clear = LatchRecord(entries: [.init(unit: "A", trips: 0, firstOut: nil)])

    static func file(
        _ record: LatchRecord, _ generation: UInt64, at: Int64, name: UInt64 = 7, torn: Bool = false
    ) -> LatchFile {
        let slot = Slot(file: name, generation: generation, at: at, payload: record.bytes)
        var bytes = SlotPair.bytes(first: slot, slotSize: LatchRecord.slotSize)
        if torn { bytes[LatchRecord.slotSize + 3] = 1 }
        return LatchFile(finding: .read(record), pair: SlotPair(bytes: bytes))
    }
    static let none = LatchFile(finding: .missing)

    static func search(_ state: LatchFile, _ copy: LatchFile = none, uptime: Int64 = 1_000_000) -> LatchSearch
    {
        LatchSearch(state: state, copy: copy, wallSeconds: now, uptimeSeconds: uptime)
    }

    // swift-format-ignore
    static let ages: [(age: Int64, uptime: Int64, isDoubtful: Bool, why: Comment)] = [
        (0,      1_000_000, false, "just now"),
        (60,     1_000_000, false, "within the proof's time"),
        (61,     1_000_000, true,  "a disk that takes nothing has had a minute in which to lose a trip"),
        (-5,     1_000_000, false, "a clock that is put right by a little"),
        (-6,     1_000_000, true,  "a clock that was set back tells no age"),
        (100,    40,        false, "a minute before the machine's start, which took the rest"),
        (101,    40,        true,  "more than that: nobody knows what the disk did then"),
        (86_400, 30,        true,  "a day without current"),
    ]

    @Test(arguments: ages)
    func `the last proof must be young`(row: (age: Int64, uptime: Int64, isDoubtful: Bool, why: Comment)) {
        let file = Self.file(Self.clear, 3, at: Self.now - row.age)
        let found = Self.search(file, row.age > row.uptime ? Self.none : file, uptime: row.uptime)
        #expect((found.doubt != nil) == row.isDoubtful, row.why)
        #expect(found.finding == .read(Self.clear))
    }

    @Test func `without its copy in memory nobody knows what the last seconds brought`() {
        let found = Self.search(Self.file(Self.clear, 3, at: Self.now))
        #expect(found.doubt == "there is no copy of the latches in the runtime folder")
    }

    @Test func `what only the copy in memory has counts, and its proof`() {
        let found = Self.search(
            Self.file(Self.clear, 3, at: Self.now - 500), Self.file(Self.tripped, 9, at: Self.now - 3))
        #expect(found.finding == .read(Self.tripped) && found.doubt == nil && found.generation == 9)
    }

    @Test func `a copy of another file, an older one and a damaged one do not count`() {
        let state = Self.file(Self.clear, 3, at: Self.now)
        let other = Self.search(state, Self.file(Self.tripped, 9, at: Self.now, name: 8))
        #expect(other.finding == .read(Self.clear) && other.pairs.runtime == nil && other.generation == 3)
        #expect(Self.search(state, Self.file(Self.tripped, 2, at: Self.now)).finding == .read(Self.clear))
        let damaged = LatchFile(finding: .unreadable("x"))
        #expect(Self.search(state, damaged).finding == .read(Self.clear))
        let lost = Self.search(LatchFile(finding: .unreadable("x")), Self.file(Self.clear, 9, at: Self.now))
        #expect(lost.finding == .unreadable("x"), "nobody knows what stood in the state folder")
    }

    /// Found by somebody who deleted the state folder's file alone: the unit's trip was forgotten.
    @Test func `beside no file at all the copy counts, and the run is doubtful`() {
        let found = Self.search(Self.none, Self.file(Self.tripped, 9, at: Self.now))
        #expect(found.finding == .read(Self.tripped) && found.generation == 9 && found.isCopyAlone)
        #expect(found.pairs.runtime?.newest?.file == 7, "it is written on with its own number")
        #expect(found.doubt?.contains("missing in the state folder") == true)
        let nothing = Self.search(Self.none, LatchFile(finding: .unreadable("x")))
        #expect(nothing.finding == .missing && !nothing.isCopyAlone)
    }

    /// Found by somebody who damaged the newest of the two: the older one was taken for the whole truth.
    @Test func `a damaged slot is no write that nobody was told of, but where the copy has it`() {
        let torn = Self.file(Self.clear, 3, at: Self.now, torn: true)
        let lost = "a slot of the latches is damaged, and no copy tells what stood there"
        #expect(Self.search(torn).damage == lost && Self.search(torn).doubt == lost)
        let found = Self.search(torn, Self.file(Self.tripped, 4, at: Self.now))
        #expect(found.damage == nil && found.doubt == nil && found.finding == .read(Self.tripped))
        for generation in 2...3 as ClosedRange<UInt64> {
            let copy = Self.file(Self.clear, generation, at: Self.now)
            #expect(Self.search(torn, copy).damage == lost, "it has no more than what is left")
        }
        let both = Self.search(torn, Self.file(Self.clear, 4, at: Self.now, torn: true))
        #expect(both.damage == lost, "neither has the copy")
        let other = Self.search(torn, Self.file(Self.clear, 9, at: Self.now, name: 8))
        #expect(other.damage == lost, "the copy of another file")
        #expect(Self.search(Self.file(Self.clear, 3, at: Self.now)).damage == nil)
    }

    @Test func `the record of a version before is read, and proves nothing of its disk`() throws {
        var template = Array("/tmp/ballast-test-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        let path = LatchRecord.path(in: folder)
        defer {
            unlink(path)
            rmdir(folder)
        }
        try DurableFile.replace(path, with: Self.tripped.bytes)
        let file = LatchFile.read(path)
        #expect(file == LatchFile(finding: .read(Self.tripped)))
        #expect(Self.search(file).doubt == "nothing tells whether the disk took every latch")
        var writer = SlotWriter(.file(path), slotSize: LatchRecord.slotSize, after: nil, file: 9)
        for round in 0..<3 {
            try writer.write(Self.tripped.bytes, wallSeconds: Self.now + Int64(round))
            let again = LatchFile.read(path)
            #expect(
                again.finding == .read(Self.tripped) && again.pair?.newest?.generation == UInt64(round) + 1)
        }
        // Somebody else's file under the name, or none, is no place to write into unseen.
        unlink(path)
        try writer.write(Self.clear.bytes, wallSeconds: Self.now)
        #expect(LatchRecord.read(path) == .read(Self.clear))
    }
}
