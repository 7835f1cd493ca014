import ConfigText
import DeviceCodecs
import Quantities

/// What only the whole site can tell: whether it is safe in time, and what production asks of it.
enum SiteProtection {
    static func check(_ site: SiteConfig, _ reader: ConfigReader) {
        checkSignals(site, reader)
        InterlockPairs.check(site.interlocks.rules, reader)
        checkTimes(site, reader)
        checkWatchdogs(site, reader)
        checkLoads(site, reader)
        if site.mode.rules.isWhole {
            checkHosts(site, reader)
            checkWires(site, reader)
        }
    }

    /// A row that the site has made its own protects nothing where no unit has the input. The shipped rows
    /// wait for a wire.
    private static func checkSignals(_ site: SiteConfig, _ reader: ConfigReader) {
        let shipped = site.interlocks.shipped
        for rule in site.interlocks.rules where rule != shipped.rule(rule.id) {
            guard rule.signal.source == .input else { continue }
            if !site.units.contains(where: { $0.isWired(rule.signal) }) {
                reader.refuse("interlocks", "row \(rule.name): no unit has \(rule.signal.word)")
            }
        }
    }

    /// A broken wire must never read as "all is well".
    private static func checkWires(_ site: SiteConfig, _ reader: ConfigReader) {
        for (index, unit) in site.units.enumerated() {
            for input in unit.ioModule?.inputs ?? []
            where input.name.isNormallyClosedByDefault && !input.isNormallyClosed {
                reader.refuse(
                    "bess_units", element: index,
                    "unit \(unit.id), io_module, input \(input.name.word): normally_closed: false"
                        + " is not allowed in mode production (an open wire must read as evidence)")
            }
        }
    }

    /// When the gateway dies, contacts must not part the power that the inverter keeps until its reversion.
    private static func checkWatchdogs(_ site: SiteConfig, _ reader: ConfigReader) {
        for (index, unit) in site.units.enumerated() {
            if let limit = unit.battery.heartbeatLimit, limit < unit.reversionEnd + .seconds(1) {
                reader.refuse(
                    "bess_units", element: index,
                    "unit \(unit.id), bms, heartbeat_limit_ms: \(milliseconds(limit)) is less than"
                        + " \(milliseconds(unit.reversionEnd + .seconds(1))), reversion_s and response_ms and 1 s"
                        + " (its contacts would part the power that the inverter keeps for so long)")
            }
            guard let module = unit.ioModule, !module.coils.isEmpty, let watchdog = module.watchdog else {
                continue
            }
            // The module's last write may lie this long before the inverter's.
            let least = unit.reversionEnd + module.modbus.poll * 2 + module.modbus.timeout
            guard watchdog < least else { continue }
            reader.refuse(
                "bess_units", element: index,
                "unit \(unit.id), io_module, watchdog_ms: \(milliseconds(watchdog)) is less than"
                    + " \(milliseconds(least)), reversion_s and response_ms and two polls and one timeout"
                    + " (its contacts would part the power that the inverter keeps for so long)")
        }
    }

    private static func checkTimes(_ site: SiteConfig, _ reader: ConfigReader) {
        for time in site.timesToSafe where !time.isMet {
            guard let limit = time.limit else { continue }
            let bound = "more than \(milliseconds(limit)), half of its process safety time"
            let late =
                time.total > limit
                ? "zero power takes up to \(milliseconds(time.total)), \(bound) (\(time.explanation))"
                : "contacts are open after up to \(milliseconds(time.opening ?? .zero)), \(bound)"
            let index = site.units.firstIndex { $0.id == time.unit } ?? 0
            reader.refuse("bess_units", element: index, "unit \(time.unit), row \(time.rule): \(late)")
        }
    }

    /// A link that is asked for more than it has gives stale readings for ever.
    private static func checkLoads(_ site: SiteConfig, _ reader: ConfigReader) {
        // What a wrong value would cost tells nobody anything.
        guard reader.isClean else { return }
        // What a driver file asks of a line is known when that was read: then the same is asked again.
        let unread = (site.units.map(\.inverter) + [site.gridMeter?.modbus].compactMap { $0 })
            .filter { $0.driver != nil && $0.driverLoad == nil }.map(\.endpoint)
        for load in site.busLoads where !unread.contains(load.endpoint) {
            guard let refusal = load.refusal else { continue }
            reader.refuse(
                load.devices.first?.path.hasPrefix("grid") == true ? "grid_meter" : "bess_units", refusal)
        }
    }

    private static func milliseconds(_ time: Duration) -> String { "\(Int(time.milliseconds)) ms" }

    /// A name needs a name server: one more thing that can fail or lie between the controller and its plant.
    private static func checkHosts(_ site: SiteConfig, _ reader: ConfigReader) {
        var hosts: [(key: String, host: String)] = []
        func add(_ key: String, _ endpoint: ModbusEndpoint) {
            if case .tcp(let host, _) = endpoint { hosts.append((key, host)) }
        }
        if let meter = site.gridMeter { add("grid_meter", meter.modbus.endpoint) }
        for unit in site.units {
            add("bess_units", unit.inverter.endpoint)
            if let module = unit.ioModule { add("bess_units", module.modbus.endpoint) }
            switch unit.battery.transport {
            case .cannelloni(let host, _), .cannelloniListen(let host, _): hosts.append(("bess_units", host))
            case .socketCAN, .slcan: break
            }
        }
        for (key, host) in hosts where !isIPv4(host) {
            reader.refuse(
                key, "\(ConfigWording.quoted(host)) is a name (mode production takes IPv4 addresses only)")
        }
    }

    static func isIPv4(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        // Written back, to refuse `010` and `+1`.
        return parts.count == 4
            && parts.allSatisfy { part in UInt8(part).map { String($0) == part } ?? false }
    }
}
