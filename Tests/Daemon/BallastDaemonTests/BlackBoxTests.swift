import Glibc
import LinuxIO
import ProgramSupport
import Testing

@testable import BallastDaemon

extension BallastDaemonTests {
    @Suite struct BlackBoxTests {
        @Test func `a daemon that is killed leaves its cycles, and they are replayed bit by bit`() throws {
            let site = try RunningSite.small()
            site.file.paths = ["recording_max_mb: 8"]
            try site.startInService()
            let asked = ["setpoint", "20", "--for", "60s", "--reason", "test"]
            _ = try site.runTool(asked + ["--socket", site.controlSocket], status: 0)
            try site.waitForSetpoints([20])
            let seen = try site.status().cycle
            _ = try site.daemon.end(by: SIGKILL)

            let folder = site.scratch.path + "/state/cycles"
            let name = try #require(RecordingFile.names(folder).first)
            let replay = try site.runDaemon(["--replay", folder + "/" + name])
            let text = replay.output
            #expect(text.contains("identical, ") && text.contains("the recording was not ended"), "\(text)")
            let words = text.split(separator: " ")
            let cycles = try #require(
                words.firstIndex(of: "cycles,").flatMap { UInt64(words[$0 - 1]) }, "\(text)")
            // The default period is 20 ms, so this is one second.
            #expect(cycles + 50 >= seen, "\(cycles) of \(seen) cycles")
            // Another program does not take up the state of this one.
            let foreign = Replay(try #require(try DurableFile.read(folder + "/" + name, limit: 16 << 20)))
            #expect(foreign.fault?.contains("only the program that recorded it") == true)
            #expect(foreign.cycles == 0)
        }
    }
}
