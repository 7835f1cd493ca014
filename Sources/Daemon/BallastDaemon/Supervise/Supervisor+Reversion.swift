import Control
import LinuxIO
import Plant
import Quantities
import Recorder
import SiteEvents

/// A test that is under way, and what came of the last one.
struct ReversionWork {
    var book: ReversionBook
    var test: ReversionTest?
    /// By unit: why its last test failed.
    var failures: [Int: String] = [:]
    /// The same of I/O modules.
    var watchdogTest: OutputWatchdogTest?
    var watchdogFailures: [Int: String] = [:]

    /// For the status: `not proven`, `testing`, `failed: …`, `proven: …`.
    func text(_ unit: Int, of site: SiteAssembly) -> String {
        if test?.plan.unit == unit { return "testing" }
        return failures[unit].map { "failed: \($0)" } ?? book.text(site.config.units[unit])
    }

    /// The same of its I/O module; `nil` without coils.
    func watchdogText(_ unit: Int, of site: SiteAssembly) -> String? {
        if watchdogTest?.plan.unit == unit { return "testing" }
        return watchdogFailures[unit].map { "failed: \($0)" } ?? book.watchdogText(site.config.units[unit])
    }
}

extension Supervisor {
    /// Carries on with the test that is under way.
    mutating func tendReversion(_ snapshot: borrowing CycleSnapshot, at now: MonotonicTime) {
        guard var test = reversion.test else { return }
        let output = test.look(sight(test.plan.unit, snapshot, at: now), at: now)
        reversion.test = test
        switch output {
        case .wait: break
        case .beSilent: site.silence(of: test.plan.unit)?.begin()
        case .proven(let time, let power):
            let identity = snapshot.units[test.plan.unit].inverter.identity
            endReversion(test.plan, (time, power), nil, identity: identity)
        case .failed(let failure): endReversion(test.plan, nil, failure.text)
        }
    }

    private func sight(
        _ unit: Int, _ snapshot: borrowing CycleSnapshot, at now: MonotonicTime
    ) -> ReversionTest.Sight {
        let decision = snapshot.decision.units[unit]
        var power: (value: Watts, at: MonotonicTime)?
        let budget = site.unitSettings[unit].budget.inverter
        let silence = site.silence(of: unit)
        let reading = snapshot.units[unit].inverter.activePower
        if case .value(let value, let age) = reading.look(at: now, within: budget) {
            power = (value, now - age)
        }
        return ReversionTest.Sight(
            isRunning: decision.mode.kind == .running, setpoint: decision.setpoint, power: power,
            isBroken: silence?.isBroken ?? true, lastWrite: silence?.lastWrittenAt)
    }

    mutating func beginReversion(_ wish: ReversionDesk.Wish, at now: MonotonicTime) {
        if wish.isModule { return beginWatchdogTest(wish.unit, at: now) }
        let unit = site.config.units[wish.unit]
        let ramp = Duration.nanoseconds(
            Int64(wish.power.magnitude.value / site.siteSettings.ramp.value * 1e9))
        let plan = ReversionTest.Plan(
            unit: wish.unit, power: wish.power, rating: unit.maxPower, reversion: unit.reversion,
            response: unit.response, ramp: ramp)
        reversion.failures[wish.unit] = nil
        reversion.test = ReversionTest(plan, at: now)
        _ = control.command(.override(unit: wish.unit, wish.power, for: plan.longest))
        journal.write(
            LogRecord(
                .reversionTest,
                "unit \(unit.id): test of its reversion at \(Names.rounded(wish.power.kilowatts)) kW: no setpoint"
                    + " for \(ReversionBook.seconds(plan.reversion)) s and more, on purpose", [.unit: unit.id]
            ))
    }

    private mutating func endReversion(
        _ plan: ReversionTest.Plan, _ result: (after: Duration, power: Watts)?, _ failure: String?,
        identity: UInt64 = 0
    ) {
        let unit = site.config.units[plan.unit]
        site.silence(of: plan.unit)?.end()
        _ = control.command(.override(unit: plan.unit, .zero, for: nil))
        reversion.test = nil
        reversion.failures[plan.unit] = failure
        reversion.book.note(
            result, of: unit, identity: identity, wallSeconds: WallClock.nowMilliseconds() / 1_000)
        recorder.persist(ReversionRecord.name, reversion.book.record.bytes)
        reversionDesk.remoteRefusal = reversion.book.remoteRefusal
        reversionDesk.finished()
        if let result {
            journal.write(
                LogRecord(
                    .reversionProven,
                    "unit \(unit.id): reversion proven: \(Names.rounded(result.power.kilowatts)) kW"
                        + " \(ReversionBook.seconds(result.after)) s after our last write",
                    [.unit: unit.id, .value: ReversionBook.seconds(result.after)]))
        } else {
            journal.write(
                LogRecord(
                    .reversionFailed, "unit \(unit.id): reversion not proven: \(failure ?? "")",
                    [.unit: unit.id, .cause: failure ?? ""]))
        }
    }
}
