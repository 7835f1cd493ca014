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
        return lines
    }
}
