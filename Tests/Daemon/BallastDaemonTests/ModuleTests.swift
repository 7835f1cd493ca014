import ControlSocket
import Foundation
import ModbusBus
import Plant
import ProgramSupport
import Quantities
import Recorder
import SiteConfig
import SiteFile
import Testing
import YAMLText

@testable import BallastDaemon

@Suite struct OutputWatchdogTestTests {
    static let plan = OutputWatchdogTest.Plan(
        unit: 0, rating: .kilowatts(100), watchdog: .seconds(2), response: .seconds(1), ramp: .seconds(1))

    static func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(milliseconds) * 1_000_000)
    }

    struct Look {
        var at: Int
        var power: Double? = 0
        var setpoint = 0.0
        var latched: InterlockID?
        var outcome: ModbusHush.Outcome?
        var isRunning = true

        func sight() -> OutputWatchdogTest.Sight {
            OutputWatchdogTest.Sight(
                isRunning: isRunning, setpoint: .kilowatts(setpoint), power: power.map { .kilowatts($0) },
                latched: latched.map { InterlockSet($0) } ?? .none, outcome: outcome)
        }
    }

    static func silent(_ rest: Look...) -> [Look] { [Look(at: 0)] + rest }
    static func seen(_ before: UInt64, _ after: UInt64) -> ModbusHush.Outcome {
        .looked(before: before, after: after, time: .milliseconds(2_400))
    }

    // swift-format-ignore
    static let rows: [(looks: [Look], last: OutputWatchdogTest.Output, why: Comment)] = [
        (silent(), .beSilent(.milliseconds(2_400)), "at zero power: a fifth longer than the watchdog"),
        ([Look(at: 0, power: 2.1)], .wait, "2.1 % is power"),
        ([Look(at: 0, power: nil)], .wait, "unknown is not zero"),
        ([Look(at: 0, setpoint: 1)], .wait, "not what was asked for yet"),
        ([Look(at: 0, power: 5), Look(at: 12_001, power: 5)], .failed(.keepsPower), "ramp, response and 10 s"),
        ([Look(at: 0, power: 5), Look(at: 100, isRunning: false)], .failed(.notRunning), "a trip before"),
        (silent(Look(at: 500, latched: .lostInputs, isRunning: false)), .wait, "that follows from the silence"),
        (silent(Look(at: 500, latched: .contactorFeedback, isRunning: false)), .wait, "and so does that"),
        (silent(Look(at: 500, latched: .batteryAlarm)), .failed(.tripped), "that does not: outputs off at once"),
        (silent(Look(at: 2_500, latched: .lostInputs, outcome: seen(0b101, 0))), .proven(within: .milliseconds(2_400)), "they fell"),
        (silent(Look(at: 2_500, outcome: seen(0b101, 0b100))), .failed(.stayed(0b100, after: .milliseconds(2_400))), "one stood"),
        (silent(Look(at: 2_500, outcome: seen(0, 0))), .failed(.nothingOn), "what was off cannot fall"),
        (silent(Look(at: 2_500, outcome: .unreadable)), .failed(.unreadable), "nobody saw it"),
        (silent(Look(at: 7_401)), .failed(.unreadable), "nothing was ever seen"),
    ]

    @Test(arguments: rows) func `only outputs that were on and fell in the silence are a proof`(
        looks: [Look], last: OutputWatchdogTest.Output, why: Comment
    ) {
        var test = OutputWatchdogTest(Self.plan, at: Self.time(0))
        var output = OutputWatchdogTest.Output.wait
        for look in looks { output = test.look(look.sight(), at: Self.time(look.at)) }
        #expect(output == last, why)
    }

    @Test func `a module with coils is asked for its proof, one without is not`() throws {
        func site(_ coils: String) throws -> SiteConfig {
            let text = """
                mode: simulation
                bess_units:
                  - {id: A, campus_id: C, capacity_kwh: 250, max_power_kw: 100, modbus: {host: 127.0.0.1, port: 1},
                     io_module: {modbus: {host: 127.0.0.1, port: 2}, inputs: [{number: 1, name: smoke}]\(coils)}}

                """
            var site = try SiteConfig.read(YAMLText.parse(Array(text.utf8), file: "a.yaml"), file: "a.yaml")
            site.mode = .production
            return site
        }
        let driven = try site(", coils: [{number: 1, drives: permit}], watchdog_ms: 12000")
        var book = ReversionBook(driven, ReversionRecord())
        book.note((.seconds(9), .zero), of: driven.units[0], identity: 0, wallSeconds: 0)
        #expect(book.remoteRefusal?.contains("the I/O module of A has proven its watchdog") == true)
        book.noteWatchdog(.milliseconds(600), of: driven.units[0], wallSeconds: 0)
        #expect(book.remoteRefusal == nil)
        #expect(book.watchdogText(driven.units[0])?.hasPrefix("proven: off within 0.6 s") == true)
        #expect(book.proof(of: driven.units[0]) != nil, "one does not replace the other")
        var other = driven
        other.units[0].ioModule?.watchdog = .milliseconds(800)
        #expect(ReversionBook(other, book.record).remoteRefusal != nil, "another setting is another proof")
        book.noteWatchdog(nil, of: driven.units[0], wallSeconds: 1)
        #expect(book.remoteRefusal != nil, "a later test failed")
        let watched = try site("")
        var plain = ReversionBook(watched, ReversionRecord())
        plain.note((.seconds(9), .zero), of: watched.units[0], identity: 0, wallSeconds: 0)
        #expect(plain.remoteRefusal == nil && plain.watchdogText(watched.units[0]) == nil)
    }
}

extension BallastDaemonTests {
    /// The shipped driver of an 8-in, 8-out module: its coils lie at 16, whatever the site's file says.
    @Suite struct DigitalModuleTests {
        private static let driver = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../config/drivers/digital-io.yaml").standardizedFileURL.path

        /// - Returns: the site as ballastd reads it, and as the plant is.
        private func sites(_ wire: String) throws -> (site: RunningSite, far: SiteFile) {
            let scratch = try ScratchFolder()
            let unit =
                wire == "network"
                ? try Unit.withContactors("BESS_01") : Unit.withContactorsOnLines("BESS_01", in: scratch)
            let meter = try Unit.freeModbus()
            func file(_ line: String) -> SiteFile {
                var unit = unit
                unit.more.append("  " + line)
                return SiteFile(units: [unit], meter: meter)
            }
            return (
                RunningSite(file("driver: \(Self.driver)"), in: scratch), file("coil_address: 16")
            )
        }

        private func trip(_ site: RunningSite, _ fault: String, _ name: String, clear: String) throws {
            try site.simulate("fault \(fault)")
            try site.waitForMode("tripped")
            try site.waitForTruth("open, and the permit is gone") {
                $0.units[0].main_contactor_closed == false && $0.units[0].coils == []
            }
            #expect(try site.unit(0).trips.contains(name), "\(fault)")
            try site.simulate("clear \(clear)")
            try site.bringBack()
        }

        @Test(arguments: ["network", "one serial line"])
        func `the shipped driver runs it: wires, contactors, permit, and open wires trip`(wire: String) throws
        {
            let (site, far) = try sites(wire)
            try site.startInService(far: far)
            try site.waitForTruth("the contact follows its coil") {
                let unit = $0.units[0]
                let isOn = unit.coils?.sorted() == ["main_contactor", "permit"]
                return isOn && unit.main_contactor_closed == true
            }
            try site.waitForStatus("its wires are seen") { status in
                let seen = Dictionary(
                    status.units[0].inputs.map { ($0.name, $0.active) },
                    uniquingKeysWith: { first, _ in first })
                return seen["emergency_stop"] == false && seen["smoke"] == false && seen["door"] == false
                    && seen["breaker"] == false && seen["main_contactor"] == true
                    && seen["precharge_contactor"] == false
            }
            try trip(site, "estop BESS_01", "emergency_stop", clear: "estop BESS_01")
            try trip(
                site, "wire_break BESS_01 input=smoke", "smoke", clear: "wire_break BESS_01")
            try trip(
                site, "wire_break BESS_01 input=breaker", "breaker", clear: "wire_break BESS_01")
            let check = try site.runDaemon(["--check", "--config", site.configuration])
            #expect(check.output.contains("main contactor at wire address 16"), "\(check.output)")
            #expect(check.output.contains("ms of silence; not proven"))
        }

        @Test func `killed, what takes its coils off knows the driver's addresses`() throws {
            let (site, far) = try sites("network")
            try site.startInService(far: far)
            let plan = site.scratch.path + "/state/wires"
            try eventually("the plan is on disk") {
                try String(contentsOfFile: plan, encoding: .utf8).contains("at 16 = 4")
            }
        }

        @Test(arguments: ["network", "one serial line"])
        func `its outputs prove that they fall after silence, and the proof outlives us`(wire: String) throws
        {
            let (site, far) = try sites(wire)
            try site.startInService(far: far)
            #expect(try site.unit(0).output_watchdog == "not proven")
            let result = try site.runTool(
                [
                    "commission", "reversion", "BESS_01", "--io-module", "--reason", "on site", "--socket",
                    site.controlSocket,
                ], status: 0)
            #expect(result.output.contains("unit BESS_01: proven: off within "), "\(result.output)")
            #expect(try site.truth().units[0].coil_drops == 1, "its watchdog did it, once")
            try site.daemon.waitForLog(
                "BESS_01: test of its I/O module's watchdog", "BESS_01: I/O module's watchdog proven")
            #expect(try site.daemon.log.contains("TRIP lost_io"), "nobody saw the button meanwhile")
            try site.bringBack()
            #expect(try site.unit(0).reversion == "not proven", "the inverter is another matter")
            #expect(try site.daemon.end(by: SIGTERM) == 0)
            let check = try site.runDaemon(["--check", "--config", site.configuration])
            #expect(check.output.contains("ms of silence; proven: off within"), "\(check.output)")
        }

        @Test
        func `a module whose watchdog is not set as the file says fails, and its coils are then written`()
            throws
        {
            var (site, far) = try sites("network")
            far.units[0].more = far.units[0].more.map {
                $0.replacingOccurrences(of: "watchdog_ms: 3500", with: "watchdog_ms: 9000")
            }
            try site.startInService(far: far)
            let result = try site.runTool(
                [
                    "commission", "reversion", "BESS_01", "--io-module", "--reason", "on site", "--socket",
                    site.controlSocket,
                ], status: 1)
            #expect(result.output.contains("still stand after 4.2 s of silence"), "\(result.output)")
            try site.waitForTruth("they are written off: the unit has tripped") { $0.units[0].coils == [] }
            #expect(try site.truth().units[0].coil_drops == 0)
            #expect(ReversionRecord.read(in: site.scratch.path + "/state").proofs.isEmpty)
        }

        @Test func `another trip in the silence takes the coils off at once`() throws {
            let (site, far) = try sites("network")
            try site.startInService(far: far)
            let request = ControlRequest(
                .reversion, unit: "BESS_01", reason: "on site", io_module: true)
            #expect(try ControlClient.ask(request, at: site.controlSocket)?.error == nil)
            try site.daemon.waitForLog("TRIP lost_io")
            try site.simulate("fault bms_alarm BESS_01")
            try site.daemon.waitForLog("watchdog not proven: something else tripped")
            // Told once it is on disk, which may be after that.
            try site.daemon.waitForLog("TRIP bms_alarm")
            try site.waitForTruth("they are off") { $0.units[0].coils == [] }
        }

        @Test func `a unit without such a module has nothing to prove`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            let result = try site.runTool(
                [
                    "commission", "reversion", "BESS_01", "--io-module", "--reason", "on site", "--socket",
                    site.controlSocket,
                ], status: 1)
            #expect(result.log.contains("has no I/O module with coils"))
        }
    }
}
