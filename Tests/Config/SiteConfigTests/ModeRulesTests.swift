import SiteConfig
import Testing

@testable import SiteConfig

@Suite struct `What the modes ask for` {
    /// Line by line as they stand in the issue; a mode that changes shows here.
    // swift-format-ignore
    static let rows: [(mode: SiteConfig.Mode, cells: [String])] = [
        (.simulation,     ["may be left out", "as configured",   "may be simulated",    "any clock",           "begun where missing", "told",        "ranges",          "none", "service"]),
        (.hil,            ["required",        "driven unproven", "measured, or a test", "right clock",         "missing = tripped",   "told",        "dangerous sites", "none", "looks on"]),
        (.gridSimulation, ["required",        "driven unproven", "measured",            "right clock",         "missing = tripped",   "told",        "dangerous sites", "none", "looks on"]),
        (.production,     ["required",        "proven on site",  "measured",            "right clock, proofs", "missing = tripped",   "or no start", "all mandatory",   "real", "looks on"]),
    ]

    @Test(arguments: rows) func `a mode's rules are these`(mode: SiteConfig.Mode, cells: [String]) {
        #expect(mode.rules.cells == cells)
        #expect(mode.rules.cells.count == ModeRules.columns.count)
    }

    @Test func `the table has every mode, and marks the site's`() {
        let lines = ModeRules.table(.hil)
        #expect(lines.count == ModeRules.columns.count + 1)
        #expect(
            lines[0].contains("simulation") && lines[0].contains("hil *")
                && !lines[0].contains("production *"))
        #expect(Set(lines.map(\.count)).count == 1, "columns stand below each other")
    }

    private static let real = """
        mode: MODE
        bess_units:
          - id: U1
            campus_id: C
            capacity_kwh: 250
            max_power_kw: 100
            modbus: {host: 127.0.0.1, port: 502}

        """

    /// What the reader does follows the table, mode by mode.
    @Test(arguments: SiteConfig.Mode.allCases) func `what a file may leave out follows them`(
        mode: SiteConfig.Mode
    ) {
        let text = Self.real.replacing("MODE", with: mode.rawValue)
        let errors = Outcome(text).errors
        #expect(errors.contains { $0.contains("bms: is missing") } == (mode.rules.battery == .required))
        let simulated = Outcome(text + "grid_integration: {frequency_source: simulated}\n").errors
        #expect(
            simulated.contains { $0.contains("simulated is not allowed in mode") }
                == (mode.rules.frequency != .maybeSimulated))
        let word = Outcome(text + "grid_integration: {mode: simulation}\n").errors
        #expect(word.contains { $0.contains("simulation is not allowed where") } == mode.rules.isWhole)
        #expect(errors.contains { $0.contains("limit_kw") } == mode.rules.isWhole, "\(errors)")
    }

    @Test func `the seed's words mean something`() {
        let hardware = Outcome(Self.real.replacing("MODE", with: "hardware")).errors
        let production = Outcome(Self.real.replacing("MODE", with: "production")).errors
        #expect(!hardware.isEmpty && hardware == production)
        let simulation = Self.real.replacing("MODE", with: "simulation")
        let meter = "grid_meter: {modbus: {host: 127.0.0.1, port: 503}}\n"
        // swift-format-ignore
        let rows: [(grid: String, wanted: String?, why: Comment)] = [
            ("{mode: simulation}",              nil, "as the seed has it"),
            ("{mode: posoco}",                  "the frequency is simulated", "the real grid is measured"),
            ("{mode: pmu}",                     "the frequency is simulated", "the same"),
            ("{mode: pmu, frequency_source: meter}", "pmu needs a source pmu", "no PMU is there"),
            ("{mode: posoco, frequency_source: meter}", nil, "a meter measures it"),
            ("{mode: other}",                   "is not one of simulation, posoco, pmu", "no such word"),
        ]
        for row in rows {
            let needsMeter = row.grid.contains("meter")
            let errors = Outcome(simulation + (needsMeter ? meter : "") + "grid_integration: \(row.grid)\n")
                .errors
            if let wanted = row.wanted {
                #expect(errors.contains { $0.contains(wanted) }, row.why)
            } else {
                #expect(errors.isEmpty, "\(row.why): \(errors)")
            }
        }
    }

    @Test func `what is read and changes nothing is known`() {
        let site = Outcome(SeedSample.layer1 + SeedSample.layer2 + SeedSample.layer4).site
        #expect(site?.withoutEffect == ["campuses", "market_participation"])
        #expect(Outcome(SeedSample.layer1).site?.withoutEffect == [])
    }
}
