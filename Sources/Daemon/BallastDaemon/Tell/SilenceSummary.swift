import Interlocks
import Quantities
import SiteConfig

/// What a device's silence costs, for `ballastd --check`.
enum SilenceSummary {
    static func lines(of config: SiteConfig, _ unit: UnitConfig) -> [String] {
        let service = config.control.enterService
        let battery = Device(
            name: "battery", period: unit.battery.period, again: unit.battery.period, what: "telegram",
            signal: "battery_silence")
        let inverter = Device(
            name: "inverter", period: unit.inverter.poll,
            again: max(unit.inverter.poll, unit.inverter.timeout),
            what: "answer", signal: "inverter_silence")
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
        var signal: String

        func text(_ config: SiteConfig) -> String {
            let budget = FreshnessBudget.budget(nominalPeriod: period, controlPeriod: config.control.period)
            let borne = (budget - period - config.control.period).nanoseconds / max(1, again.nanoseconds)
            let row = config.interlocks.rules.first { $0.signal == signal && $0.latches }
            let trip =
                row.flatMap { row in row.trip.map { (row.id, budget.seconds * $0) } }
                .map { ", \($0.0) after \(Names.rounded($0.1)) s" } ?? ""
            return
                "\(name): zero power after \(Names.rounded(budget.seconds)) s\(trip); bears \(max(0, borne))"
                + " lost \(what)\(borne == 1 ? "" : "s") in a row"
        }
    }
}
