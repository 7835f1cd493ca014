import CANBus
import Control
import ControlSocket
import Glibc
import LinuxIO
import ModbusBus
import Plant
import Quantities
import Recorder
import SafeOutput
import SiteConfig
import SiteEvents
import Synchronization

/// The main thread's work: it looks on. It tells what happened, publishes the status and ends the process in
/// order. Control, the latches, the log and the watchdog have threads of their own and go on without it.
struct Supervisor: ~Copyable {
    let site: SiteAssembly
    let journal: Journal
    let recorder: RecorderThread
    let control: ControlService
    let status: StatusBuilder
    private var snapshots: TripleBufferReader<CycleSnapshot>
    let files: FileThread
    private let onlookers: Onlookers
    private var linkLog = LinkLog()
    private var linkAges = LinkAges()
    private var canRestart: CANRestart
    private var latches: LatchDesk
    private var told: EventTeller
    private var telemetryDue = MonotonicTime(nanoseconds: 0)
    private var statusDue = MonotonicTime(nanoseconds: 0)
    private var lostBefore: UInt64 = 0
    var feeder: ScheduleFeeder?
    /// What holds now: a reload may have changed some of it.
    var checked: CheckedSite
    var clocks = ClockWatch()
    var stall: StallWatch
    private var performance: PerformanceSampler
    var records: SiteRecordWriter
    private var wires: WireBook
    let reversionDesk: ReversionDesk
    var reversion: ReversionWork
    var timing: TimingWatch
    var timingDue = MonotonicTime(nanoseconds: 0)
    private var scheduleDue = MonotonicTime(nanoseconds: 0)

    init(
        site: SiteAssembly, journal: Journal, recorder: RecorderThread, control: ControlService,
        onlookers: Onlookers, files: FileThread, realtime: String, latches: consuming LatchDesk,
        checked: CheckedSite
    ) {
        self.site = site
        self.journal = journal
        self.recorder = recorder
        self.control = control
        self.onlookers = onlookers
        self.files = files
        self.checked = checked
        feeder = checked.schedule.map { ScheduleFeeder($0) }
        control.remember(stop: latches.record.isStopped ? latches.record.stoppedBy : nil)
        reversionDesk = control.reversionDesk
        reversion = ReversionWork(book: ReversionBook(site.config))
        reversionDesk.remoteRefusal = reversion.book.remoteRefusal
        let directory = site.config.paths.stateDirectory
        wires = WireBook(site.config, site.unitSettings, former: WireBook.saved(in: directory))
        recorder.persist(WirePlan.name, wires.plan.bytes)
        timing = TimingWatch(site.config.control.timing, at: .now())
        records = SiteRecordWriter(
            site.config,
            site.canLinks.compactMap { link in link.cells.map { (link.unit, $0) } })
        if let fault = records.energyFault { journal.write(LogRecord(.recordsLost, fault)) }
        performance = PerformanceSampler(settings: site.siteSettings, units: site.unitSettings)
        let buses = site.canLinks.map { ($0.unit, $0.status) }
        let strays = WireStrays(Dictionary(buses) { first, _ in first })
        status = StatusBuilder(
            config: site.config, settings: site.unitSettings, meterBudget: site.meterBudget,
            realtime: realtime, strays: strays)
        told = EventTeller(
            EventLog(
                site: site.config.siteID, units: site.config.units.map(\.id),
                table: site.siteSettings.interlocks, strays: strays), latches.record)
        self.latches = latches
        stall = StallWatch(grace: site.siteSettings.outputGrace)
        snapshots = site.cycleLink.snapshots.reader()
        canRestart = CANRestart(folder: getenv("RUNTIME_DIRECTORY").map { String(cString: $0) })
        for can in site.canLinks {
            let status = can.status
            if case .socketCAN(let interface) = can.address {
                canRestart.watch(interface) { status.busState == .busOff }
            }
        }
    }

    /// Looks on until `signals` brings the end; then takes the site out of service.
    mutating func run(_ signals: SignalInbox) {
        while true {
            let signal = signals.wait(timeout: .milliseconds(10))
            if signal == SIGHUP { reload() } else if signal != nil { break }
            turn()
        }
        ServiceManager.stopping()
        told.isEnding = true
        journal.write(
            LogRecord(.stopping, "stopping: units go to zero power"))
        let bound = site.siteSettings.stopBound
        let end = MonotonicTime.now() + bound
        if rampDown(until: end - bound / 2, signals) {
            _ = control.command(.stop)
            while MonotonicTime.now() < end, !isOutOfService {
                turn()
                if isSecond(signals) { break }
            }
        }
        turn()
        // A trip of the last moment waits for its disk.
        let limit = MonotonicTime.now() + LatchWatch.limit + LatchWatch.limit
        while told.isWaiting, MonotonicTime.now() < limit, !isSecond(signals) { turn() }
        if let record = performance.end() { keepPerformance(record) }
        endRecords(at: limit)
    }

    /// Whether all that was latched is on disk, now that nobody latches any more.
    mutating func areLatchesSaved() -> Bool {
        snapshots.update()
        keepLatches(at: MonotonicTime.now())
        return !latches.keeps || latches.isSaved
    }

    /// Takes every unit to zero over the comfort ramp, where it has the time.
    ///
    /// - Returns: `false` where a second signal came.
    private mutating func rampDown(until limit: MonotonicTime, _ signals: SignalInbox) -> Bool {
        for index in site.unitSettings.indices
        where snapshots.latest.pointee.decision.units[index].mode.kind == .running {
            _ = control.command(
                .override(unit: index, .zero, for: site.siteSettings.stopBound + .seconds(1)))
        }
        let begun = snapshots.latest.pointee.decision.cycle
        while MonotonicTime.now() < limit {
            turn()
            let decision = snapshots.latest.pointee.decision
            // Two cycles on, the command has been heard.
            if decision.cycle >= begun + 2, isAtZero(decision) { return true }
            if isSecond(signals) { return false }
        }
        return true
    }

    private func isAtZero(_ decision: borrowing Decision) -> Bool {
        for index in 0..<decision.unitCount where decision.units[index].setpoint != .zero { return false }
        return true
    }

    /// Whether a second signal asks for the end at once; the bus owners still write zero.
    private func isSecond(_ signals: SignalInbox) -> Bool {
        let signal = signals.wait(timeout: .milliseconds(10))
        return signal != nil && signal != SIGHUP
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
        onlookers.main.turn()
        tendClocks(at: now)
        snapshots.update()
        markFrequencyTest(snapshots.latest.pointee)
        drainEvents()
        keepLatches(at: now)
        tell(at: now)
        drainReports()
        if let answer = files.take() { finishReload(answer) }
        if let wish = reversionDesk.take() { beginReversion(wish, at: now) }
        if reversion.test != nil { tendReversion(snapshots.latest.pointee, at: now) }
        if reversion.watchdogTest != nil { tendWatchdogTest(snapshots.latest.pointee, at: now) }
        restartBuses(at: now)
        feedSchedule(at: now)
        publishStatus(at: now)
        samplePerformance()
        countEnergy(snapshots.latest.pointee, at: now)
        watchTiming(at: now)
    }

    private mutating func restartBuses(at now: MonotonicTime) {
        for interface in canRestart.tend(at: now) {
            journal.write(
                LinkLog.record(
                    .busRestartAsked, "can socketcan:\(interface)",
                    "the bus has stayed off; its interface is to be set up anew"))
        }
    }

    private mutating func samplePerformance() {
        guard snapshots.latest.pointee.decision.cycle > 0 else { return }
        let record = performance.look(
            snapshots.latest.pointee, at: MonotonicTime.now(), wallMilliseconds: WallClock.nowMilliseconds())
        if let record { keepPerformance(record) }
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
        while let timed = site.cycleLink.events.pop() {
            // Who asked is answered by it, and finds the picture that goes with the answer.
            if control.saw(timed.event) { statusDue = MonotonicTime(nanoseconds: 0) }
            told.saw(
                timed.event, reason: control.reason(of: timed.event),
                wallMilliseconds: timed.wallMilliseconds)
        }
        let lost = site.cycleLink.events.lost + site.cycleLink.lostEvents.load(ordering: .relaxed)
        if lost != lostBefore {
            journal.write(
                LogRecord(.eventsLost, "\(lost - lostBefore) events found no room"))
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
            for device in link.devices {
                guard let zero = device.zero,
                    wires.learn(zero.write, zero.places, of: device.unit, on: link.endpoint)
                else { continue }
                recorder.persist(WirePlan.name, wires.plan.bytes)
            }
        }
    }

    private mutating func keepLatches(at now: MonotonicTime) {
        let image = LatchImage(snapshots.latest.pointee.decision)
        told.keep(image)
        let line = latches.tend(image, told.record, at: now)
        if let line { journal.write(line) }
        if let record = latches.newlyOnDisk() { control.keeps(record) }
    }

    private mutating func tell(at now: MonotonicTime) {
        while let line = told.next(latches, at: now) { journal.write(line) }
    }

    private mutating func publishStatus(at now: MonotonicTime) {
        // A trip is not told here either before it is on disk, or is known not to be.
        guard now >= statusDue, snapshots.latest.pointee.decision.cycle > 0, !latches.mustWait(at: now) else {
            return
        }
        statusDue = now + .milliseconds(100)
        let age = Int64((now - snapshots.latest.pointee.decision.at).milliseconds)
        var status = self.status.status(
            snapshots.latest.pointee, overruns: site.cycleLink.overruns.load(ordering: .relaxed),
            links: linkAges.look(links(), at: now), latchesSaved: latches.isSaved, isStopped: told.isStopped,
            at: WallClock.text(milliseconds: WallClock.nowMilliseconds() - age))
        let still = onlookers.namesStanding
        let trips = told.latched(LatchImage(snapshots.latest.pointee.decision))
        status.threads_still = still.isEmpty ? nil : still
        for index in status.units.indices {
            status.units[index].locks = told.locks(of: status.units[index].id)
            status.units[index].begun_by =
                trips.first { $0.unit == status.units[index].id && $0.begun_by != nil }?
                .begun_by
            status.units[index].worn_openings = told.counts.openings(of: status.units[index].id)
            status.units[index].reversion = reversion.text(index, of: site)
            status.units[index].output_watchdog = reversion.watchdogText(index, of: site)
        }
        showCounters(in: &status)
        control.update(status, trips: trips, events: recorder.recentEvents)
        guard now >= telemetryDue else { return }
        telemetryDue = now + .seconds(1)
        tellColumns(status, at: now, wallMilliseconds: WallClock.nowMilliseconds() - age)
        ServiceManager.status(
            Self.line(status) + (still.isEmpty ? "" : "; standing still: \(still.joined(separator: ", "))"))
    }

    /// One line for `systemctl status`: what is done, and what is missing.
    static func line(_ status: SiteStatus) -> String {
        let frequency = status.frequency_hz.map { "\($0) Hz" } ?? "no frequency"
        let units = status.units.map { unit in
            "\(unit.id) \(unit.mode)" + (unit.holds?.isEmpty == false ? " (held)" : "")
        }.joined(separator: ", ")
        var line = "\(frequency), setpoint \(status.setpoint_kw) kW; \(units)"
        let missing = status.links.filter { $0.counters["up"] == 0 }.map(\.name)
        if !missing.isEmpty { line += "; no link: " + missing.joined(separator: ", ") }
        if !status.latches_saved { line += "; trips are not on disk" }
        if status.stopped { line += "; stopped by an operator" }
        return line
    }

    private func links() -> [LinkStatus] {
        let can = site.canLinks.map { link in
            LinkStatus(name: link.name, counters: link.status.counters)
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
                ].merging(Self.line(link)) { first, _ in first })
        }
        return can + modbus + site.phasorLinks.map { LinkStatus(name: $0.name, $0.status) }
    }

    /// What only a field bus has to tell, and how its devices are waited for.
    private static func line(_ link: SiteAssembly.ModbusLink) -> [String: UInt64] {
        let status = link.status
        var counters = [
            "checksum_errors": status.checksumErrors, "other_units": status.otherUnits,
            "other_transactions": status.otherTransactions, "malformed_answers": status.malformedAnswers,
            "unexpected_echoes": status.unexpectedEchoes, "reopenings": status.reopenings,
            "probes": status.probes, "repeats": status.repeats, "put_off_looks": status.putOffs,
            "unreported": status.suppressedReports, "low_latency": status.isLowLatency ? 1 : 0,
        ]
        for device in link.devices {
            let name = "device_\(device.unit)"
            counters["\(name)_answers"] = device.isAnswering ? 1 : 0
            counters["\(name)_timeout_us"] = UInt64(max(0, device.timeout.nanoseconds / 1_000))
            counters["\(name)_gap_us"] = UInt64(max(0, device.gap.nanoseconds / 1_000))
            counters["\(name)_slowest_answer_us"] = UInt64(max(0, device.slowestAnswer.nanoseconds / 1_000))
        }
        return counters
    }
}
