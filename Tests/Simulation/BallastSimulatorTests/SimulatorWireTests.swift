import Foundation
import LinuxIO
import ModbusBus
import Quantities
import Scenario
import SiteConfig
import SiteFile
import Testing
import YAMLText

@testable import BallastSimulator

/// A running simulation on free ports and in a folder of its own.
final class RunningSite {
    let folder: String
    let ports: [UInt16]
    let simulator: Simulator

    init() throws {
        var template = Array("/tmp/ballast-sim-XXXXXX".utf8CString)
        let made = try #require(mkdtemp(&template))
        folder = String(cString: made)
        ports = try Self.freePorts(6)
        let tree = try YAMLText.parse(Array(Self.site(folder, ports).utf8), file: "site.yaml")
        let site = try SiteConfig.read(tree, file: "site.yaml")
        let plant = try SimulatedSite(
            site: site, scenario: Scenario(), profile: FrequencyProfile(constant: Hertz(49.75)))
        var options = Simulator.Options()
        options.controlSocket = folder + "/sim.sock"
        simulator = Simulator(plant, options: options)
        try simulator.start(site)
    }

    deinit {
        simulator.end()
        // A folder that stays behind in /tmp does no harm.
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func freePorts(_ count: Int) throws -> [UInt16] {
        var ports: [UInt16] = []
        while ports.count < count {
            let server = try ModbusServer(port: 0)
            if !ports.contains(server.port) { ports.append(server.port) }
        }
        return ports
    }

    private static func site(_ folder: String, _ ports: [UInt16]) -> String {
        """
        mode: simulation
        grid_meter: {modbus: {host: 127.0.0.1, port: \(ports[0])}}
        grid_integration: {frequency_source: meter}
        bess_units:
          - id: U1
            campus_id: C
            capacity_kwh: 250
            max_power_kw: 100
            bms: {transport: "cannelloni:127.0.0.1:\(ports[1])", period_ms: 200}
            modbus: {host: 127.0.0.1, port: \(ports[2])}
          - id: U2
            campus_id: C
            capacity_kwh: 250
            max_power_kw: 100
            bms: {transport: "slcan:\(folder)/run/can", period_ms: 200}
            modbus: {device: \(folder)/run/rtu, baud: 115200, unit_id: 1}
          - id: U3
            campus_id: C
            capacity_kwh: 250
            max_power_kw: 100
            bms: {transport: "cannelloni:127.0.0.1:\(ports[3])", period_ms: 200}
            modbus: {host: 127.0.0.1, port: \(ports[4])}
            contactor_open_ms: 80
            contactors: {drive: own, precharge_current_max_a: 10, discharged_v: 60}
            io_module:
              modbus: {host: 127.0.0.1, port: \(ports[5]), unit_id: 3}
              watchdog_ms: 12000
              inputs:
                - {number: 1, name: emergency_stop}
                - {number: 2, name: smoke}
                - {number: 7, name: main_contactor}
                - {number: 8, name: precharge_contactor}
              coils: [{number: 1, drives: main_contactor}, {number: 2, drives: precharge_contactor}]
        paths: {state_directory: \(folder)/state, control_socket: \(folder)/control.sock}
        """
    }

    func truth() throws -> [String: Any] {
        try object(try LineClient.ask("truth", at: folder + "/sim.sock"))
    }
}

@Suite(.serialized) struct SimulatorWireTests {
    @Test func `pysunspec2 scans the inverter, drives it, and reads what the plant says`() throws {
        let site = try RunningSite()
        let read = try peer("simulator_sunspec.py", ["127.0.0.1", "\(site.ports[2])", "1", "30000"])
        let truth = try site.truth()
        let unit = try #require((truth["units"] as? [[String: Any]])?.first)
        let models = [1, 103, 120, 701, 702, 704, 713, 121, 122, 123, 124, 703, 715, 802]
        #expect(read["models"] as? [Int] == models)
        #expect(read["serial"] as? String == "U1")
        #expect(try number(read, "power_w") == number(unit, "power_w"))
        #expect(try number(read, "power_103_w") == 30_000)
        #expect(try (number(read, "soc_percent") - number(unit, "soc_percent")).magnitude < 0.05)
        #expect(try (number(read, "frequency_hz") - 49.75).magnitude < 1e-6)
        #expect(try number(read, "state") == 3)
        #expect(try number(read, "rating_w") == 100_000)
        #expect(try number(read, "rating_120_w") == 100_000)
        #expect(try number(unit, "setpoint_w") == 30_000)
        #expect(try (50...60).contains(number(read, "reversion_left_s")))
        let meter = try peer("simulator_meter.py", ["127.0.0.1", "\(site.ports[0])", "1"])
        // The last digits of a meter are never still.
        #expect(try (number(meter, "power_w") - 30_000).magnitude <= 30, "positive while the site injects")
        #expect(try (number(meter, "frequency_hz") - 49.75).magnitude < 1e-4)
    }

    @Test(arguments: [40_000.0, -40_000])
    func `pysunspec2 sets a power factor and reactive power, and reads them back`(watts: Double) throws {
        let site = try RunningSite()
        let read = try peer(
            "simulator_reactive.py", ["127.0.0.1", "\(site.ports[2])", "1", "\(Int(watts))"])
        func shown(_ stage: String, _ name: String) throws -> Double {
            try number(try #require(read[stage] as? [String: Any]), name)
        }
        #expect(try shown("plain", "reactive_var") == 0)
        // Power factor 0.95: 0.3287 var for each watt; under-excited absorbs, whatever the active power does.
        #expect(try (shown("factor", "reactive_var") + 13_147).magnitude <= 10)
        #expect(try (shown("factor", "reactive_103_var") + 13_147).magnitude <= 10)
        #expect(try (shown("factor", "power_factor") - (watts > 0 ? 0.95 : -0.95)).magnitude < 0.006)
        #expect(try (shown("factor", "apparent_va") - 42_105).magnitude <= 10)
        #expect(try shown("var", "reactive_var") == 5_000, "the setpoint in var goes before the factor")
        #expect(try shown("var", "power_w") == watts, "active power does not care")
        #expect(read["refused"] as? Bool == true, "there is no power factor above 1")
    }

    @Test func `pymodbus drives the contactors over the I/O module, and its watchdog opens them`() throws {
        let site = try RunningSite()
        let seen = try peer("simulator_io.py", ["127.0.0.1", "\(site.ports[5])", "3"])
        #expect(seen["rest"] as? String == "11000000", "closed circuits: nobody presses, nothing burns")
        #expect(seen["precharging"] as? String == "11000001")
        #expect(seen["closed"] as? String == "11000010")
        #expect(seen["coils"] as? String == "100")
        #expect(seen["coils_later"] as? String == "000", "nobody wrote any more")
        let unit = try #require((try site.truth()["units"] as? [[String: Any]])?[2])
        #expect(unit["main_contactor_burnt"] as? Bool == false)
        #expect(try number(unit, "coil_drops") == 1)
    }

    static let links = ["cannelloni", "slcan"]

    @Test(arguments: links)
    func
        `python-can receives the battery's frames once it is kept alive, and cantools decodes the plant's values`(
            interface: String
        ) throws
    {
        let site = try RunningSite()
        let channel = interface == "slcan" ? site.folder + "/run/can" : "127.0.0.1:\(site.ports[1])"
        let heard = try peer("simulator_bms.py", [interface, channel])
        let unit = try #require(
            (try site.truth()["units"] as? [[String: Any]])?[interface == "slcan" ? 1 : 0])
        #expect(try number(heard, "early") == 0, "silent before the keep-alive")
        let raw = try #require(heard["raw"] as? [String: String])
        #expect(raw.keys.sorted() == ["351", "355", "356", "359", "35C", "35E", "373"])
        let decoded = try #require(heard["decoded"] as? [String: Any])
        #expect(try (number(decoded, "PackVoltage") - number(unit, "pack_voltage_v")).magnitude < 0.02)
        #expect(try (number(decoded, "PackCurrent") + number(unit, "pack_current_a")).magnitude < 0.6)
        #expect(try (number(decoded, "StateOfChargeFine") - number(unit, "soc_percent")).magnitude < 0.02)
        #expect(try number(decoded, "ChargeCurrentLimit") == 488.3)
    }

    @Test func `the end of the simulation takes its sockets and links with it`() throws {
        let site = try RunningSite()
        let files = ["/run/can", "/run/rtu", "/sim.sock"]
        for file in files { #expect(access(site.folder + file, F_OK) == 0, "\(file)") }
        #expect(try LineClient.ask("quit", at: site.folder + "/sim.sock") == #"{"ok":true}"#)
        #expect(site.simulator.stop.isRaised)
        site.simulator.end()
        for file in files { #expect(access(site.folder + file, F_OK) != 0, "\(file)") }
    }
}
