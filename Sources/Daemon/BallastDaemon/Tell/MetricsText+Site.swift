import ControlSocket
import LinuxIO

/// What a site is worth to those who count on it: who can serve, how much, and what may still be lost.
extension MetricsText {
    static let siteHelp: [String: String] = [
        "ballast_build_info": "1, with the version of the programs.",
        "ballast_site_info": "1, with the site's name and mode.",
        "ballast_cycles_total": "Control cycles since the start.",
        "ballast_threads_still": "Threads that stand still though control goes on.",
        "ballast_units": "Units of the site.",
        "ballast_units_available": "Units that serve now: running, no trip, no lock, no hold.",
        "ballast_available_charge_watts": "Most that the units in service may charge now; a magnitude.",
        "ballast_available_discharge_watts": "Most that the units in service may discharge now.",
        "ballast_redundancy_units":
            "Largest units that may be lost while those left still bear the setpoint of now.",
        "ballast_rating_watts": "The units' ratings together.",
        "ballast_frequency_response_watts": "Droop's part of the power asked for; positive = discharge.",
        "ballast_frequency_active": "1 while the frequency asks for power.",
        "ballast_frequency_good": "1 while a fresh frequency is used that no source disputes.",
        "ballast_frequency_rate_hertz_per_second": "Rate of change of frequency.",
        "ballast_grid_allowed_ratio": "Share of the power that the grid's state allows, 0 to 1.",
        "ballast_meter_power_watts": "At the point of connection; positive = injected.",
        "ballast_unit_available": "1 while the unit serves: running, no trip, no lock, no hold.",
        "ballast_unit_mode": "1 for the mode in which the unit is.",
        "ballast_unit_rating_watts": "The most that the unit is configured for, either way.",
        "ballast_unit_charge_limit_watts": "Most that it may charge now; a magnitude.",
        "ballast_unit_discharge_limit_watts": "Most that it may discharge now.",
        "ballast_unit_pack_voltage_volts": "Voltage of the pack.",
        "ballast_unit_pack_current_amperes": "Current of the pack; positive = discharge.",
        "ballast_unit_worn_openings_total": "How often its contacts have parted more than they are made for.",
        "ballast_unit_people_in_danger":
            "1 while a trip stands that endangers people: fire, gas, smoke, runaway.",
        "ballast_unit_reversion_proven":
            "1 where its inverter has proven on site that it goes to zero by itself.",
    ]

    /// What serves now: a unit that could serve if something else ended does not.
    static func isAvailable(_ unit: UnitStatus) -> Bool {
        unit.mode == "running" && unit.trips.isEmpty && unit.locks == nil && (unit.holds ?? []).isEmpty
    }

    /// How many of the units that bear most may be lost, and the rest still bears what is asked for now.
    static func redundancy(_ status: SiteStatus) -> Int {
        let asked = status.setpoint_kw
        let windows = status.units.filter(isAvailable).map { unit in
            asked < 0 ? -unit.charge_limit_kw : unit.discharge_limit_kw
        }.sorted(by: >)
        var left = windows.reduce(0, +)
        var lost = 0
        for window in windows {
            left -= window
            // What one decimal of a kilowatt does not show is no loss.
            guard left + 0.05 >= asked.magnitude, lost + 1 < windows.count else { break }
            lost += 1
        }
        return lost
    }

    static func addSite(_ status: SiteStatus, to page: inout Page) {
        page.add("ballast_build_info", "gauge", [([("version", Product.version)], 1)])
        page.add("ballast_site_info", "gauge", [([("site", status.site), ("mode", status.mode)], 1)])
        page.add("ballast_cycles_total", "counter", [([], Double(status.cycle))])
        page.add("ballast_threads_still", "gauge", [([], Double(status.threads_still?.count ?? 0))])
        let serving = status.units.filter(isAvailable)
        func watts(_ kilowatts: Double) -> Double { kilowatts * 1_000 }
        page.add("ballast_units", "gauge", [([], Double(status.units.count))])
        page.add("ballast_units_available", "gauge", [([], Double(serving.count))])
        page.add(
            "ballast_available_charge_watts", "gauge",
            [([], watts(serving.reduce(0) { $0 - $1.charge_limit_kw }))])
        page.add(
            "ballast_available_discharge_watts", "gauge",
            [([], watts(serving.reduce(0) { $0 + $1.discharge_limit_kw }))])
        page.add("ballast_redundancy_units", "gauge", [([], Double(redundancy(status)))])
        page.add(
            "ballast_rating_watts", "gauge", [([], watts(status.units.reduce(0) { $0 + $1.rating_kw }))])
        page.add("ballast_frequency_response_watts", "gauge", [([], watts(status.response_kw))])
        page.add("ballast_frequency_active", "gauge", [([], status.response_kw.magnitude >= 0.001 ? 1 : 0)])
        page.add("ballast_meter_power_watts", "gauge", [([], status.meter_power_kw.map(watts))])
        if let grid = status.grid {
            page.add("ballast_frequency_good", "gauge", [([], grid.frequency_health == "good" ? 1 : 0)])
            page.add("ballast_frequency_rate_hertz_per_second", "gauge", [([], grid.rocof_hz_per_s)])
            page.add("ballast_grid_allowed_ratio", "gauge", [([], grid.allowed_percent / 100)])
        }
        addUnits(status, to: &page)
    }

    private static func addUnits(_ status: SiteStatus, to page: inout Page) {
        func units(_ name: String, _ type: String = "gauge", _ value: (UnitStatus) -> Double?) {
            page.add(name, type, status.units.map { ([("unit", $0.id)], value($0)) })
        }
        units("ballast_unit_available") { isAvailable($0) ? 1 : 0 }
        page.add(
            "ballast_unit_mode", "gauge", status.units.map { ([("unit", $0.id), ("mode", $0.mode)], 1) })
        units("ballast_unit_rating_watts") { $0.rating_kw * 1_000 }
        units("ballast_unit_charge_limit_watts") { -$0.charge_limit_kw * 1_000 }
        units("ballast_unit_discharge_limit_watts") { $0.discharge_limit_kw * 1_000 }
        units("ballast_unit_pack_voltage_volts") { $0.pack_voltage_v }
        units("ballast_unit_pack_current_amperes") { $0.pack_current_a }
        units("ballast_unit_worn_openings_total", "counter") { Double($0.worn_openings ?? 0) }
        units("ballast_unit_people_in_danger") { $0.dangers == nil ? 0 : 1 }
        units("ballast_unit_reversion_proven") { unit in
            unit.reversion.map { $0.hasPrefix("proven") ? 1 : 0 }
        }
    }
}
