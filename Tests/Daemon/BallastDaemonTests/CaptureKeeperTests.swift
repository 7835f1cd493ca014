import Control
import Glibc
import LinuxIO
import Plant
import ProgramSupport
import Quantities
import Testing

@testable import BallastDaemon
@testable import CycleRecord

/// Which recordings become captures, and what makes room for what.
@Suite struct CaptureKeeperTests {
    private static let zero = MonotonicTime(nanoseconds: 0)
    let scratch: ScratchFolder
    var recordings: BlackBoxPlaces { BlackBoxPlaces(directory: scratch.path + "/cycles", bytesMax: 1 << 20) }
    var captures: String { scratch.path + "/captures" }

    init() throws { scratch = try ScratchFolder() }

    /// Recordings of so many seconds each, ten cycles a second, one behind the other.
    private func record(
        files: Int, seconds: Int, isEnded: Bool = true, latched: Bool = false
    ) throws {
        try DurableFile.createDirectories(recordings.directory)
        for file in 0..<files {
            var recorder = CycleRecorder(unitCount: 1, about: "a test", files: [("site.yaml", [1])])
            let begin = Int64(file * seconds)
            recorder.checkpoint(
                RecordedCheckpoint(
                    wallSeconds: begin, now: Self.zero + .seconds(begin), program: "this one", words: [1]))
            for cycle in 0..<(seconds * 10) {
                var decision = Decision()
                decision.cycle = UInt64(file * seconds * 10 + cycle)
                if latched { decision.units[0].latched.insert(InterlockSet(.cellOvervoltage)) }
                recorder.cycle(
                    grid: GridImage(), units: [UnitImage()].span, wallSeconds: begin + Int64(cycle / 10),
                    at: Self.zero + .milliseconds(begin * 1_000 + Int64(cycle) * 100), &decision,
                    eventDigest: 0)
            }
            if isEnded { recorder.end() }
            try DurableFile.replace(recordings.directory + "/00000000000\(file).cycles", with: recorder.bytes)
        }
    }

    private func keeper(_ bytesMax: Int = 1 << 20) -> CaptureKeeper {
        CaptureKeeper(
            CapturePlaces(directory: captures, bytesMax: bytesMax), of: recordings, units: ["BESS_01"],
            about: "a test")
    }

    private func trigger(_ kind: CaptureTrigger.Kind, at seconds: Int64) -> CaptureTrigger {
        CaptureTrigger(kind, "\(kind.rawValue) at \(seconds)", cycle: 1, at: Self.zero + .seconds(seconds))
    }

    private func cycles(_ name: String) throws -> (first: Double, count: Int, note: CaptureNote?) {
        var reader = try RecordingReader(
            try #require(try DurableFile.read(captures + "/" + name, limit: 1 << 20)))
        var (times, note): ([Double], CaptureNote?) = ([], nil)
        while let record = try reader.next() {
            if case .cycle(let inputs, _) = record { times.append(Double(inputs.now.nanoseconds) / 1e9) }
            if case .capture(let found) = record { note = found }
        }
        #expect(reader.isEnded)
        return (try #require(times.first), times.count, note)
    }

    @Test
    func `a capture reaches back half a minute, to the begin of a recording, and waits for its time after`()
        throws
    {
        try record(files: 8, seconds: 10)
        var keeper = keeper()
        keeper.saw(trigger(.trip, at: 69), wallMicroseconds: 69_000_000)
        #expect(keeper.keep(at: Self.zero + .seconds(78), isLast: false, isTripped: true) == nil)
        let kept = keeper.keep(at: Self.zero + .seconds(79), isLast: false, isTripped: true)
        guard case .kept(let text) = kept else {
            Issue.record("\(String(describing: kept))")
            return
        }
        #expect(text.hasPrefix("trip at 69: "))
        let name = try #require(RecordingFile.names(captures).first)
        let found = try cycles(name)
        #expect(found.first == 30 && found.count == 500)
        #expect(found.note == CaptureNote(trigger: "trip at 69", wallMicroseconds: 69_000_000, cycle: 1))
        #expect(name == "19700101T000109.000Z-trip.cycles")
    }

    @Test func `a capture begins at the last state of the controller that is early enough`() throws {
        try DurableFile.createDirectories(recordings.directory)
        var recorder = CycleRecorder(unitCount: 1, about: "a test", files: [("site.yaml", [1])])
        for second in 0..<100 {
            let now = Self.zero + .seconds(Int64(second))
            if second.isMultiple(of: 20) {
                recorder.checkpoint(
                    RecordedCheckpoint(wallSeconds: 0, now: now, program: "this one", words: [1]))
            }
            var decision = Decision()
            decision.cycle = UInt64(second)
            recorder.cycle(
                grid: GridImage(), units: [UnitImage()].span, wallSeconds: Int64(second), at: now, &decision,
                eventDigest: 0)
        }
        try DurableFile.replace(recordings.directory + "/000000000001.cycles", with: recorder.bytes)
        // swift-format-ignore
        let rows: [(at: Int64, first: Double, why: Comment)] = [
            (95, 60, "65 is asked for"), (90, 60, "just at a state"), (89, 40, "a second before it"),
            (29, 0, "less is there than is asked for"),
        ]
        for row in rows {
            var keeper = keeper()
            keeper.saw(trigger(.trip, at: row.at), wallMicroseconds: row.at * 1_000_000)
            _ = keeper.keep(at: Self.zero + .seconds(99), isLast: true, isTripped: true)
            let name = try #require(RecordingFile.names(captures).first)
            let found = try cycles(name)
            #expect(found.first == row.first && found.count == 100 - Int(row.first), row.why)
            unlink(captures + "/" + name)
        }
    }

    /// A latch outlives the program: what a trip has left is not thrown out by its crash.
    @Test(arguments: [true, false])
    func `a crash throws out no trip's capture where its last cycle has a trip latched`(isTripped: Bool)
        throws
    {
        try record(files: 1, seconds: 20, isEnded: false, latched: isTripped)
        var large = keeper()
        large.saw(trigger(.trip, at: 1), wallMicroseconds: 1_000_000)
        _ = large.keep(at: Self.zero + .seconds(20), isLast: true, isTripped: true)
        let name = try #require(RecordingFile.names(captures).first)
        let size = try size(of: name)
        var keeper = keeper(size + size / 2)
        let outcome = keeper.keepUnended()
        if isTripped {
            guard case .notKept = outcome else {
                Issue.record("\(String(describing: outcome))")
                return
            }
        }
        #expect(RecordingFile.names(captures).contains(name) == isTripped)
    }

    @Test func `what happens while a window waits is named in it, and a trip comes first`() throws {
        try record(files: 1, seconds: 20)
        var keeper = keeper()
        keeper.saw(trigger(.grid, at: 5), wallMicroseconds: 5_000_000)
        keeper.saw(trigger(.trip, at: 6), wallMicroseconds: 6_000_000)
        keeper.saw(trigger(.trip, at: 7), wallMicroseconds: 7_000_000)
        _ = keeper.keep(at: Self.zero + .seconds(17), isLast: false, isTripped: true)
        let trigger = try cycles("19700101T000006.000Z-trip.cycles").note?.trigger
        #expect(trigger == "trip at 6, and 2 more: grid at 5; trip at 7")
        #expect(RecordingFile.names(captures).count == 1)
    }

    @Test func `the oldest makes room, but no trip's while one is latched, and what is not kept is told`()
        throws
    {
        try record(files: 1, seconds: 20)
        var large = keeper()
        large.saw(trigger(.asked, at: 1), wallMicroseconds: 1_000_000)
        _ = large.keep(at: Self.zero + .seconds(20), isLast: true, isTripped: false)
        let size = try size(of: "19700101T000001.000Z-asked.cycles")
        setTimes("19700101T000001.000Z-asked.cycles", read: 2, written: 1)
        // Room for two, and a little.
        var keeper = keeper(size * 2 + size / 2)
        func keep(_ kind: CaptureTrigger.Kind, _ at: Int64) -> CaptureKeeper.Outcome? {
            keeper.saw(trigger(kind, at: at), wallMicroseconds: at * 1_000_000)
            return keeper.keep(at: Self.zero + .seconds(at + 10), isLast: false, isTripped: kind == .trip)
        }
        _ = keep(.trip, 2)
        _ = keep(.trip, 3)
        #expect(
            RecordingFile.names(captures) == [
                "19700101T000002.000Z-trip.cycles", "19700101T000003.000Z-trip.cycles",
            ])
        guard case .notKept(let text) = keep(.trip, 4) else {
            Issue.record("room was made")
            return
        }
        #expect(text.contains("full of captures"))
        // Somebody has read one of them: it has done its work.
        setTimes("19700101T000002.000Z-trip.cycles", read: 3, written: 2)
        guard case .kept = keep(.trip, 4) else {
            Issue.record("what was read made no room")
            return
        }
        #expect(RecordingFile.names(captures).first == "19700101T000003.000Z-trip.cycles")
        // Nothing is latched any more.
        guard case .kept = keep(.asked, 5) else {
            Issue.record("no room was made")
            return
        }
        #expect(RecordingFile.names(captures).first == "19700101T000004.000Z-trip.cycles")
    }

    private func size(of name: String) throws -> Int {
        var status = stat()
        try #require(stat(captures + "/" + name, &status) == 0)
        return Int(status.st_size)
    }

    /// Who reads a file moves its first time beyond its second one; how soon is the file system's matter.
    private func setTimes(_ name: String, read: Int, written: Int) {
        let times = [timespec(tv_sec: read, tv_nsec: 0), timespec(tv_sec: written, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, captures + "/" + name, times, 0) == 0)
    }

    @Test func `what happens near a window's end has its whole time after`() throws {
        try record(files: 1, seconds: 40)
        var keeper = keeper()
        keeper.saw(trigger(.trip, at: 5), wallMicroseconds: 5_000_000)
        keeper.saw(trigger(.trip, at: 14), wallMicroseconds: 14_000_000)
        #expect(keeper.keep(at: Self.zero + .seconds(16), isLast: false, isTripped: true) == nil)
        guard case .kept = keeper.keep(at: Self.zero + .seconds(24), isLast: false, isTripped: true) else {
            Issue.record("nothing was kept")
            return
        }
    }

    @Test func `a grid that comes and goes is kept twelve times an hour`() throws {
        try record(files: 1, seconds: 20)
        var keeper = keeper()
        var kept = 0
        for turn in 0..<20 {
            keeper.saw(trigger(.grid, at: Int64(turn * 20)), wallMicroseconds: Int64(turn) * 20_000_000)
            let now = MonotonicTime(nanoseconds: Int64(turn * 20 + 10) * 1_000_000_000)
            if keeper.keep(at: now, isLast: false, isTripped: false) != nil { kept += 1 }
        }
        #expect(kept == 12)
    }

    @Test func `a recording that nobody has ended is kept at the next start, and one that was ended is not`()
        throws
    {
        try record(files: 2, seconds: 10)
        var keeper = keeper()
        #expect(keeper.keepUnended() == nil)
        try record(files: 2, seconds: 10, isEnded: false)
        guard case .kept(let text) = keeper.keepUnended() else {
            Issue.record("nothing was kept")
            return
        }
        #expect(text.contains("did not end in order"))
    }

    @Test func `without room for captures nothing is kept`() throws {
        try record(files: 1, seconds: 20)
        var keeper = keeper(0)
        keeper.saw(trigger(.trip, at: 5), wallMicroseconds: 5_000_000)
        #expect(keeper.keep(at: Self.zero + .seconds(20), isLast: true, isTripped: true) == nil)
        #expect(RecordingFile.names(captures).isEmpty)
    }
}
