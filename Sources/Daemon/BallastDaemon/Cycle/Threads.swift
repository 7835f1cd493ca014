import CANBus
import ControlSocket
import LinuxIO
import ModbusBus
import Quantities
import Recorder
import SiteConfig
import SiteEvents

/// Starts every thread of a site, looks on, and brings them to an end in order.
enum Threads {
    ///
    /// - Returns: whether all that was latched is on disk.
    static func serve(
        _ site: SiteAssembly, server: consuming ControlServer, journal: Journal, outbox: EventOutbox,
        onlookers: Onlookers, busStop: StopFlag, latches: Latches, search: LatchSearch, checked: CheckedSite,
        signals: SignalInbox
    ) throws(Daemon.StartFailure) -> Bool {
        let config = site.config
        let recorder = RecorderThread(
            directory: config.paths.stateDirectory, spoolMegabytes: config.paths.spoolMegabytes,
            journal: journal, beat: onlookers.recorder, outbox: outbox)
        let files = FileThread(onlookers.files)
        let leases = LeaseDesk(config, recorder: recorder, journal: journal, beat: onlookers.leases)
        let agc = try Self.agc(config, journal)
        let control = ControlService(
            link: site.cycleLink, units: config.units.map(\.id),
            timing: TimingSource(site),
            access: ControlAccess(
                isSimulation: config.mode.rules.isOwnUserService, isCommissioned: latches.isCommissioned),
            journal: journal, beat: onlookers.control,
            modbus: ModbusDesk(config, ports: site.modbusLinks.map { ($0.endpoint, $0.service) }),
            leases: leases, agc: agc, tap: site.tap, frequencyRule: FrequencyTestRule(config))
        let proxy = try Self.proxy(config, control, journal)
        let realtime = Handshake()
        let keeping = LatchPlaces(config).keeping(
            latches, of: config.units.map(\.id), onlookers, after: search)
        let blackBox = site.tap.map {
            BlackBoxThread(
                $0, BlackBoxPlaces(config.paths), checked: checked, journal: journal,
                beat: onlookers.blackBox)
        }
        let areSaved: Bool
        do {
            var others = try startOnlookers(recorder, control, Handover(server), files, proxy)
            others += try keeping.start(site.cycleLink)
            if let blackBox { others += try start(blackBox) }
            let cycle = try startCycle(site, realtime)
            let grant = realtime.wait()
            tell(grant, journal)
            if config.mode.rules.realTime == .required && !grant.isSufficient {
                // Nothing has spoken to the plant yet.
                end(site, cycle, control, recorder, keeping, files, blackBox, others)
                throw Daemon.StartFailure(
                    description: "production needs real time and locked memory: \(grant.text)")
            }
            let buses = try startBuses(site, busStop)
            let watchdogStop = StopFlag()
            let watchdog = try startWatchdog(site, onlookers, busStop: busStop, stop: watchdogStop)
            // The cycle and the buses have inherited what the unit gives; the onlookers need none of it.
            RealTime.leave()
            announce(checked, journal)
            var supervisor = Supervisor(
                site: site, journal: journal, recorder: recorder, control: control, onlookers: onlookers,
                files: files, realtime: grant.text,
                latches: LatchDesk(latches, units: config.units.map(\.id), keepers: keeping.keepers),
                checked: checked)
            supervisor.run(signals)
            watchdogStop.raise()
            watchdog.join()
            // Order matters: the buses write zero and close while the cycle still turns.
            busStop.raise()
            for bus in buses { bus.join() }
            end(site, cycle, control, recorder, keeping, files, blackBox, others)
            areSaved = supervisor.areLatchesSaved()
        } catch let failure as Daemon.StartFailure {
            throw failure
        } catch {
            throw Daemon.StartFailure(description: "cannot start a thread: \(error)")
        }
        journal.write(LogRecord(.stopped, "stopped"))
        return areSaved
    }

    /// What may wait for disks and people, and never takes the processor from the cycle.
    private static func startOnlookers(
        _ recorder: RecorderThread, _ control: ControlService, _ server: Handover<ControlServer>,
        _ files: FileThread, _ proxy: Handover<ProxyThread>?
    ) throws(SystemError) -> [SystemThread] {
        var threads = [
            try SystemThread(name: "recorder") {
                RealTime.leave()
                recorder.run()
            },
            try SystemThread(name: "control") {
                RealTime.leave()
                guard var server = server.take() else { return }
                control.run(&server)
            },
            try SystemThread(name: "operator") {
                RealTime.leave()
                control.work()
            },
            try SystemThread(name: "leases") {
                RealTime.leave()
                control.leases?.run(control)
            },
            try SystemThread(name: "files") {
                RealTime.leave()
                files.run()
            },
        ]
        if let agc = control.agc {
            threads.append(
                try SystemThread(name: "agc") {
                    RealTime.leave()
                    agc.run(control)
                })
        }
        guard let proxy else { return threads }
        threads.append(
            try SystemThread(name: "proxy") {
                RealTime.leave()
                proxy.take()?.run()
            })
        return threads
    }

    private static func start(_ blackBox: BlackBoxThread) throws(SystemError) -> [SystemThread] {
        let writer = try SystemThread(name: "blackbox") {
            RealTime.leave()
            blackBox.run()
        }
        guard let sync = blackBox.sync else { return [writer] }
        return [
            writer,
            try SystemThread(name: "recordings") {
                RealTime.leave()
                sync.run()
            },
        ]
    }

    private static func tell(_ grant: RealTimeGrant, _ journal: Journal) {
        journal.write(
            LogRecord(.realtime, grant.text, as: grant.refusals.isEmpty ? .info : .warning))
    }

    private static func end(
        _ site: SiteAssembly, _ cycle: SystemThread, _ control: ControlService, _ recorder: RecorderThread,
        _ keeping: LatchKeeping, _ files: FileThread, _ blackBox: BlackBoxThread?, _ others: [SystemThread]
    ) {
        site.cycleLink.stop.raise()
        cycle.join()
        control.end()
        control.leases?.end()
        control.agc?.end()
        recorder.end()
        files.end()
        blackBox?.end()
        for keeper in keeping.keepers { keeper.end() }
        // A disk that does not answer must not keep the process from ending: the plant is at zero.
        let limit = MonotonicTime.now() + .seconds(3)
        for thread in others { _ = thread.join(until: limit) }
    }

    private static func agc(
        _ config: SiteConfig, _ journal: Journal
    ) throws(Daemon.StartFailure) -> AGCDesk? {
        guard let centre = config.controlCentre else { return nil }
        do throws(SystemError) { return try AGCDesk(centre, journal: journal) } catch {
            throw Daemon.StartFailure(description: "control_centre: \(error)")
        }
    }

    private static func proxy(
        _ config: SiteConfig, _ control: ControlService, _ journal: Journal
    ) throws(Daemon.StartFailure) -> Handover<ProxyThread>? {
        guard let server = config.modbusServer else { return nil }
        do throws(SystemError) {
            return Handover(try ProxyThread(server, site: config, control: control, journal: journal))
        } catch {
            throw Daemon.StartFailure(
                description: "modbus_server \(server.address):\(server.port): \(error)")
        }
    }

    private static func announce(_ checked: CheckedSite, _ journal: Journal) {
        let config = checked.config
        let text =
            "site \(config.siteID) (\(config.mode.rawValue)): \(config.units.count) units,"
            + " period \(config.control.period.milliseconds) ms; every unit starts out of service"
        journal.write(
            LogRecord(.started, text, [.site: config.siteID, .digest: checked.digest]))
        ServiceManager.ready(status: text)
    }

    private static func startBuses(
        _ site: SiteAssembly, _ stop: StopFlag
    ) throws(SystemError) -> [SystemThread] {
        var threads: [SystemThread] = []
        let priority = max(1, site.config.control.realtimePriority - 1)
        for link in site.canLinks {
            let handover = link.owner
            threads.append(
                try SystemThread(name: "can") {
                    _ = RealTime.enter(priority: priority, cpu: nil, locksMemory: false)
                    handover.take()?.run(until: stop)
                })
        }
        for link in site.phasorLinks {
            let handover = link.owner
            threads.append(
                try SystemThread(name: "pmu") {
                    _ = RealTime.enter(priority: priority, cpu: nil, locksMemory: false)
                    guard var owner = handover.take() else { return }
                    owner.run(until: stop)
                })
        }
        for link in site.modbusLinks {
            let handover = link.owner
            threads.append(
                try SystemThread(name: "modbus") {
                    _ = RealTime.enter(priority: priority, cpu: nil, locksMemory: false)
                    handover.take()?.run()
                })
        }
        return threads
    }

    private static func startWatchdog(
        _ site: SiteAssembly, _ onlookers: Onlookers, busStop: StopFlag, stop: StopFlag
    ) throws(SystemError) -> SystemThread {
        let watchdog = Handover(WatchdogThread(Watchdog(site), onlookers, busStop: busStop, stop: stop))
        let priority = max(1, site.config.control.realtimePriority - 1)
        return try SystemThread(name: "watchdog") {
            // As a bus: a busy processor is no reason to be taken for dead.
            _ = RealTime.enter(priority: priority, cpu: nil, locksMemory: false)
            guard var watchdog = watchdog.take() else { return }
            watchdog.run()
        }
    }

    private static func startCycle(_ site: SiteAssembly, _ realtime: Handshake) throws(SystemError)
        -> SystemThread
    {
        let settings = site.config.control
        let handover = site.cycle
        return try SystemThread(name: "cycle") {
            var grant = RealTime.enter(
                priority: settings.realtimePriority, cpu: settings.cpu, locksMemory: true)
            grant.notes += RealTimeSurroundings.notes()
            realtime.answer(grant)
            guard var cycle = handover.take() else { return }
            cycle.run()
        }
    }
}
