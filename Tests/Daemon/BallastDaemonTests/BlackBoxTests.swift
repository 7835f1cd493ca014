import Foundation
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

            try isOneInstant(site, place)

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
            #expect(page.contains("<h2>Audit</h2>") && incident.output.contains("audit.txt: "))
            // What --check prints is carried, with the table of interlocks in force.
            let carried = try String(contentsOfFile: place + "/incident/incident.json", encoding: .utf8)
            #expect(carried.contains("ballastd --check.txt") && carried.contains("\"fnv1a\""))
            #expect(carried.contains("second line") && carried.contains("\"performance\":\"<!DOCTYPE html>"))
            let again = try startPeer("incident_judge.py", [place], name: "again", in: site.scratch)
            #expect(try again.exitStatus() == 0, "\(again.output)")
            // A folder that is used again shows nothing of another incident but what the capture itself carries; a
            // log that is not there is said.
            let other = place + "/other.cycles"
            try DurableFile.replace(other, with: try #require(try DurableFile.read(file, limit: 1 << 26)))
            _ = try site.runTool(["incident", other, "--output", place + "/incident"], status: 0)
            let anew = try String(contentsOfFile: place + "/incident/index.html", encoding: .utf8)
            #expect(!anew.contains("by=jürgen"))
            let refused = try site.runTool(
                ["incident", file, "--output", place + "/no", "--journal", place + "/none"], status: 1)
            #expect(refused.log.contains("none: there is no such file"))
            try found(site, capture: file, log)
        }

        /// A trip has one instant, that of its cycle, wherever it is told: to the millisecond.
        private func isOneInstant(_ site: RunningSite, _ place: String) throws {
            let json = try String(contentsOfFile: place + "/incident.json", encoding: .utf8)
            let row = try #require(
                json.split(separator: "\n").first { $0.contains("\"what\":\"TRIP cell_overvoltage\"") })
            // {"at":"2026-11-24T14:03:07.123Z",…
            let at = try #require(row.split(separator: "\"").dropFirst(3).first.map(String.init))
            #expect(at.hasSuffix("Z") && at.utf8.count == 24, "\(row)")
            let socket = ["--socket", site.controlSocket]
            let trips = try site.runTool(["trips", "--json"] + socket, status: 0).output
            #expect(trips.contains(at), "\(at): \(trips)")
            let line = try site.daemon.logLine("TRIP cell_overvoltage")
            #expect(line.hasPrefix(at), "\(at): \(line)")
            let spool = site.scratch.path + "/state/spool"
            let up = try FileManager.default.contentsOfDirectory(atPath: spool).map { name in
                let bytes = try DurableFile.read(spool + "/" + name, limit: 1 << 26) ?? []
                return String(decoding: bytes, as: UTF8.self)
            }
            #expect(up.contains { $0.contains("\"at\":\"\(at)\"") }, "what goes up says it too")
            let page = try String(contentsOfFile: place + "/index.html", encoding: .utf8)
            #expect(page.contains(at.dropFirst(11).dropLast()), "\(at)")
            let kept = try #require(
                RecordingFile.names(site.scratch.path + "/state/captures").first { $0.contains("-trip") })
            #expect(kept.hasPrefix(at.filter { $0 != ":" && $0 != "-" }), "\(at): \(kept)")
        }

        /// By the kernel's own account: with its thread, its stack and its buffers, also when it has put a
        /// capture together; and held for its patience the writer loses no cycle.
        @Test func `recording takes no more than 8 MiB, and a writer that is held loses no cycle`() throws {
            func held(_ site: RunningSite) throws -> Int {
                let path = "/proc/\(try site.daemon.number)/smaps_rollup"
                let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
                func bytes(_ key: String) -> Int {
                    let line = lines.first { $0.hasPrefix(key) } ?? ""
                    return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1_024
                }
                // Where memory may not be locked, what is the process's own counts.
                return max(bytes("Locked:"), bytes("Anonymous:"))
            }
            let bare = try RunningSite.small()
            bare.file.paths = ["recording_max_mb: 0"]
            try bare.startInService()
            let without = try held(bare)
            _ = try bare.daemon.end(by: SIGTERM)
            let site = try RunningSite.small()
            site.file.paths = ["recording_max_mb: 8"]
            try site.startInService()
            let holder = try startPeer(
                "hold_thread.py", ["\(try site.daemon.number)", "blackbox"], name: "holder", in: site.scratch)
            _ = try holder.ready()
            let begun = try site.status().cycle
            try holder.ask("hold")
            let patience = UInt64(CycleTap.patience.nanoseconds / 20_000_000)
            try eventually("it is held for its patience") { try site.status().cycle >= begun + patience - 5 }
            try holder.ask("free")
            let ask = ["capture", "--reason", "to look at", "--socket", site.controlSocket]
            _ = try site.runTool(ask, status: 0)
            try site.daemon.waitForLog("asked for: to look at: ")
            let most = try held(site) - without
            #expect(most <= 8 << 20, "\(most) bytes more")
            let folder = site.scratch.path + "/state/captures"
            let file = folder + "/" + (try #require(RecordingFile.names(folder).last))
            let steps = try site.runDaemon(["--replay", file]).output
            #expect(steps.contains("identical, "), "\(steps)")
            _ = try site.runTool(["replay", file, "--json", site.scratch.path + "/x.json"], status: 0)
            let told = try String(contentsOfFile: site.scratch.path + "/x.json", encoding: .utf8)
            #expect(!told.contains("cycles are missing in the recording"), "\(told.prefix(2_000))")
        }

        /// By the trip, by the unit and by what it is; another capture's folder is left alone.
        private func found(_ site: RunningSite, capture file: String, _ log: String) throws {
            let place = site.scratch.path
            let (folder, output) = (place + "/state/captures", place + "/found")
            for which in ["cell_overvoltage", "BESS_01", "trip"] {
                let words = ["incident", which, "--captures", folder, "--output", output, "--journal", log]
                _ = try site.runTool(words, status: 0)
            }
            _ = try site.scratch.write("found/capture.cycles", "another")
            let kept = try site.runTool(["incident", file, "--output", output], status: 1)
            #expect(kept.log.contains("another capture"))
            let none = try site.runTool(["captures", "--captures", place + "/nowhere"], status: 0)
            #expect(none.output.contains("no capture is there yet"))
            let list = try site.runTool(["captures", "--captures", folder], status: 0).output
            #expect(list.contains("TRIP cell_overvoltage of BESS_01"), "\(list)")
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
