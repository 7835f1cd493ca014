import BallastSimulator
import Foundation
import Glibc
import ProgramSupport
import Testing

extension BallastDaemonTests {
    /// ballastd with batteries by their profiles, over real wires; the simulator speaks by the same files.
    @Suite struct BatteryTests {
        enum Wire: String, CaseIterable { case cannelloni, cannelloniListen, slcan }

        static let names = ["byd-hvs", "foxbms2", "orion", "pylontech-hv", "pylontech-lv"]
        static let wires = names.flatMap { name in Wire.allCases.map { (name, $0) } }

        /// One unit with this battery.
        private func site(
            _ name: String, _ wire: Wire, _ more: String = "", basePoint: Int = 0
        ) throws -> RunningSite {
            let scratch = try ScratchFolder()
            var unit = Unit.onLines("BESS_01", in: scratch)
            switch wire {
            case .slcan: break
            case .cannelloni: unit.transport = "cannelloni:127.0.0.1:\(try FreePort.next())"
            case .cannelloniListen: unit.transport = "cannelloni-listen:127.0.0.1:\(try FreePort.next())"
            }
            unit.battery = "profile: \(ProfileFilesTests.shipped)/\(name).yaml, \(more)"
            // Patient: a loaded machine is no fault.
            unit.batteryPeriod = ["byd-hvs": 2_000, "foxbms2": 1_000, "orion": 300][name] ?? 1_000
            var file = SiteFile(units: [unit], meter: try Unit.freeModbus())
            file.control = ["base_point_kw: \(basePoint)"]
            if name == "byd-hvs" {
                // Its silence shows too late for the shipped process safety times; only a simulation may say so.
                let rows = ["lost_bms", "overcurrent_fast_charge", "overcurrent_fast_discharge"]
                    .map { "{id: \($0), process_safety_time_ms: 60000}" }
                file.sections = ["interlocks: {rows: [\(rows.joined(separator: ", "))]}"]
            }
            return RunningSite(file, in: scratch)
        }

        @Test(arguments: wires)
        func `a unit runs on every shipped battery that tells enough, over every wire`(
            name: String, wire: Wire
        ) throws {
            let site = try site(name, wire, basePoint: 20)
            try site.startPlant()
            try site.startDaemon()
            if name == "byd-hvs" {
                // It has no cell voltages: it is read, and never runs.
                try site.waitForStatus("the battery is read") {
                    $0.units[0].pack_voltage_v ?? 0 > 200 && $0.units[0].cell_temperature_max_c != nil
                }
                #expect(try site.unit(0).mode != "running" && site.unit(0).cell_voltage_max_v == nil)
                return
            }
            try site.waitForMode("running")
            try site.waitForSetpoints([20])
            try site.waitForStatus("the battery's own numbers, + = discharge") { status in
                let unit = status.units[0]
                guard let volts = unit.pack_voltage_v, let amperes = unit.pack_current_a,
                    let high = unit.cell_voltage_max_v, let low = unit.cell_voltage_min_v
                else { return false }
                return (250...290).contains(volts) && (60...100).contains(amperes) && high >= low
                    && (3.1...3.5).contains(low)
            }
            #expect(try site.daemon.end(by: SIGTERM) == 0)
        }

        /// A row: what goes wrong, the battery, how the unit must end, and why.
        struct Row: Sendable, CustomStringConvertible {
            var fault: String
            var battery: String
            var trip: String?
            var more = ""
            var why: Comment
            var description: String { "\(fault), \(battery)" }
        }

        // swift-format-ignore
        static let faults: [Row] = [
            Row(fault: "bms_silence", battery: "orion", trip: "lost_bms", why: "nothing comes"),
            Row(fault: "bms_frozen", battery: "orion", trip: "lost_bms", why: "the alive counter stands still"),
            Row(fault: "bms_frozen", battery: "foxbms2", trip: "lost_bms", why: "the toggle bit stands still"),
            Row(fault: "bms_stuck", battery: "orion", trip: "lost_bms", more: "frozen_samples: 12", why: "the counter goes on, and a loaded battery's values do not stand still"),
            Row(fault: "bms_frozen", battery: "pylontech-lv", trip: "lost_bms", more: "frozen_samples: 4", why: "no counter: by its values"),
            Row(fault: "bms_short_frames", battery: "pylontech-hv", trip: "lost_bms", why: "frames are cut"),
            Row(fault: "bms_garbage", battery: "pylontech-hv", trip: "any", why: "nonsense is no reading, or a bad one"),
            Row(fault: "bms_bus_off", battery: "orion", trip: "lost_bms", why: "bus-off, then silence"),
            Row(fault: "bms_alarm", battery: "foxbms2", trip: "bms_alarm", why: "a severe alarm of the battery"),
            Row(fault: "bms_bad_checksum", battery: "orion", trip: nil, why: "only the cells are guarded, and their extremes come by other frames"),
            Row(fault: "bms_jitter", battery: "pylontech-lv", trip: nil, why: "half a period late is no fault"),
        ]

        @Test(arguments: faults)
        func `what goes wrong with a battery trips its unit, or is borne`(row: Row) throws {
            let site = try site(row.battery, .cannelloni, row.more, basePoint: 20)
            try site.startInService()
            try site.waitForSetpoints([20])
            try site.simulate("fault \(row.fault) BESS_01")
            guard let trip = row.trip else {
                let frames = try frames(site)
                try site.waitForStatus("fifty frames later") { _ in try self.frames(site) > frames + 50 }
                #expect(try site.unit(0).mode == "running", row.why)
                return
            }
            try site.waitForMode("tripped")
            let trips = try site.unit(0).trips
            #expect(trips.contains(trip) || trip == "any" && !trips.isEmpty, row.why)
            try site.waitForSetpoints([0])
            try site.simulate("clear \(row.fault) BESS_01")
            try site.bringBack()
        }

        @Test func `a battery whose contactors refuse gives no power, and its unit does not stay in service`()
            throws
        {
            let site = try site("foxbms2", .slcan, basePoint: 20)
            try site.startInService()
            try site.waitForSetpoints([20])
            try site.waitForStatus("the battery tells") { $0.units[0].contactors == "battery_closed" }
            try site.simulate("fault contactor_refuses BESS_01")
            try site.waitForStatus("and tells again") { $0.units[0].contactors == "battery_open" }
            try site.waitForStatus("the unit is out") { $0.units[0].mode != "running" }
            try site.waitForTruth("nothing flows") { $0.units[0].power_w == 0 }
        }

        /// Frames that came on the site's only CAN link.
        private func frames(_ site: RunningSite) throws -> UInt64 {
            try site.status().links.first { $0.name.hasPrefix("can") }?.counters["frames"] ?? 0
        }
    }
}
