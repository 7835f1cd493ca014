import ConfigText
import DeviceCodecs
import PowerDispatch
import Quantities

extension SiteConfig {
    /// The checked configuration that `tree` says, or everything that is wrong with it.
    ///
    /// - Parameters:
    ///   - file: the name that errors carry.
    ///   - sources: the shipped interlock table, and the one that the file names.
    public static func read(
        _ tree: ConfigNode, file: String, interlocks sources: InterlockSources
    ) throws(ConfigErrors) -> SiteConfig {
        var site = SiteReader(sources: sources)
        return try ConfigReader.read(tree, file: file) { site.site($0) }
    }
}

/// Reads the sections, and checks what no single key can tell.
struct SiteReader {
    private var unitPaths: [String: String] = [:]
    private var buses = BusRegister()
    private let sources: InterlockSources

    init(sources: InterlockSources) { self.sources = sources }

    mutating func site(_ reader: ConfigReader) -> SiteConfig? {
        let mode = reader.value(SiteKeys.mode)
        let hasMeter = reader.has("grid_meter")
        let meter = hasMeter ? reader.section("grid_meter") { self.meter($0) } : nil
        let units = reader.list("bess_units", count: 1...64) { unit($0, index: $1, mode: mode) }
        let control = reader.section("control") { Self.control($0, mode: mode, units: units) }
        let grid = reader.section("grid_integration") {
            Self.grid($0, mode: mode, hasMeter: hasMeter, units: units)
        }
        let (siteID, limits) = Self.identity(reader, mode: mode)
        let paths = reader.section("paths") { Self.paths($0) }
        let interlocks = reader.section("interlocks") {
            InterlocksReader(mode: mode, sources: sources).interlocks($0)
        }
        let sharing = Self.sharing(reader)
        let schedule = reader.value(SiteKeys.schedule)
        let server = Self.modbusServer(reader)
        let leases = Self.remoteLeases(reader)
        let centre = Self.controlCentre(reader)
        let accepted = AcceptedRisk.all(reader)
        let withoutEffect = SeedSections.check(reader)
        guard let mode, let control, let grid, let paths, let interlocks, let sharing else { return nil }
        let site = SiteConfig(
            siteID: siteID ?? units.first?.campusID ?? "site", mode: mode, control: control,
            gridIntegration: grid, gridMeter: meter, units: units, paths: paths, interlocks: interlocks,
            limits: limits, powerSharing: sharing, schedule: schedule, modbusServer: server,
            remoteLeases: leases, controlCentre: centre, accepted: accepted,
            withoutEffect: withoutEffect)
        if site.controlCentre != nil, site.modbusServer?.writers.isEmpty == false {
            reader.refuse("control_centre", "modbus_server has writers, which ask as the source AGC too")
        }
        SiteProtection.check(site, reader)
        DangerousSite.check(site, reader)
        Self.checkLosses(site, reader)
        return site
    }

    private static func identity(
        _ reader: ConfigReader, mode: SiteConfig.Mode?
    ) -> (String?, SiteLimits?) {
        typealias Keys = SiteKeys.Limits
        var id: String?
        let limits = reader.section("site") { reader -> SiteLimits? in
            id = reader.value(SiteKeys.siteID)
            let importLimit = reader.value(Keys.importLimit)
            let exportLimit = reader.value(Keys.exportLimit)
            let load = reader.value(Keys.siteLoadMax)
            let isAsked =
                mode?.rules.isWhole ?? false
                || ["import", "export"].contains { reader.has("\($0)_limit_kw") }
            for key in [Keys.importLimit, Keys.exportLimit] where isAsked && !reader.has(key.name) {
                let when = mode?.rules.isWhole ?? false ? "in mode production" : "with the other limit"
                reader.refuse(key.name, "is missing (required \(when): \(key.allowed))")
            }
            guard let importLimit, let exportLimit else { return nil }
            return SiteLimits(
                imports: importLimit, exports: exportLimit,
                loadMax: reader.has(Keys.siteLoadMax.name) ? load : nil)
        }
        return (id, limits)
    }

    private static func control(
        _ reader: ConfigReader, mode: SiteConfig.Mode?, units: [UnitConfig]
    ) -> ControlConfig? {
        typealias Keys = SiteKeys.Control
        let total = units.reduce(Watts.zero) { $0 + $1.maxPower }
        let period = reader.value(Keys.period)
        let grace =
            reader.value(Keys.outputGrace)
            ?? period.map { min(max($0 * 5, .milliseconds(60)), .milliseconds(500)) }
        let priority = reader.value(Keys.realtimePriority)
        let cpu = reader.value(Keys.cpu)
        let enterService = Self.enterService(reader, mode: mode)
        let shortGap = reader.value(Keys.shortGap)
        let resumes = reader.value(Keys.resumeAfterRestart)
        let stopLimit = reader.value(Keys.stopLimit)
        let basePoint = reader.value(Keys.basePoint)
        let rampRate = reader.value(Keys.rampRate) ?? WattsPerSecond(total.value)
        let reversion = Self.reversion(reader)
        let timing = TimingLimitsConfig.read(reader, period: period)
        guard let period, let grace, let priority, let cpu, let resumes, let basePoint, let reversion,
            let stopLimit, let shortGap,
            let timing
        else { return nil }
        if grace < period * 2 {
            reader.refuse(
                "output_grace_ms",
                "\(Int(grace.milliseconds)) ms is less than two periods of \(Int(period.milliseconds)) ms")
        }
        if !units.isEmpty && basePoint.magnitude > total {
            let limit = ConfigWording.shown(total.kilowatts)
            reader.refuse(
                "base_point_kw",
                "\(ConfigWording.shown(basePoint.kilowatts)) is outside the units' total of"
                    + " -\(limit) … \(limit) kW"
            )
        }
        return ControlConfig(
            period: period, outputGrace: grace, realtimePriority: priority, cpu: cpu,
            enterService: enterService, shortGap: shortGap, resumesAfterRestart: resumes,
            basePoint: basePoint, rampRate: rampRate, leaseReversion: reversion, timing: timing,
            stopLimit: stopLimit)
    }

    /// Good for no time at all is not seen good.
    private static func enterService(_ reader: ConfigReader, mode: SiteConfig.Mode?) -> Duration {
        let time =
            reader.value(SiteKeys.Control.enterService) ?? mode?.rules.enterService.usual ?? .seconds(300)
        if let mode, time < mode.rules.enterService.least {
            reader.refuse(
                "enter_service_s",
                "\(ConfigWording.shown(time.seconds)) s is too short in mode \(mode.rawValue) (allowed: 1 … 1000 s)"
            )
        }
        return time
    }

    /// What the seed's word for the grid promises is there.
    private static func check(
        _ word: GridIntegrationConfig.GridWord, against sources: [FrequencySourceConfig],
        _ reader: ConfigReader
    ) {
        let hasPhasor = sources.contains { source in
            if case .phasor = source { true } else { false }
        }
        switch word {
        case .simulation: break
        case .posoco, .pmu:
            if sources.contains(.simulated) {
                reader.refuse("mode", "\(word.rawValue) is the real grid, and the frequency is simulated")
            }
            if word == .pmu, !hasPhasor {
                reader.refuse("mode", "pmu needs a source pmu in frequency_sources")
            }
        }
    }

    private static func grid(
        _ reader: ConfigReader, mode: SiteConfig.Mode?, hasMeter: Bool, units: [UnitConfig]
    ) -> GridIntegrationConfig? {
        typealias Keys = SiteKeys.Grid
        let word = reader.value(Keys.mode)
        if word == .simulation, mode?.rules.isWhole ?? false {
            reader.refuse("mode", "simulation is not allowed where the file's mode is production")
        }
        _ = reader.value(Keys.scadaEnabled)
        let source =
            reader.value(Keys.frequencySource)
            ?? (mode?.rules.frequency == .maybeSimulated && !hasMeter ? .simulated : .meter)
        let sources = GridSourceReader(mode: mode, hasMeter: hasMeter, units: units)
            .sources(reader, single: source)
        if let word { check(word, against: sources, reader) }
        let nominal = reader.value(Keys.nominalFrequency)
        let stale = reader.value(Keys.frequencyStale)
        let droop = reader.section("droop_settings") { reader in
            nominal.flatMap { DroopReader(reader, nominal: $0, units: units).droop() }
        }
        let disagree = reader.value(GridSourceKeys.disagree)
        let window = reader.value(GridSourceKeys.window)
        guard let nominal, let stale, let droop, let disagree, let window else { return nil }
        var grid = GridIntegrationConfig(
            frequencySource: source, frequencySources: sources, frequencyDisagreement: disagree,
            rateOfChangeWindow: window, nominalFrequency: nominal, droop: droop, frequencyStale: stale)
        grid.operatingBand = OperatingBand.read(reader, nominal: nominal)
        if reader.has("supervision") {
            grid.supervision = reader.section("supervision") {
                GridSupervisionReader(reader: $0, nominal: nominal, phasors: grid.phasors).supervision()
            }
        }
        return grid
    }

    private mutating func meter(_ reader: ConfigReader) -> GridMeterConfig? {
        let sign = reader.value(SiteKeys.Meter.sign)
        let resolution = reader.value(SiteKeys.Meter.frequencyResolution)
        if reader.has(SiteKeys.Meter.sign.name), reader.has(SiteKeys.Bus.driver.name) {
            reader.refuse(SiteKeys.Meter.sign.name, "stands only with a SunSpec meter, not with driver")
        }
        guard let modbus = buses.modbus(reader), let sign else { return nil }
        return GridMeterConfig(modbus: modbus, sign: sign, frequencyResolution: resolution)
    }

    private mutating func unit(_ reader: ConfigReader, index: Int, mode: SiteConfig.Mode?) -> UnitConfig? {
        typealias Keys = SiteKeys.Unit
        let id = reader.value(Keys.id)
        if let id, let other = unitPaths.updateValue(reader.path, forKey: id) {
            reader.refuse("id", "\(ConfigWording.quoted(id)) is already the id of \(other)")
        }
        let campusID = reader.value(Keys.campusID)
        let capacity = reader.value(Keys.capacity)
        let maxPower = reader.value(Keys.maxPower)
        let minCharge = reader.value(Keys.minStateOfCharge)
        let maxCharge = reader.value(Keys.maxStateOfCharge)
        if let minCharge, let maxCharge, minCharge >= maxCharge {
            reader.refuse("min_soc_percent", "must be below max_soc_percent")
        }
        let battery = battery(reader, index: index, mode: mode)
        let inverter = buses.modbus(reader)
        let reversion = reader.value(Keys.reversion)
        let response = reader.value(Keys.response)
        let contactorOpening = reader.value(Keys.contactorOpening)
        let capsOutput = reader.value(Keys.capsOutput)
        if capsOutput == true, inverter?.driver != nil {
            reader.refuse(Keys.capsOutput.name, "stands only with a SunSpec inverter, not with driver")
        }
        let losses = Self.losses(reader, maxPower: maxPower)
        let reactive = Self.reactive(reader)
        let ioModule =
            reader.has("io_module")
            ? reader.section("io_module") { IOModuleReader.module($0, &buses) } : nil
        let contactors = ContactorsReader.contactors(
            reader, ioModule, opening: contactorOpening,
            wait: UnitConfig.openingLimit(reversion: reversion ?? .zero, response: response ?? .zero))
        guard let id, let campusID, let capacity, let maxPower, let minCharge, let maxCharge, let battery,
            let inverter, let reversion, let response, let capsOutput, let reactive
        else { return nil }
        return UnitConfig(
            id: id, campusID: campusID, capacity: capacity, maxPower: maxPower, minStateOfCharge: minCharge,
            maxStateOfCharge: maxCharge, battery: battery, inverter: inverter, reversion: reversion,
            response: response, contactorOpening: contactorOpening, losses: losses, reactivePower: reactive,
            ioModule: ioModule, contactors: contactors, capsOutput: capsOutput)
    }

    private mutating func battery(
        _ reader: ConfigReader, index: Int, mode: SiteConfig.Mode?
    ) -> BatteryConfig? {
        guard reader.has("bms") else {
            if let mode, mode.rules.battery == .required {
                reader.refuse("bms", "is missing (required in mode \(mode.rawValue))")
                return nil
            }
            // The simulator's first BMS listens on 20001, its second on 20002 …
            let transport = CANAddress.cannelloni(
                host: "127.0.0.1", port: UInt16(clamping: 20_001 &+ index))
            buses.claim(transport, in: reader, key: "bms")
            return BatteryConfig(
                transport: transport, period: .seconds(1), packVoltageResolution: Volts(0.01),
                frozenSamples: nil, temperatureResolution: Celsius(1))
        }
        return reader.section("bms") { reader in
            let transport = reader.value(SiteKeys.Battery.transport)
            let bitRate = reader.value(SiteKeys.Battery.bitRate)
            let receivesOnlyKnown = reader.value(SiteKeys.Battery.receive)
            if receivesOnlyKnown == true, let transport, !transport.isSocketCAN {
                reader.refuse("receive", "known stands only with socketcan")
            }
            let period = reader.value(SiteKeys.Battery.period)
            let isPeriodGiven = reader.has(SiteKeys.Battery.period.name)
            let resolution = reader.value(SiteKeys.Battery.packVoltageResolution)
            if let transport { buses.claim(transport, in: reader, key: "transport") }
            let frozen = reader.value(SiteKeys.Battery.frozenSamples)
            let step = reader.value(SiteKeys.Battery.temperatureResolution)
            let heartbeat = reader.value(SiteKeys.Battery.heartbeatLimit)
            let profile = BatteryProfileConfig(reader)
            guard let transport, let bitRate, let receivesOnlyKnown, let period, let resolution, let step
            else { return nil }
            return BatteryConfig(
                profile: profile, transport: transport, bitRate: bitRate,
                receivesOnlyKnown: receivesOnlyKnown, period: period, isPeriodGiven: isPeriodGiven,
                packVoltageResolution: resolution,
                frozenSamples: frozen ?? nil, temperatureResolution: step, heartbeatLimit: heartbeat ?? nil)
        }
    }

    private static func paths(_ reader: ConfigReader) -> PathConfig? {
        let directory = reader.value(SiteKeys.Paths.stateDirectory)
        let socket = reader.value(SiteKeys.Paths.controlSocket)
        let spool = reader.value(SiteKeys.Paths.spoolMax)
        let recording = reader.value(SiteKeys.Paths.recordingMax)
        let captures = reader.value(SiteKeys.Paths.captureMax)
        let onDisk = reader.value(SiteKeys.Paths.recordsOnDisk)
        let diskADay = reader.value(SiteKeys.Paths.recordingDiskADay)
        guard let directory, let socket, let spool, let recording, let captures, let onDisk, let diskADay
        else { return nil }
        return PathConfig(
            stateDirectory: directory, controlSocket: socket, spoolMegabytes: spool,
            recordingMegabytes: recording, captureMegabytes: captures, recordsOnDisk: onDisk,
            recordingDiskMegabytesADay: diskADay)
    }
}
