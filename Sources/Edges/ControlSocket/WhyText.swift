/// Why the power is what it is, in one line a person understands: who asked, who limited, what came of it.
public enum WhyText {
    /// `unit BESS_02 (100 kW): −40.0 kW; schedule asked −60.0; cell temperature 46 °C derates charge to
    /// −40.0`.
    public static func unit(_ unit: UnitStatus, in site: SiteStatus) -> String {
        var parts = ["unit \(unit.id) (\(plain(unit.rating_kw)) kW): \(signed(unit.setpoint_kw)) kW"]
        switch unit.mode {
        case "tripped":
            let trips = trips(unit)
            let fault = unit.contactors.flatMap { $0.hasPrefix("fault_") ? words($0.dropFirst(6)) : nil }
            let contactors = fault.map { " (contactors: \($0))" } ?? ""
            let begun = unit.begun_by.map { ", begun by \($0)" } ?? ""
            parts.append("tripped by \(trips)\(begun)\(contactors); it stays at zero until it is reset")
        case "running":
            let person = unit.override_words.map { " (\($0))" } ?? ""
            let asker = unit.override_kw == nil ? asker(site) : "operator\(person), of this unit alone,"
            parts.append("\(asker) asked \(signed(unit.asked_kw))")
            if let limit = limit(unit) { parts.append(limit) }
            if unit.limited_by == "site_limit", let doubt = doubt(site) { parts.append(doubt) }
        case "offline":
            let missing = unit.missing?.map(\.text).joined(separator: "; ")
            parts.append("offline: \(missing ?? "battery, inverter and wired inputs are not all heard")")
        case "standby":
            if site.stopped { parts.append("standby: \(stop(site))") }
            if let hold = hold(unit) { parts.append(hold) }
            if parts.count == 1 && unit.locks == nil { parts.append("standby: \(wait(unit, site))") }
        case "precharge": parts.append("precharge: \(precharge(unit.contactors))")
        case "maintenance" where unit.locks == nil: parts.append("taken out for maintenance")
        case "maintenance": break
        case "stopping": parts.append("stopping: on its way out of service")
        default: parts.append(unit.mode)
        }
        if let locks = unit.locks { parts += locks.map { "out of service: \(lock($0))" } }
        return parts.joined(separator: "; ")
    }

    /// What endangers people first, as the status has them; which came first is a mark and not the order.
    private static func trips(_ unit: UnitStatus) -> String {
        let all = unit.trips.isEmpty ? [unit.first_out ?? "a trip"] : unit.trips
        let shown = all.count > 3 ? all.prefix(3) + ["\(all.count - 3) more"] : all[...]
        guard let last = shown.last, shown.count > 1 else { return words(all[0]) }
        let first = unit.first_out.map { " (\(words($0)) came first)" } ?? ""
        return shown.dropLast().map(words).joined(separator: ", ") + " and \(words(last))\(first)"
    }

    private static func lock(_ lock: LockStatus) -> String {
        lock.left_s.map { "\(lock.text), \(left($0)) left" } ?? lock.text
    }

    /// What a unit that nothing holds still waits for.
    private static func wait(_ unit: UnitStatus, _ site: SiteStatus) -> String {
        if let grid = site.grid?.waits_for { return "the grid: \(grid)" }
        return unit.enters_in_s.map { "it enters service in \(left($0)) if all stays good" }
            ?? "it waits to enter service"
    }

    /// `1 h 5 min`, `4 min 58 s`, `3 s`: rounded up, so that nothing that lasts is over.
    public static func left(_ seconds: Double) -> String {
        guard seconds < 1e9 else { return "ever" }
        let whole = Int(max(0, seconds).rounded(.up))
        if whole >= 3_600 { return "\(whole / 3_600) h \(whole / 60 % 60) min" }
        return whole >= 60 ? "\(whole / 60) min \(whole % 60) s" : "\(whole) s"
    }

    /// `held after a trip was reset; 'ballastctl resume BESS_01' starts it`; the strongest reason alone.
    private static func hold(_ unit: UnitStatus) -> String? {
        guard let holds = unit.holds, !holds.isEmpty else { return nil }
        let why =
            if holds.contains("repeated_restarts") {
                "the third unplanned restart in ten minutes"
            } else if holds.contains("after_reset") {
                "a trip was reset"
            } else if holds.contains("after_interlock") {
                "an interlock asked for a person's look"
            } else if holds.contains("after_restart") {
                "an unplanned restart"
            } else {
                "its time out of service has ended"
            }
        return "held after \(why); 'ballastctl resume \(unit.id)' starts it"
    }

    private static func precharge(_ contactors: String?) -> String {
        switch contactors {
        case "unchecked", "proving": "it waits to see the DC side without voltage"
        case "opening", "checking": "its contactors open first, and prove it"
        case "pausing": "the DC side did not charge; it waits to try again"
        default: "its contactors close"
        }
    }

    private static func stop(_ site: SiteStatus) -> String {
        "the site is stopped, \(site.stopped_by ?? "by an operator")"
    }

    /// `site north: −100.0 kW; schedule asked −60.0; droop −50.0; units allow no more than −100.0`.
    public static func site(_ site: SiteStatus) -> String {
        var parts = ["site \(site.site): \(signed(site.setpoint_kw)) kW"]
        let person = site.base_point_words.map { " (\($0))" } ?? ""
        parts.append("\(site.base_point_by)\(person) asked \(signed(site.base_point_kw))")
        let (energy, shift) = (site.grid?.energy_kw ?? 0, site.grid?.event_shift_kw ?? 0)
        if isSome(energy) { parts.append("energy management or reserve changes that by \(signed(energy))") }
        if isSome(shift) {
            parts.append("the frequency event holds the power it began with, \(signed(shift)) away from that")
        }
        if site.frequency_hz == nil {
            parts.append("no fresh frequency")
        } else if isSome(site.response_kw) {
            parts.append("droop \(signed(site.response_kw))")
        }
        let wanted = site.base_point_kw + energy + shift + site.response_kw
        if isSome(site.target_kw - wanted) { parts.append("the ramp is at \(signed(site.target_kw))") }
        if site.stopped { parts.append(stop(site)) }
        if let grid = site.grid?.waits_for { parts.append("no power before the grid is entered: \(grid)") }
        if isSome(site.setpoint_kw - site.target_kw) {
            let running = site.units.filter { $0.mode == "running" }
            let who =
                running.contains { $0.limited_by == "site_limit" }
                ? "the site's limit at the meter allows"
                : "\(running.count) of \(site.units.count) units in service allow"
            parts.append("\(who) no more than \(signed(site.setpoint_kw))")
            if running.contains(where: { $0.limited_by == "site_limit" }), let doubt = doubt(site) {
                parts.append(doubt)
            }
        }
        return parts.joined(separator: "; ")
    }

    /// Why the meter widens no limit; `nil` where it is proven.
    private static func doubt(_ site: SiteStatus) -> String? {
        guard let meter = site.grid?.meter, meter != "good" else { return nil }
        let why = meter == "unproven" ? "is not proven yet" : "is called \(meter)"
        return "the meter \(why): it widens no limit until it has shown a step of the units' power"
    }

    /// Why a running unit does not give what it was asked for; `nil` where it does.
    private static func limit(_ unit: UnitStatus) -> String? {
        let isCharge = unit.asked_kw < 0
        let bound = isCharge ? unit.charge_limit_kw : unit.discharge_limit_kw
        let cause = unit.limited_by
        guard cause != "none" else {
            let more = unit.setpoint_kw - unit.asked_kw
            return isSome(more) ? "\(signed(more)) taken over from other units" : nil
        }
        let direction = isCharge ? "charge" : "discharge"
        // Sharing goes by the windows: a limit above the setpoint lowers the unit's part too.
        let part = isSome(bound - unit.setpoint_kw) ? ", and its part of the site's power with it" : ""
        let result = "\(direction) to \(signed(bound))\(part)"
        if let seconds = unit.taken_back_for_s, let rest = rest(cause) {
            return "\(rest): it gets nothing for another \(left(seconds))"
        }
        switch cause {
        case "rating": return "its rating limits \(result)"
        case "bms_current_limit": return "the BMS's current limit holds \(result)"
        case "bms_permission": return "the BMS forbids \(direction)"
        case "state_of_charge":
            return "state of charge\(measured(unit.soc_percent, " %")) limits \(result)"
        case "site_limit":
            return "the site's limit at the meter holds \(direction) to \(signed(unit.setpoint_kw))"
        case "sharing": return "other units take part of it, for the balance of charge or to lose less"
        case "entry_ramp":
            return "it has just entered service: others keep its part while the ramp takes it over"
        case "not_in_service": return "it is not in service"
        case "contactors_open": return "its contactors are not closed"
        default:
            if cause.hasPrefix("grid_") {
                return "the grid (\(words(cause.dropFirst(5)))) holds \(result)"
            }
            if cause.hasPrefix("no_") { return "no fresh \(words(cause.dropFirst(3))): no \(direction)" }
            return "\(evidence(cause, unit)) derates \(result)"
        }
    }

    /// Why power was taken back for a while.
    private static func rest(_ cause: String) -> String? {
        switch cause {
        case "site_limit":
            "more flows at the meter than is agreed, and its inverter does not show what it gives"
        case "bms_current_limit": "its battery says that more flows than was asked for or is shown"
        default: nil
        }
    }

    /// The measurement behind an interlock: `cell temperature 46 °C`.
    private static func evidence(_ interlock: String, _ unit: UnitStatus) -> String {
        switch interlock {
        case "cell_overvoltage": "cell voltage\(measured(unit.cell_voltage_max_v, " V"))"
        case "cell_undervoltage": "cell voltage\(measured(unit.cell_voltage_min_v, " V"))"
        case "cell_overtemperature_charge", "cell_overtemperature_discharge":
            "cell temperature\(measured(unit.cell_temperature_max_c, " °C"))"
        case "cell_undertemperature_charge", "cell_undertemperature_discharge":
            "cell temperature\(measured(unit.cell_temperature_min_c, " °C"))"
        case "state_of_charge_high", "state_of_charge_low":
            "state of charge\(measured(unit.soc_percent, " %"))"
        case "pack_overvoltage", "pack_undervoltage":
            "pack voltage\(measured(unit.pack_voltage_v, " V"))"
        default: words(interlock)
        }
    }

    /// Everybody who has a part in what the site wants.
    private static func asker(_ site: SiteStatus) -> String {
        var names: [String] = []
        if isSome(site.base_point_kw) { names.append(site.base_point_by) }
        if isSome(site.grid?.energy_kw ?? 0) { names.append("energy management") }
        if isSome(site.grid?.event_shift_kw ?? 0) { names.append("the frequency event's base") }
        if isSome(site.response_kw) { names.append("droop") }
        guard let last = names.popLast() else { return site.base_point_by }
        return names.isEmpty ? last : "\(names.joined(separator: ", ")) and \(last)"
    }

    private static func measured(_ value: Double?, _ unit: String) -> String {
        value.map { " \(plain($0))\(unit)" } ?? ""
    }

    private static func words(_ name: some StringProtocol) -> String {
        name.split(separator: "_").joined(separator: " ")
    }

    /// Anything that one decimal shows.
    private static func isSome(_ kilowatts: Double) -> Bool { kilowatts.magnitude >= 0.05 }

    /// One decimal and a true minus; zero has no sign.
    static func signed(_ value: Double) -> String {
        let tenths = (value * 10).rounded()
        return (tenths < 0 ? "−" : "") + "\(tenths.magnitude / 10)"
    }

    /// As few decimals as it needs, three at most.
    static func plain(_ value: Double) -> String {
        let text = "\((value * 1_000).rounded() / 1_000)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
