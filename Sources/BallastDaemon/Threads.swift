import CANBus
import ControlSocket
import LinuxIO
import ModbusBus
import Quantities
import SiteConfig

/// Starts every thread of a site, looks on, and brings them to an end in order.
enum Threads {
    static func serve(
        _ site: SiteAssembly, server: consuming ControlServer, journal: Journal, busStop: StopFlag,
        latches: Latches, checked: CheckedSite, signals: SignalInbox
    ) throws(Daemon.StartFailure) {
        let config = site.config
        let recorder = RecorderThread(directory: config.paths.stateDirectory, journal: journal)
        let control = ControlService(
            link: site.cycleLink, units: config.units.map(\.id),
            timing: TimingSource(site),
            access: ControlAccess(
                isSimulation: config.mode == .simulation, isCommissioned: latches.isCommissioned),
            journal: journal,
            modbus: ModbusDesk(config, ports: site.modbusLinks.map { ($0.endpoint, $0.service) }))
        let proxy = try Self.proxy(config, control, journal)
        let realtime = Handshake()
        do {
            let others = try startOnlookers(recorder, control, Handover(server), proxy)
            let cycle = try startCycle(site, realtime)
            let grant = realtime.wait()
            tell(grant, journal)
            if config.mode == .production && !grant.isSufficient {
                // Nothing has spoken to the plant yet.
                end(site, cycle, control, recorder, others)
                throw Daemon.StartFailure(
                    description: "production needs real time and locked memory: \(grant.text)")
            }
            let buses = try startBuses(site, busStop)
            // The cycle and the buses have inherited what the unit gives; the onlookers need none of it.
            RealTime.leave()
            announce(config, journal)
            var supervisor = Supervisor(
                site: site, journal: journal, recorder: recorder, control: control, realtime: grant.text,
                latches: latches, checked: checked)
            supervisor.run(signals)
            // Order matters: the buses write zero and close while the cycle still turns.
            busStop.raise()
            for bus in buses { bus.join() }
            end(site, cycle, control, recorder, others)
        } catch let failure as Daemon.StartFailure {
            throw failure
        } catch {
            throw Daemon.StartFailure(description: "cannot start a thread: \(error)")
        }
        journal.write(LogRecord(.notice, "stopped", fields: [("BALLAST_EVENT", "stopped")]))
    }

    /// What may wait for disks and people, and never takes the processor from the cycle.
    private static func startOnlookers(
        _ recorder: RecorderThread, _ control: ControlService, _ server: Handover<ControlServer>,
        _ proxy: Handover<ProxyThread>?
    ) throws(SystemError) -> [SystemThread] {
        var threads = [
            try SystemThread(name: "recorder") {
                RealTime.leave()
                recorder.run()
            },
            try SystemThread(name: "control") {
                RealTime.leave()
                guard let server = server.take() else { return }
                control.run(server)
            },
        ]
        guard let proxy else { return threads }
        threads.append(
            try SystemThread(name: "proxy") {
                RealTime.leave()
                proxy.take()?.run()
            })
        return threads
    }

    private static func tell(_ grant: RealTimeGrant, _ journal: Journal) {
        journal.write(
            LogRecord(
                grant.refusals.isEmpty ? .info : .warning, grant.text,
                fields: [("BALLAST_EVENT", "realtime")]))
    }

    private static func end(
        _ site: SiteAssembly, _ cycle: SystemThread, _ control: ControlService, _ recorder: RecorderThread,
        _ others: [SystemThread]
    ) {
        site.cycleLink.stop.raise()
        cycle.join()
        control.end()
        recorder.end()
        for thread in others { thread.join() }
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

    private static func announce(_ config: SiteConfig, _ journal: Journal) {
        let text =
            "site \(config.siteID) (\(config.mode.rawValue)): \(config.units.count) units,"
            + " period \(config.control.period.milliseconds) ms; every unit starts out of service"
        journal.write(
            LogRecord(.notice, text, fields: [("BALLAST_EVENT", "started"), ("BALLAST_SITE", config.siteID)]))
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
                    guard var owner = handover.take() else { return }
                    owner.run(until: stop)
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
