import Glibc
import LinuxIO
import Recorder
import Synchronization
import Testing

@testable import BallastDaemon

/// Every state that a power cut can leave of the latches and their proof, judged as a start would.
@Suite struct LatchCrashTests {
    private enum Part: Int { case latches, proof }

    /// Both files of one place, and every write to them in order.
    private final class Disk: Sendable {
        struct Write: Sendable {
            let part: Part
            let offset: Int
            let bytes: [UInt8]
        }
        struct State: Sendable {
            var files: [[UInt8]?] = [nil, nil]
            /// As they were when `writes` began.
            var first: [[UInt8]] = []
            var writes: [Write] = []
        }
        let state = Mutex(State())

        func medium(_ part: Part) -> SlotWriter.Medium {
            SlotWriter.Medium(
                write: { (bytes, offset, size) throws(SystemError) in
                    try self.state.withLock { (state) throws(SystemError) in
                        guard state.files[part.rawValue]?.count == size else {
                            throw SystemError("open", code: ENOENT)
                        }
                        state.files[part.rawValue]?.replaceSubrange(
                            offset..<offset + bytes.count, with: bytes)
                        state.writes.append(Write(part: part, offset: offset, bytes: bytes))
                    }
                },
                create: { bytes in self.state.withLock { $0.files[part.rawValue] = bytes } })
        }

        /// What stands there from now on is what the first write meets.
        func begin() {
            state.withLock { state in
                state.first = state.files.compactMap { $0 }
                state.writes = []
            }
        }
    }

    private static let slotSize = 1_024

    private static func record(_ trips: UInt64, _ reason: String = "") -> LatchRecord {
        LatchRecord(
            entries: [.init(unit: "A", trips: trips, firstOut: trips == 0 ? nil : 8)],
            absences: reason.isEmpty
                ? [] : [.init(unit: "A", kind: .hold, end: nil, userID: 7, reason: reason)])
    }

    /// A day of a site: a trip, its proof renewed at rest, a lock, a reset.
    private static let day: [LatchRecord?] = [
        record(0), record(0x100), nil, nil, record(0x100, "the fan is changed"), nil, record(0), nil,
    ]

    private static func story() -> Disk {
        let disk = Disk()
        var place = LatchPlace(
            disk.medium(.latches), disk.medium(.proof), slotSize: slotSize, after: (nil, nil), file: 9,
            generation: 0)
        #expect(place.write(record(0x8), order: 1) == nil && place.prove() == nil)
        disk.begin()
        for (index, record) in day.enumerated() {
            if let record { #expect(place.write(record, order: UInt64(10 * index + 10)) == nil) }
            #expect(place.prove() == nil)
        }
        return disk
    }

    private static func start(_ files: [[UInt8]], isProven: Bool = true) -> LatchSearch {
        let proofs = isProven ? SlotPair(bytes: files[1]) : nil
        let file = LatchFile(bytes: files[0], proofs: proofs, path: "latches", slotSize: slotSize)
        // The current is back after a moment.
        return LatchSearch(
            state: file, copy: LatchFile(finding: .missing),
            wallSeconds: WallClock.nowMilliseconds() / 1_000 + 20, uptimeSeconds: 5)
    }

    /// What stands in the rest of the sector that was being written.
    private enum Rest: CaseIterable { case old, zeros, ones }

    private static func cut(
        _ files: [[UInt8]], _ write: Disk.Write, after count: Int, _ rest: Rest
    ) -> [[UInt8]] {
        var files = files
        let end = write.offset + count
        files[write.part.rawValue].replaceSubrange(write.offset..<end, with: write.bytes[..<count])
        let sector = min((end + 511) / 512 * 512, files[write.part.rawValue].count)
        switch rest {
        case .old: break
        case .zeros, .ones:
            let byte: UInt8 = rest == .zeros ? 0 : 0xff
            files[write.part.rawValue].replaceSubrange(
                end..<sector, with: [UInt8](repeating: byte, count: sector - end))
        }
        return files
    }

    @Test func `a power cut at any byte of any write leaves the latches before it, or those behind it`() {
        let (first, writes) = Self.story().state.withLock { ($0.first, $0.writes) }
        #expect(writes.count == 12)
        var files = first
        var stands = Self.record(0x8)
        var (states, held) = (0, 0)
        for write in writes {
            let coming = Slot(bytes: write.bytes[...]).flatMap { LatchRecord(bytes: $0.payload) } ?? stands
            for count in 0...write.bytes.count {
                // The rest of the sector matters little: not at each byte.
                let rests = count % 8 == 0 ? Rest.allCases : [.old]
                for rest in rests {
                    let left = Self.cut(files, write, after: count, rest)
                    let found = Self.start(left)
                    states += 1
                    let isTorn = SlotPair(bytes: left[0]).isTorn
                    let why: Comment = "\(write.part) cut after \(count), \(rest)"
                    let isWhole = found.finding == .read(coming) || found.finding == .read(stands)
                    #expect(isWhole && found.damage == nil, why)
                    // What the lost write was to say nobody knows: no unit starts by itself.
                    #expect((found.doubt != nil) == isTorn, why)
                    if count == write.bytes.count { #expect(found.finding == .read(coming), why) }
                    if isTorn {
                        held += 1
                        #expect(write.part == .latches && found.finding == .read(stands), why)
                        #expect(Self.start(left, isProven: false).damage != nil, "the proof tells them apart")
                    }
                }
            }
            files = Self.cut(files, write, after: write.bytes.count, .old)
            stands = coming
        }
        #expect(states > 1_000 && held > 300, "\(states) states, \(held) held")
    }

    @Test func `at rest nothing is written where the latches stand`() {
        let writes = Self.story().state.withLock { $0.writes }
        #expect(writes.filter { $0.part == .latches }.count == Self.day.count { $0 != nil })
    }

    @Test func `latches that the disk had taken and that are gone are damage, whatever stands beside them`()
        throws
    {
        let disk = Self.story()
        let files = disk.state.withLock { $0.files.compactMap { $0 } }
        let pair = SlotPair(bytes: files[0])
        let length = try #require(pair.newest).bytes.count
        for index in 0..<length {
            var newest = files
            newest[0][(1 - pair.next) * Self.slotSize + index] ^= 1
            #expect(Self.start(newest).damage != nil, "the newest, byte \(index)")
            var older = files
            older[0][pair.next * Self.slotSize + index] ^= 1
            let found = Self.start(older)
            #expect(found.finding == .read(Self.record(0)) && found.damage == nil, "the older, byte \(index)")
        }
        // Somebody has put yesterday's file back.
        let former = disk.state.withLock { [$0.first[0], files[1]] }
        #expect(Self.start(former).damage?.contains("newer latches were on disk") == true)
        // Without any proof a damaged slot may have been anything.
        var torn = files
        torn[0][pair.next * Self.slotSize] ^= 1
        #expect(Self.start(torn, isProven: false).damage != nil)
        torn[1] = [UInt8](repeating: 0, count: torn[1].count)
        #expect(Self.start(torn).damage != nil)
    }
}
