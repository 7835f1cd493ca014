import ControlSocket
import Foundation
import Glibc
import ProgramSupport
import Testing

extension BallastDaemonTests {
    /// A unit whose contactors and wires hang on a simulated I/O module, by the real programs.
    @Suite struct ContactorTests {
        /// BESS_01 with contactors of its own, BESS_02 without.
        private func twoUnits() throws -> RunningSite {
            let units = [try Unit.withContactors("BESS_01"), try Unit.onNetwork("BESS_02")]
            let file = SiteFile(units: units, meter: try Unit.freeModbus())
            return RunningSite(file, in: try ScratchFolder())
        }

        private func oneUnit() throws -> RunningSite {
            let file = SiteFile(units: [try Unit.withContactors("BESS_01")], meter: try Unit.freeModbus())
            return RunningSite(file, in: try ScratchFolder())
        }

        private func startUnderLoad(_ site: RunningSite) throws {
            try site.startInService()
            try site.simulate("frequency 49.5")
            try site.waitForTruth("power flows") { truth in truth.units.allSatisfy { $0.power_w > 10_000 } }
        }

        private func waitForOpen(_ site: RunningSite) throws {
            try site.waitForTruth("the contactors are open") {
                $0.units[0].main_contactor_closed == false && $0.units[0].coils == []
            }
        }

        private func input(_ name: String, _ status: SiteStatus) -> Bool? {
            status.units[0].inputs.first { $0.name == name }?.active
        }

        @Test(arguments: ["network", "one serial line"])
        func `it precharges, closes on a charged DC link, and gives power`(wire: String) throws {
            let scratch = try ScratchFolder()
            let unit =
                wire == "network"
                ? try Unit.withContactors("BESS_01") : Unit.withContactorsOnLines("BESS_01", in: scratch)
            let site = RunningSite(
                SiteFile(units: [unit], meter: try Unit.freeModbus()), in: scratch)
            try site.startPlant()
            #expect(try site.truth().units[0].main_contactor_closed == false)
            try site.startDaemon()
            try site.waitForMode("running")
            try site.daemon.waitForLog("standby → precharge", "precharge → running")
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8])
            let truth = try site.truth().units[0]
            #expect(truth.main_contactor_closed == true)
            #expect(truth.main_contactor_burnt == false, "the link was charged before")
            #expect(truth.coils?.sorted() == ["main_contactor", "permit"])
            try site.waitForStatus("its wires are shown") {
                input("emergency_stop", $0) == false && input("main_contactor", $0) == true
                    && input("precharge_contactor", $0) == false
            }
            let page = try site.runTool(["status", "--socket", site.controlSocket], status: 0).output
            let inputs = "inputs: emergency_stop off, smoke off, door off, breaker off, main_contactor ON"
            #expect(page.contains(inputs))

            #expect(try site.daemon.end(by: SIGTERM) == 0)
            try waitForOpen(site)
            let drops = try site.truth().units[0].coil_drops ?? 0
            #expect(drops <= 1, "what may carry current is left to the module")
        }

        @Test
        func `the emergency stop takes every unit to zero and opens; released, nothing starts by itself`()
            throws
        {
            let site = try twoUnits()
            try startUnderLoad(site)
            try site.simulate("fault estop BESS_01")
            try site.waitForMode("tripped")
            try site.waitForSetpoints([0, 0])
            try waitForOpen(site)
            #expect(try site.unit(0).trips.first == "emergency_stop")

            try site.simulate("clear estop BESS_01")
            try site.waitForStatus("the button is seen released") { input("emergency_stop", $0) == false }
            let cycle = try site.status().cycle
            try site.waitForStatus("four times the time to enter service") { $0.cycle > cycle + 100 }
            #expect(try site.status().units.map(\.mode) == ["tripped", "tripped"])
            #expect(try site.truth().units.map(\.setpoint_w) == [0, 0])
            #expect(try site.truth().units[0].main_contactor_closed == false)

            try site.bringBack(0)
            try site.bringBack(1)
            try site.waitForTruth("power flows again") { $0.units.allSatisfy { $0.power_w > 10_000 } }
            #expect(try site.truth().units[0].main_contactor_burnt == false)
        }

        // swift-format-ignore
        static let wires: [(fault: String, clear: String, trip: String, why: Comment)] = [
            ("wire_break BESS_01",             "wire_break BESS_01", "emergency_stop", "an open wire: the button"),
            ("wire_break BESS_01 input=smoke", "wire_break BESS_01", "smoke",          "or the detector"),
            ("smoke BESS_01",                  "smoke BESS_01",      "smoke",          "the detector itself"),
            ("io_silence BESS_01",             "io_silence BESS_01", "lost_io",        "nobody sees a button"),
        ]

        @Test(arguments: wires)
        func `evidence on a wire, or none at all, trips and opens`(
            fault: String, clear: String, trip: String, why: Comment
        ) throws {
            let site = try oneUnit()
            try startUnderLoad(site)
            try site.simulate("fault \(fault)")
            try site.waitForMode("tripped")
            try site.waitForSetpoints([0])
            // A silent module has its own watchdog for it.
            try waitForOpen(site)
            #expect(try site.unit(0).trips.contains(trip), why)
            // Whoever reads one line reads that people are in danger, and only where they are.
            for words in [["status"], ["trips"], ["why"]] {
                let page = try site.runTool(words + ["--socket", site.controlSocket], status: 0).output
                let isTold = page.hasPrefix("DANGER  smoke at BESS_01: evacuate and call the fire brigade")
                #expect(isTold == (trip == "smoke"), "\(words): \(page.prefix(200))")
            }
            try site.simulate("clear \(clear)")
            try site.bringBack()
        }

        @Test func `a contactor that does not open after a stop is taken for welded, and latched`() throws {
            let site = try oneUnit()
            try startUnderLoad(site)
            try site.simulate("fault weld BESS_01")
            _ = try site.runTool(
                ["stop", "--reason", "test", "--socket", site.controlSocket], status: 0)
            try site.daemon.waitForLog("TRIP contactor_feedback", "→ tripped")
            try site.waitForSetpoints([0])
            let truth = try site.truth().units[0]
            #expect(truth.main_contactor_closed == true && truth.coils?.contains("main_contactor") == false)
            let reset = ["reset", "BESS_01", "--reason", "test", "--socket", site.controlSocket]
            _ = try site.runTool(reset, status: 1)

            try site.simulate("clear weld BESS_01")
            try waitForOpen(site)
            _ = try site.runTool(
                ["resume", "--reason", "test", "--socket", site.controlSocket], status: 0)
            try site.bringBack()
        }

        @Test func `a contactor that refuses to close gives no power and is told of`() throws {
            let site = try oneUnit()
            try site.startPlant()
            try site.simulate("fault contactor_refuses BESS_01")
            try site.startDaemon()
            try site.daemon.waitForLog("standby → precharge", "TRIP contactor_feedback")
            try site.waitForSetpoints([0])
            try site.simulate("clear contactor_refuses BESS_01")
            try site.bringBack()
        }

        @Test func `after SIGKILL of the daemon the module's own watchdog opens the contactors`() throws {
            let site = try oneUnit()
            try startUnderLoad(site)
            #expect(try site.truth().units[0].coil_drops == 0)
            #expect(try site.daemon.end(by: SIGKILL) == 128 + Int(SIGKILL))
            try waitForOpen(site)
            let truth = try site.truth().units[0]
            #expect(truth.coil_drops == 1)
            #expect(truth.power_w == 0)

            try site.startDaemon()
            try site.bringBack()
            #expect(try site.truth().units[0].main_contactor_burnt == false)
        }
    }
}
