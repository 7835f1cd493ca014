import SiteConfig
import Testing

/// What a site may not be, though every value is in its range: one row each, on the text of a whole site.
@Suite struct DangerousSiteTests {
    /// A production site with everything that it needs.
    static let good = """
        mode: production
        site: {import_limit_kw: 100, export_limit_kw: 100, site_load_max_kw: 20}
        grid_integration:
          frequency_stale_ms: 500
          supervision: {preset: vde4105, nominal_voltage_v: 231}
        grid_meter: {modbus: {host: 10.0.0.1}, poll_ms: 100}
        bess_units:
          - id: A
            campus_id: C
            capacity_kwh: 250
            max_power_kw: 100
            min_soc_percent: 10
            max_soc_percent: 90
            bms: {transport: "socketcan:can0", period_ms: 200, frozen_samples: 120}
            modbus: {host: 10.0.0.2}
            contactor_open_ms: 80
            contactors: {drive: own, precharge_current_max_a: 10, discharged_v: 60, zero_current_a: 2, precharge_pause_ms: 30000, open_under_load_after_ms: 3000}
            io_module:
              modbus: {host: 10.0.0.3}
              poll_ms: 50
              timeout_ms: 100
              watchdog_ms: 12000
              inputs:
                - {number: 1, name: emergency_stop}
                - {number: 2, name: smoke}
                - {number: 7, name: main_contactor}
              coils:
                - {number: 1, drives: main_contactor}
                - {number: 2, drives: precharge_contactor}
        interlocks: {chemistry: lfp, rows: []}
        paths: {state_directory: /var/lib/ballast}

        """

    @Test func `the site that the rows change is good`() { #expect(Outcome(Self.good).errors == []) }

    struct Row: Sendable {
        var old: String
        var new: String
        var said: String
        /// What a named person may answer for.
        var risk: Risk?
        init(_ old: String, _ new: String, _ said: String, _ risk: Risk? = nil) {
            (self.old, self.new, self.said, self.risk) = (old, new, said, risk)
        }
    }

    private static func off(_ row: String) -> (String, String) {
        ("rows: []", "rows: [{id: \(row), enabled: false}]")
    }

    // swift-format-ignore
    static let rows: [Row] = [
        Row("capacity_kwh: 250", "capacity_kwh: 2", "are 50 C"),
        Row("capacity_kwh: 250", "capacity_kwh: 50000", "is capacity_kwh in Wh?"),
        Row("min_soc_percent: 10\n    max_soc_percent: 90", "min_soc_percent: 0.1\n    max_soc_percent: 0.9", "are percent, not shares"),
        Row("min_soc_percent: 10", "min_soc_percent: 0.1", "are percent, not shares"),
        Row("frozen_samples: 120", "frozen_samples: 0", "frozen_samples: 0 takes a battery"),
        Row("zero_current_a: 2,", "zero_current_a: 100,", "zero_current_a 100"),
        Row("precharge_pause_ms: 30000", "precharge_pause_ms: 0", "the resistor never cools"),
        Row("open_under_load_after_ms: 3000", "open_under_load_after_ms: 100", "open_under_load_after_ms 100"),
        Row("frequency_stale_ms: 500", "frequency_stale_ms: 10000", "frequency_stale_ms 10000"),
        Row("nominal_voltage_v: 231", "nominal_voltage_v: 300", "no grid has that voltage"),
        Row("poll_ms: 100}", "poll_ms: 60000}", "poll_ms 60000 with supervision", .slowMeter),
        Row("import_limit_kw: 100, export_limit_kw: 100", "import_limit_kw: 5, export_limit_kw: 5", "more than ten times"),
        Row(", site_load_max_kw: 20", "", "site_load_max_kw is left out", .siteLoad),
        Row("state_directory: /var/lib/ballast", "state_directory: /tmp/ballast", "does not outlive a restart"),
        Row("state_directory: /var/lib/ballast", "state_directory: /var/lib/./../tmp/b", "does not outlive a restart"),
        Row("state_directory: /var/lib/ballast", "state_directory: state", "is relative"),
        Row("state_directory: /var/lib/ballast", "state_directory: /var/..", "is the root of the file system"),
        Row("modbus: {host: 10.0.0.2}", "modbus: {host: 0.0.0.0}", "0.0.0.0 is the address of no device"),
        Row("modbus: {host: 10.0.0.3}", "modbus: {host: 255.255.255.255}", "255.255.255.255 is the address of no device"),
        Row("modbus: {host: 10.0.0.1}", "modbus: {host: 224.0.0.9}", "224.0.0.9 is the address of no device"),
        Row(
            "interlocks: {chemistry", "  - {id: a, campus_id: C, capacity_kwh: 250, max_power_kw: 100, bms: {transport: \"socketcan:can1\", period_ms: 200}, modbus: {host: 10.0.0.9}}\ninterlocks: {chemistry",
            "unit a differs from A by capitals alone"),
        Row("- {number: 1, name: emergency_stop}\n        ", "", "no input emergency_stop"),
        Row(off("thermal_runaway").0, off("thermal_runaway").1, "row thermal_runaway is off"),
        Row(off("insulation").0, off("insulation").1, "row insulation is off"),
        Row(off("inverter_fault").0, off("inverter_fault").1, "row inverter_fault is off"),
        Row(off("pack_overvoltage").0, off("pack_overvoltage").1, "row pack_overvoltage is off"),
        Row(off("cell_spread").0, off("cell_spread").1, "row cell_spread is off", .cellSpread),
        Row(off("smoke").0, off("smoke").1, "row smoke is "),
        Row("rows: []", "rows: [{id: thermal_runaway, reset: operator}]", "thermal_runaway"),
        Row("rows: []", "rows: [{id: smoke, while: charging}]", "row smoke: while: charging"),
        Row("rows: []", "rows: [{id: thermal_runaway, while: discharging}]", "row thermal_runaway: while"),
        Row("rows: []", "rows: [{id: insulation, direction: charge}]", "row insulation: direction charge"),
        Row("rows: []", "rows: [{id: inverter_fault, presence: if_seen}]", "it cannot wait for its signal"),
        Row("rows: []", "rows: [{id: smoke, reset: operator}]", "row smoke: reset by operator"),
        Row("rows: []", "rows: [{id: smoke, exposure_ms: 3600000}]", "row smoke: exposure_ms 3600000"),
        Row("rows: []", "rows: [{id: smoke, count: 5}]", "row smoke: count 5 in 600 s is looser"),
        Row("rows: []", "rows: [{id: lost_bms, count_window_s: 60}]", "row lost_bms: count 3 in 60 s is looser"),
        Row("frozen_samples: 120", "frozen_samples: 100000", "frozen_samples 100000"),
        Row("precharge_current_max_a: 10", "precharge_current_max_a: 1000", "precharge_current_max_a 1000"),
        Row("zero_current_a: 2,", "zero_current_a: 20,", "zero_current_a 20"),
        Row("precharge_pause_ms: 30000", "precharge_pause_ms: 3000, precharge_limit_ms: 60000", "the resistor is hot"),
        Row("watchdog_ms: 12000", "watchdog_ms: 3700000", "io_module.watchdog_ms 3700000"),
        Row("state_directory: /var/lib/ballast", "state_directory: /var/run/ballast", "does not outlive a restart"),
        Row("state_directory: /var/lib/ballast", "state_directory: /proc/self/cwd/state", "does not outlive a restart"),
        Row("rows: []", "rows: [{id: smoke, action: hold}]", "row smoke: action hold"),
        Row("rows: []", "rows: [{id: insulation, action: hold}]", "row insulation: action hold"),
        Row("rows: []", "rows: [{id: insulation, trip_ohm_per_v: 1}]", "as good as off"),
        Row("rows: []", "rows: [{id: pack_overvoltage, trip_ratio: 2.0}]", "as good as off"),
        Row("rows: []", "rows: [{id: cell_spread, trip_v: 2.0}]", "as good as off"),
        Row("rows: []", "rows: [{id: cell_overvoltage, derate_v: [3.7, 3.78], trip_v: 3.8, warn_v: 3.6}]", "trips at 3.8 V", .cellOvervoltage),
    ]

    @Test(arguments: rows) func `a dangerous site is refused, and says what is dangerous`(row: Row) {
        #expect(Self.good.contains(row.old), "\(row.old)")
        let text = Self.good.replacing(row.old, with: row.new)
        let errors = Outcome(text).errors
        #expect(errors.contains { $0.contains(row.said) }, "\(row.new): \(errors)")
        for risk in Risk.allCases {
            let word = "accept: {\(risk.rawValue): {by: Jane Doe, reason: agreed with the maker}}\n"
            let accepted = Outcome(text + word)
            #expect(
                (accepted.site != nil) == (row.risk == risk), "\(row.new) with \(risk): \(accepted.errors)")
            if row.risk == risk {
                #expect(
                    accepted.site?.accepted == [
                        AcceptedRisk(risk, by: "Jane Doe", reason: "agreed with the maker")
                    ])
            }
        }
    }

    @Test(arguments: ["smoke", "gas", "breaker", "door"])
    func `a row whose input is wired is not off`(name: String) {
        let wired = Self.good.replacing(
            "- {number: 2, name: smoke}", with: "- {number: 2, name: \(name)}")
        #expect(Outcome(wired).errors == [])
        let errors = Outcome(wired.replacing(Self.off(name).0, with: Self.off(name).1)).errors
        #expect(errors.contains { $0.contains("row \(name) is off, and a unit has the input") }, "\(errors)")
    }

    // swift-format-ignore
    static let words: [(text: String, said: String)] = [
        ("accept: {everything: {by: Jane Doe, reason: tired of it}}", "unknown key"),
        ("accept: {site_load: {reason: nobody says so}}", "by: is missing"),
        ("accept: {site_load: {by: Jane Doe}}", "reason: is missing"),
        ("accept: {site_load: {by: J, reason: too short a name}}", "is not allowed"),
        ("accept: {site_load: {by: '   ', reason: nobody stands behind it}}", "is not allowed"),
        ("accept: {site_load: {by: Jane Doe, reason: '...'}}", "is not allowed"),
    ]

    @Test(arguments: words) func `a word needs a name, a reason and a risk that there is`(
        row: (text: String, said: String)
    ) {
        let errors = Outcome(Self.good + row.text + "\n").errors
        #expect(errors.contains { $0.contains(row.said) }, "\(errors)")
    }

    @Test func `a simulation that would drive another machine is found`() {
        #expect(Outcome(SeedSample.layer1).site?.realDevices == ["192.168.1.100"])
        let local = SeedSample.layer1.replacing("192.168.1.100", with: "127.0.0.1")
        #expect(Outcome(local).site?.realDevices == [])
        let real = Self.good.replacing("mode: production", with: "mode: simulation")
        #expect(Outcome(real).site?.realDevices == ["10.0.0.1", "10.0.0.2", "10.0.0.3", "can0"])
        let lines = real.replacing("socketcan:can0", with: "slcan:/dev/ttyACM0")
            .replacing(
                "modbus: {host: 10.0.0.2}",
                with: "modbus: {device: /dev/ttyUSB0, unit_id: 1}\n    poll_ms: 1000"
            )
            .replacing("10.0.0.3", with: "127.0.0.1").replacing("10.0.0.1", with: "localhost")
        #expect(
            Outcome(lines).site?.realDevices == ["/dev/ttyUSB0", "/dev/ttyACM0"], "\(Outcome(lines).errors)")
        let simulated = lines.replacing("/dev/ttyUSB0", with: "run/inverter")
            .replacing("/dev/ttyACM0", with: "/dev/pts/7")
        #expect(Outcome(simulated).site?.realDevices == [])
        #expect(Outcome(Self.good).site?.realDevices == [], "production drives what it names")
    }
}
