import SiteConfig

/// What a site is made of, told once at each start: the cause-and-effect matrix with the slowest unit of each
/// row, and how each unit is wired. Less than `--check --json` says, so that it fits a record at any size of
/// a site.
extension InterlockMatrix {
    /// - Parameters:
    ///   - now: CLOCK_MONOTONIC.
    ///   - wall: UTC.
    func record(monotonicMilliseconds now: Int64, wallMilliseconds wall: Int64) -> [UInt8] {
        let config = site.config
        let text = JSONValue.object([
            ("v", .number(1)), ("kind", .text("site")), ("mono_ms", .number(Double(now))),
            ("t_ms", .number(Double(wall))), ("mode", .text(config.mode.rawValue)),
            ("site", .text(config.siteID)), ("table", .text(title)), ("digest", .text(site.digest)),
            ("not_in_force", .list(notInForce.map { .text($0) })),
            ("units", .list(config.units.map { Self.wiring($0) })),
            ("rows", .list(rows.map { row($0) })),
        ]).text
        return Array(text.utf8)
    }

    private func row(_ row: Row) -> JSONValue {
        let (rule, slowest) = (row.rule, row.slowest)
        let wired = site.config.units.filter { $0.isWired(rule.signal) }.map { JSONValue.text($0.id) }
        return .object([
            ("id", .text(rule.name)), ("signal", .text(rule.signal.word)), ("unit", .text(row.unit.symbol)),
            ("relation", .text(row.relation)), ("warn", .number(rule.warn)),
            ("derate_from", .number(rule.derate?.from)), ("derate_to", .number(rule.derate?.to)),
            ("trip", .number(rule.trip)),
            ("debounce_ms", .number(rule.trip == nil ? nil : rule.debounce.milliseconds)),
            ("closes", .text(row.effect)), ("action", .text(row.action)), ("reset", .text(rule.resetWord)),
            ("mandatory", .flag(rule.floor != nil)), ("wired", .list(wired)),
            ("slowest_ms", .number(slowest?.total.milliseconds)),
            ("slowest_limit_ms", .number(slowest?.limit?.milliseconds)),
            ("slowest_unit", .text(slowest?.unit ?? "")),
        ])
    }

    private static func wiring(_ unit: UnitConfig) -> JSONValue {
        let battery =
            "\(unit.battery.transport)"
            + (unit.battery.profile.map { ", profile \($0.file)" } ?? ", built-in profile")
        var parts: [JSONValue] = []
        if let module = unit.ioModule {
            parts = module.inputs.map { input in
                let circuit = input.isNormallyClosed ? "normally closed" : "normally open"
                return .text("input \(input.number): \(input.name.word), \(circuit)")
            }
            parts += module.coils.map { .text("coil \($0.number): \($0.purpose.word)") }
        }
        return .object([
            ("id", .text(unit.id)), ("battery", .text(battery)), ("inverter", .text(device(unit.inverter))),
            ("io_module", .text(unit.ioModule.map { device($0.modbus) } ?? "")), ("wires", .list(parts)),
            ("contactors", .text(unit.contactors == nil ? "the battery's own" : "driven by this gateway")),
            ("capacity_kwh", .number(unit.capacity.value / 1_000)),
            ("rating_kw", .number(unit.maxPower.kilowatts)),
        ])
    }

    private static func device(_ modbus: ModbusConfig) -> String {
        "modbus \(modbus.endpoint.name), unit \(modbus.unitID)"
            + (modbus.driver.map { ", driver \($0)" } ?? "")
    }
}
