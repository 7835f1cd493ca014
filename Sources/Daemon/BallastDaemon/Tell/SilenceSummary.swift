import Interlocks
import Plant
import Quantities
import SiteConfig

/// What a device's silence costs, for `ballastd --check`.
enum SilenceSummary {
    static func lines(of config: SiteConfig, _ unit: UnitConfig) -> [String] {
        let service = config.control.enterService
        let battery = Device(
            name: "battery", period: unit.battery.period, again: unit.battery.period, what: "telegram",
            signal: .batterySilence)
        let inverter = Device(
            name: "inverter", period: unit.inverter.poll,
            again: max(unit.inverter.poll, unit.inverter.timeout),
            what: "answer", signal: .inverterSilence, reversion: unit.reversion + unit.response)
        return [battery, inverter].map { "    silence       " + $0.text(config) }
            + [
                "    short gap     " + gap(config.control.shortGap, service)
            ]
    }

    private static func gap(_ longest: Duration, _ service: Duration) -> String {
        let whole = "enter_service_s, \(Names.rounded(service.seconds)) s until power is back"
        guard longest > .zero else { return "costs \(whole)" }
        return
            "up to \(Names.rounded(longest.seconds)) s without a trip, three an hour: back on the ramp; else \(whole)"
    }

    private struct Device {
        var name: String
        /// From one sample to the next.
        var period: Duration
        /// From a sample that was lost to the next try.
        var again: Duration
        var what: String
        var signal: Signal
        /// Of an inverter its timer and its way to zero, as they are configured.
        var reversion: Duration?

        /// When the device is lost, for people: an inverter's time depends on what it has proven.
        private func loss(after budget: Duration, _ trip: Double) -> String {
            guard let reversion else { return "\(Names.rounded(budget.seconds * trip)) s" }
            let proven = FreshnessBudget.inverterLoss(budget: budget, reversion: reversion)
            let unproven = FreshnessBudget.inverterLoss(budget: budget, reversion: nil)
            return "\(Names.rounded(proven.seconds)) s where its reversion is proven, else"
                + " \(Names.rounded(unproven.seconds)) s"
        }

        func text(_ config: SiteConfig) -> String {
            let budget = FreshnessBudget.budget(nominalPeriod: period, controlPeriod: config.control.period)
            let borne = (budget - period - config.control.period).nanoseconds / max(1, again.nanoseconds)
            let row = config.interlocks.rules.first { $0.signal == signal && $0.latches }
            let trip =
                row.flatMap { row in row.trip.map { (row.name, loss(after: budget, $0)) } }
                .map { ", \($0.0) after \($0.1)" } ?? ""
            return
                "\(name): zero power after \(Names.rounded(budget.seconds)) s\(trip); bears \(max(0, borne))"
                + " lost \(what)\(borne == 1 ? "" : "s") in a row"
        }
    }
}
