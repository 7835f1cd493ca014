import ControlSocket
import IEC104

/// What the table's points show of a site's status.
struct SiteValues {
    /// What the outstation itself knows.
    struct Own {
        var accepted: Double?
        var isEnabled: Bool
        /// 0 … 32767.
        var heartbeat: Int
    }

    /// - Parameter status: `nil` where it is too old: then nobody knows anything of the site.
    static func values(of table: PointTable, _ status: SiteStatus?, _ own: Own) -> [PointValue] {
        table.points.map { point in
            if point.source == .isEnabled { return .flag(own.isEnabled) }
            guard let status else { return .unknown }
            return point.source.isOfUnit
                ? unit(point.source, status.units.first { $0.id == point.unit })
                : site(point.source, status, own)
        }
    }

    private static func unit(_ source: PointSource, _ unit: UnitStatus?) -> PointValue {
        guard let unit else { return .unknown }
        switch source {
        case .unitPower: return number(unit.power_kw)
        case .unitSetpoint: return .number(unit.setpoint_kw)
        case .unitCharge: return number(unit.soc_percent)
        case .unitRunning: return .flag(unit.mode == "running")
        case .unitTripped: return .flag(unit.mode == "tripped")
        case .unitImport: return counter(unit.import_wh, isMeasured: unit.power_kw != nil)
        case .unitExport: return counter(unit.export_wh, isMeasured: unit.power_kw != nil)
        case .power, .setpoint, .target, .basePoint, .response, .acceptedSetpoint, .reserveUp, .reserveDown,
            .dischargeLimit, .chargeLimit, .stateOfCharge, .frequency, .unitsRunning, .unitsTripped,
            .inService, .isStopped, .hasTrip, .hasWarning, .isSteered, .isEnabled, .gridGood, .heartbeat,
            .importEnergy, .exportEnergy:
            return .unknown
        }
    }

    private static func site(_ source: PointSource, _ status: SiteStatus, _ own: Own) -> PointValue {
        let running = status.units.filter { $0.mode == "running" }
        let discharge = running.reduce(0) { $0 + $1.discharge_limit_kw }
        let charge = running.reduce(0) { $0 + $1.charge_limit_kw }
        switch source {
        case .power: return number(status.meter_power_kw ?? status.site_power_kw)
        case .setpoint: return .number(status.setpoint_kw)
        case .target: return .number(status.target_kw)
        case .basePoint: return .number(status.base_point_kw)
        case .response: return .number(status.response_kw)
        case .acceptedSetpoint: return number(own.accepted)
        case .reserveUp: return .number(max(0, discharge - status.setpoint_kw))
        case .reserveDown: return .number(max(0, status.setpoint_kw - charge))
        case .dischargeLimit: return .number(discharge)
        case .chargeLimit: return .number(charge)
        case .stateOfCharge: return stateOfCharge(status.units)
        case .frequency: return number(status.frequency_hz)
        case .unitsRunning: return .number(Double(running.count))
        case .unitsTripped: return .number(Double(status.units.count { $0.mode == "tripped" }))
        case .inService: return .flag(!status.stopped && !running.isEmpty)
        case .isStopped: return .flag(status.stopped)
        case .hasTrip: return .flag(status.units.contains { !$0.trips.isEmpty })
        case .hasWarning: return .flag(status.units.contains { !$0.warnings.isEmpty })
        case .isSteered: return .flag(status.base_point_by == "agc")
        case .isEnabled: return .flag(own.isEnabled)
        case .gridGood: return .flag(status.grid?.frequency_health == "good")
        case .heartbeat: return .number(Double(own.heartbeat))
        case .importEnergy: return counter(status.import_wh, isMeasured: status.meter_power_kw != nil)
        case .exportEnergy: return counter(status.export_wh, isMeasured: status.meter_power_kw != nil)
        case .unitPower, .unitSetpoint, .unitCharge, .unitRunning, .unitTripped, .unitImport, .unitExport:
            return .unknown
        }
    }

    /// Of all units by their rating, or of none: a mean without the one that is silent would lie.
    private static func stateOfCharge(_ units: [UnitStatus]) -> PointValue {
        let charges = units.compactMap(\.soc_percent)
        let rating = units.reduce(0) { $0 + $1.rating_kw }
        guard !units.isEmpty, charges.count == units.count, rating > 0 else { return .unknown }
        return .number(zip(charges, units).reduce(0) { $0 + $1.0 * $1.1.rating_kw } / rating)
    }

    /// What flows while nobody measures is not in the counter, which is not good then.
    private static func counter(_ wattHours: Int64?, isMeasured: Bool) -> PointValue {
        isMeasured ? number(wattHours.map(Double.init)) : .unknown
    }

    private static func number(_ value: Double?) -> PointValue { value.map { .number($0) } ?? .unknown }
}
