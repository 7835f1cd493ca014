import CANBus
import Control
import ControlSocket
import LinuxIO
import ModbusBus
import Plant
import Quantities
import Recorder
import SiteConfig
import Synchronization

/// The main thread's work: it looks on. It logs what happened, keeps the latches on disk, publishes the
/// status, feeds the watchdog and ends the process in order. Control goes on without it.
struct Supervisor: ~Copyable {
    let site: SiteAssembly
    let journal: Journal
    let recorder: RecorderThread
    let control: ControlService
    let status: StatusBuilder
    let events: EventLog
    private var snapshots: TripleBufferReader<CycleSnapshot>
    private var watchdog = Watchdog()
    private var linkLog = LinkLog()
    private var latches: Latches
    private var trips: TripLog
    private var telemetryDue = MonotonicTime(nanoseconds: 0)
    private var statusDue = MonotonicTime(nanoseconds: 0)
    private var lostBefore: UInt64 = 0
    /// By an operator; our own end is no operator's stop.
    private var isStopped: Bool
    private var absences: Absences
    private var isEnding = false
    private var feeder: ScheduleFeeder?
    private var performance: PerformanceSampler
    private var scheduleDue = MonotonicTime(nanoseconds: 0)

    init(
        site: SiteAssembly, journal: Journal, recorder: RecorderThread, control: ControlService,
        realtime: String, latches: Latches, schedule: Schedule?
    ) {
        self.site = site
        self.journal = journal
        self.recorder = recorder
        self.control = control
        self.latches = latches
        isStopped = latches.record.isStopped
        absences = Absences(
            latches.record, units: site.config.units.map(\.id),
            wallSeconds: WallClock.nowMilliseconds() / 1_000)
        feeder = schedule.map { ScheduleFeeder($0) }
        trips = TripLog(units: site.config.units.map(\.id), table: site.siteSettings.interlocks)
        performance = PerformanceSampler(settings: site.siteSettings, units: site.unitSettings)
        status = StatusBuilder(
            config: site.config, settings: site.unitSettings, meterBudget: site.meterBudget,
            realtime: realtime)
        events = EventLog(
            site: site.config.siteID, units: site.config.units.map(\.id), table: site.siteSettings.interlocks)
        snapshots = site.cycleLink.snapshots.reader()
        let link = site.cycleLink
        let tenPeriods = Duration.nanoseconds(10 * site.config.control.period.nanoseconds)
        watchdog.watch(within: max(tenPeriods, .milliseconds(100))) { link.cycles.load(ordering: .relaxed) }
        for can in site.canLinks {
            let status = can.status
            watchdog.watch(within: .milliseconds(1_500)) { status.heartbeat }
        }
        for phasor in site.phasorLinks {
            let status = phasor.status
            watchdog.watch(within: .milliseconds(1_500)) { status.heartbeat }
        }
        for modbus in site.modbusLinks {
            let status = modbus.status
            watchdog.watch(within: modbus.heartbeatBound + .seconds(1)) { status.heartbeat }
        }
    }

    /// Looks on until `signals` brings the end; then takes the site out of service.
    mutating func run(_ signals: SignalInbox) {
        while signals.wait(timeout: .milliseconds(10)) == nil { turn() }
        ServiceManager.stopping()
        isEnding = true
        journal.write(
            LogRecord(.notice, "stopping: units go to zero power", fields: [("BALLAST_EVENT", "stopping")]))
        _ = control.command(.stop)
        let bound = MonotonicTime.now() + site.siteSettings.stopBound
        while MonotonicTime.now() < bound, !isOutOfService {
            turn()
            // A second signal ends at once; the bus owners still write zero.
            if signals.wait(timeout: .milliseconds(10)) != nil { break }
        }
        turn()
        if let record = performance.end() { recorder.recordPerformance(record) }
    }

    private var isOutOfService: Bool {
        let decision = snapshots.latest
        for index in 0..<site.unitSettings.count {
            let unit = decision.pointee.decision.units[index]
            // The current ends before the contacts part.
            if unit.closesMainContactor || unit.closesPrechargeContactor { return false }
            switch unit.mode {
            case .precharge, .running, .stopping: return false
            case .offline, .standby, .tripped, .maintenance: continue
            }
        }
        return true
    }

    private mutating func turn() {
        let now = MonotonicTime.now()
        watchdog.tend(at: now)
        snapshots.update()
        drainEvents()
        drainReports()
        persistLatches()
        feedSchedule(at: now)
        publishStatus(at: now)
        samplePerformance()
    }

    private mutating func samplePerformance() {
        guard snapshots.latest.pointee.decision.cycle > 0 else { return }
        let record = performance.look(
            snapshots.latest.pointee, at: MonotonicTime.now(), wallMilliseconds: WallClock.nowMilliseconds())
        if let record { recorder.recordPerformance(record) }
    }

    private mutating func feedSchedule(at now: MonotonicTime) {
        guard now >= scheduleDue, var next = feeder else { return }
        scheduleDue = now + .seconds(1)
        let isTaken =
            switch next.order(wallMilliseconds: WallClock.nowMilliseconds(), at: now) {
            case .grant(let power, let time): control.command(.setBasePoint(.schedule, power, for: time))
            case .revoke: control.command(.revokeBasePoint(.schedule))
            case nil: true
            }
        // What the cycle had no room for is asked again in a second.
        if isTaken { feeder = next }
    }

    private mutating func drainEvents() {
        let wallTime = WallClock.text(milliseconds: WallClock.nowMilliseconds())
        while let event = site.cycleLink.events.pop() {
            let record = events.record(event, at: wallTime)
            journal.write(events.line(event, record))
            control.saw(event)
            trips.saw(event, at: wallTime)
            absences.saw(event, wallSeconds: WallClock.nowMilliseconds() / 1_000)
            if event.kind == .stopRequested && !isEnding { isStopped = true }
            if event.kind == .resumed { isStopped = false }
            if let bytes = JSONLine.encode(record) { recorder.record(bytes.dropLast()) }
        }
        let lost = site.cycleLink.events.lost + site.cycleLink.lostEvents.load(ordering: .relaxed)
        if lost != lostBefore {
            journal.write(
                LogRecord(
                    .warning, "\(lost - lostBefore) events found no room",
                    fields: [("BALLAST_EVENT", "events_lost")]))
            lostBefore = lost
        }
    }

    private mutating func drainReports() {
        for link in site.canLinks {
            while let report = link.reports.pop() {
                if let line = linkLog.line(report, on: link.address) { journal.write(line) }
            }
        }
        for link in site.phasorLinks {
            while let report = link.reports.pop() {
                if let line = linkLog.line(report, on: link.name) { journal.write(line) }
            }
        }
        for link in site.modbusLinks {
            while let report = link.reports.pop() {
                if let line = linkLog.line(report, on: link.name) { journal.write(line) }
            }
        }
    }

    private mutating func persistLatches() {
        // The first record is made by a person who has looked at the site, never by the daemon.
        guard latches.isCommissioned, snapshots.latest.pointee.decision.cycle > 0 else { return }
        let entries = site.config.units.enumerated().map { index, unit in
            let decision = snapshots.latest.pointee.decision.units[index]
            return LatchRecord.Entry(unit: unit.id, set: decision.latched, first: decision.firstOut)
        }
        let record = latches.updated(entries, isStopped: isStopped, absences: absences.current)
        guard record != latches.record else { return }
        latches.record = record
        recorder.persist(record)
    }

    private mutating func publishStatus(at now: MonotonicTime) {
        guard now >= statusDue, snapshots.latest.pointee.decision.cycle > 0 else { return }
        statusDue = now + .milliseconds(100)
        let age = Int64((now - snapshots.latest.pointee.decision.at).milliseconds)
        let status = self.status.status(
            snapshots.latest.pointee, overruns: site.cycleLink.overruns.load(ordering: .relaxed),
            links: links(), latchesSaved: latches.isCommissioned && recorder.areLatchesSaved,
            isStopped: isStopped,
            at: WallClock.text(milliseconds: WallClock.nowMilliseconds() - age))
        control.update(status, trips: latchedTrips())
        guard now >= telemetryDue else { return }
        telemetryDue = now + .seconds(1)
        if let bytes = JSONLine.encode(TelemetryRecord(status: status)) { recorder.record(bytes.dropLast()) }
        ServiceManager.status(Self.line(status))
    }

    private mutating func latchedTrips() -> [TripStatus] {
        site.unitSettings.indices.flatMap { index in
            let decision = snapshots.latest.pointee.decision.units[index]
            return trips.trips(of: index, decision.latched, first: decision.firstOut)
        }
    }

    /// One line for `systemctl status`.
    static func line(_ status: SiteStatus) -> String {
        let frequency = status.frequency_hz.map { "\($0) Hz" } ?? "no frequency"
        let units = status.units.map { "\($0.id) \($0.mode)" }.joined(separator: ", ")
        return "\(frequency), setpoint \(status.setpoint_kw) kW; \(units)"
    }

    private func links() -> [LinkStatus] {
        let can = site.canLinks.map { link in
            LinkStatus(
                name: link.name,
                counters: [
                    "up": link.status.isLinkUp ? 1 : 0, "frames": link.status.frames,
                    "rejected_frames": link.status.rejectedFrames,
                    "ignored_frames": link.status.ignoredFrames,
                    "bus_errors": link.status.busErrors, "link_losses": link.status.linkLosses,
                    "garbage_bytes": link.status.garbageBytes, "keep_alives": link.status.keepAlives,
                ])
        }
        let modbus = site.modbusLinks.map { link in
            LinkStatus(
                name: link.name,
                counters: [
                    "up": link.status.isUp ? 1 : 0, "transactions": link.status.transactions,
                    "errors": link.status.errors, "timeouts": link.status.timeouts,
                    "reconnects": link.status.reconnects, "setpoint_writes": link.status.writes,
                    "setpoint_overrides": link.status.overrides,
                    "last_round_trip_us": UInt64(max(0, link.status.lastRoundTrip.nanoseconds / 1_000)),
                    "worst_write_delay_us": UInt64(max(0, link.status.worstWriteDelay.nanoseconds / 1_000)),
                ])
        }
        return can + modbus + site.phasorLinks.map { LinkStatus(name: $0.name, $0.status) }
    }
}
