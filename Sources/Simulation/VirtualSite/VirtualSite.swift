import BallastDaemon
import BallastSimulator
import BatteryProfiles
import Control
import CycleRecord
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
/// Not the production code: phasor measurement units, whose readings come without bytes.
public struct VirtualSite {
    /// The plant's physics and the wires take no longer steps.
    private static let longestStep = Duration.milliseconds(20)
    private static let wallEpoch: Int64 = 1_760_000_000

    /// As the program has it, or the last one had.
    public private(set) var config: SiteConfig
    /// As it stands in the site's file.
    var file: SiteConfig
    /// Somebody has changed the file, and the program has not yet heard of it.
    var isReloadDue = false
    var hasFileChanged = false
    /// What was agreed for the point of connection, and everybody knows of.
    var agreed: SiteAgreement
    private let profiles: [BatteryProfile?]
    private let drivers: DriverFiles
    var plant: FarPlant
    var farBatteries: [FarBattery]
    private var farLinks: [FarLink]
    /// Of each of `farLinks`.
    private let endpoints: [ModbusEndpoint]

    // What the daemon is made of; empty while none runs.
    var core: CoreRun?
    /// What a daemon that has ended left; while one runs it has it.
    private var recorder: CycleRecorder?
    /// What a start or a change of the file meant no recording has words for: nothing behind it is recorded.
    private var isRecordingOver = false
    private var buses: [VirtualBus] = []
    private var near: CoreLinks?
    /// With the place of its far end.
    private var links: [(link: VirtualLink, far: Int)] = []
    /// What it left on disk.
    var disk = CoreDisk()
    var diskCondition = DiskCondition.well
    /// It waits for a disk that takes the record of its run.
    private var isStartDue = false
    /// So long the machine sleeps on.
    var sleep = Duration.zero
    /// So far its monotonic clock is behind, by all its sleep so far.
    private var asleep = Duration.zero
    /// It has woken, and nobody has compared its clocks yet.
    private var hasJustWoken = false
    /// It stands still (SIGSTOP).
    var isFrozen = false
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
    var partings: [[Parting]] = []
    /// The last frames of each battery, for `Defect.neverStale`.
    private var heard: [[CANFrame]] = []

    /// - Parameter recorder: of all cycles of all daemons of the run; `nil` = nobody wants it.
    public init(_ files: SimulationFiles, recorder: CycleRecorder? = nil) {
        self.recorder = recorder
        drivers = DriverFiles(files.drivers)
        config = drivers.loaded(files.site)
        file = config
        agreed = SiteAgreement(config)
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
        let all = SimulatedModbusDevice.all(
            of: files.site, files.plant, isShort: isShort, drivers: files.drivers)
        for (endpoint, device) in all {
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
    var period: Duration { config.control.period }
    /// The machine's monotonic clock; `now` is the plant's.
    var machine: MonotonicTime { now - asleep }
    /// It does nothing: it is stopped, or its machine sleeps.
    var isStill: Bool { isFrozen || sleep > .zero }
    private var wallSeconds: Int64 { Self.wallEpoch + Int64((now - begun + clockError).seconds) }
    /// The wall clock's, by its jumps so far.
    private var clockError = Duration.zero
    mutating func jumpClock(by jump: Duration) { clockError = clockError + jump }

    /// Begins the scenario.
    public mutating func begin() { plant.site.start() }

    // MARK: The daemon

    private mutating func startDaemon() {
        takeRecorder()
        // Before anything may have power the disk has the record of the run.
        isStartDue = !diskCondition.takesWrites || sleep > .zero
        if isStartDue { return }
        if defect == .forgetsLatches { disk = CoreDisk() }
        let found = disk.search(
            wallSeconds: wallSeconds, uptimeSeconds: now.nanoseconds / 1_000_000_000,
            hasCopy: defect != .keepsNoCopy)
        if found.doubts != .none || hasFileChanged || asleep > .zero { isRecordingOver = true }
        config = file
        agreed = SiteAgreement(config)
        isReloadDue = false
        let core = CoreRun(
            config, profiles: profiles, state: found.state, wallSeconds: wallSeconds, at: machine,
            recorder: isRecordingOver ? nil : recorder, doubts: found.doubts, asleep: asleep)
        if !isRecordingOver { recorder = nil }
        told += core.notes
        disk.run = core.state.run
        self.core = core
        isFrozen = false
        endsBy = nil
        let near = CoreLinks(config, profiles: profiles, drivers: drivers, epoch: machine)
        self.near = near
        buses = near.buses.map { VirtualBus($0, at: machine) }
        links = near.links.compactMap { link in
            endpoints.firstIndex(of: link.endpoint).map { (VirtualLink(link, config, at: machine), $0) }
        }
    }

    private mutating func takeRecorder() {
        guard let core, !isRecordingOver else { return }
        recorder = core.recorder
        core.recorder = nil
    }

    /// All that was recorded, ended.
    public mutating func takeRecording() -> [UInt8]? {
        endDaemon()
        recorder?.end()
        defer { recorder = nil }
        return recorder?.bytes
    }

    private mutating func endDaemon() {
        takeRecorder()
        disk.release()
        core = nil
        isReloadDue = false
        (near, links, buses) = (nil, [], [])
        isFrozen = false
        endsBy = nil
        hasJustWoken = false
        images = images.map { _ in UnitImage() }
    }

    /// What is done to the daemon.
    public mutating func handle(_ action: Scenario.DaemonAction) {
        switch action {
        case .kill, .trap:
            isStartDue = false
            endDaemon()
        case .stop: isFrozen = core != nil
        case .continue: isFrozen = false
        case .restart:
            endDaemon()
            startDaemon()
        case .terminate:
            guard core != nil else { return }
            core?.beginEnd(at: machine)
            endsBy = now + config.control.stopLimit
        }
    }

    /// What an operator asks; a daemon that does not run hears nothing.
    public mutating func handle(_ command: OperatorCommand) {
        guard !isStill, let commands = commands(command) else { return }
        for command in commands { core?.handle(command, at: machine) }
    }

    // MARK: Time

    /// One cycle, and the period after it.
    ///
    /// - Returns: what people were told.
    public mutating func cycle() -> [CoreEvent] {
        plant.written = plant.written.map { _ in nil }
        defer { collectPartings() }
        if isStartDue { startDaemon() }
        if !isStill { turn() }
        defer { sleepOn() }
        var left = period
        while left > .zero {
            let step = min(left, Self.longestStep)
            advance(by: step)
            left -= step
        }
        defer { told = [] }
        return defect.map { defect in told.map { defect.spoil($0) } } ?? told
    }

    private mutating func sleepOn() {
        guard sleep > .zero else { return }
        sleep -= period
        if sleep <= .zero { (sleep, hasJustWoken) = (.zero, core != nil) }
    }

    private mutating func collectPartings() {
        partings = plant.site.units.indices.map { plant.site.units[$0].takePartings() }
    }

    private mutating func turn() {
        guard let core, let near else { return }
        for index in images.indices {
            images[index].battery = near.battery(of: index)
            images[index].inverter = near.inverter(of: index)
            images[index].inputs = near.inputs(of: index)
        }
        var grid = near.grid
        measurePhasors(&grid)
        spoilImages(&grid, core)
        let images = images
        wake(core)
        told += core.turn(grid: grid, units: images.span, at: machine)
        obeyDefect(core)
        for index in config.units.indices {
            near.publish(actuation(of: index, core), unit: index, at: machine)
        }
        disk.keep(core, wallSeconds: wallSeconds, at: machine)
        tendMachine(core)
        endIfDone()
    }

    /// What the main thread does between two cycles.
    private mutating func tendMachine(_ core: CoreRun) {
        if isReloadDue {
            isReloadDue = false
            agreed.hear(SiteAgreement(file))
            if defect != .ignoresReload { told += core.reload(file, at: machine) }
            config = core.config
        }
    }

    /// Before the first cycle behind a suspension.
    private mutating func wake(_ core: CoreRun) {
        core.asleep = asleep
        guard hasJustWoken else { return }
        hasJustWoken = false
        told.append(CoreEvent(name: "suspended", text: "the machine was suspended"))
        if defect != .sleepsOn { core.wake(at: machine) }
    }

    /// What the defect lets the controller see.
    private mutating func spoilImages(_ grid: inout GridImage, _ core: CoreRun) {
        guard let defect else { return }
        let ills: [Fault.Kind] = [.meterSilence, .meterNotAvailable, .meterFrozen, .meterOffset]
        let isMeterWell = !plant.site.faults.contains { ills.contains($0.kind) }
        defect.spoil(&grid, &memory, isMeterWell: isMeterWell, at: machine)
        for index in images.indices {
            let asked = core.cycles > 0 ? core.actuation(of: index).setpoint(at: machine) : .zero
            defect.spoil(
                &images[index], unit: index, asked: asked, isMeterWell: isMeterWell, &memory, at: machine)
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
            for command in commands { core.handle(command, at: machine) }
        }
    }

    /// What goes out to a unit, with what the defect makes of it.
    private mutating func actuation(of unit: Int, _ core: CoreRun) -> Actuation {
        var actuation = core.actuation(of: unit)
        guard let defect, core.cycles > 0 else { return actuation }
        let share = core.basePoint / Double(config.units.count)
        defect.spoil(
            &actuation, unit: unit, mode: core.status(of: unit).mode, share: share,
            hasOtherScale: plant.site.units[unit].has(.inverterScale), &memory, at: machine)
        return actuation
    }

    private mutating func measurePhasors(_ grid: inout GridImage) {
        grid.breaker = .good(true, at: machine)
        grid.servicePermit = .good(true, at: machine)
        guard !plant.site.isPhasorSilent else { return }
        for index in config.gridIntegration.phasors.indices {
            grid.phasors[index].frequency = .good(plant.site.phasorFrequency, at: machine)
            grid.phasors[index].breaker = .good(true, at: machine)
            grid.phasors[index].permit = .good(true, at: machine)
        }
    }

    private mutating func endIfDone() {
        guard let endsBy, let core, core.isOutOfService || now >= endsBy else { return }
        // What is latched and not on disk keeps the next start from being a planned one.
        if disk.isSaved(core), diskCondition.takesWrites {
            core.end()
            disk.run = core.state.run
        }
        for index in links.indices { links[index].link.finish(&farLinks[links[index].far], &plant) }
        endDaemon()
        told.append(CoreEvent(name: "stopped", text: "the daemon has ended in order"))
    }

    private mutating func advance(by step: Duration) {
        if core != nil && !isStill {
            for index in links.indices {
                links[index].link.advance(
                    to: machine + step, from: machine, &farLinks[links[index].far], &plant)
            }
        }
        plant.site.advance(by: step)
        now = now + step
        if sleep > .zero { asleep = asleep + step }
        plant.asleep = asleep
        for index in farBatteries.indices {
            converse(index)
            if let isPermitted = farBatteries[index].isPermitted(at: now) {
                plant.site.units[index].management.isPermitted = isPermitted
            }
        }
        if !isStill { told += near?.takeEvents() ?? [] }
    }

    /// What battery and daemon say to each other.
    private mutating func converse(_ index: Int) {
        var frames = farBatteries[index].frames(plant.site.units[index], at: now)
        if defect == .neverStale {
            if frames.isEmpty { frames = heard[index] } else { heard[index] = frames }
        }
        guard core != nil, !isStill else { return }
        if let defect {
            frames = defect.spoil(
                frames, hasSecondSender: plant.site.units[index].has(.bmsSecondSender))
        }
        buses[index].carry(frames, at: machine)
        for frame in buses[index].taken(wallSeconds: wallSeconds, at: machine) {
            farBatteries[index].hear(frame, at: now)
        }
    }
}
