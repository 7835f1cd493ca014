import ConfigText

/// A key as the reference shows it, whatever its value is.
protocol ReferenceEntry {
    var referenceLine: String { get }
    var description: SiteKey { get }
}

extension ConfigKey: ReferenceEntry {
    var description: SiteKey {
        SiteKey(name: name, allowed: allowed, shownDefault: shownDefault, note: note, form: form)
    }
}

/// A key of a site's file, whatever its value is.
public struct SiteKey: Sendable, Equatable {
    public var name: String
    /// What may stand there, for people.
    public var allowed: String
    /// What holds without it; `nil` where it must be there.
    public var shownDefault: String?
    public var note: String
    public var form: ConfigForm
}

extension SiteConfig {
    /// Every key of a site's file, one line each: path, what is allowed, [what holds without it], what it
    /// is for.
    public static var reference: String {
        sections.flatMap { prefix, keys in keys.map { prefix + $0.referenceLine } }.joined(separator: "\n")
            + "\n"
    }

    /// The same for programs: each section's path, `bess_units[].bms.`, with its keys.
    public static var keys: [(section: String, keys: [SiteKey])] {
        sections.map { ($0.prefix, $0.keys.map(\.description)) }
    }

    private static var sections: [(prefix: String, keys: [any ReferenceEntry])] {
        typealias Keys = SiteKeys
        let modbus: [any ReferenceEntry] = [
            Keys.Bus.host, Keys.Bus.port, Keys.Bus.device, Keys.Bus.baud, Keys.Bus.parity, Keys.Bus.stopBits,
            Keys.Bus.unitIDOnTCP, Keys.Bus.rs485, Keys.Bus.echo, Keys.Bus.lowLatency, Keys.Bus.gap,
        ]
        let polling: [any ReferenceEntry] = [
            Keys.Bus.driver,
            Keys.Bus.poll, Keys.Bus.timeout, Keys.Bus.turnaround, Keys.Bus.readRegisters,
        ]
        return [
            ("", [Keys.mode, Keys.schedule]),
            (
                "site.",
                [Keys.siteID, Keys.Limits.importLimit, Keys.Limits.exportLimit, Keys.Limits.siteLoadMax]
            ),
            ("control.", control),
            ("modbus_server.", Keys.ModbusServer.reference),
            ("remote_leases.", Keys.RemoteLeases.reference),
            ("remote_leases.keys[].", Keys.RemoteLeases.keyReference),
            ("control_centre.", Keys.ControlCentre.reference),
            ("grid_integration.", grid),
            ("grid_integration.frequency_sources[].", GridSourceKeys.reference),
            ("grid_integration.supervision.", GridSupervisionKeys.reference),
            ("grid_integration.supervision.breaker.", GridSupervisionKeys.bits),
            ("grid_integration.supervision.permit.", GridSupervisionKeys.bits),
            ("grid_integration.droop_settings.", DroopKeys.reference),
            ("grid_meter.modbus.", modbus),
            ("grid_meter.", polling + Keys.Meter.reference),
            ("bess_units[].", unit),
            (
                "bess_units[].bms.",
                [
                    Keys.Battery.transport, Keys.Battery.bitRate, Keys.Battery.receive,
                    Keys.Battery.period, Keys.Battery.packVoltageResolution,
                    Keys.Battery.frozenSamples, Keys.Battery.temperatureResolution,
                    Keys.Battery.heartbeatLimit, Keys.Battery.profile,
                    Keys.Battery.dialects, Keys.Battery.cellCount, Keys.Battery.temperatureCount,
                    Keys.Battery.acceptWithout,
                ]
            ),
            ("bess_units[].losses.", [Keys.Losses.idle, Keys.Losses.linear, Keys.Losses.square]),
            (
                "bess_units[].reactive_power.",
                [Keys.Reactive.mode, Keys.Reactive.factor, Keys.Reactive.excitation]
            ),
            ("bess_units[].modbus.", modbus),
            ("bess_units[].", polling),
            ("power_sharing.", [Keys.Sharing.mode, Keys.Sharing.balancing]),
            ("bess_units[].contactors.", Keys.Contactors.all),
            ("bess_units[].io_module.modbus.", modbus),
        ] + ioModule + [
            ("interlocks.", [InterlockKeys.chemistry, InterlockKeys.table]),
            ("interlocks.rows[].", InterlockKeys.reference),
            ("accept.RISK.", Keys.Accept.reference),
            (
                "paths.",
                [
                    Keys.Paths.stateDirectory, Keys.Paths.controlSocket, Keys.Paths.spoolMax,
                    Keys.Paths.recordingMax, Keys.Paths.captureMax, Keys.Paths.recordsOnDisk,
                    Keys.Paths.recordingDiskADay,
                ]
            ),
        ] + seedSections
    }

    private static var control: [any ReferenceEntry] {
        typealias Keys = SiteKeys.Control
        return [
            Keys.period, Keys.outputGrace, Keys.realtimePriority, Keys.cpu, Keys.enterService, Keys.shortGap,
            Keys.resumeAfterRestart, Keys.stopLimit, Keys.basePoint, Keys.rampRate, SiteKeys.Lease.rule,
            SiteKeys.Lease.hold,
            SiteKeys.Timing.lateness, SiteKeys.Timing.execution, SiteKeys.Timing.overruns,
        ]
    }

    private static var grid: [any ReferenceEntry] {
        typealias Keys = SiteKeys.Grid
        return [
            Keys.mode, Keys.frequencySource, Keys.scadaEnabled, Keys.nominalFrequency, Keys.frequencyStale,
            GridSourceKeys.disagree, GridSourceKeys.window, OperatingBand.key,
        ]
    }

    private static var unit: [any ReferenceEntry] {
        typealias Keys = SiteKeys.Unit
        return [
            Keys.id, Keys.campusID, Keys.capacity, Keys.maxPower, Keys.minStateOfCharge,
            Keys.maxStateOfCharge,
            Keys.reversion, Keys.response, Keys.contactorOpening, Keys.capsOutput,
        ]
    }

    private static var ioModule: [(prefix: String, keys: [any ReferenceEntry])] {
        typealias Keys = SiteKeys.IOModule
        let module: [any ReferenceEntry] = [
            SiteKeys.Bus.driver, Keys.poll, Keys.timeout, SiteKeys.Bus.turnaround, Keys.inputAddress,
            Keys.coilAddress, Keys.watchdog,
        ]
        return [
            ("bess_units[].io_module.", module),
            ("bess_units[].io_module.inputs[].", [Keys.inputNumber, Keys.inputName, Keys.normallyClosed]),
            ("bess_units[].io_module.coils[].", [Keys.coilNumber, Keys.purpose]),
        ]
    }

    private static var seedSections: [(prefix: String, keys: [any ReferenceEntry])] {
        typealias Campus = SeedSections.Campus
        typealias Market = SeedSections.Market
        return [
            ("campuses[].", [Campus.id, Campus.unitCount]),
            ("campuses[].location.", [Campus.city, Campus.state, Campus.latitude, Campus.longitude]),
            ("market_participation.", [Market.enabled]),
            ("market_participation.exchanges[].", [Market.name, Market.apiURL, Market.credentials]),
        ]
    }
}
