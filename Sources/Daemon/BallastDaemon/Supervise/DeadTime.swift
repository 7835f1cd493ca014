import CANBus
import LinuxIO
import ModbusBus
import Quantities

/// How long power may go on when a thread of the daemon, or all of it, stands still.
struct DeadTime {
    /// What systemd/ballastd.service sets; a test holds the two to each other.
    static let watchdog = Duration.milliseconds(1_500)
    static let abort = Duration.milliseconds(500)
    /// From the end of the process to the first write of the safe output.
    static let safeOutput = Duration.milliseconds(300)
    /// No configuration gets more.
    static let longest = Duration.milliseconds(2_500)

    /// A bus thread goes round within 200 ms whatever it waits for: after this there is no feed.
    static let busBound = Duration.milliseconds(600)
    /// After this the process ends.
    static let busLimit = Duration.milliseconds(850)
    /// A cycle that stands still takes nothing from the bus threads, which write zero.
    static let cycleLimit = Duration.milliseconds(1_500)

    /// From the moment at which a thread stands still to zero on its link: the watchdog's patience, a look,
    /// the last words of the others, and the safe output.
    static func thread(_ limit: Duration) -> Duration {
        limit + Watchdog.interval + WatchdogThread.lastWords + safeOutput
    }

    /// The same where nobody sees that the process has ended, because the thread keeps it: the bound, and the
    /// service manager's own patience.
    static var keptThread: Duration { busBound + Watchdog.interval + watchdog + safeOutput }

    /// The same when the whole process stands still.
    static var process: Duration { watchdog + abort + safeOutput }
}

extension Watchdog {
    /// Everything that must go on for the plant to be led.
    init(_ site: SiteAssembly) {
        self.init()
        let link = site.cycleLink
        let tenPeriods = Duration.nanoseconds(10 * site.config.control.period.nanoseconds)
        let (bound, limit) = (DeadTime.busBound, DeadTime.busLimit)
        watch("cycle", within: max(tenPeriods, .milliseconds(100)), limit: DeadTime.cycleLimit) {
            link.cycles.load(ordering: .relaxed)
        }
        for can in site.canLinks {
            let status = can.status
            watch(can.name, within: bound, limit: limit) { status.heartbeat }
        }
        for phasor in site.phasorLinks {
            let status = phasor.status
            watch(phasor.name, within: bound, limit: limit) { status.heartbeat }
        }
        for modbus in site.modbusLinks {
            let status = modbus.status
            watch(modbus.name, within: bound, limit: limit) { status.heartbeat }
        }
    }
}
