import BallastDaemon
import BallastSimulator
import BatteryProfiles
import Control
import DeviceCodecs
import ModbusBus
import Plant
import PowerDispatch
import Quantities
import Scenario
import SiteConfig

/// A whole site in virtual time: the daemon's controller, its start and its records; what it says on its
/// Modbus links, and the production decoders and codecs, with bytes in between; and the simulated plant. No
/// thread, no wire, no clock: the same input gives the same run.
///
/// Not the production code: the owner of a battery's bus (`NearBattery` stands in for it), phasor measurement
/// units, whose readings come without bytes.
public struct VirtualSite {
    /// The plant's physics and the wires take no longer steps.
    private static let longestStep = Duration.milliseconds(20)
    private static let wallEpoch: Int64 = 1_760_000_000

    public let config: SiteConfig
    private let profiles: [BatteryProfile?]
    private var plant: FarPlant
    private var farBatteries: [FarBattery]
    private var farLinks: [FarLink]
    /// Of each of `farLinks`.
    private let endpoints: [ModbusEndpoint]

    // What the daemon is made of; empty while none runs.
    private var core: CoreRun?
    private var nearBatteries: [NearBattery] = []
    private var near: CoreLinks?
    /// With the place of its far end.
    private var links: [(link: VirtualLink, far: Int)] = []
    /// What it left on disk.
    private var state = CoreState()
    /// It stands still (SIGSTOP).
    private var isFrozen = false
    /// It is to end in order, at the latest then.
    private var endsBy: MonotonicTime?

    /// Something wrong with our own side, for the judge of the judges.
    var defect: SeededDefect?
    private var memory: DefectMemory

    public private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private let begun = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private var images: [UnitImage]
    private var told: [CoreEvent] = []
    /// Contacts that have parted in the last cycle, by unit.
    private var partings: [[Parting]] = []
    /// The last frames of each battery, for `Defect.neverStale`.
    private var heard: [[CANFrame]] = []

    /// - Parameter profiles: of the units' batteries, in their order.
    public init(_ files: SimulationFiles) {
        config = files.site
        profiles = files.profiles
        plant = FarPlant(files.plant)
        let seed = files.scenario.seed
        farBatteries = files.site.units.enumerated().map { index, unit in
            FarBattery(unit, files.profiles[index], seed: seed &+ UInt64(index))
        }
        images = files.site.units.map { _ in UnitImage() }
        memory = DefectMemory(unitCount: files.site.units.count)
        heard = files.site.units.map { _ in [] }
        var endpoints: [ModbusEndpoint] = []
        var devices: [[SimulatedModbusDevice]] = []
        // The longer chain costs time, and shows nothing else.
        let isShort = !files.site.units.contains { $0.capsOutput }
        for (endpoint, device) in SimulatedModbusDevice.all(of: files.site, files.plant, isShort: isShort) {
            if let index = endpoints.firstIndex(of: endpoint) {
                devices[index].append(device)
            } else {
                endpoints.append(endpoint)
                devices.append([device])
            }
        }
        self.endpoints = endpoints
        farLinks = zip(endpoints, devices).map { FarLink($1, isSerial: $0.isSerial) }
        startDaemon()
    }

    public var site: SimulatedSite { plant.site }
    public var isDaemonRunning: Bool { core != nil }
    private var period: Duration { config.control.period }
    private var wallSeconds: Int64 { Self.wallEpoch + Int64((now - begun + clockError).seconds) }
    /// The wall clock's, by its jumps so far.
    private var clockError = Duration.zero
    public mutating func jumpClock(by jump: Duration) { clockError = clockError + jump }

    /// Begins the scenario.
    public mutating func begin() { plant.site.start() }

    // MARK: The daemon

    private mutating func startDaemon() {
        if defect == .forgetsLatches { state = CoreState() }
        let core = CoreRun(config, profiles: profiles, state: state, wallSeconds: wallSeconds, at: now)
        told += core.notes
        state = core.state
        self.core = core
        isFrozen = false
        endsBy = nil
        nearBatteries = config.units.enumerated().map { NearBattery($1, profiles[$0], at: now) }
        let near = CoreLinks(config, epoch: now)
        self.near = near
        links = near.links.compactMap { link in
            endpoints.firstIndex(of: link.endpoint).map { (VirtualLink(link, config, at: now), $0) }
        }
    }

    private mutating func endDaemon() {
        core = nil
        nearBatteries = []
        (near, links) = (nil, [])
        isFrozen = false
        endsBy = nil
        images = images.map { _ in UnitImage() }
    }

    /// What is done to the daemon.
    public mutating func handle(_ action: Scenario.DaemonAction) {
        switch action {
        case .kill, .trap: endDaemon()
        case .stop: isFrozen = core != nil
        case .continue: isFrozen = false
        case .restart:
            endDaemon()
            startDaemon()
        case .terminate:
            guard core != nil else { return }
            core?.beginEnd(at: now)
            endsBy = now + config.control.stopLimit
        }
    }

    /// What an operator asks; a daemon that does not run hears nothing.
    public mutating func handle(_ command: OperatorCommand) {
        guard !isFrozen, let commands = commands(command) else { return }
        for command in commands { core?.handle(command, at: now) }
    }

    // MARK: Time

    /// One cycle, and the period after it.
    ///
    /// - Returns: what people were told.
    public mutating func cycle() -> [CoreEvent] {
        plant.written = plant.written.map { _ in nil }
        defer { collectPartings() }
        if !isFrozen { turn() }
        var left = period
        while left > .zero {
            let step = min(left, Self.longestStep)
            advance(by: step)
            left -= step
        }
        defer { told = [] }
        return defect.map { defect in told.map { defect.spoil($0) } } ?? told
    }

    private mutating func collectPartings() {
        partings = plant.site.units.indices.map { plant.site.units[$0].takePartings() }
    }

    private mutating func turn() {
        guard let core, let near else { return }
        for index in images.indices {
            images[index].battery = nearBatteries[index].image
            images[index].inverter = near.inverter(of: index)
            images[index].inputs = near.inputs(of: index)
        }
        var grid = near.grid
        measurePhasors(&grid)
        spoilImages(&grid, core)
        let images = images
        told += core.turn(grid: grid, units: images.span, at: now)
        obeyDefect(core)
        for index in config.units.indices {
            near.publish(actuation(of: index, core), unit: index, at: now)
        }
        state = core.state
        endIfDone()
    }

    /// What the defect lets the controller see.
    private mutating func spoilImages(_ grid: inout GridImage, _ core: CoreRun) {
        guard let defect else { return }
        let ills: [Fault.Kind] = [.meterSilence, .meterNotAvailable, .meterFrozen, .meterOffset]
        let isMeterWell = !plant.site.faults.contains { ills.contains($0.kind) }
        defect.spoil(&grid, &memory, isMeterWell: isMeterWell, at: now)
        for index in images.indices {
            let asked = core.cycles > 0 ? core.actuation(of: index).setpoint(at: now) : .zero
            defect.spoil(
                &images[index], unit: index, asked: asked, isMeterWell: isMeterWell, &memory, at: now)
        }
    }

    /// What the defect does on its own after a cycle.
    private mutating func obeyDefect(_ core: CoreRun) {
        guard let defect else { return }
        let hasResumed = told.contains { $0.name == "resume" }
        for index in images.indices {
            let isTripped = !core.status(of: index).trips.isEmpty
            let commands = defect.commands(
                unit: index, isTripped: isTripped, hasSiteResumed: hasResumed, &memory)
            for command in commands { core.handle(command, at: now) }
        }
    }

    /// What goes out to a unit, with what the defect makes of it.
    private mutating func actuation(of unit: Int, _ core: CoreRun) -> Actuation {
        var actuation = core.actuation(of: unit)
        guard let defect, core.cycles > 0 else { return actuation }
        let share = core.basePoint / Double(config.units.count)
        defect.spoil(
            &actuation, unit: unit, mode: core.status(of: unit).mode, share: share,
            hasOtherScale: plant.site.units[unit].has(.inverterScale), &memory, at: now)
        return actuation
    }

    private mutating func measurePhasors(_ grid: inout GridImage) {
        grid.breaker = .good(true, at: now)
        grid.servicePermit = .good(true, at: now)
        guard !plant.site.isPhasorSilent else { return }
        for index in config.gridIntegration.phasors.indices {
            grid.phasors[index].frequency = .good(plant.site.phasorFrequency, at: now)
            grid.phasors[index].breaker = .good(true, at: now)
            grid.phasors[index].permit = .good(true, at: now)
        }
    }

    private mutating func endIfDone() {
        guard let endsBy, let core, core.isOutOfService || now >= endsBy else { return }
        core.end()
        state = core.state
        for index in links.indices { links[index].link.finish(&farLinks[links[index].far], &plant) }
        endDaemon()
        told.append(CoreEvent(name: "stopped", text: "the daemon has ended in order"))
    }

    private mutating func advance(by step: Duration) {
        let end = now + step
        if core != nil && !isFrozen {
            for index in links.indices {
                links[index].link.advance(to: end, from: now, &farLinks[links[index].far], &plant)
            }
            told += near?.takeEvents() ?? []
        }
        plant.site.advance(by: step)
        now = end
        for index in farBatteries.indices {
            converse(index)
            if let isPermitted = farBatteries[index].isPermitted(at: now) {
                plant.site.units[index].management.isPermitted = isPermitted
            }
        }
    }

    /// What battery and daemon say to each other.
    private mutating func converse(_ index: Int) {
        var frames = farBatteries[index].frames(plant.site.units[index], at: now)
        if defect == .neverStale {
            if frames.isEmpty { frames = heard[index] } else { heard[index] = frames }
        }
        guard let core, !isFrozen else { return }
        if let defect {
            frames = defect.spoil(
                frames, hasSecondSender: plant.site.units[index].has(.bmsSecondSender))
        }
        told += nearBatteries[index].accept(frames, at: now)
        let actuation = actuation(of: index, core)
        for frame in nearBatteries[index].sent(actuation, wallSeconds: wallSeconds, at: now) {
            farBatteries[index].hear(frame, at: now)
        }
    }
}

extension ModbusEndpoint {
    var isSerial: Bool {
        switch self {
        case .tcp: false
        case .serial: true
        }
    }
}

// MARK: What is seen

extension VirtualSite {
    /// - Parameter time: on the scenario's clock.
    public func sample(at time: Duration) -> RunSample {
        var sample = RunSample(
            time: time, frequency: plant.site.frequency, units: config.units.indices.map(unit))
        sample.voltage = plant.site.gridVoltage
        sample.load = plant.site.load
        sample.siteFaults = plant.site.faults.map(\.kind)
        sample.isDaemonRunning = core != nil
        sample.hasSiteFault = plant.site.hasFault
        guard let core, !isFrozen else { return sample }
        sample.frequencySource = core.frequencySource
        sample.seenFrequency = core.seenFrequency
        sample.grid = core.gridState
        sample.isStopped = core.isStopped
        return sample
    }

    private func unit(_ index: Int) -> UnitSample {
        var sample = UnitSample()
        let (unit, settings) = (plant.site.units[index], config.units[index])
        let setpoint = unit.inverter.setpoint
        sample.delivered = unit.inverter.activePower
        sample.setpoint = setpoint.isEnabled ? setpoint.value : .zero
        sample.written = plant.written[index]
        sample.writtenAge = plant.writtenAt[index].map { now - $0 }
        sample.isExpiring = setpoint.remaining != nil
        sample.isReversionBroken = unit.has(.inverterKeepsPower) || unit.has(.inverterForeignWrites)
        sample.allowed = farBatteries[index].allowed.map { allowed in
            // What is charged pays the inverter's losses first.
            let charge = Watts(-allowed.lowerBound)
            let taken = charge > .zero ? charge + unit.inverter.losses(at: charge) : .zero
            let most = settings.maxPower.value
            return max(-taken.value, -most)...min(allowed.upperBound, most)
        }
        sample.evidenceAge = evidenceAge(index, settings)
        sample.isContactorClosed = unit.isBatteryConnected
        sample.mainCoil = plant.mainCoil[index]
        sample.current = unit.battery.current
        sample.parted = unit.partedCurrent
        sample.stateOfCharge = unit.battery.stateOfCharge
        sample.inverter = "\(unit.inverter.state)"
        sample.faults = unit.faults.map(\.kind)
        sample.truth = truth(index, unit)
        guard let core, !isFrozen, core.cycles > 0 else { return sample }
        let status = core.status(of: index)
        sample.mode = status.mode
        sample.trips = status.trips
        sample.firstOut = status.firstOut
        sample.warnings = status.warnings
        sample.holds = status.holds
        sample.limitedBy = status.limitedBy
        return sample
    }

    private func truth(_ index: Int, _ unit: SimulatedUnit) -> UnitTruth {
        var truth = unit.truth
        truth.allowedCurrent = farBatteries[index].allowedCurrent
        truth.wireDelay = max(truth.wireDelay, farBatteries[index].lateness)
        truth.partings = partings.indices.contains(index) ? partings[index] : []
        truth.batterySilence = farBatteries[index].spokeAt.map { now - $0 }
        truth.inverterSilence = plant.inverterAnsweredAt[index].map { now - $0 }
        truth.moduleSilence = plant.moduleAnsweredAt[index].map { now - $0 }
        if let core, !isFrozen { truth.asked = core.actuation(of: index).setpoint(at: now) }
        return truth
    }

    /// As old as the evidence that is closest to its budget, or furthest beyond it, on the scale of the
    /// battery's. Never is longer than any budget.
    private func evidenceAge(_ index: Int, _ settings: UnitConfig) -> Duration {
        let budget = ControlSettings.budget(of: settings, period: period)
        var sources = [
            (farBatteries[index].saidAt, budget.battery), (plant.inverterAnsweredAt[index], budget.inverter),
        ]
        if settings.ioModule != nil { sources.append((plant.moduleAnsweredAt[index], budget.inputs)) }
        let beyond = sources.map { time, budget in (time.map { now - $0 } ?? .seconds(86_400)) - budget }
        return budget.battery + (beyond.max() ?? .zero)
    }

    /// A record of a run of this site, with nothing in it yet.
    public var history: RunHistory {
        var history = RunHistory(
            units: config.units.enumerated().map { index, unit in
                var known = RunHistory.Unit(
                    id: unit.id, rating: unit.maxPower,
                    evidenceBudget: ControlSettings.budget(of: unit, period: period).battery,
                    response: unit.followTime, reversion: unit.reversion,
                    openUnderLoad: unit.contactors.map { _ in unit.openingLimit })
                known.nameplate = plant.site.units[index].inverter.ratedPower
                known.idle = plant.site.units[index].inverter.losses(at: .zero)
                known.dangerInputs = dangers(of: unit)
                known.hurry = config.openingHurry(of: unit)
                return known
            },
            // Two cycles, a write behind one that is under way, and the period between two samples.
            reaction: period * 3 + .milliseconds(30),
            recovery: config.control.enterService + .seconds(45), isVirtualTime: true)
        history.importLimit = config.limits?.importLimit
        history.exportLimit = config.limits?.exportLimit
        history.hasAnsweringGrid = plant.site.grid != nil
        history.stopLimit = config.control.stopLimit
        history.ramp = config.control.rampRate
        let nominal = config.gridIntegration.nominalFrequency
        // Inside every shipped deadband but those that have none.
        history.quietBand = nominal - Hertz(0.0005)...nominal + Hertz(0.0005)
        history.gridLimits = gridLimits
        return history
    }

    private func dangers(of unit: UnitConfig) -> [Fault.Kind] {
        let pairs: [(DigitalInputConfig.Name, Fault.Kind)] = [
            (.emergencyStop, .emergencyStop), (.smoke, .smoke), (.gas, .gas),
        ]
        return pairs.filter { unit.ioModule?.has($0.0) == true }.map(\.1)
    }

    /// As the grid code has them.
    private var gridLimits: [GridLimit] {
        guard let supervision = config.gridIntegration.supervision else { return [] }
        let settings = supervision.settings(nominal: config.gridIntegration.nominalFrequency)
        return (0..<settings.elementCount).map { index in
            let element = settings.elements[index]
            let region: GridLimit.Region =
                switch element.region {
                case .underFrequency(let limit): .below(Hertz(Double(limit) / 1_000))
                case .overFrequency(let limit): .above(Hertz(Double(limit) / 1_000))
                case .undervoltage(let limit): .voltageBelow(limit)
                case .overvoltage(let limit): .voltageAbove(limit)
                }
            return GridLimit(region, clearing: element.clearing)
        }
    }
}
