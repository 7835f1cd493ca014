import LinuxIO
import Plant
import Quantities
import Recorder
import SiteEvents

/// The test of an I/O module's own watchdog.
extension Supervisor {
    mutating func beginWatchdogTest(_ unit: Int, at now: MonotonicTime) {
        let config = site.config.units[unit]
        guard let watchdog = config.ioModule?.watchdog, site.hush(of: unit) != nil else {
            return reversionDesk.finished()
        }
        let ramp = config.maxPower.value / site.siteSettings.ramp.value
        let plan = OutputWatchdogTest.Plan(
            unit: unit, rating: config.maxPower, watchdog: watchdog, response: config.response,
            ramp: .nanoseconds(Int64(ramp * 1e9)))
        reversion.watchdogFailures[unit] = nil
        reversion.watchdogTest = OutputWatchdogTest(plan, at: now)
        _ = control.command(.override(unit: unit, .zero, for: plan.longest))
        journal.write(
            LogRecord(
                .outputWatchdogTest,
                "unit \(config.id): test of its I/O module's watchdog: at zero power nothing is said to it for"
                    + " \(ReversionBook.seconds(plan.silence)) s, on purpose; the unit trips",
                [.unit: config.id]))
    }

    /// Carries on with the test that is under way.
    mutating func tendWatchdogTest(_ snapshot: borrowing CycleSnapshot, at now: MonotonicTime) {
        guard var test = reversion.watchdogTest else { return }
        let unit = test.plan.unit
        let decision = snapshot.decision.units[unit]
        let reading = snapshot.units[unit].inverter.activePower
        let sight = OutputWatchdogTest.Sight(
            isRunning: decision.mode.kind == .running, setpoint: decision.setpoint,
            power: reading.fresh(at: now, within: site.unitSettings[unit].budget.inverter),
            latched: decision.latched, outcome: site.hush(of: unit)?.outcome)
        let output = test.look(sight, at: now)
        reversion.watchdogTest = test
        switch output {
        case .wait: break
        case .beSilent(let time): site.hush(of: unit)?.begin(for: time)
        case .proven(let time): endWatchdogTest(unit, time, nil)
        case .failed(let failure): endWatchdogTest(unit, nil, failure.text)
        }
    }

    private mutating func endWatchdogTest(_ unit: Int, _ time: Duration?, _ failure: String?) {
        let config = site.config.units[unit]
        site.hush(of: unit)?.end()
        _ = control.command(.override(unit: unit, .zero, for: nil))
        reversion.watchdogTest = nil
        reversion.watchdogFailures[unit] = failure
        reversion.book.noteWatchdog(time, of: config, wallSeconds: WallClock.nowMilliseconds() / 1_000)
        recorder.persist(ReversionRecord.name, reversion.book.record.bytes)
        reversionDesk.remoteRefusal = reversion.book.remoteRefusal
        reversionDesk.finished()
        if let time {
            journal.write(
                LogRecord(
                    .outputWatchdogProven,
                    "unit \(config.id): I/O module's watchdog proven: all coils off within"
                        + " \(ReversionBook.seconds(time)) s of silence",
                    [.unit: config.id, .value: ReversionBook.seconds(time)]))
        } else {
            journal.write(
                LogRecord(
                    .outputWatchdogFailed,
                    "unit \(config.id): I/O module's watchdog not proven: \(failure ?? "")",
                    [.unit: config.id, .cause: failure ?? ""]))
        }
    }
}
