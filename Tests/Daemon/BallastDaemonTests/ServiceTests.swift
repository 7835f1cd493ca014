import Glibc
import Testing

/// The real programs on real sockets and lines. They share two processors, so one after the other.
@Suite(.serialized) struct BallastDaemonTests {}

extension BallastDaemonTests {
    @Suite struct ServiceTests {
        @Test func `a unit enters service by itself, once everything of it was seen good`() throws {
            let site = try RunningSite()
            try site.startDaemon()
            try site.waitForMode("offline")
            let scenario = try site.scratch.write(
                "scenario.yaml", "faults: [{at_s: 0, unit: BESS_02, fault: bms_silence}]\n")
            try site.startPlant(options: ["--scenario", scenario, "--start"])

            try site.waitForMode("running", of: 0)
            #expect(try site.unit(1).mode == "offline", "its battery has said nothing yet")
            #expect(try site.unit(1).soc_percent == nil, "a value that was never seen is not a number")

            try site.simulate("clear bms_silence BESS_02")
            try site.waitForMode("running")
            for unit in ["BESS_01", "BESS_02"] {
                try site.daemon.waitForLog(
                    "every unit starts out of service", "unit \(unit): offline → standby",
                    "unit \(unit): standby → running")
            }
        }

        @Test func `at 49.5 Hz two units of 100 kW share the 37.6 kW of a 5 percent droop`() throws {
            let site = try RunningSite()
            try site.startInService()
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8, 18.8])
            let status = try site.status()
            #expect(abs(status.response_kw - 37.6) <= 0.1)
            #expect(abs(status.setpoint_kw - 37.6) <= 0.1)
            #expect(status.frequency_hz == 49.5)

            try site.simulate("frequency 50.5")
            try site.waitForSetpoints([-18.8, -18.8])
        }

        @Test func `on SIGTERM the plant gets zero and the process ends with 0`() throws {
            let site = try RunningSite()
            try site.startInService()
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8, 18.8])

            #expect(try site.daemon.end(by: SIGTERM) == 0)
            let truth = try site.truth()
            #expect(truth.units.map(\.setpoint_w) == [0, 0])
            #expect(truth.units.map(\.reversions) == [0, 0], "we wrote the zero, no timer did")
            try site.daemon.waitForLog("stopping: units go to zero power", "running → stopping", "stopped")
        }

        @Test func `on SIGTERM a silent device does not keep the process from ending`() throws {
            let site = try RunningSite()
            try site.startInService()
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8, 18.8])
            try site.simulate("fault inverter_silence BESS_01")
            #expect(try site.daemon.end(by: SIGTERM) == 0)
            try site.waitForTruth("zero, by our write or by the timer") { truth in
                truth.units.allSatisfy { $0.setpoint_w == 0 && $0.power_w == 0 }
            }
            #expect(try site.truth().units[1].reversions == 0)
        }

        @Test func `after SIGKILL the inverters go to zero by their own timers`() throws {
            let site = try RunningSite()
            try site.startInService()
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8, 18.8])

            #expect(try site.daemon.end(by: SIGKILL) == 128 + Int(SIGKILL))
            try site.waitForTruth("both inverters have reverted to zero") { truth in
                truth.units.allSatisfy { $0.reversions >= 1 && $0.setpoint_w == 0 && $0.power_w == 0 }
            }
        }

        @Test func `each fault of the plant trips the unit by its own name`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            for fault in ["cell_overvoltage", "cell_undervoltage", "bms_alarm", "inverter_fault"] {
                try site.simulate("fault \(fault) BESS_01")
                try site.waitForMode("tripped")
                #expect(try site.unit(0).trips.first == fault)
                try site.daemon.waitForLog("unit BESS_01: TRIP \(fault)")
                try site.waitForSetpoints([0])

                try site.simulate("clear \(fault) BESS_01")
                try site.bringBack()
            }
        }

        @Test func `a daemon that stood still counts what it missed and goes on at its own pace`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            let before = try site.status()
            let daemon = try site.daemon
            daemon.send(SIGSTOP)
            // Two seconds without a write: the inverter's own timer.
            try site.waitForTruth("the inverter has reverted") { $0.units[0].reversions == 1 }
            daemon.send(SIGCONT)
            try site.waitForStatus("overruns are counted") { $0.overruns >= before.overruns + 50 }
            let after = try site.status()
            #expect(after.cycle < before.cycle + 100, "no burst of cycles for those that were missed")
            try site.waitForStatus("the cycle goes on") { $0.cycle >= after.cycle + 50 }
        }

        @Test func `a stop takes the site out of service, and a resume lets it in again`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8])

            _ = try site.runTool(
                ["stop", "--reason", "work on the roof", "--socket", site.controlSocket], status: 0)
            try site.waitForMode("standby")
            try site.waitForSetpoints([0])
            try site.daemon.waitForLog("asks: stop: work on the roof", "running → stopping", "→ standby")
            _ = try site.runTool(["resume", "--reason", "done", "--socket", site.controlSocket], status: 0)
            try site.waitForMode("running")
            try site.waitForSetpoints([18.8])
        }
    }
}
