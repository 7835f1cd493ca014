import Glibc
import ProgramSupport
import Testing

/// Against programs that nobody here wrote: pymodbus and python-can.
extension BallastDaemonTests {
    @Suite struct PeerTests {
        /// A site whose only inverter is a pymodbus device; battery and meter are simulated.
        private struct Driven {
            let site: RunningSite
            let inverter: Program
            let link: String
            private let plant: SiteFile

            init() throws {
                site = try RunningSite.small()
                plant = site.file
                inverter = try startPeer("sunspec_device.py", ["tcp"], name: "inverter", in: site.scratch)
                let port = try inverter.ready()
                site.file.units[0].modbus = Unit.modbus(port: port)
                link = "modbus 127.0.0.1:\(port): "
            }

            func start() throws {
                try site.startPlant(plant)
                try site.startDaemon()
            }

            /// The power that the device was told, in W.
            func setpoint() throws -> Int {
                let raw = try #require(UInt32(try inverter.ask("get 1 704 WSet")))
                return 10 * Int(Int32(bitPattern: raw))
            }
        }

        @Test func `an inverter that refuses everything trips its unit and is named with code and register`()
            throws
        {
            let driven = try Driven()
            try driven.start()
            try driven.site.waitForMode("running")
            try driven.inverter.ask("exception 1 4")
            try driven.site.waitForMode("tripped")
            #expect(try driven.site.unit(0).trips == ["lost_inverter"])
            let line = try driven.site.daemon.logLine("exception 4 at register ")
            #expect(line.contains(driven.link + "device 1: exception 4 at register 40"))

            try driven.inverter.ask("exception 1 0")
            try driven.site.waitForStatus("its readings are back") { $0.units[0].power_kw != nil }
            let tool = ["reset", "BESS_01", "--reason", "test", "--socket", driven.site.controlSocket]
            _ = try driven.site.runTool(tool, status: 0)
            try driven.site.bringBack()
        }

        @Test func `an inverter that refuses everything from the start stays offline, and the log says so`()
            throws
        {
            let driven = try Driven()
            try driven.inverter.ask("exception 1 4")
            try driven.start()
            try driven.site.daemon.waitForLog(driven.link + "device 1: exception 4 at register ")
            try driven.site.waitForStatus("the battery is seen") { $0.units[0].soc_percent != nil }
            #expect(try driven.site.unit(0).mode == "offline")
            try driven.inverter.ask("exception 1 0")
            try driven.site.waitForMode("running")
        }

        @Test func `a setpoint that somebody else wrote is named, and ours is written again`() throws {
            let driven = try Driven()
            try driven.start()
            try driven.site.waitForMode("running")
            try driven.site.simulate("frequency 49.5")
            try eventually("18.8 kW reach the inverter") { try driven.setpoint() == 18_800 }
            let said =
                driven.link
                + "device 1: somebody else wrote the setpoint: 40000.0 W found, 18800.0 W expected"
            // Our own rewrite may come before we read theirs: then they write again.
            try eventually("it is named") {
                try driven.inverter.ask("set 1 704 WSet 4000")
                return try driven.site.daemon.log.contains(said)
            }
            try eventually("18.8 kW stand again") { try driven.setpoint() == 18_800 }
        }

        // swift-format-ignore
        static let spoilt: [(mode: String, why: Comment)] = [
            ("short",   "each answer lacks its last three bytes"),
            ("garbage", "each answer is other bytes"),
        ]

        @Test(arguments: spoilt)
        func `spoilt answers of an inverter trip its unit, and the log says what came`(
            mode: String, why: Comment
        ) throws {
            let driven = try Driven()
            try driven.start()
            try driven.site.waitForMode("running")
            try driven.inverter.ask("mode \(mode) 1000000")
            try driven.site.waitForMode("tripped")
            #expect(try driven.site.unit(0).trips == ["lost_inverter"], why)
            let log = try driven.site.daemon.log
            let said = ["an answer that does not fit: ", "no answer in time"]
            #expect(said.contains { log.contains(driven.link + "down: " + $0) }, why)

            try driven.inverter.ask("mode normal")
            try driven.site.waitForStatus("its readings are back") { $0.units[0].power_kw != nil }
        }

        @Test func `python-can as battery and pymodbus as inverter and meter are run as a site`() throws {
            let scratch = try ScratchFolder()
            let inverter = try startPeer("sunspec_device.py", ["tcp"], name: "inverter", in: scratch)
            let meter = try startPeer(
                "sunspec_device.py", ["tcp", "--models", "1,203"], name: "meter", in: scratch)
            let port = try FreePort.next()
            let unit = Unit(
                id: "BESS_01", transport: "cannelloni-listen:127.0.0.1:\(port)",
                modbus: Unit.modbus(port: try inverter.ready()), maxPowerKilowatts: 20)
            let site = RunningSite(
                SiteFile(units: [unit], meter: Unit.modbus(port: try meter.ready())), in: scratch)
            try site.startDaemon()
            // It listens once it answers.
            try site.waitForMode("offline")
            let battery = try startPeer(
                "can_bms_cannelloni.py", ["127.0.0.1:\(port)"], name: "battery", in: scratch)

            try site.waitForMode("running")
            // What can_frames.py sends.
            let seen = try site.unit(0)
            #expect(seen.soc_percent == 88)
            #expect(seen.pack_voltage_v == 49.86)
            #expect(seen.cell_voltage_min_v == 3.2 && seen.cell_voltage_max_v == 3.356)
            #expect(try inverter.ask("get 1 704 WSetRvrtTms") == "2")
            #expect(try inverter.ask("get 1 704 WSetRvrt") == "0")
            #expect(try inverter.ask("get 1 704 WSetEnaRvrt") == "1")
            #expect(try inverter.ask("get 1 704 WSetEna") == "1")
            try eventually("the battery hears our keep-alive") { battery.output.contains("\"heard\": 773") }

            try meter.ask("set 1 203 Hz 4950")
            // 20 kW · (49.97 − 49.5) / 2.5, in units of 10 W.
            try eventually("3760 W reach the inverter") { try inverter.ask("get 1 704 WSet") == "376" }
            try site.waitForStatus("the inverter's power is measured") { $0.units[0].power_kw == 3.76 }
            #expect(try site.status().frequency_hz == 49.5)

            battery.end(by: SIGKILL)
            try site.waitForMode("tripped")
            #expect(try site.unit(0).trips == ["lost_bms"])
            try eventually("zero reaches the inverter") { try inverter.ask("get 1 704 WSet") == "0" }
        }
    }
}
