import Control
import ControlSocket
import FrequencyResponse
import Quantities
import SiteConfig

/// What keeps a site from a grid that it has not entered: what must hold, what is measured, and for how long.
struct GridWait {
    let config: GridIntegrationConfig
    let state: GridSupervisor.State
    /// What is measured now; `nil` = nobody sees it.
    let frequency: Hertz?
    /// Of the meter.
    let voltage: Volts?

    /// `49.9 … 50.1 Hz is 49.7 Hz`; `nil` where the site is in service, or nobody supervises the grid.
    var text: String? {
        guard let supervision = config.supervision else { return nil }
        let enter = supervision.enter
        var parts = [
            "\(hertz(enter.millihertzLow)) … \(hertz(enter.millihertzHigh)) Hz must hold, measured "
                + (frequency.map { "\(Names.rounded($0.value)) Hz" } ?? "by nobody")
        ]
        if let nominal = supervision.nominalVoltage { parts.append(volts(nominal, enter)) }
        switch state {
        case .out(let cause): parts.insert(cause == .notEntered ? "not entered yet" : "\(cause.words)", at: 0)
        case .waiting(let time, _):
            parts.append(
                "\(WhyText.left((enter.delay - time).seconds)) left of \(Names.rounded(enter.delay.seconds)) s"
            )
        case .ramping, .inService, .blind: return nil
        }
        return parts.joined(separator: "; ")
    }

    private func volts(_ nominal: Volts, _ enter: EnterServiceCriteria) -> String {
        let (low, high) = (nominal * enter.voltageLow.value, nominal * enter.voltageHigh.value)
        var text = "\(whole(low)) … \(whole(high)) V must hold, measured "
        guard let voltage else { return text + "by nobody" }
        text += "\(whole(voltage)) V"
        // Every second site's file has the voltage between phases where the meter tells that to neutral.
        let isLine = abs(nominal.value / voltage.value - 3.0.squareRoot()) < 0.1
        return isLine
            ? text
                + ": nominal_voltage_v is that between phases; say nominal_line_voltage_v: \(whole(nominal))"
            : text
    }

    private func hertz(_ millihertz: Int) -> String { Names.rounded(Double(millihertz) / 1_000) }
    private func whole(_ voltage: Volts) -> String { "\(Int(voltage.value.rounded()))" }
}
