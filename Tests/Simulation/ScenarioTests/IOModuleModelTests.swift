import Quantities
import SiteConfig
import SiteFile
import Testing
import YAMLText

@testable import Scenario

@Suite struct `A simulated I/O module` {
    static func unit() throws -> SimulatedUnit {
        let text = """
            mode: simulation
            bess_units:
              - id: A
                campus_id: C
                capacity_kwh: 250
                max_power_kw: 100
                modbus: {host: m, unit_id: 1}
                contactor_open_ms: 60
                contactors: {drive: own, precharge_current_max_a: 20, discharged_v: 40}
                io_module:
                  modbus: {host: n, unit_id: 2}
                  input_address: 10
                  watchdog_ms: 12000
                  inputs:
                    - {number: 1, name: emergency_stop}
                    - {number: 2, name: smoke, normally_closed: false}
                    - {number: 8, name: main_contactor}
                  coils: [{number: 1, drives: main_contactor}, {number: 2, drives: precharge_contactor}]

            """
        var site = try SiteConfig.read(YAMLText.parse(Array(text.utf8), file: "site"), file: "site")
        // No site may have such a short one; it makes the test of the module short.
        site.units[0].ioModule?.watchdog = .milliseconds(300)
        let scenario = Scenario()
        let profile = FrequencyProfile(constant: Hertz(50))
        return try SimulatedSite(site: site, scenario: scenario, profile: profile).units[0]
    }

    static func levels(_ unit: SimulatedUnit) -> String {
        unit.inputLevels?.levels.map { $0 ? "1" : "0" }.joined() ?? "-"
    }

    static func advance(_ unit: inout SimulatedUnit, by time: Duration, writing coils: [Bool]? = nil) {
        for _ in 0..<Int(time.nanoseconds / 5_000_000) {
            if let coils { unit.module?.write(coils, at: 0) }
            unit.advance(by: .milliseconds(5))
        }
    }

    // swift-format-ignore
    static let faults: [(fault: Fault?, levels: String, why: Comment)] = [
        (nil,                          "10000000", "the stop circuit is closed, smoke is open"),
        (.emergencyStop,               "00000000", "the button opens its circuit"),
        (.smoke,                       "11000000", "the detector closes its circuit"),
        (.wireBreak(.emergencyStop),   "00000000", "an open wire looks like the button"),
        (.wireBreak(.smoke),           "10000000", "and a normally-open circuit cannot tell"),
        (.gas,                         "10000000", "not wired"),
    ]

    @Test(arguments: faults)
    func `has the levels of its wires`(fault: Fault?, levels: String, why: Comment) throws {
        var unit = try Self.unit()
        if let fault { unit.add(fault) }
        #expect(Self.levels(unit) == levels, why)
        #expect(unit.inputLevels?.first == 10)
        if let fault { unit.clear(fault.kind) }
        #expect(Self.levels(unit) == "10000000", "the fault is gone")
    }

    @Test func `connects the battery by its coils, and drops them when nobody writes`() throws {
        var unit = try Self.unit()
        #expect(!unit.isBatteryConnected && unit.dcVoltage == .zero)
        Self.advance(&unit, by: .milliseconds(50))
        #expect(unit.inverter.state == .standby, "it waits for its contactors")
        Self.advance(&unit, by: .seconds(2), writing: [false, true])
        #expect(unit.battery.current < Amperes(1), "the capacitor is charged")
        Self.advance(&unit, by: .milliseconds(100), writing: [true, false])
        #expect(unit.isBatteryConnected && Self.levels(unit) == "10000001")
        unit.inverter.setpoint.write(.kilowatts(50))
        unit.inverter.setpoint.enable()
        Self.advance(&unit, by: .seconds(1), writing: [true, false])
        #expect(unit.battery.current > Amperes(150))
        Self.advance(&unit, by: .milliseconds(290))
        #expect(unit.isBatteryConnected, "the watchdog waits for 300 ms")
        Self.advance(&unit, by: .milliseconds(100))
        #expect(!unit.isBatteryConnected && unit.battery.current == .zero)
        #expect(unit.inverter.state == .fault, "it was asked for power without a battery")
        #expect(unit.module?.dropCount == 1)
    }
}
