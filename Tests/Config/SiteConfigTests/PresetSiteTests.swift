import FrequencyResponse
import Quantities
import SiteConfig
import Testing

/// `droop_settings.preset`: what a grid code brings, what a site may choose instead, and what it may not.
@Suite struct PresetSiteTests {
    /// One unit of 100 kW and 500 kWh, 10 … 90 %.
    static func site(_ nominal: Int, _ settings: String) -> String {
        SeedSample.layer1.replacing("capacity_kwh: 250", with: "capacity_kwh: 500") + """
            grid_integration:
              nominal_frequency_hz: \(nominal)
              droop_settings: {\(settings)}

            """
    }

    // swift-format-ignore
    static let codes: [(name: String, nominal: Int, code: GridCode)] = [
        ("iegc",          50, .iegc),
        ("seed_stepped",  50, .seedStepped),
        ("ieee1547_cat1", 60, .ieee1547CategoryI),
        ("ieee1547_cat2", 60, .ieee1547CategoryII),
        ("ieee1547_cat3", 60, .ieee1547CategoryIII),
        ("ferc842",       60, .ferc842),
        ("ercot",         60, .ercot),
        ("ce_fcr",        50, .continentalFCR),
        ("gb_dc",         50, .dynamicContainment),
        ("gb_dm",         50, .dynamicModeration),
        ("gb_dr",         50, .dynamicRegulation),
        ("lfsm_o",        50, .lfsmOver),
        ("lfsm_u",        50, .lfsmUnder),
        ("lfsm",          50, .lfsm),
        ("aemo",          50, .aemo),
    ]

    @Test func `the table of names is whole`() {
        #expect(Self.codes.map(\.code) == GridCode.all)
        #expect(Self.codes.map(\.name) == GridCode.all.map(\.name))
    }

    @Test(arguments: codes)
    func `each grid code loads by its name and brings its numbers`(
        row: (name: String, nominal: Int, code: GridCode)
    ) throws {
        let outcome = Outcome(Self.site(row.nominal, "preset: \(row.name)"))
        let droop = try #require(outcome.site, "\(outcome.errors)").gridIntegration.droop
        #expect(droop.preset == row.code && droop.curve == row.code.preset.curve)
        #expect(droop.service.dynamics == row.code.preset.dynamics)
    }

    @Test(arguments: codes)
    func `a grid code for the other nominal frequency is refused at its line`(
        row: (name: String, nominal: Int, code: GridCode)
    ) {
        let other = 110 - row.nominal
        let errors = Outcome(Self.site(other, "preset: \(row.name)")).errors
        let message =
            "site.yaml:12:28: grid_integration.droop_settings.preset: \(row.name) is for \(row.nominal) Hz,"
            + " and nominal_frequency_hz is \(other)"
        #expect(errors.contains(message), "\(errors)")
    }

    // swift-format-ignore
    static let good: [(settings: String, nominal: Int, edge: Int, droop: Double, why: Comment)] = [
        ("preset: iegc, droop_percent: 3",                            50, 49_970, 3, "the steepest"),
        ("preset: iegc, droop_percent: 6",                            50, 49_970, 6, "the flattest"),
        ("preset: iegc, deadband_hz: [49.99, 50.01]",                 50, 49_990, 5, "a narrower band"),
        ("preset: iegc, deadband_hz: [50, 50]",                       50, 50_000, 5, "no band at all"),
        ("preset: ieee1547_cat1, deadband_hz: [59.983, 60.017]",      60, 59_983, 5, "the narrowest"),
        ("preset: ieee1547_cat3, droop_percent: 2",                   60, 59_964, 2, "III is steeper"),
        ("preset: seed_stepped, droop_under_percent: 4, hysteresis_hz: 0.02", 50, 49_900, 4, "one side"),
        ("preset: lfsm_u, deadband_hz: [49.5, 50], droop_percent: 2", 50, 49_500, 2, "nothing above"),
    ]

    @Test(arguments: good)
    func `a site may choose inside the code's range`(
        row: (settings: String, nominal: Int, edge: Int, droop: Double, why: Comment)
    ) throws {
        let outcome = Outcome(Self.site(row.nominal, row.settings))
        let droop = try #require(outcome.site, "\(outcome.errors)").gridIntegration.droop
        let under = try #require(droop.curve.under)
        #expect(under.edgeMillihertz == row.edge && under.droop == .percent(row.droop), row.why)
    }

    static let place = "grid_integration.droop_settings"

    // swift-format-ignore
    static let bad: [(settings: String, nominal: Int, key: String, says: String)] = [
        ("preset: iegc, droop_percent: 2.9", 50, "droop_percent", "2.9 is outside 3 … 6 % (preset iegc)"),
        ("preset: iegc, droop_percent: 6.1", 50, "droop_percent", "6.1 is outside 3 … 6 % (preset iegc)"),
        ("preset: iegc, droop_over_percent: 7", 50, "droop_over_percent",
            "7 is outside 3 … 6 % (preset iegc)"),
        ("preset: ieee1547_cat2, droop_percent: 2", 60, "droop_percent",
            "2 is outside 3 … 5 % (preset ieee1547_cat2)"),
        ("preset: iegc, deadband_hz: [49.9, 50.05]", 50, "deadband_hz",
            "[49.9, 50.05] must have each edge 0 … 0.03 Hz away from nominal 50 Hz (preset iegc)"),
        ("preset: ieee1547_cat1, deadband_hz: [59.99, 60.036]", 60, "deadband_hz",
            "[59.99, 60.036] must have each edge 0.017 … 1 Hz away from nominal 60 Hz"
                + " (preset ieee1547_cat1)"),
        ("preset: ieee1547_cat1, response_time_s: 0.9", 60, "response_time_s",
            "0.9 is outside 1 … 10 s (preset ieee1547_cat1)"),
        ("preset: gb_dc, initiation_delay_ms: 501", 50, "initiation_delay_ms",
            "501 is outside 0 … 500 ms (preset gb_dc)"),
        ("preset: gb_dc, full_activation_s: 1.5", 50, "full_activation_s",
            "1.5 is outside 0 … 1 s (preset gb_dc)"),
        ("preset: iegc, convention: stepped", 50, "convention",
            "preset iegc has its own; leave this key out"),
        ("preset: iegc, hysteresis_hz: 0.01", 50, "hysteresis_hz",
            "only a stepped response has a hysteresis"),
        ("preset: gb_dr, droop_percent: 5", 50, "droop_percent",
            "preset gb_dr has fixed points; leave this key out"),
        ("preset: ce_fcr, deadband_hz: [49.99, 50.01]", 50, "deadband_hz",
            "preset ce_fcr has fixed points; leave this key out"),
        ("preset: gb_dm, convention: subtracted", 50, "convention",
            "preset gb_dm has fixed points; leave this key out"),
        ("preset: iegc, soc_reserve_percent: 50, soc_headroom_percent: 30", 50, "soc_reserve_percent",
            "reserve and headroom of 50 % and 30 % leave nothing of the 80 % that unit BESS_DC01_01 may use"),
        ("preset: iegc, soc_reserve_percent: 20, soc_target_percent: 25", 50, "soc_target_percent",
            "25 % is outside the 30 … 90 % that unit BESS_DC01_01 leaves to the base point"),
    ]

    @Test(arguments: bad)
    func `a choice outside the code's range names file, line, key and range`(
        row: (settings: String, nominal: Int, key: String, says: String)
    ) throws {
        let errors = Outcome(Self.site(row.nominal, row.settings)).errors
        let error = try #require(errors.first, "\(row.settings) is refused")
        #expect(errors.count == 1 && error.hasPrefix("site.yaml:12:"))
        #expect(error.hasSuffix(": \(Self.place).\(row.key): \(row.says)"), "\(error)")
    }

    @Test func `a preset whose energy does not fit the battery is refused at the preset's line`() {
        let site = Self.site(50, "preset: gb_dr").replacing("capacity_kwh: 500", with: "capacity_kwh: 250")
        let message =
            "site.yaml:12:28: \(Self.place).preset: reserve and headroom of 40 % and 40 % leave nothing of"
            + " the 80 % that unit BESS_DC01_01 may use"
        #expect(Outcome(site).errors == [message])
    }

    @Test func `a preset keeps the energy that its full power needs for its time`() throws {
        let site = try #require(Outcome(Self.site(50, "preset: gb_dc")).site)
        #expect(site.gridIntegration.droop.service.reserve == .percent(5), "15 min of 100 kW of 500 kWh")
        #expect(site.gridIntegration.droop.service.headroom == .percent(5))
    }

    // swift-format-ignore
    static let bands: [(nominal: Int, key: String, band: ClosedRange<Int>?, why: Comment)] = [
        (50, "",                                       49_900...50_050, "the usual one on 50 Hz"),
        (60, "",                                       nil,             "none is known on 60 Hz"),
        (50, "  operating_band_hz: [49.95, 50.05]\n",  49_950...50_050, "given"),
        (60, "  operating_band_hz: [59.95, 60.05]\n",  59_950...60_050, "given on 60 Hz"),
    ]

    @Test(arguments: bands)
    func `the grid's operating band is a metric that leaves the response alone`(
        row: (nominal: Int, key: String, band: ClosedRange<Int>?, why: Comment)
    ) throws {
        let text = Self.site(row.nominal, "droop_percent: 5")
        let grid = try #require(Outcome(text + row.key).site).gridIntegration
        #expect(grid.operatingBand == row.band, row.why)
        #expect(grid.droop == Outcome(text).site?.gridIntegration.droop, row.why)
    }

    @Test(arguments: ["[49.9, 49.95]", "[50, 50]", "[48.9, 50.1]", "[50.1, 49.9]"])
    func `an operating band without nominal inside is refused`(band: String) {
        let errors = Outcome(Self.site(50, "droop_percent: 5") + "  operating_band_hz: \(band)\n").errors
        let message =
            "site.yaml:13:22: grid_integration.operating_band_hz: \(band) must hold nominal 50 Hz, with each"
            + " edge at most 1 Hz away"
        #expect(errors == [message])
    }

    @Test func `an unknown preset names those there are`() throws {
        let error = try #require(Outcome(Self.site(50, "preset: iegcc")).errors.first)
        #expect(error.contains(".preset: \"iegcc\" is not one of iegc, seed_stepped, ieee1547_cat1"))
    }
}
