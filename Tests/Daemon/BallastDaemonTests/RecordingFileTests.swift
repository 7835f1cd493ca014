import LinuxIO
import ProgramSupport
import Testing

@testable import BallastDaemon

/// What stands in the folder of recordings, as a listing of it says.
@Suite struct RecordingFileTests {
    private func places(_ scratch: ScratchFolder) -> BlackBoxPlaces {
        BlackBoxPlaces(directory: scratch.path + "/cycles", bytesMax: 1_000_000)
    }

    @Test func `a loop of restarts keeps what came before the first of them`() throws {
        let scratch = try ScratchFolder()
        for _ in 0..<30 {
            var file = RecordingFile(places(scratch))
            try file.renew()
            try file.append([UInt8](repeating: 7, count: 1_000))
        }
        let names = RecordingFile.names(scratch.path + "/cycles")
        #expect(names.count == 30 && names.first == "000000000001.cycles")
    }

    @Test func `whole files make room, the oldest first, and never pass what they may take`() throws {
        let scratch = try ScratchFolder()
        var file = RecordingFile(places(scratch))
        for _ in 0..<30 {
            try file.renew()
            try file.append([UInt8](repeating: 7, count: 125_000))
            let names = RecordingFile.names(scratch.path + "/cycles")
            #expect(names.count <= 8)
        }
        #expect(RecordingFile.names(scratch.path + "/cycles").last == "000000000030.cycles")
    }
}
