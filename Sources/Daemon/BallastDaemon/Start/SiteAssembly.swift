import BatteryProfiles
import CANBus
import Control
import DeviceCodecs
import FrequencyResponse
import Interlocks
import LinuxIO
import ModbusBus
import PhasorBus
import Plant
import PowerDispatch
import Quantities
import Recorder
import SiteConfig

/// Everything that runs for a site, made from its configuration and not yet started.
struct SiteAssembly {
    struct CANLink {
        let name: String
        let owner: Handover<CANBusOwner>
        let status: CANBusStatus
        let reports: RingBuffer<CANBusReport>
        let address: CANAddress
        let unit: String
        /// The battery's single cells; `nil` = it tells none.
        let cells: TripleBuffer<CellImage>?
    }

    struct ModbusLink {
        let name: String
        let endpoint: ModbusEndpoint
        let service: ModbusServicePort
        let status: ModbusLinkStatus
        let reports: RingBuffer<ModbusReport>
        /// Of its inverters, by unit.
        let silences: [Int: ModbusSilence]
        /// Of its I/O modules, by unit.
        let hushes: [Int: ModbusHush]
        let devices: [ModbusDeviceStatus]
        let owner: Handover<ModbusLinkOwner>
    }

    let config: SiteConfig
    let unitSettings: [UnitSettings]
    let siteSettings: SiteSettings
    let cycleLink: CycleLink
    /// `nil` = nothing is recorded.
    let tap: CycleTap?
    let cycle: Handover<CycleThread>
    let canLinks: [CANLink]
    let modbusLinks: [ModbusLink]
    let phasorLinks: [PhasorLink]
    /// Kept as long as the threads run: the exchange's ends do not own it.
    private let exchange: Exchange

    /// - Parameter hold: what keeps every unit from starting by itself, besides what `latches` say.
    /// - Throws: `ModbusError` where a link's address cannot be used.
    init(
        _ config: SiteConfig, profiles: [BatteryProfile?] = [], drivers: DriverFiles = DriverFiles(),
        latches: LatchRecord, hold: UnitHold = .none,
        epoch: MonotonicTime, stop: StopFlag
    ) throws(ModbusError) {
        let book = ReversionBook(config)
        let settings = config.units.enumerated().map { index, unit in
            var settings = Self.settings(
                of: unit, profiles.indices.contains(index) ? profiles[index] : nil,
                period: config.control.period)
            settings.prove(book.provenReversion(of: unit))
            return settings
        }
        let exchange = Exchange(
            unitCount: config.units.count, phasorCount: config.gridIntegration.phasors.count)
        let link = CycleLink()
        let site = Self.siteSettings(config)
        var controller = Controller(settings: site, units: settings.span)
        for (index, unit) in config.units.enumerated() {
            controller.restore(.none, firstOut: nil, hold: hold, unit: index)
            guard let entry = latches.entries.first(where: { $0.unit == unit.id }) else { continue }
            controller.restore(
                entry.set, firstOut: entry.first, hold: entry.held, resetBy: entry.resetter, unit: index)
        }
        if latches.isStopped { controller.restoreStop() }
        let seconds = RecordClock(latches).seconds()
        let units = config.units.map(\.id)
        Absences(latches, units: units, seconds: seconds)
            .restore(&controller, seconds: seconds, at: MonotonicTime.now())
        UnitCounts(latches, units: units, seconds: seconds).restore(&controller, seconds: seconds)
        self.config = config
        self.exchange = exchange
        unitSettings = settings
        siteSettings = site
        cycleLink = link
        let wakes = try Self.wakes(config)
        modbusLinks = try Self.modbusLinks(
            ModbusParts(
                config: config, drivers: drivers, exchange: exchange, book: book, epoch: epoch),
            wakes: wakes, stop: stop)
        canLinks = Self.canLinks(config, profiles, exchange)
        phasorLinks = Self.phasorLinks(config, exchange)
        tap =
            config.paths.recordingMegabytes > 0
            ? CycleTap(controller, unitCount: config.units.count, period: config.control.period) : nil
        cycle = Handover(
            CycleThread(
                period: config.control.period, epoch: epoch, controller: controller,
                reentry: SleepWatch.reentry(units: config.units.count, enterService: site.enterService),
                meter: exchange.meter.reader(), phasors: exchange.phasorPorts(),
                ports: exchange.ports(
                    config.units.map { unit in
                        (wakes[unit.inverter.endpoint], unit.ioModule.flatMap { wakes[$0.modbus.endpoint] })
                    }), link: link, tap: tap))
    }

    /// By unit: what keeps its inverter from being told its setpoint again.
    func silence(of unit: Int) -> ModbusSilence? {
        for link in modbusLinks { if let silence = link.silences[unit] { return silence } }
        return nil
    }

    /// By unit: what keeps us from talking to its I/O module.
    func hush(of unit: Int) -> ModbusHush? {
        for link in modbusLinks { if let hush = link.hushes[unit] { return hush } }
        return nil
    }

    /// How old the meter's readings may be.
    var meterBudget: Duration { siteSettings.meterBudget }

    static func settings(
        of unit: UnitConfig, _ profile: BatteryProfile? = nil, period: Duration
    ) -> UnitSettings {
        var settings = UnitSettings(
            rating: unit.maxPower, minStateOfCharge: unit.minStateOfCharge,
            maxStateOfCharge: unit.maxStateOfCharge,
            budget: FreshnessBudget(
                battery: FreshnessBudget.budget(nominalPeriod: unit.battery.period, controlPeriod: period),
                inverter: FreshnessBudget.budget(nominalPeriod: unit.inverter.poll, controlPeriod: period),
                inputs: FreshnessBudget.budget(
                    nominalPeriod: unit.ioModule?.modbus.poll ?? .zero, controlPeriod: period)),
            // Below the noise of a rack's current sensor nothing is known to flow.
            currentFloor: Amperes(2), inverterResponse: unit.followTime,
            temperatureResolution: unit.battery.temperatureResolution,
            frozenSamples: unit.battery.frozenSamples ?? defaultFrozenSamples(unit, profile),
            losses: unit.losses ?? .none,
            inputs: DigitalInputSet(unit.ioModule), contactors: ContactorSettings(unit))
        settings.hasBatteryAlarms = unit.battery.profile?.acceptsWithoutAlarm != true
        settings.isFrozenUnderLoadOnly = unit.battery.frozenSamples == nil
        // Between the battery's limits and the power at the terminals something is lost, said or not.
        settings.directCurrentLosses = unit.losses ?? .assumed(at: unit.maxPower)
        settings.contactorHold = unit.followTime + unit.reversionEnd
        settings.assumedReversion = unit.reversionEnd
        settings.writeBound = unit.inverter.timeout * 2 + period * 2
        return settings
    }

    /// The built-in batteries resolve 0.1 A, 0.01 V and 1 mV: while power flows, two minutes of the same are
    /// no measurement any more. A reading slower than the unit's period would be counted more than once.
    private static func defaultFrozenSamples(_ unit: UnitConfig, _ profile: BatteryProfile?) -> Int {
        guard let profile else { return 120 }
        return profile.period(of: .packCurrent) <= unit.battery.period ? profile.frozenSamples : 0
    }

    static func siteSettings(_ config: SiteConfig) -> SiteSettings {
        let grid = config.gridIntegration
        let meterPoll = config.gridMeter?.modbus.poll ?? .milliseconds(100)
        var settings = SiteSettings(
            interlocks: InterlockTable(config),
            droop: grid.droop.curve,
            basePoint: config.control.basePoint, ramp: config.control.rampRate,
            frequencyHold: grid.frequencyStale,
            meterBudget: FreshnessBudget.budget(
                nominalPeriod: meterPoll, controlPeriod: config.control.period),
            enterService: config.control.enterService, stopBound: config.control.stopLimit,
            outputGrace: config.control.outputGrace, limits: config.limits ?? SiteLimits(),
            reversion: config.control.leaseReversion, service: grid.droop.service,
            sharing: config.powerSharing, grid: gridSettings(config))
        settings.shortGap = config.control.shortGap
        return settings
    }

    private static func canLinks(
        _ config: SiteConfig, _ profiles: [BatteryProfile?], _ exchange: Exchange
    ) -> [CANLink] {
        config.units.enumerated().map { index, unit in
            let address = unit.battery.transport
            let battery = ProfiledBattery(unit.battery, index < profiles.count ? profiles[index] : nil)
            let conversation = conversation(battery, of: unit, index, exchange)
            let (status, reports) = (conversation.status, conversation.reports)
            let settings = CANLinkSettings(
                rates: CANBitRates(nominal: unit.battery.bitRate),
                filter: unit.battery.receivesOnlyKnown ? battery.allIdentifiers : [])
            let owner = CANBusOwner(conversation, address: address, settings: settings)
            return CANLink(
                name: "can \(address)", owner: Handover(owner), status: status, reports: reports,
                address: address, unit: unit.id, cells: conversation.cells)
        }
    }

    /// What is said on the bus of a unit's battery.
    static func conversation(
        _ battery: ProfiledBattery, of unit: UnitConfig, _ index: Int, _ exchange: Exchange
    ) -> CANConversation {
        CANConversation(
            battery: battery, rates: CANBitRates(nominal: unit.battery.bitRate), period: unit.battery.period,
            images: exchange.batteries[index].writer(), actuations: exchange.toBatteries[index].reader())
    }
}

/// The slots between the bus threads and the cycle.
final class Exchange: Sendable {
    let meter = TripleBuffer(GridImage())
    let phasors: [TripleBuffer<PhasorImage>]
    let batteries: [TripleBuffer<BatteryImage>]
    let inverters: [TripleBuffer<InverterImage>]
    let inputs: [TripleBuffer<DigitalInputImage>]
    let toBatteries: [TripleBuffer<Actuation>]
    let toInverters: [TripleBuffer<Actuation>]
    let toModules: [TripleBuffer<Actuation>]

    init(unitCount: Int, phasorCount: Int) {
        phasors = (0..<phasorCount).map { _ in TripleBuffer(PhasorImage()) }
        batteries = (0..<unitCount).map { _ in TripleBuffer(BatteryImage()) }
        inverters = (0..<unitCount).map { _ in TripleBuffer(InverterImage()) }
        inputs = (0..<unitCount).map { _ in TripleBuffer(DigitalInputImage()) }
        toBatteries = (0..<unitCount).map { _ in TripleBuffer(Actuation.safe) }
        toInverters = (0..<unitCount).map { _ in TripleBuffer(Actuation.safe) }
        toModules = (0..<unitCount).map { _ in TripleBuffer(Actuation.safe) }
    }

    /// The cycle's ends of the PMUs.
    func phasorPorts() -> FixedList<TripleBufferReader<PhasorImage>> {
        let ports = FixedList<TripleBufferReader<PhasorImage>>(capacity: phasors.count)
        for phasor in phasors { ports.append(phasor.reader()) }
        return ports
    }

    /// The cycle's ends.
    ///
    /// - Parameter wakes: of each unit's inverter and module.
    func ports(_ wakes: [(inverter: WakeUp?, module: WakeUp?)]) -> FixedList<UnitPorts> {
        let ports = FixedList<UnitPorts>(capacity: batteries.count)
        for index in batteries.indices {
            ports.append(
                UnitPorts(
                    battery: batteries[index].reader(), inverter: inverters[index].reader(),
                    inputs: inputs[index].reader(), toBattery: toBatteries[index].writer(),
                    toInverter: toInverters[index].writer(), toModule: toModules[index].writer(),
                    inverterWake: wakes[index].inverter, moduleWake: wakes[index].module))
        }
        return ports
    }
}
