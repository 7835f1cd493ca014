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
        latches: Latches, schedule: Schedule?, signals: SignalInbox
    ) throws(Daemon.StartFailure) {
        let config = site.config
        let recorder = RecorderThread(directory: config.paths.stateDirectory, journal: journal)
        let control = ControlService(
            link: site.cycleLink, units: config.units.map(\.id),
            periodMilliseconds: config.control.period.milliseconds,
            access: ControlAccess(
                isSimulation: config.mode == .simulation, isCommissioned: latches.isCommissioned),
            journal: journal)
        let realtime = Handshake()
        let serverHandover = Handover(server)
        do {
            let others = [
                try SystemThread(name: "recorder") {
                    RealTime.leave()
                    recorder.run()
                },
                try SystemThread(name: "control") {
                    RealTime.leave()
                    guard let server = serverHandover.take() else { return }
                    control.run(server)
                },
            ]
            let buses = try startBuses(site, busStop)
            let cycle = try startCycle(site, realtime)
            let grant = realtime.wait()
            // The cycle and the buses have inherited what the unit gives; the onlookers need none of it.
            RealTime.leave()
            journal.write(
                LogRecord(
                    grant.refusals.isEmpty ? .info : .warning, grant.text,
                    fields: [("BALLAST_EVENT", "realtime")]))
            announce(config, journal)
            var supervisor = Supervisor(
                site: site, journal: journal, recorder: recorder, control: control, realtime: grant.text,
                latches: latches, schedule: schedule)
            supervisor.run(signals)
            // Order matters: the buses write zero and close while the cycle still turns.
            busStop.raise()
            for bus in buses { bus.join() }
            site.cycleLink.stop.raise()
            cycle.join()
            control.end()
            recorder.end()
            for thread in others { thread.join() }
        } catch {
            throw Daemon.StartFailure(description: "cannot start a thread: \(error)")
        }
        journal.write(LogRecord(.notice, "stopped", fields: [("BALLAST_EVENT", "stopped")]))
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
            realtime.answer(
                RealTime.enter(priority: settings.realtimePriority, cpu: settings.cpu, locksMemory: true))
            guard var cycle = handover.take() else { return }
            cycle.run()
        }
    }
}
