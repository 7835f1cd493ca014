import ControlSocket
import Glibc
import LinuxIO
import ProgramSupport
import Quantities
import Recorder
import SiteConfig
import SiteFile
import Testing
import YAMLText

@testable import BallastDaemon

@Suite struct ReversionTestTests {
    static let plan = ReversionTest.Plan(
        unit: 0, power: .kilowatts(10), rating: .kilowatts(100), reversion: .seconds(2),
        response: .seconds(1),
        ramp: .seconds(1))

    static func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(milliseconds) * 1_000_000)
    }

    /// One look: kilowatts measured (absent = not fresh), and what else is not as it should be.
    struct Look {
        var at: Int
        var power: Double?
        var setpoint = 10.0
        var lastWrite: Int?
        var isRunning = true
        var isBroken = false

        func sight() -> ReversionTest.Sight {
            ReversionTest.Sight(
                isRunning: isRunning, setpoint: .kilowatts(setpoint),
                power: power.map { (.kilowatts($0), time(at)) }, isBroken: isBroken,
                lastWrite: lastWrite.map { time($0) })
        }
    }

    static func raised(_ rest: Look...) -> [Look] {
        [Look(at: 0, power: 0), Look(at: 1_000, power: 9.9)] + rest
    }

    // swift-format-ignore
    static let rows: [(looks: [Look], last: ReversionTest.Output, why: Comment)] = [
        (raised(), .beSilent, "the power is there"),
        ([Look(at: 0, power: 10, setpoint: 9)], .wait, "not the power that was asked for"),
        ([Look(at: 0, power: 0), Look(at: 12_001, power: 3)], .failed(.noPower), "ramp, response and 10 s"),
        (raised(Look(at: 2_900, power: 9.9, lastWrite: 950)), .wait, "it may take its time"),
        (raised(Look(at: 2_950, power: 2, lastWrite: 950), Look(at: 3_449, power: 1, lastWrite: 950)), .wait,
         "at zero, not yet for half a second"),
        (raised(Look(at: 2_950, power: 2, lastWrite: 950), Look(at: 3_450, power: 1, lastWrite: 950)),
         .proven(after: .milliseconds(2_000), power: .kilowatts(1)), "2 % counts as zero"),
        (raised(Look(at: 2_950, power: -2, lastWrite: 950), Look(at: 3_450, power: -1, lastWrite: 950)),
         .proven(after: .milliseconds(2_000), power: .kilowatts(-1)), "either way"),
        (raised(Look(at: 2_950, power: 2.1, lastWrite: 950), Look(at: 4_950, power: 2.1, lastWrite: 950)), .wait,
         "2.1 % is power; reversion, response and a second have not passed"),
        (raised(Look(at: 4_951, power: 10, lastWrite: 950)),
         .failed(.keptPower(.kilowatts(10), after: .milliseconds(4_001))), "it keeps its power"),
        (raised(Look(at: 4_951, power: nil, lastWrite: 950)), .failed(.notMeasured), "unknown is not zero"),
        (raised(Look(at: 2_950, power: 0, lastWrite: 950), Look(at: 3_200, power: 10, lastWrite: 950)),
         .failed(.cameBack(.kilowatts(10))), "a disabled control that goes back to another one"),
        (raised(Look(at: 2_950, power: 0, lastWrite: 950), Look(at: 3_500, power: nil, lastWrite: 950)),
         .failed(.notMeasured), "unknown is not zero"),
        (raised(Look(at: 2_000, power: 0, setpoint: 0, lastWrite: 950, isBroken: true)), .failed(.disturbed),
         "we wrote zero ourselves: no proof"),
        (raised(Look(at: 2_000, power: 0, lastWrite: 950, isRunning: false)), .failed(.notRunning), "a trip"),
        (raised(Look(at: 6_001, power: 10)), .failed(.disturbed), "the owner never fell silent"),
        (raised(Look(at: 1_010, power: 0, lastWrite: 1_020)), .wait, "a sample from before the last write"),
    ]

    @Test(arguments: rows)
    func `only power that ended by itself, was measured and stayed away is a proof`(
        looks: [Look], last: ReversionTest.Output, why: Comment
    ) {
        var test = ReversionTest(Self.plan, at: Self.time(0))
        var output = ReversionTest.Output.wait
        for look in looks { output = test.look(look.sight(), at: Self.time(look.at)) }
        #expect(output == last, why)
    }

    @Test func `a record comes back whole, and nothing that is cut or changed proves anything`() {
        let proof = ReversionRecord.Proof(
            unit: "A", device: "192.0.2.1:502/1/10s", identity: 0xfeed_0000_0000_0001, milliseconds: 9_900,
            watts: -12, at: 1_763_798_400)
        let record = ReversionRecord(proofs: [proof])
        #expect(ReversionRecord(bytes: record.bytes) == record)
        for count in 0..<record.bytes.count {
            #expect(ReversionRecord(bytes: Array(record.bytes[..<count])) == nil)
        }
        for index in record.bytes.indices {
            var changed = record.bytes
            changed[index] ^= 1
            #expect(ReversionRecord(bytes: changed) == nil)
        }
        #expect(record.proof(of: "A", device: "192.0.2.1:502/1/10s") == proof)
        #expect(record.proof(of: "A", device: "192.0.2.2:502/1/10s") == nil, "another device")
        // As an earlier version has written it, with the check sum that it wrote.
        let earlier = "ballast reversions 1\nunit A device 192.0.2.1:502/1/10s ms 9900 w -12 at 1763798400\n"
        let sum = "330a5b92224e6bb0"
        let read = ReversionRecord(bytes: Array((earlier + "checksum \(sum)\n").utf8))
        #expect(read?.proofs.map(\.milliseconds) == [9_900] && read?.proofs.map(\.identity) == [0])
        var failed = record
        failed.set(nil, of: "A")
        #expect(failed.proofs.isEmpty, "a failed test takes the proof away")
    }
}

/// What a proof allows.
@Suite struct RemotePowerTests {
    private static func site() throws -> SiteConfig {
        let text = """
            mode: simulation
            bess_units:
              - {id: A, campus_id: C, capacity_kwh: 250, max_power_kw: 100, modbus: {host: 127.0.0.1, port: 1}}
              - {id: B, campus_id: C, capacity_kwh: 250, max_power_kw: 100, modbus: {host: 127.0.0.1, port: 2}}

            """
        return try SiteConfig.read(YAMLText.parse(Array(text.utf8), file: "a.yaml"), file: "a.yaml")
    }

    @Test func `production takes no power from outside before every device has proven itself`() throws {
        var site = try Self.site()
        #expect(ReversionBook(site, ReversionRecord()).remoteRefusal == nil, "a simulation moves no power")
        site.mode = .production
        var book = ReversionBook(site, ReversionRecord())
        #expect(book.remoteRefusal?.contains("before A, B has proven its reversion") == true)
        book.note((.seconds(9), .zero), of: site.units[0], identity: 0, wallSeconds: 0)
        #expect(book.remoteRefusal?.contains("before B has proven") == true, "the unit is named")
        book.note((.seconds(9), .zero), of: site.units[1], identity: 0, wallSeconds: 0)
        #expect(book.remoteRefusal == nil)
        site.units[1].reversion = .seconds(20)
        #expect(ReversionBook(site, book.record).remoteRefusal?.contains("before B") == true, "another time")
        book.note(nil, of: site.units[0], identity: 0, wallSeconds: 1)
        #expect(book.remoteRefusal?.contains("before A has proven") == true, "a later test failed")
    }

    @Test func `a reversion counts as what the site has seen and no less than what it has set`() throws {
        var site = try Self.site()
        var book = ReversionBook(site, ReversionRecord())
        #expect(book.provenReversion(of: site.units[0]) == .seconds(11), "704 by its definition, and the way")
        site.mode = .production
        let fresh = ReversionBook(site, book.record)
        #expect(fresh.provenReversion(of: site.units[0]) == nil, "nothing is proven")
        book.note((.seconds(9), .zero), of: site.units[0], identity: 0, wallSeconds: 0)
        #expect(book.provenReversion(of: site.units[0]) == .seconds(11))
        book.note((.milliseconds(12_400), .zero), of: site.units[0], identity: 0, wallSeconds: 0)
        #expect(book.provenReversion(of: site.units[0]) == .milliseconds(12_400), "slower than it was set")
        #expect(book.provenIdentity(of: site.units[0]) == nil, "a device that does not say who it is")
        book.note((.seconds(9), .zero), of: site.units[0], identity: 7, wallSeconds: 0)
        #expect(book.provenIdentity(of: site.units[0]) == 7)
    }

    @Test func `the refusal stands at the one door through which commands go to the cycle`() throws {
        let site = try SiteAssembly(
            Self.site(), latches: LatchRecord(entries: []), epoch: .now(), stop: StopFlag())
        let service = ControlService(
            link: site.cycleLink, units: ["A", "B"], timing: TimingSource(site),
            access: ControlAccess(isSimulation: false, isCommissioned: true), journal: Journal())
        service.reversionDesk.remoteRefusal = "not proven"
        #expect(!service.command(.setBasePoint(.aggregator, .zero, for: .seconds(1))))
        #expect(!service.command(.setBasePoint(.agc, .zero, for: .seconds(1))))
        #expect(service.command(.setBasePoint(.operator, .zero, for: .seconds(1))), "a person on site")
        #expect(service.command(.setBasePoint(.schedule, .zero, for: .seconds(1))), "the site's own plan")
        #expect(service.command(.revokeBasePoint(.aggregator)))
        service.reversionDesk.remoteRefusal = nil
        #expect(service.command(.setBasePoint(.aggregator, .zero, for: .seconds(1))))
    }
}

extension BallastDaemonTests {
    @Suite struct ReversionTests {
        private func commission(_ site: RunningSite, status: Int) throws -> (output: String, log: String) {
            try site.runTool(
                [
                    "commission", "reversion", "BESS_01", "--reason", "on site", "--socket",
                    site.controlSocket,
                ], status: status)
        }

        @Test func `an inverter proves that it goes to zero by itself, and the proof outlives us`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            #expect(try site.unit(0).reversion == "not proven")
            let result = try commission(site, status: 0)
            #expect(result.output.contains("the test has begun at 10.0 kW"))
            #expect(result.output.contains("unit BESS_01: proven: zero after "), "\(result.output)")
            #expect(try site.truth().units[0].reversions == 1, "its timer did it, once")
            try site.daemon.waitForLog(
                "BESS_01: test of its reversion at 10.0 kW", "BESS_01: reversion proven: 0.0 kW")
            #expect(try site.unit(0).mode == "running")
            #expect(try !site.daemon.log.contains("TRIP"))
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8])

            try eventually("the proof is on disk") {
                !ReversionRecord.read(in: site.scratch.path + "/state").proofs.isEmpty
            }
            #expect(try site.daemon.end(by: SIGTERM) == 0)
            let check = try site.runDaemon(["--check", "--config", site.configuration])
            #expect(check.output.contains("reversion     proven: zero after"), "\(check.output)")
            site.file.units[0].reversionSeconds = 3
            _ = try site.scratch.write("site.yaml", site.file.yaml(in: site.scratch))
            let other = try site.runDaemon(["--check", "--config", site.configuration])
            #expect(other.output.contains("reversion     not proven"), "another time is another proof")
        }

        @Test func `an inverter that keeps its power fails, and gets its setpoints again`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            try site.simulate("fault inverter_keeps_power BESS_01")
            let result = try commission(site, status: 1)
            #expect(result.output.contains("failed: it still has"), "\(result.output)")
            try site.daemon.waitForLog("BESS_01: reversion not proven: it still has")
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8])
            #expect(ReversionRecord.read(in: site.scratch.path + "/state").proofs.isEmpty)
        }

        @Test func `a trip in the silence is written at once, and ends the test without a proof`() throws {
            let site = try RunningSite.small()
            site.file.units[0].reversionSeconds = 8
            try site.startInService()
            let request = ControlRequest(.reversion, unit: "BESS_01", reason: "on site", power_kw: 20)
            let answer = try ControlClient.ask(request, at: site.controlSocket)
            #expect(answer?.error == nil, "\(answer?.error ?? "")")
            try site.waitForTruth("the power is there") { abs($0.units[0].power_w - 20_000) < 100 }
            try site.waitForStatus("the test is under way") { $0.units[0].reversion == "testing" }
            try site.simulate("fault bms_alarm BESS_01")
            try site.daemon.waitForLog("BESS_01: reversion not proven")
            // It is told once it is on disk.
            try site.daemon.waitForLog("TRIP bms_alarm")
            try site.waitForTruth("zero was written") { $0.units[0].zero_since_ms != nil }
            #expect(try site.truth().units[0].reversions == 0, "we did it, no timer")
        }

        @Test func `a unit without power is not tested, and no viewer may ask`() throws {
            let site = try RunningSite.small()
            try site.startPlant()
            try site.startDaemon()
            try site.waitForMode("running")
            _ = try site.runTool(
                ["stop", "--reason", "no power", "--socket", site.controlSocket], status: 0)
            try site.waitForMode("standby")
            let result = try commission(site, status: 1)
            #expect(
                result.log.contains("unit BESS_01 is standby: only a running unit has power that could end"))
            #expect(!AccessRole.operator.permits(.reversion))
        }
    }
}
