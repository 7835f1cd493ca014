import ControlSocket
import SiteRecords

/// The status as columns: which figure of it is which channel.
extension SiteValues {
    init(_ status: SiteStatus) {
        let grid = status.grid ?? GridStatus()
        let own: [String: ChannelValue] = [
            "frequency_hz": .of(status.frequency_hz), "base_point_kw": .number(status.base_point_kw),
            "response_kw": .number(status.response_kw), "target_kw": .number(status.target_kw),
            "setpoint_kw": .number(status.setpoint_kw), "meter_power_kw": .of(status.meter_power_kw),
            "site_power_kw": .of(status.site_power_kw), "grid.energy_kw": .number(grid.energy_kw),
            "grid.event_shift_kw": .number(grid.event_shift_kw),
            "grid.allowed_percent": .number(grid.allowed_percent),
            "base_point_by": .name(status.base_point_by), "stopped": .flag(status.stopped),
            "latches_saved": .flag(status.latches_saved), "grid.frequency_source": .of(grid.frequency_source),
            "grid.frequency_health": .name(grid.frequency_health), "grid.state": .of(grid.state),
            "grid.cause": .of(grid.cause), "grid.meter": .of(grid.meter), "realtime": .name(status.realtime),
            "threads_still": .list(status.threads_still ?? []), "accepted": .list(status.accepted ?? []),
            "links": .list(
                status.links.map { "\($0.name) \($0.counters["up"] == 0 ? "down" : "up")" }),
        ]
        let cycle = (
            name: "cycle", counters: [(name: "cycles", count: status.cycle), ("overruns", status.overruns)]
        )
        let links = status.links.map { link in
            (
                name: link.name,
                counters: link.counters.sorted { $0.key < $1.key }.map { (name: $0.key, count: $0.value) }
            )
        }
        self.init(
            site: Self.numbered(own, Channel.ofSite), units: status.units.map { Unit($0) },
            counters: [cycle] + links)
    }

    /// By the channels' numbers.
    fileprivate static func numbered(
        _ values: [String: ChannelValue], _ channels: [Channel]
    ) -> [Int: ChannelValue] {
        var result: [Int: ChannelValue] = [:]
        for channel in channels { result[channel.number] = values[channel.key] }
        return result
    }
}

extension SiteValues.Unit {
    fileprivate init(_ unit: UnitStatus) {
        let missing = (unit.missing ?? []).map { "\($0.device) \($0.reading ?? "silent") \($0.fault)" }
        let inputs = unit.inputs.map { "\($0.name) \($0.active.map { $0 ? "1" : "0" } ?? $0.fault ?? "?")" }
        let values: [String: ChannelValue] = [
            "mode": .name(unit.mode), "power_kw": .of(unit.power_kw),
            "setpoint_kw": .number(unit.setpoint_kw),
            "asked_kw": .number(unit.asked_kw), "override_kw": .of(unit.override_kw),
            "charge_limit_kw": .number(unit.charge_limit_kw),
            "discharge_limit_kw": .number(unit.discharge_limit_kw), "rating_kw": .number(unit.rating_kw),
            "soc_percent": .of(unit.soc_percent), "soh_percent": .of(unit.soh_percent),
            "cell_voltage_min_v": .of(unit.cell_voltage_min_v),
            "cell_voltage_max_v": .of(unit.cell_voltage_max_v),
            "cell_temperature_min_c": .of(unit.cell_temperature_min_c),
            "cell_temperature_max_c": .of(unit.cell_temperature_max_c),
            "pack_voltage_v": .of(unit.pack_voltage_v), "pack_current_a": .of(unit.pack_current_a),
            "limited_by": .name(unit.limited_by), "charge_limited_by": .name(unit.charge_limited_by),
            "discharge_limited_by": .name(unit.discharge_limited_by), "trips": .list(unit.trips),
            "warnings": .list(unit.warnings), "contactors": .of(unit.contactors),
            "holds": .list(unit.holds ?? []), "locks": .list((unit.locks ?? []).map(\.text)),
            "missing": .list(missing), "reversion": .of(unit.reversion),
            "output_watchdog": .of(unit.output_watchdog), "inputs": .list(inputs),
            "dangers": .list((unit.dangers ?? []).map { "\($0.what): \($0.instruction)" }),
            "begun_by": .of(unit.begun_by),
        ]
        self.init(
            id: unit.id, rating: unit.rating_kw, values: SiteValues.numbered(values, Channel.ofUnit))
    }
}

extension ChannelValue {
    fileprivate static func of(_ value: Double?) -> ChannelValue { value.map { .number($0) } ?? .unknown }
    fileprivate static func of(_ value: String?) -> ChannelValue { value.map { .name($0) } ?? .unknown }
}
