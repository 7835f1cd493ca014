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

        /// What other programs read of it is judged by them: the COMTRADE library of PyPI, and an XML parser.
        @Test func `a trip is kept as a capture that replays, and that other people's tools read`() throws {
            let site = try RunningSite.small()
            site.file.paths = ["recording_max_mb: 8"]
            try site.startInService()
            try site.simulate("fault cell_overvoltage BESS_01")
            try site.daemon.waitForLog("TRIP cell_overvoltage")
            // Its time after the trip is ten seconds.
            let folder = site.scratch.path + "/state/captures"
            try eventually("a capture is there") { !RecordingFile.names(folder).isEmpty }
            let file = folder + "/" + (try #require(RecordingFile.names(folder).first))
            try site.daemon.waitForLog("TRIP cell_overvoltage of BESS_01", file)

            let replay = try site.runDaemon(["--replay", file])
            #expect(try replay.exitStatus() == 0 && replay.output.contains("identical, "), "\(replay.output)")
            let place = site.scratch.path
            for form in ["ascii", "binary", "float32"] {
                _ = try site.runTool(
                    ["replay", file, "--comtrade", place + "/" + form, "--form", form], status: 0)
            }
            _ = try site.runTool(
                [
                    "replay", file, "--csv", place + "/values.csv", "--page", place + "/index.html", "--json",
                    place + "/incident.json",
                ], status: 0)
            let judge = try startPeer("incident_judge.py", [place], name: "judge", in: site.scratch)
            #expect(try judge.exitStatus() == 0, "\(judge.output)")
            #expect(judge.output.contains("first out: TRIP cell_overvoltage of BESS_01"), "\(judge.output)")

            let log = try site.scratch.write("log", "10:00:00 by=jürgen <b>reset</b> & more\nsecond line\n")
            let incident = try site.runTool(
                ["incident", "--captures", folder, "--output", place + "/incident", "--journal", log],
                status: 0)
            #expect(incident.output.contains("index.html"))
            let performance = try String(
                contentsOfFile: place + "/incident/performance.html", encoding: .utf8)
            #expect(performance.hasPrefix("<!DOCTYPE html>"), "\(incident.output)")
            // One page and one JSON have all of it: the log's lines, and the performance record.
            let page = try String(contentsOfFile: place + "/incident/index.html", encoding: .utf8)
            #expect(page.contains("by=jürgen &lt;b&gt;reset&lt;/b&gt; &amp; more"))
            #expect(page.contains("srcdoc=\"&lt;!DOCTYPE html&gt;"))
            // What --check prints is carried, with the table of interlocks in force.
            let carried = try String(contentsOfFile: place + "/incident/incident.json", encoding: .utf8)
            #expect(carried.contains("ballastd --check.txt") && carried.contains("\"fnv1a\""))
            #expect(carried.contains("second line") && carried.contains("\"performance\":\"<!DOCTYPE html>"))
            let again = try startPeer("incident_judge.py", [place], name: "again", in: site.scratch)
            #expect(try again.exitStatus() == 0, "\(again.output)")
            // A folder that is used again shows nothing of another incident; a log that is not there is said.
            let other = place + "/other.cycles"
            try DurableFile.replace(other, with: try #require(try DurableFile.read(file, limit: 1 << 26)))
            _ = try site.runTool(["incident", other, "--output", place + "/incident"], status: 0)
            let anew = try String(contentsOfFile: place + "/incident/index.html", encoding: .utf8)
            #expect(!anew.contains("by=jürgen") && !anew.contains("srcdoc="))
            let refused = try site.runTool(
                ["incident", file, "--output", place + "/no", "--journal", place + "/none"], status: 1)
            #expect(refused.log.contains("none: there is no such file"))
        }

        @Test func `a killed daemon's last cycles are kept, an ended one's are not, and a person's wish is`()
            throws
        {
            let site = try RunningSite.small()
            site.file.paths = ["recording_max_mb: 8"]
            try site.startInService()
            _ = try site.daemon.end(by: SIGTERM)
            let recordings = site.scratch.path + "/state/cycles"
            let name = try #require(RecordingFile.names(recordings).last)
            let replay = try site.runDaemon(["--replay", recordings + "/" + name]).output
            #expect(replay.contains("identical, ") && !replay.contains("was not ended"), "\(replay)")
            try site.startDaemon()
            // Until it listens nobody answers.
            try eventually("it controls") { (try? site.status()).map { $0.cycle > 50 } ?? false }
            _ = try site.daemon.end(by: SIGKILL)
            try site.startDaemon()
            let folder = site.scratch.path + "/state/captures"
            try site.daemon.waitForLog("the program before did not end in order: " + folder)
            let ask = ["capture", "--reason", "to look at", "--socket", site.controlSocket]
            #expect(try site.runTool(ask, status: 0).output.contains("are kept"))
            try site.daemon.waitForLog("asked for: to look at: " + folder)
            let list = try site.runTool(["captures", "--captures", folder], status: 0).output
            #expect(list.contains("-asked.cycles"), "\(list)")
            // Of the killed run, and none of the ended one.
            #expect(RecordingFile.names(folder).count { $0.contains("-crash") } == 1, "\(list)")
        }
    }
}
