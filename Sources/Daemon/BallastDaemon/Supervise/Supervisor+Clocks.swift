import Control
import Glibc
import LinuxIO
import Quantities
import SiteEvents
import Synchronization

/// How punctual the cycle is, and what the machine's clocks do.
extension Supervisor {
    mutating func watchTiming(at now: MonotonicTime) {
        guard now >= timingDue else { return }
        timingDue = now + .seconds(1)
        let counts = site.cycleLink.timingCounts(site.config.control.timing)
        switch timing.look(counts, at: now) {
        case .warning(let text):
            journal.write(
                LogRecord(.cycleLate, "the cycle is late: \(text)"))
        case .stop(let text):
            let line = "the site is taken out of service: \(text)"
            journal.write(LogRecord(.cycleStop, line))
            site.tap?.wantedCapture.withLock { $0 = CaptureWish(kind: .late, text: text) }
            _ = control.command(.stop)
        case nil: break
        }
    }

    mutating func tendClocks(at now: MonotonicTime) {
        if let record = stall.look(site.cycleLink.cycles.load(ordering: .relaxed), at: now) {
            journal.write(record)
        }
        for finding in clocks.look() {
            journal.write(finding.record)
            switch finding {
            // The cycle has noticed by itself, and let every unit enter service anew.
            case .wallStepped, .suspended: break
            // Without time nothing expires any more: the devices' own timers must act, and do when we die.
            case .standsStill:
                journal.flush(within: .seconds(1))
                abort()
            }
        }
    }
}
