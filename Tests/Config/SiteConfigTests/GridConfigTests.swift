import FrequencyResponse
import Quantities
import SiteConfig
import Testing

/// Frequency sources and the supervision of the grid in a site's file.
@Suite struct GridConfigTests {
    private static func outcome(_ grid: String, mode: String = "hil") -> Outcome {
        Outcome(
            BadSiteTests.good.replacing("mode: hil", with: "mode: \(mode)")
                .replacing(
                    "  droop_settings: {droop_percent: 5}", with: "  " + grid.replacing("\n", with: "\n  ")))
    }

    @Test func `without the new keys the one source is the list, and nothing is supervised`() {
        let meter = Outcome(BadSiteTests.good).site?.gridIntegration
        #expect(meter?.frequencySources == [.meter] && meter?.supervision == nil)
        let simulated = Outcome(SeedSample.layer1 + SeedSample.layer3).site?.gridIntegration
        #expect(simulated?.frequencySources == [.simulated])
    }

    @Test func `sources are read in the order of their rank`() {
        let outcome = Self.outcome(
            """
            frequency_sources:
              - {source: pmu, host: 10.0.0.9, id_code: 7, transport: udp_listen, pmu_id_code: 8, frames_per_s: 25}
              - {source: meter}
              - {source: inverter, unit: B}
            """)
        let grid = outcome.site?.gridIntegration
        #expect(grid?.frequencySources.dropFirst() == [.meter, .inverter(unit: 1)], "\(outcome.errors)")
        let phasor = grid?.phasors.first
        #expect(phasor?.host == "10.0.0.9" && phasor?.port == 4_713 && phasor?.transport == .udpListen)
        #expect(phasor?.idCode == 7 && phasor?.unitIDCode == 8 && phasor?.period == .milliseconds(40))
    }

    // swift-format-ignore
    static let bad: [(grid: String, error: String)] = [
        ("frequency_sources: []",                                        "has 0 elements, not 1 … 8"),
        ("frequency_sources: [{source: sun}]",                           "is not one of pmu, meter, inverter, simulated"),
        ("frequency_sources: [{source: simulated}]",                     "simulated is not allowed in mode hil"),
        ("frequency_sources: [{source: meter}, {source: meter}]",        "has the same source twice"),
        ("frequency_sources: [{source: inverter}]",                      "is missing (required: the id of a unit)"),
        ("frequency_sources: [{source: inverter, unit: C}]",             "is no unit of this file"),
        ("frequency_sources: [{source: pmu, host: 10.0.0.9}]",           "id_code: is missing"),
        ("frequency_sources: [{source: pmu, host: 10.0.0.9, id_code: 7, data_port: 5000}]", "data_port: does not belong to transport tcp"),
        ("frequency_sources: [{source: pmu, id_code: 7}]",               "host: is missing"),
        ("frequency_sources: [{source: meter, port: 1}]",                "unknown key"),
        ("frequency_source: meter\nfrequency_sources: [{source: meter}]", "stands beside frequency_sources"),
        ("supervision: {preset: moon}",                                  "is not one of ieee1547_cat1"),
        ("supervision: {preset: vde4105, delay_s: 19}",                  "19 is outside what vde4105 allows: 20 … 900 s"),
        ("supervision: {preset: vde4105, frequency_low_hz: 47.4}",       "47.4 is outside what vde4105 allows: 47.5 … 49.9 Hz"),
        ("supervision: {preset: gb_g99, rocof_limit_hz_per_s: 0.5}",     "0.5 is below what gb_g99 must ride through: 1 … 20 Hz/s"),
        ("supervision: {preset: gb_g99, breaker: {pmu: north, bit: 3}}", "is no PMU of frequency_sources"),
    ]

    @Test(arguments: bad)
    func `a mistake is refused with what is allowed`(row: (grid: String, error: String)) {
        let errors = Self.outcome(row.grid).errors
        #expect(errors.contains { $0.contains(row.error) }, "\(row.grid): \(errors)")
    }

    @Test
    func
        `a preset's numbers hold, moved to the site's nominal frequency, and may be chosen inside its range`()
    {
        let text =
            "supervision: {preset: ieee1547_cat3, delay_s: 60, frequency_low_hz: 49.2, nominal_voltage_v: 400}"
        let outcome = Self.outcome(text)
        let supervision = outcome.site?.gridIntegration.supervision
        let settings = supervision?.settings(nominal: Hertz(50))
        #expect(settings?.enter.delay == .seconds(60), "\(outcome.errors)")
        #expect(settings?.enter.ramp == .seconds(300))
        #expect(settings?.enter.millihertzLow == 49_200 && settings?.enter.millihertzHigh == 50_100)
        #expect(settings?.isVoltageSupervised == true && settings?.needsBreaker == false)
        #expect(supervision?.nominalVoltage == Volts(400))
    }
}
