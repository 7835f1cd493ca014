import PowerDispatch
import Quantities
import SiteConfig

/// What a meter costs that nobody has seen right yet, as after every start: the limits at the point of
/// connection then leave what the worst case leaves.
struct MeterRemark {
    private let limits: SiteLimits
    private let check: MeterCheck
    private let rated: Watts
    private let hasMeter: Bool
    /// A step that passes a limit, if the meter lies, is over in time.
    private let isShort: Bool

    /// `nil` where the site has no limits.
    init?(_ config: SiteConfig) {
        guard let limits = config.limits else { return nil }
        self.limits = limits
        rated = config.units.reduce(.zero) { $0 + $1.maxPower }
        let period = config.control.period
        let slowest = config.units.map { ControlSettings.budget(of: $0, period: period).inverter }
        let settling = MeterCheck.settling(
            budget: SiteAssembly.siteSettings(config).meterBudget, inverter: slowest.max() ?? .zero)
        check = MeterCheck(rated: rated, settling: settling)
        hasMeter = config.gridMeter != nil
        let response = config.units.map(\.followTime).max() ?? .zero
        isShort = ProvingStep.length(settling: settling, response: response) <= ProvingStep.shortTime
    }

    /// `nil` where nothing is withheld.
    var remark: Remark? {
        let most = limits.loadMax ?? .zero
        let window = limits.window(beside: SiteLimits.Rest(least: -most, most: most))
        let (charge, discharge) = (-(window.lowest ?? -rated), window.highest ?? rated)
        guard most > .zero || limits.loadMax == nil, charge < rated || discharge < rated else { return nil }
        let step = check.provingStep
        let hasNone = charge < Watts(1) || discharge < Watts(1)
        let left = "no more than \(shown(discharge)) are discharged and \(shown(charge)) charged"
        guard hasMeter else {
            return hasNone ? Remark(.warning, "site.site_load_max_kw", "without grid_meter \(left)") : nil
        }
        let text = "until the meter has shown a step of the units' power, after each start, \(left)"
        return Remark(
            hasNone ? .warning : .note, "site.site_load_max_kw",
            "\(text); where more is asked, a step of \(shown(step)) proves it, "
                + way(charge >= step || discharge >= step))
    }

    private func way(_ isInside: Bool) -> String {
        if isInside { return "inside that" }
        let room = "made where the meter's own reading leaves room"
        return isShort
            ? "\(room): were it reversed, up to that beyond a limit for \(Names.rounded(longest)) s"
            : "\(room) whichever way round it is: with this poll and response no other is short enough"
    }

    private var longest: Double { ProvingStep.shortTime.seconds }

    private func shown(_ power: Watts) -> String { "\(Names.rounded(min(power, rated).kilowatts)) kW" }
}
