import LinuxIO
import ProgramSupport
import Quantities
import Testing

@testable import BallastDaemon

/// What stands in the folder of recordings, as a listing of it says.
@Suite struct RecordingFileTests {
    private static let zero = MonotonicTime(nanoseconds: 0)

    private func places(_ scratch: ScratchFolder) -> BlackBoxPlaces {
        BlackBoxPlaces(directory: scratch.path + "/cycles", bytesMax: 1_000_000)
    }

    @Test func `a loop of restarts keeps what came before the first of them`() throws {
        let scratch = try ScratchFolder()
        for _ in 0..<30 {
            var file = RecordingFile(places(scratch))
            try file.renew(at: Self.zero)
            try file.append([UInt8](repeating: 7, count: 1_000), at: Self.zero)
        }
        let names = RecordingFile.names(scratch.path + "/cycles")
        #expect(names.count == 30 && names.first == "000000000001.cycles")
    }

    @Test func `whole files make room, the oldest first, and never pass what they may take`() throws {
        let scratch = try ScratchFolder()
        var file = RecordingFile(places(scratch))
        for _ in 0..<30 {
            try file.renew(at: Self.zero)
            try file.append([UInt8](repeating: 7, count: 125_000), at: Self.zero)
            let names = RecordingFile.names(scratch.path + "/cycles")
            #expect(names.count <= 8)
        }
        #expect(RecordingFile.names(scratch.path + "/cycles").last == "000000000030.cycles")
    }

    /// A card wears by what is written to it: a day's share is no wish.
    @Test
    func `beyond a day's share of the disk recordings stand in memory, and on the next day on the disk`()
        throws
    {
        let scratch = try ScratchFolder()
        var places = places(scratch)
        places.bytesADayMax = 30_000
        places.spare = scratch.path + "/memory"
        var file = RecordingFile(places)
        let noon = Self.zero + .seconds(43_200)
        try file.renew(at: noon)
        for _ in 0..<2 { try file.append([UInt8](repeating: 7, count: 15_000), at: noon) }
        var (isWorn, isSpared) = (file.isWorn(at: noon), file.isSpared)
        #expect(isWorn && !isSpared)
        try file.renew(at: noon)
        try file.append([UInt8](repeating: 7, count: 50_000), at: noon)
        (isWorn, isSpared) = (file.isWorn(at: noon), file.isSpared)
        #expect(isSpared && !isWorn)
        let day = noon + .seconds(86_400)
        isWorn = file.isWorn(at: day)
        #expect(isWorn)
        try file.renew(at: day)
        #expect(
            RecordingFile.names(scratch.path + "/cycles") == ["000000000001.cycles", "000000000003.cycles"])
        #expect(RecordingFile.names(scratch.path + "/memory") == ["000000000002.cycles"])
        // Both are one row, and the next start goes on behind it.
        #expect(
            RecordingFile.paths(places).map { $0.suffix(19) } == [1, 2, 3].map { "00000000000\($0).cycles" })
        var next = RecordingFile(places)
        try next.renew(at: day)
        #expect(RecordingFile.names(scratch.path + "/cycles").last == "000000000004.cycles")
    }

    @Test func `where there is no memory to stand in, nothing is written beyond the day's share`() throws {
        let scratch = try ScratchFolder()
        var places = places(scratch)
        places.bytesADayMax = 1_000
        var file = RecordingFile(places)
        for _ in 0..<3 {
            try file.renew(at: Self.zero)
            try file.append([UInt8](repeating: 7, count: 2_000), at: Self.zero)
        }
        #expect(RecordingFile.names(scratch.path + "/cycles") == ["000000000001.cycles"])
    }

    @Test func `what is synced is counted, what was before is let go, and memory is left alone`() throws {
        let scratch = try ScratchFolder()
        var places = places(scratch)
        places.bytesADayMax = 1 << 20
        let sync = RecordingSync("a test", journal: Journal())
        var file = RecordingFile(places, sync: sync)
        try file.renew(at: Self.zero)
        try file.append([1], at: Self.zero)
        try file.renew(at: Self.zero)
        sync.end()
        sync.run()
        #expect(sync.takeCount() == 2)
        sync.run()
        #expect(sync.takeCount() == 1)
        sync.follow(nil)
        sync.run()
        sync.run()
        #expect(sync.takeCount() == 1)
    }
}
