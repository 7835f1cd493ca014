import ConfigText
import Interlocks
import Plant
import PowerDispatch
import Quantities

/// Configurations in which every value is in its range and the site is dangerous all the same.
struct DangerousSite {
    private let site: SiteConfig
    private let reader: ConfigReader
    private var isReal: Bool { site.mode.rules.protection != .ranges }

    static func check(_ site: SiteConfig, _ reader: ConfigReader) {
        // One wrong value is told by itself.
        guard reader.isClean else { return }
        let danger = DangerousSite(site: site, reader: reader)
        for (index, unit) in site.units.enumerated() { danger.check(unit, index) }
        danger.checkNames()
        danger.checkRows()
        danger.checkGrid()
        danger.checkLimits()
        danger.checkPlace()
        if site.mode.rules.isWhole { danger.checkEmergencyStops() }
    }

    private func refuse(_ key: String, _ what: String) { reader.refuse(key, what) }

    /// Refused unless somebody has given their name to it.
    private func refuse(_ key: String, _ what: String, unless risk: Risk) {
        guard !site.accepted.contains(where: { $0.risk == risk }) else { return }
        reader.refuse(
            key, "\(what); whoever answers for it says so: accept: {\(risk.rawValue): {by: …, reason: …}}")
    }

    // MARK: Units

    private func check(_ unit: UnitConfig, _ index: Int) {
        func refuse(_ what: String) {
            reader.refuse("bess_units", element: index, "unit \(unit.id): \(what)")
        }
        let (power, energy) = (unit.maxPower.kilowatts, unit.capacity.value / 1_000)
        let rate = power / energy
        if rate > 10 {
            refuse(
                "\(shown(power)) kW of \(shown(energy)) kWh are \(shown(rate)) C, and no battery stands 10 C")
        }
        if rate < 0.005 {
            refuse(
                "\(shown(energy)) kWh at \(shown(power)) kW would last \(shown(1 / rate)) h: is capacity_kwh in Wh?"
            )
        }
        let (low, high) = (unit.minStateOfCharge.percent, unit.maxStateOfCharge.percent)
        if high <= 1 || low > 0 && low < 1 {
            refuse("min_soc_percent \(shown(low)) and max_soc_percent \(shown(high)) are percent, not shares")
        }
        if unit.battery.frozenSamples == 0 {
            refuse("frozen_samples: 0 takes a battery that repeats itself for one that measures")
        }
        let patience = unit.battery.period * (unit.battery.frozenSamples ?? 0)
        if isReal && patience > Self.frozenLimit {
            refuse(
                "frozen_samples \(unit.battery.frozenSamples ?? 0) takes a battery that repeats itself for"
                    + " \(Int(patience.seconds)) s for one that measures (at most"
                    + " \(Int(Self.frozenLimit.seconds)) s)")
        }
        if let contactors = unit.contactors { check(contactors, refuse) }
        if isReal, let module = unit.ioModule { check(module, beside: unit.reversion, refuse) }
    }

    private func checkNames() {
        var seen: [String: String] = [:]
        for (index, unit) in site.units.enumerated() {
            if let other = seen.updateValue(unit.id, forKey: unit.id.lowercased()) {
                reader.refuse(
                    "bess_units", element: index,
                    "unit \(unit.id) differs from \(other) by capitals alone: people would take one for the other"
                )
            }
            for case .tcp(let host, _)? in [unit.inverter.endpoint, unit.ioModule?.modbus.endpoint]
            where Self.isNobody(host) {
                reader.refuse(
                    "bess_units", element: index, "unit \(unit.id): \(host) is the address of no device")
            }
        }
        if case .tcp(let host, _)? = site.gridMeter?.modbus.endpoint, Self.isNobody(host) {
            refuse("grid_meter", "\(host) is the address of no device")
        }
    }

    /// This host on this network, a multicast or reserved address (RFC 1122, 3.2.1.3; RFC 5771).
    private static func isNobody(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard parts.count == 4, !parts.contains(nil), let first = parts[0] else { return false }
        return first == 0 || first >= 224
    }

    /// At full charge a battery's values may well stand still for two minutes; for five nobody measures.
    private static let frozenLimit = Duration.seconds(300)
    /// A resistor passes ten or twenty amperes; the figure is ours.
    private static let prechargeCurrentLimit = Amperes(50)

    private func check(_ module: IOModuleConfig, beside reversion: Duration, _ refuse: (String) -> Void) {
        guard let watchdog = module.watchdog, watchdog > reversion * 2 + .seconds(60) else { return }
        refuse(
            "io_module.watchdog_ms \(Int(watchdog.milliseconds)): coils would stay for that long after the"
                + " gateway's end (at most a minute and twice reversion_s)")
    }

    private func check(_ contactors: ContactorSettings, _ refuse: (String) -> Void) {
        if contactors.zeroCurrent > Amperes(10) {
            refuse("zero_current_a \(shown(contactors.zeroCurrent.value)): a contact would part that current")
        }
        if isReal && contactors.prechargeCurrentMax > Self.prechargeCurrentLimit {
            refuse(
                "precharge_current_max_a \(shown(contactors.prechargeCurrentMax.value)): a short circuit behind"
                    + " the resistor would not be seen")
        }
        if isReal && contactors.attempts > 1 && contactors.prechargeLimit > contactors.pause * 2 {
            refuse(
                "precharge_limit_ms \(Int(contactors.prechargeLimit.milliseconds)) is more than twice"
                    + " precharge_pause_ms: the resistor is hot before its next attempt")
        }
        if contactors.attempts > 1 && contactors.pause < .milliseconds(500) {
            refuse(
                "precharge_pause_ms \(Int(contactors.pause.milliseconds)): the resistor never cools between attempts"
            )
        }
        if contactors.openingLimit < .milliseconds(1_000) {
            refuse(
                "open_under_load_after_ms \(Int(contactors.openingLimit.milliseconds)): no inverter is at zero"
                    + " by then")
        }
    }

    // MARK: Rows

    /// Rows without an absolute limit that no site may be without.
    private static let needed: [InterlockID] = [
        .thermalRunaway, .insulation, .inverterFault, .packOvervoltage,
    ]

    private func checkRows() {
        let rules = site.interlocks.rules
        let shipped = site.interlocks.shipped
        func row(_ id: InterlockID) -> InterlockRule? { rules.first { $0.id == id } }
        if isReal {
            for id in Self.needed where row(id)?.trip == nil {
                refuse("interlocks", "row \(id.word) is off: no site runs without it")
            }
            if row(.cellSpread)?.trip == nil {
                refuse("interlocks", "row cell_spread is off", unless: .cellSpread)
            }
        }
        if isReal { WeakRows(site: site) { refuse("interlocks", $0) }.check() }
        for id in [InterlockID.smoke, .gas, .breaker, .door] where row(id)?.trip == nil {
            guard let signal = shipped.rule(id)?.signal, site.units.contains(where: { $0.isWired(signal) })
            else { continue }
            refuse("interlocks", "row \(id.word) is off, and a unit has the input \(id.word) wired")
        }
        if let runaway = row(.thermalRunaway), runaway.reset != .service {
            refuse("interlocks", "row thermal_runaway: reset by \(runaway.resetWord), only service may")
        }
        if let trip = row(.cellOvervoltage)?.trip, let law = shipped.rule(.cellOvervoltage)?.trip,
            trip > law + 0.05
        {
            refuse(
                "interlocks",
                "row cell_overvoltage trips at \(shown(trip)) V, and \(site.interlocks.chemistry.rawValue) cells end"
                    + " at \(shown(law)) V", unless: .cellOvervoltage)
        }
    }

    // MARK: Grid

    /// What a low-voltage grid has, between phases or to neutral, in V.
    private static let lowVoltages: [Double] = [
        100, 110, 115, 120, 127, 200, 208, 220, 230, 240, 277, 347, 380, 398, 400, 415, 440, 460, 480, 500,
        525, 575, 600, 690, 800, 1_000,
    ]

    private func checkGrid() {
        let grid = site.gridIntegration
        if grid.frequencyStale > .seconds(2) {
            refuse(
                "grid_integration",
                "frequency_stale_ms \(Int(grid.frequencyStale.milliseconds)): a response to a frequency that old"
                    + " meets another grid (allowed: 40 … 2000 ms)")
        }
        guard let supervision = grid.supervision else { return }
        let voltages = [
            ("nominal_voltage_v", supervision.nominalVoltage),
            ("inverter_voltage_v", supervision.inverterVoltage),
        ]
        for (key, voltage) in voltages {
            guard let voltage = voltage?.value, voltage < 1_000 else { continue }
            guard !Self.lowVoltages.contains(where: { abs(voltage - $0) <= $0 * 0.02 }) else { continue }
            refuse(
                "grid_integration",
                "supervision.\(key) \(shown(voltage)): no grid has that voltage, between phases or to neutral"
            )
        }
        if let poll = site.gridMeter?.modbus.poll, poll > .seconds(1) {
            refuse(
                "grid_meter",
                "poll_ms \(Int(poll.milliseconds)) with supervision: an excursion is over before it is seen",
                unless: .slowMeter)
        }
    }

    // MARK: Limits

    private func checkLimits() {
        guard let limits = site.limits, let imports = limits.imports, let exports = limits.exports
        else { return }
        let most = max(imports, exports)
        if site.ratedPower > most * 10 {
            refuse(
                "site",
                "the units' \(shown(site.ratedPower.kilowatts)) kW are more than ten times what the site may import or"
                    + " export, \(shown(most.kilowatts)) kW")
        }
        if isReal && limits.loadMax == nil {
            refuse(
                "site",
                "site_load_max_kw is left out: without the meter the limits would hold only where nothing else draws",
                unless: .siteLoad)
        }
    }

    // MARK: Place

    private func checkPlace() {
        let directory = site.paths.stateDirectory
        if isReal {
            let place = Self.place(directory)
            let temporary = [
                "/tmp", "/var/tmp", "/run", "/var/run", "/var/lock", "/dev", "/proc", "/sys",
            ]
            if !directory.hasPrefix("/") {
                refuse(
                    "paths", "state_directory \(directory) is relative: latched trips would follow the caller"
                )
            } else if place == "/" {
                refuse("paths", "state_directory \(directory) is the root of the file system")
            } else if temporary.contains(where: { place == $0 || place.hasPrefix($0 + "/") }) {
                refuse(
                    "paths",
                    "state_directory \(directory) does not outlive a restart: latched trips would be lost")
            }
        }
    }

    /// The path without its dots.
    private static func place(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    // MARK: Emergency stop

    private func checkEmergencyStops() {
        for (index, unit) in site.units.enumerated() {
            let isWired = unit.ioModule?.inputs.contains { $0.name == .emergencyStop } ?? false
            if !isWired {
                reader.refuse(
                    "bess_units", element: index,
                    "unit \(unit.id): no input emergency_stop (mode production asks for one at every unit)")
            }
        }
    }

    private func shown(_ value: Double) -> String { ConfigWording.shown((value * 1_000).rounded() / 1_000) }
}

extension SiteConfig {
    /// Devices that a simulation would drive though nobody simulates them: machines elsewhere, serial ports
    /// and CAN interfaces of this one. What only reads or simulates such a file may have it; a daemon does
    /// not start with it.
    public var realDevices: [String] {
        guard mode.rules.protection == .ranges else { return [] }
        var devices: [String] = []
        func add(_ modbus: ModbusConfig?) {
            switch modbus?.endpoint {
            case nil: break
            case .tcp(let host, _): if !Self.isHere(host) { devices.append(host) }
            case .serial(let port, _): if Self.isPort(port) { devices.append(port) }
            }
        }
        add(gridMeter?.modbus)
        for unit in units {
            add(unit.inverter)
            add(unit.ioModule?.modbus)
            switch unit.battery.transport {
            case .cannelloni(let host, _), .cannelloniListen(let host, _):
                if !Self.isHere(host) { devices.append(host) }
            case .socketCAN(let name): if !name.hasPrefix("vcan") { devices.append(name) }
            case .slcan(let port): if Self.isPort(port) { devices.append(port) }
            }
        }
        return devices
    }

    private static func isHere(_ host: String) -> Bool { host == "localhost" || host.hasPrefix("127.") }

    /// Pseudo-terminals are no devices, wherever a link to them stands.
    private static func isPort(_ path: String) -> Bool {
        path.hasPrefix("/dev/") && !path.hasPrefix("/dev/pts/")
    }
}
