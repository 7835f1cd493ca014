import ControlSocket
import Foundation
import Glibc
import ProgramSupport
import Recorder
import Testing

extension BallastDaemonTests {
    /// What the tool tells a person, judged by what the plant and the process did.
    @Suite struct TrueWordsTests {
        private func tool(_ site: RunningSite, _ arguments: [String], status: Int = 0) throws -> String {
            let result = try site.runTool(arguments + ["--socket", site.controlSocket], status: status)
            return result.output + result.log
        }

        /// As an administrator reads it.
        private var ownName: String {
            getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "nobody"
        }

        @Test func `an emergency stop names the unit whose button it was, also after its release`() throws {
            // The button is the second unit's: the order of the file tells nothing.
            let units = [try Unit.onNetwork("BESS_01"), try Unit.withContactors("BESS_02")]
            let site = RunningSite(
                SiteFile(units: units, meter: try Unit.freeModbus()), in: try ScratchFolder())
            try site.startInService()
            try site.simulate("fault estop BESS_02")
            try site.waitForMode("tripped")
            try site.simulate("clear estop BESS_02")
            try site.waitForStatus("the button is seen released") {
                $0.units[1].inputs.first { $0.name == "emergency_stop" }?.active == false
            }
            let trips = try tool(site, ["trips"]).split(separator: "\n").filter { $0.contains("first") }
            #expect(trips.count == 2)
            #expect(trips.allSatisfy { $0.contains("begun by emergency_stop of BESS_02") }, "\(trips)")
            let why = try tool(site, ["why", "BESS_01"])
            #expect(why.contains("tripped by emergency stop, begun by emergency_stop of BESS_02"), "\(why)")

            // Neither a kill nor a restart forgets it.
            try site.daemon.end(by: SIGKILL)
            try site.startDaemon()
            try site.waitForMode("tripped")
            let after = try tool(site, ["why", "BESS_01"])
            #expect(after.contains("begun by emergency_stop of BESS_02"), "\(after)")
        }

        @Test func `who has stopped the site, since when and why, stands over a restart and as JSON`() throws
        {
            let site = try RunningSite.small()
            try site.startInService()
            _ = try tool(site, ["stop", "--reason", "smell in the container"])
            try site.waitForMode("standby")
            let before = try tool(site, ["status"]).split(separator: "\n")[1]
            #expect(before.contains("STOPPED by \(ownName) (user id \(getuid())) since 20"), "\(before)")
            #expect(before.contains("smell in the container"))
            try eventually("it is on disk") {
                guard case .read(let record) = LatchRecord.read(site.scratch.path + "/state/latches") else {
                    return false
                }
                return record.isStopped
            }
            try site.daemon.end(by: SIGKILL)
            try site.startDaemon()
            try site.waitForStatus("it is stopped again") { $0.stopped }
            let after = try tool(site, ["status"]).split(separator: "\n")[1]
            #expect(after == before, "\(after)")
            _ = try tool(site, ["resume", "--reason", "it was the paint"])
            try site.waitForStatus("it may run") { !$0.stopped }
            let why = try tool(site, ["why", "--json"])
            #expect(why.contains(#""units":[{"limited_by":"#), "\(why)")
        }

        @Test func `a power beyond what can be is refused, and the plant gives what it gave`() throws {
            let site = try RunningSite()
            try site.startInService()
            _ = try tool(site, ["setpoint", "30", "--for", "10m", "--reason", "noise test"])
            try site.waitForSetpoints([15, 15])
            for words in [
                ["setpoint", "201"], ["setpoint", "-201"], ["setpoint", "101", "--unit", "BESS_01"],
            ] {
                let said = try tool(site, words + ["--for", "1m", "--reason", "slip"], status: 1)
                #expect(said.contains("beyond what can be") && said.contains("…"), "\(said)")
            }
            _ = try tool(
                site, ["setpoint", "1", "--unit", "BESS_9", "--for", "1m", "--reason", "slip"], status: 1)
            try site.waitForSetpoints([15, 15])
            let why = try tool(site, ["why"])
            #expect(why.contains("operator (\(ownName) (user id \(getuid())), "), "\(why)")
            #expect(why.contains(/(10 min 0|9 min \d+) s left: noise test\) asked 30\.0/), "\(why)")
            // At its own rating it is taken.
            _ = try tool(site, ["setpoint", "100", "--unit", "BESS_01", "--for", "10m", "--reason", "full"])
            try site.waitForTruth("unit 1 gives its rating") { abs($0.units[0].power_w - 100_000) < 500 }
            // The plant may be there before the status is told anew.
            try eventually("it says whose power") {
                try tool(site, ["why", "BESS_01"]).contains("left: full), of this unit alone, asked 100.0")
            }
        }

        @Test func `reset and resume at once: what is answered is what the plant then does`() throws {
            let units = [try Unit.onNetwork("BESS_01"), try Unit.withContactors("BESS_02")]
            let site = RunningSite(
                SiteFile(units: units, meter: try Unit.freeModbus()), in: try ScratchFolder())
            try site.startInService()
            for round in 0..<3 {
                try site.simulate("fault estop BESS_02")
                try site.waitForMode("tripped")
                try site.simulate("clear estop BESS_02")
                // The first that finds the cause gone is followed by the site's resume without a breath.
                for unit in ["BESS_01", "BESS_02"] {
                    try eventually("the reset of \(unit) is taken") {
                        let answer = try ControlClient.ask(
                            ControlRequest(.reset, unit: unit, reason: "seen to"), at: site.controlSocket)
                        return answer?.error == nil
                    }
                }
                let resumed = try ControlClient.ask(
                    ControlRequest(.resume, reason: "nobody is there"), at: site.controlSocket)
                let done = resumed?.done ?? resumed?.error ?? "no answer"
                #expect(done.contains("nothing holds BESS_01, BESS_02 any more"), "round \(round): \(done)")
                try site.waitForMode("running")
            }
        }

        @Test func `the program's own end is no operator's power`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            _ = try tool(site, ["setpoint", "20", "--for", "10m", "--reason", "test"])
            try site.waitForSetpoints([20])
            #expect(try site.daemon.end(by: SIGTERM) == 0)
            let log = try site.daemon.log
            #expect(log.contains("goes to zero, for the program ends"), "\(log.suffix(1_000))")
            #expect(!log.contains("an operator's power for this unit is set"), "\(log.suffix(1_000))")
        }

        @Test func `a unit that waits says for how long, and who keeps it out has time left`() throws {
            let site = try RunningSite.small()
            site.file.enterServiceSeconds = 300
            try site.startPlant()
            try site.startDaemon()
            try site.waitForMode("standby")
            let why = try tool(site, ["why", "BESS_01"])
            #expect(why.contains(/enters service in (5 min 0|4 min \d+) s if all stays good/), "\(why)")
            _ = try tool(site, ["mode", "BESS_01", "standby", "--for", "2h", "--reason", "noise at night"])
            try site.waitForStatus("the lock shows") { $0.units[0].locks != nil }
            let kept = try tool(site, ["why", "BESS_01"])
            #expect(kept.contains(/\(noise at night\), (2 h 0|1 h 59) min left/), "\(kept)")
        }

        @Test
        func `a nominal voltage between phases is told, with the key that would do; that key lets it in`()
            throws
        {
            let site = try RunningSite.small()
            func supervised(_ voltage: String) -> [String] {
                [
                    "grid_integration: {supervision: {preset: ieee1547_cat3, \(voltage), delay_s: 1, ramp_s: 1}}"
                ]
            }
            site.file.sections = supervised("nominal_voltage_v: 400")
            try site.startPlant()
            try site.startDaemon()
            try site.waitForStatus("the grid is not entered") {
                // Until the meter was read nobody measures it.
                $0.grid?.waits_for?.contains("V must hold, measured 23") == true
            }
            let why = try tool(site, ["why"])
            #expect(why.contains("V must hold, measured 23"), "\(why)")
            #expect(why.contains("say nominal_line_voltage_v: 400"), "\(why)")
            #expect(try site.daemon.end(by: SIGTERM) == 0)
            site.file.sections = supervised("nominal_line_voltage_v: 400")
            try site.startDaemon()
            try site.waitForMode("running")
        }

        @Test func `a scan of a line that the controller has open is refused, and costs it no answer`() throws
        {
            let site = try RunningSite()
            try site.startInService()
            let line = site.scratch.path + "/rtu"
            let said = try site.runTool(
                ["modbus", "scan", line, "--baud", "115200", "--units", "1"], status: 1)
            #expect(said.log.contains("in use by ball"), "\(said.log)")
            let read = try site.runTool(
                ["modbus", "read", line, "--baud", "115200", "--unit", "1", "--address", "40000"], status: 1)
            #expect(read.log.contains("say --shared"), "\(read.log)")
            #expect(try site.unit(1).mode == "running")
        }

        @Test func `top shows the site once, as text and as JSON, and says when nobody answers`() throws {
            let site = try RunningSite()
            try site.startInService()
            let text = try tool(site, ["top", "--once"])
            #expect(text.contains("BESS_01") && text.contains("50.000 Hz") && !text.contains("\u{1B}"))
            let json = try tool(site, ["top", "--once", "--json"])
            struct Look: Decodable {
                var age_s: Double
                var status: SiteStatus
            }
            let look = try JSONDecoder().decode(Look.self, from: Data(json.utf8))
            #expect(look.status.units.count == 2 && look.age_s < 1)
            try site.daemon.end(by: SIGKILL)
            #expect(try tool(site, ["top", "--once"], status: 1).contains("does ballastd run"))
        }
    }
}
