import FrequencyResponse
import Quantities
import SiteConfig

/// What the site answers to the grid's frequency, for `ballastd --check`.
enum FrequencySummary {
    static func lines(of droop: DroopConfig) -> [String] {
        var lines = ["  droop           \(curve(droop))"]
        if let preset = droop.preset?.preset {
            lines.append("  grid code       \(preset.name): \(preset.title)")
            lines.append(
                "                  \(preset.source), effective \(preset.effective), \(preset.mark.name)")
            if preset.mark != .verified {
                lines.append("                  check these numbers against the source before use")
            }
        } else {
            lines.append("  grid code       none: the site's own numbers")
        }
        lines.append("  response        \(dynamics(droop.service.dynamics))")
        lines += energy(droop.service)
        return lines
    }

    /// The weakest grid with which the response keeps its margins, small signals alone.
    static func margins(of config: SiteConfig) -> [String] {
        let droop = config.gridIntegration.droop
        // What is measured is as old as its source's poll, over a window as long again.
        let measuring = (config.gridMeter?.modbus.poll ?? .milliseconds(100)) * 2
        let write = config.units.map { $0.inverter.turnaround * 2 }.max() ?? .zero
        let response = config.units.map(\.response).max() ?? .zero
        guard
            let margins = DroopMargins(
                droop.curve, droop.service.dynamics, measuring: measuring, period: config.control.period,
                write: write, response: response)
        else { return [] }
        let grid = DroopMargins.Grid()
        let head = "  grid strength   "
        let kept = "6 dB and 45° are kept"
        guard let share = margins.shareMax() else {
            return [head + "on no grid: it hunts (H \(grid.inertia) s, damping \(grid.damping))"]
        }
        let on = "H \(grid.inertia) s, damping \(grid.damping)"
        if share >= 1 { return [head + "\(kept) even where the site runs alone (\(on))"] }
        let most = "the site is at most \(Names.rounded(share * 100)) % of what runs"
        var lines = [head + "\(kept) where \(most) (\(on))"]
        if share < grid.share {
            lines.append("                  on a weaker grid it may hunt: a flatter droop, a faster inverter")
        }
        return lines
    }

    private static func curve(_ droop: DroopConfig) -> String {
        let band = "outside \(droop.deadbandLow.value) … \(droop.deadbandHigh.value) Hz"
        let curve = droop.curve
        if case .points(let points) = curve.shape {
            let last = points.point(points.count - 1)
            return "a service by points: \(band), full at ±\(last.deviation) mHz"
        }
        let under = curve.under.map { "\(Names.rounded($0.droop.percent)) %" }
        let over = curve.over.map { "\(Names.rounded($0.droop.percent)) %" }
        let share: String
        switch (under, over) {
        case (let under?, let over?): share = under == over ? under : "\(under) below, \(over) above,"
        case (let under?, nil): return "\(under) below \(droop.deadbandLow.value) Hz, \(word(curve.shape))"
        case (nil, let over?): return "\(over) above \(droop.deadbandHigh.value) Hz, \(word(curve.shape))"
        case (nil, nil): return "none"
        }
        return "\(share) \(band), \(word(curve.shape))"
    }

    private static func word(_ shape: DroopCurve.Shape) -> String {
        switch shape {
        case .subtracted: "deadband subtracted"
        case .stepped(let hysteresis): "stepped, back \(hysteresis) mHz inside"
        case .renormalised: "renormalised"
        case .points: "by points"
        }
    }

    private static func dynamics(_ dynamics: ResponseDynamics) -> String {
        func seconds(_ time: Duration) -> String { "\(Names.rounded(time.seconds)) s" }
        var parts: [String] = []
        if dynamics.initiationDelay > .zero {
            parts.append("begins after \(seconds(dynamics.initiationDelay))")
        }
        if dynamics.openLoopTime > .zero { parts.append("90 % after \(seconds(dynamics.openLoopTime))") }
        if dynamics.fullActivation > .zero {
            parts.append("the whole rating within \(seconds(dynamics.fullActivation))")
        }
        if dynamics.hold > .zero { parts.append("held for \(seconds(dynamics.hold)) after the event") }
        if dynamics.recovery > .zero { parts.append("back within \(seconds(dynamics.recovery))") }
        return parts.isEmpty ? "at once" : parts.joined(separator: ", ")
    }

    private static func energy(_ service: ServiceSettings) -> [String] {
        var lines: [String] = []
        if service.reserve > .zero || service.headroom > .zero {
            lines.append(
                "  energy kept     \(Names.rounded(service.reserve.percent)) % above the lower end,"
                    + " \(Names.rounded(service.headroom.percent)) % below the upper end")
        }
        if let energy = service.energy {
            lines.append(
                "  energy target   \(Names.rounded(energy.target.percent)) %, from"
                    + " ±\(Names.rounded(energy.band.percent)) % on with"
                    + " \(Names.rounded(energy.power.percent)) % of the rating")
        }
        return lines
    }
}
