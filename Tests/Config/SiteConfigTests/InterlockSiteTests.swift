import ConfigText
import Foundation
import Quantities
import SiteConfig
import SiteFile
import Testing
import YAMLText

/// What a site may change of its interlocks, and what production does not let it change.
@Suite struct InterlockSiteTests {
    static let production = """
        mode: production
        site: {import_limit_kw: 100, export_limit_kw: 100, site_load_max_kw: 10}
        grid_meter: {modbus: {host: 10.0.0.2}}
        bess_units:
          - id: A
            campus_id: C
            capacity_kwh: 250
            max_power_kw: 100
            bms: {transport: "socketcan:can0"}
            modbus: {host: 10.0.0.1}
            io_module: {modbus: {host: 10.0.0.9}, inputs: [{number: 1, name: emergency_stop}]}

        """
    static var simulation: String { production.replacing("mode: production", with: "mode: simulation") }

    @Test func `a site says nothing of interlocks and has the shipped table`() {
        let site = Outcome(Self.simulation).site
        #expect(site?.interlocks.rules == InterlockRules.shipped(for: .lfp).rules)
        #expect(Outcome(Self.production).errors == [])
    }

    @Test func `the chemistry chooses the table`() {
        let site = Outcome(Self.simulation + "interlocks: {chemistry: nmc}\n").site
        #expect(site?.interlocks.rules == InterlockRules.shipped(for: .nmc).rules)
    }

    @Test func `a change keeps what it does not name`() throws {
        let site = try #require(
            Outcome(Self.simulation + "interlocks: {rows: [{id: cell_overvoltage, trip_v: 3.63}]}\n").site)
        let rule = try #require(site.interlocks.rules.first { $0.name == "cell_overvoltage" })
        #expect(rule.trip == 3.63 && rule.warn == 3.55 && rule.debounce == .milliseconds(300))
        #expect(rule.source == "site" && rule.timeSource.hasPrefix("[P]"))
    }

    @Test func `outside production a row may be taken out and a new one put in`() throws {
        let rows = """
            interlocks:
              rows:
                - {id: lost_bms, enabled: false}
                - {id: dc_voltage, signal: dc_voltage, side: high, direction: charge, trip_v: 58, debounce_ms: 500}

            """
        let outcome = Outcome(Self.simulation + rows)
        let rules = try #require(outcome.site, "\(outcome.errors)").interlocks.rules
        #expect(!rules.contains { $0.name == "lost_bms" } && rules.last?.name == "dc_voltage")
    }

    // swift-format-ignore
    static let refusedInProduction: [(row: String, error: String)] = [
        ("{id: cell_overvoltage, enabled: false}",
         "(cell_overvoltage).enabled: row cell_overvoltage is mandatory in mode production and cannot be disabled"),
        ("{id: cell_overvoltage, trip_v: 3.81}",
         "(cell_overvoltage).trip_v: row cell_overvoltage is mandatory in mode production: 3.81 V is beyond the absolute limit of 3.8 V"),
        ("{id: cell_undervoltage, trip_v: 1.99}", "1.99 V is beyond the absolute limit of 2 V"),
        ("{id: cell_undertemperature_charge, derate_c: [5, -1]}",
         "row cell_undertemperature_charge is mandatory in mode production: power left beyond the absolute limit of 0 °C"),
        ("{id: cell_overvoltage, debounce_ms: 1001}", "1001 ms is longer than the absolute 1000 ms"),
        ("{id: cell_overvoltage, action: stop}", "stop is weaker than trip"),
        ("{id: cell_overvoltage, while: charging}", "row cell_overvoltage is mandatory in mode production: it counts always"),
        ("{id: cell_overvoltage, direction: discharge}", "it covers charge"),
        ("{id: lost_bms, signal: cell_voltage_max, trip_v: 3}", "it watches battery_silence"),
        ("{id: lost_bms, presence: if_seen}", "it cannot wait for its signal"),
        ("{id: lost_bms, trip_percent: 201}", "2.01 is beyond the absolute limit of 2"),
        ("{id: inverter_fault, process_safety_time_ms: 8001}",
         "row inverter_fault: 8001 ms is longer than the shipped 8000 ms; mode production only lets it be shortened"),
        ("{id: dc_voltage, signal: dc_voltage, side: high, direction: charge, trip_v: 58, debounce_ms: 0}",
         "row dc_voltage: is missing (required in mode production of a row that trips)"),
    ]

    @Test(arguments: refusedInProduction)
    func `production refuses a loosened row by its name, and simulation lets it be`(
        row: String, error: String
    ) {
        let text = "interlocks:\n  rows:\n    - \(row)\n"
        let errors = Outcome(Self.production + text).errors
        #expect(errors.count == 1 && errors.first?.contains(error) == true, "\(errors)")
        #expect(errors.first?.hasPrefix("site.yaml:14:") == true, "\(errors)")
        // Cells that may go so far need a person's word in every mode.
        let word = "accept: {cell_overvoltage: {by: Jane Doe, reason: a cell of another maker}}\n"
        #expect(Outcome(Self.simulation + text + word).errors == [])
    }

    // swift-format-ignore
    static let allowedInProduction: [(row: String, why: Comment)] = [
        ("{id: cell_undervoltage, trip_v: 2}", "the absolute limit itself"),
        ("{id: cell_overvoltage, debounce_ms: 1000}", "the longest debounce itself"),
        ("{id: cell_overvoltage, direction: both}", "more than it must"),
        ("{id: cell_overtemperature_charge, while: always}", "more than it must"),
        ("{id: cell_overvoltage, action: emergency_stop}", "stronger"),
        ("{id: inverter_fault, process_safety_time_ms: 7999}", "shorter"),
    ]
    @Test(arguments: allowedInProduction)
    func `production lets a row be tightened`(row: String, why: Comment) {
        #expect(Outcome(Self.production + "interlocks: {rows: [\(row)]}\n").errors == [], why)
    }

    // swift-format-ignore
    static let anywhere: [(row: String, error: String)] = [
        ("{id: nothing, trip_v: 1}", "interlocks.rows[0].id: \"nothing\" is unknown"),
        ("{trip_v: 1}", "interlocks.rows[0].id: is missing (required: the row's name)"),
        ("{id: lost_bms}, {id: lost_bms}", "interlocks.rows[1].id: row lost_bms is already in interlocks.rows[0]"),
        ("{id: cell_overvoltage, mandatory: false}", "(cell_overvoltage).mandatory: unknown key"),
        ("{id: smoke, debounce_ms: 0}", "interlocks: row smoke: no unit has smoke_input"),
        ("{id: dc_voltage, signal: dc_voltage}", "(dc_voltage).side: is missing (required: high, low)"),
        ("{id: cell_overtemperature_charge, hysteresis_c: -1}", "hysteresis_c: -1 is outside 0 … 1000 c"),
        ("{id: cell_overvoltage, reset: auto}",
         "(cell_overvoltage).reset: row cell_overvoltage: auto is not allowed: a trip stays latched until somebody resets it"),
        ("{id: bms_warning, reset: operator}",
         "(bms_warning).reset: row bms_warning: operator is not allowed: without a trip nothing latches (allowed: auto)"),
        ("{id: cell_undervoltage, warn_v: 3.8, derate_v: [3.75, 3.7], trip_v: 3.65}",
         "row cell_overvoltage trips at 3.65 V, not above row cell_undervoltage, which trips at 3.65 V: nothing is left"),
        ("{id: cell_overtemperature_charge, warn_c: -8, derate_c: [-7, -6], trip_c: -5}",
         "row cell_overtemperature_charge trips at -5 °C, not above row cell_undertemperature_charge, which trips at -5 °C"),
        ("{id: dc_voltage, signal: dc_voltage, side: high, direction: both, debounce_ms: 0}",
         "row dc_voltage: has no limit (required: one of warn, derate, trip)"),
        ("{id: bms_alarm, process_safety_time_ms: 5000}",
         "unit A, row bms_alarm: zero power takes up to 2540 ms, more than 2500 ms, half of its process safety time"
             + " (1000 sample + 0 debounce + 20 cycle + 520 write + 1000 response = 2540 ms)"),
    ]
    @Test(arguments: anywhere)
    func `a mistake in a site's rows is refused in every mode`(row: String, error: String) {
        let errors = Outcome(Self.simulation + "interlocks: {rows: [\(row)]}\n").errors
        #expect(errors.contains { $0.contains(error) }, "\(errors)")
    }

    @Test func `production takes addresses, not names, and needs both site limits`() {
        let names = Self.production.replacing("10.0.0.1", with: "inverter").replacing(
            ", export_limit_kw: 100", with: "")
        let errors = Outcome(names.replacing("socketcan:can0", with: "cannelloni:gateway:1")).errors
        #expect(
            errors == [
                "site.yaml:2:7: site.export_limit_kw: is missing (required in mode production: 0 … 6400000 kW)",
                "site.yaml:5:3: bess_units: \"inverter\" is a name (mode production takes IPv4 addresses only)",
                "site.yaml:5:3: bess_units: \"gateway\" is a name (mode production takes IPv4 addresses only)",
            ])
    }

    @Test func `production runs no unit that was seen good for no time at all`() {
        for (time, isGood) in [("0", false), ("0.999", false), ("1", true)] {
            let control = "control: {enter_service_s: \(time)}\n"
            let errors = Outcome(Self.production + control).errors
            #expect(errors.isEmpty == isGood, "\(errors)")
            #expect(isGood || errors.first?.contains("enter_service_s: \(time) s is too short") == true)
            #expect(Outcome(Self.simulation + control).errors == [])
        }
    }

    /// The site with a table of its own, which is the shipped document after `change`.
    private static func ownTable(
        _ site: String, _ change: (String) -> String
    ) throws -> Result<SiteConfig, ConfigErrors> {
        let table = change(InterlockRules.document(for: .lfp))
        let tree = try YAMLText.parse(
            Array((site + "interlocks: {table: own.yaml}\n").utf8), file: "site.yaml")
        return Result { () throws(ConfigErrors) in
            try SiteConfig.read(tree, file: "site.yaml") { (name) throws(ConfigError) in
                try YAMLText.parse(Array(table.utf8), file: name)
            }
        }
    }

    @Test func `a copy of the document is a good table in production`() throws {
        let site = try Self.ownTable(Self.production) { $0 }.get()
        #expect(site.interlocks.rules == InterlockRules.shipped(for: .lfp).rules)
        #expect(site.interlocks.tableFile == "own.yaml")
    }

    // swift-format-ignore
    static let tables: [(old: String, new: String, error: String)] = [
        ("absolute_trip_v: 3.8", "absolute_trip_v: 3.9", "row cell_overvoltage: what is mandatory and absolute is shipped"),
        ("    mandatory: true\n    absolute_trip_v: 3.8\n", "    mandatory: false\n",
         "row cell_overvoltage: what is mandatory and absolute is shipped"),
        ("trip_v: 3.65", "trip_v: 3.85", "row cell_overvoltage is mandatory in mode production: 3.85 V is beyond"),
        ("chemistry: lfp", "chemistry: nmc", "own.yaml:4:12: chemistry: nmc is not the site's chemistry, lfp"),
        ("\nrows:\n", "\nrows: 5\nold:\n", "own.yaml:5:7: rows: expected a list, found \"5\""),
    ]
    @Test(arguments: tables)
    func `a table's mistake is told with the table's own file and line`(
        old: String, new: String, error: String
    ) throws {
        let outcome = try Self.ownTable(Self.production) { $0.replacing(old, with: new, maxReplacements: 1) }
        guard case .failure(let errors) = outcome else {
            Issue.record("accepted")
            return
        }
        #expect(errors.description.contains(error), "\(errors)")
        #expect(errors.errors.allSatisfy { $0.file == "own.yaml" }, "\(errors)")
    }

    @Test func `a table without a mandatory row is refused in production`() throws {
        let outcome = try Self.ownTable(Self.production) { text in
            let start = text.range(of: "  - id: lost_bms")?.lowerBound ?? text.endIndex
            let end = text.range(of: "  - id: lost_inverter")?.lowerBound ?? text.endIndex
            return text.replacingCharacters(in: start..<end, with: "")
        }
        guard case .failure(let errors) = outcome else {
            Issue.record("accepted")
            return
        }
        #expect(errors.description.contains("row lost_bms is mandatory in mode production and is missing"))
    }

    @Test func `a table that cannot be read is told at its place`() {
        let errors = Outcome(Self.simulation + "interlocks: {table: own.yaml}\n").errors
        #expect(errors == ["site.yaml:12:21: interlocks.table: own.yaml:1:1: other files are not read here"])
    }
}
