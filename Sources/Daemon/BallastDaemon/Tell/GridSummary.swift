import Control
import FrequencyResponse
import Quantities
import SiteConfig

/// What a configuration demands of the grid, for `ballastd --check`.
enum GridSummary {
    static func lines(of config: SiteConfig) -> [String] {
        let grid = config.gridIntegration
        let sources = grid.frequencySources.map { source -> String in
            switch source {
            case .meter: return "meter"
            case .inverter(let unit): return "inverter \(config.units[unit].id)"
            case .phasor(let phasor): return "pmu \(phasor.name) (\(phasor.transport.rawValue))"
            case .simulated: return "simulated: nothing measures"
            }
        }
        var lines = [
            "  frequency       \(sources.joined(separator: ", then ")); suspect beyond "
                + "\(Names.rounded(grid.frequencyDisagreement.value)) Hz"
        ]
        guard let supervision = grid.supervision else { return lines + ["  grid            not supervised"] }
        let preset = supervision.code.preset
        let enter = supervision.enter
        lines.append("  grid            \(preset.title) (\(preset.standing))")
        lines.append(
            "                  enters at \(Names.rounded(Double(enter.millihertzLow) / 1_000)) … "
                + "\(Names.rounded(Double(enter.millihertzHigh) / 1_000)) Hz after "
                + "\(Names.rounded(enter.delay.seconds)) s, over \(Names.rounded(enter.ramp.seconds)) s; islands"
                + " within 2 s are the inverter's duty")
        lines += sight(of: config, supervision)
        return lines
    }

    /// Who judges the grid, and what follows when nobody can.
    private static func sight(of config: SiteConfig, _ supervision: GridSupervisionConfig) -> [String] {
        let settings = supervision.settings(nominal: config.gridIntegration.nominalFrequency)
        var eyes = config.gridMeter == nil ? [] : ["the meter"]
        eyes += config.gridIntegration.phasors.filter(\.isAtConnection).map { "pmu \($0.name)" }
        eyes.append("each inverter")
        var voltage = supervision.nominalVoltage == nil ? [] : ["the meter's"]
        if supervision.inverterVoltage != nil { voltage.append("the inverters'") }
        let resolution = config.gridMeter?.frequencyResolution
        let stand = resolution.flatMap { GridSettings.longestStand(of: $0) }
        let frozen =
            stand.map { "a meter that shows the same for \(Names.rounded($0.seconds)) s counts as blind" }
            ?? (resolution == nil
                ? "without frequency_resolution_hz a meter that stands still is seen only as others move"
                : "a meter that coarse is seen to stand still only as others move")
        return [
            "                  seen by \(eyes.joined(separator: ", ")), never by a stream from elsewhere; voltage: "
                + (voltage.isEmpty ? "not supervised" : voltage.joined(separator: " and ")),
            "                  nobody for \(milliseconds(settings.frequencyBlindLimit)): zero on the ramp of "
                + "\(Names.rounded(config.control.rampRate.value / 1_000)) kW/s, response off; \(frozen)",
        ]
    }

    private static func milliseconds(_ time: Duration) -> String { "\(Int(time.milliseconds)) ms" }
}
