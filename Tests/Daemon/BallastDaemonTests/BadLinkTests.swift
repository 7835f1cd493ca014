import Glibc
import ProgramSupport
import Testing

extension BallastDaemonTests {
    @Suite struct BadLinkTests {
        /// The unit was in service at 49.5 Hz and its device has gone: what must have happened to it.
        private func expectLost(_ index: Int, _ trip: String, at site: RunningSite) throws {
            let id = ["BESS_01", "BESS_02"][index]
            try site.waitForMode("tripped", of: index)
            try site.daemon.waitForLog(
                "unit \(id): running → offline", "unit \(id): TRIP \(trip)", "unit \(id): offline → tripped")
            #expect(try site.daemon.logLine("TRIP \(trip)").contains(" s; power to zero"))

            let unit = try site.unit(index)
            #expect(unit.trips == [trip])
            #expect(unit.charge_limit_kw == 0 && unit.discharge_limit_kw == 0)
            #expect(unit.charge_limited_by == trip)
            try site.waitForSetpoints(index == 0 ? [0, 37.6] : [37.6, 0])
        }

        // swift-format-ignore
        static let garbage: [(unit: Int, said: String, why: Comment)] = [
            (0, "down: garbage in the stream",  "cannelloni: the stream is lost"),
            (1, "bytes that belong to no frame", "slcan: the line goes on"),
        ]

        @Test(arguments: garbage)
        func `garbage from a battery is said of its link, trips the unit, and the other takes its share`(
            unit: Int, said: String, why: Comment
        ) throws {
            let site = try RunningSite()
            let relay = try startRelay(before: unit, at: site)
            try site.startDaemon()
            try site.waitForMode("running")
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8, 18.8])

            try relay.ask("garbage")
            try site.daemon.waitForLog("can \(site.file.units[unit].transport): ")
            try expectLost(unit, "lost_bms", at: site)
            let line = try site.daemon.logLine(said)
            #expect(line.contains("can \(site.file.units[unit].transport): "), why)

            try relay.ask("pass")
            try site.waitForStatus("the battery is seen again") { $0.units[unit].soc_percent != nil }
            #expect(try site.unit(unit).mode == "tripped", "a trip stays until somebody resets it")
            try site.daemon.end(by: SIGKILL)
        }

        /// Puts a relay on the CAN wire of a unit, and starts the plant behind it.
        private func startRelay(before index: Int, at site: RunningSite) throws -> Program {
            try site.startPlant()
            let target = site.file.units[index].transport
            let isTCP = target.hasPrefix("cannelloni")
            let place = isTCP ? "\(try FreePort.next())" : site.scratch.path + "/relay"
            site.file.units[index].transport = isTCP ? "cannelloni:127.0.0.1:\(place)" : "slcan:\(place)"
            let end = try #require(target.split(separator: ":").last)
            let relay = try startPeer(
                "daemon_relay.py", [isTCP ? "tcp" : "pty", place, String(end)], name: "relay",
                in: site.scratch)
            _ = try relay.ready()
            return relay
        }

        // swift-format-ignore
        static let silences: [(fault: String, unit: Int, trip: String)] = [
            ("bms_silence",      0, "lost_bms"),
            ("inverter_silence", 0, "lost_inverter"),
            ("inverter_silence", 1, "lost_inverter"),
        ]

        @Test(arguments: silences)
        func `a silent device trips its unit at twice the budget, and the other takes its share`(
            fault: String, unit: Int, trip: String
        ) throws {
            let site = try RunningSite()
            try site.startInService()
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8, 18.8])

            try site.simulate("fault \(fault) \(site.file.units[unit].id)")
            try expectLost(unit, trip, at: site)
            if trip == "lost_inverter" {
                #expect(try site.truth().units[unit].reversions >= 1, "nobody could write: its timer did it")
                let link = unit == 0 ? "modbus 127.0.0.1:" : "modbus \(site.scratch.path)/rtu"
                #expect(try site.daemon.logLine("no answer in time").contains(link))
            }
        }

        @Test(arguments: [0, 1])
        func `frames whose values cannot be true are named, and trip the unit`(unit: Int) throws {
            let site = try RunningSite()
            try site.startInService()
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8, 18.8])

            try site.simulate("fault bms_garbage \(site.file.units[unit].id)")
            // Which limit a false value passes first is chance; in the end nothing usable is left.
            try site.waitForMode("tripped", of: unit)
            try site.daemon.waitForLog("unit \(site.file.units[unit].id): TRIP lost_bms")
            try site.waitForSetpoints(unit == 0 ? [0, 37.6] : [37.6, 0])
            for identifier in ["351", "356", "373"] {
                let line = try site.daemon.logLine("frame 0x\(identifier) rejected")
                #expect(line.contains("can \(site.file.units[unit].transport): "))
            }
        }

        @Test func `when the whole plant dies and comes back, every link is found again`() throws {
            let site = try RunningSite()
            try site.startInService()
            try site.killPlant()
            try site.waitForMode("tripped")
            let status = try site.status()
            #expect(status.setpoint_kw == 0 && status.site_power_kw == nil && status.frequency_hz == nil)
            #expect(status.links.allSatisfy { $0.counters["up"] == 0 }, "\(status.links)")

            try site.startPlant()
            try site.waitForStatus("every link is up") { $0.links.allSatisfy { $0.counters["up"] == 1 } }
            try site.waitForStatus("everything is seen again") { status in
                status.units.allSatisfy { $0.soc_percent != nil && $0.power_kw != nil }
            }
            for unit in site.file.units.indices { try site.bringBack(unit) }
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8, 18.8])
        }

        @Test func `a silent meter takes the response to zero, and the units stay in service`() throws {
            let site = try RunningSite()
            try site.startInService()
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8, 18.8])

            try site.simulate("fault meter_silence")
            try site.daemon.waitForLog("no fresh frequency; droop is held, then ramps to zero")
            try site.waitForSetpoints([0, 0])
            let status = try site.status()
            #expect(status.frequency_hz == nil && status.meter_power_kw == nil)
            #expect(status.response_kw == 0)
            #expect(status.units.map(\.mode) == ["running", "running"])

            try site.simulate("clear meter_silence")
            try site.daemon.waitForLog("frequency is measured again")
            try site.waitForSetpoints([18.8, 18.8])
            #expect(try !site.daemon.log.contains("TRIP"))
        }

        @Test func `peers that take the connection and say nothing cost the other unit nothing`() throws {
            let scratch = try ScratchFolder()
            let ids = ["DUMB_BMS", "DUMB_PCS", "GOOD"]
            let plant = SiteFile(units: try ids.map(Unit.onNetwork), meter: try Unit.freeModbus())
            let site = RunningSite(plant, in: scratch)
            let (battery, inverter) = (try FreePort.next(), try FreePort.next())
            site.file.units[0].transport = "cannelloni:127.0.0.1:\(battery)"
            site.file.units[1].modbus = Unit.modbus(port: inverter)
            let mute = try [Listener(port: battery), Listener(port: inverter)]
            try site.startPlant(plant)
            try site.startDaemon()

            try site.waitForMode("running", of: 2)
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([0, 0, 56.4])
            try site.daemon.waitForLog("can cannelloni:127.0.0.1:\(battery): down: the peer did not greet")
            try site.daemon.waitForLog("modbus 127.0.0.1:\(inverter): ", "no answer in time")
            let first = try site.status()
            #expect(first.units.map(\.mode) == ["offline", "offline", "running"])
            try site.waitForStatus("the cycle goes on") { $0.cycle >= first.cycle + 100 }
            let last = try site.status()
            #expect(last.overruns - first.overruns < (last.cycle - first.cycle) / 2, "no run-away")
            withExtendedLifetime(mute) {}
        }
    }
}
