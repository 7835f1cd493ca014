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

    /// From the moment at which a thread stands still to zero on its link: the watchdog's patience, a look,
    /// the last words of the others, and the safe output.
    static func thread(_ limit: Duration) -> Duration {
        min(limit, Watchdog.longest) + Watchdog.interval + WatchdogThread.lastWords + safeOutput
    }

    /// The same when the whole process stands still.
    static var process: Duration { watchdog + abort + safeOutput }

    /// A link's thread may stand still for so long; the slowest way round its loop is `bound`.
    static func limit(_ bound: Duration) -> Duration { min(bound + .milliseconds(250), Watchdog.longest) }
}

extension Watchdog {
    /// Everything that must go on for the plant to be led.
    init(_ site: SiteAssembly) {
        self.init()
        let link = site.cycleLink
        let tenPeriods = Duration.nanoseconds(10 * site.config.control.period.nanoseconds)
        let bound = Duration.milliseconds(1_500)
        watch("cycle", within: max(tenPeriods, .milliseconds(100)), limit: bound) {
            link.cycles.load(ordering: .relaxed)
        }
        for can in site.canLinks {
            let status = can.status
            watch(can.name, within: bound, limit: bound) { status.heartbeat }
        }
        for phasor in site.phasorLinks {
            let status = phasor.status
            watch(phasor.name, within: bound, limit: bound) { status.heartbeat }
        }
        for modbus in site.modbusLinks {
            let status = modbus.status
            let limit = DeadTime.limit(modbus.heartbeatBound)
            watch(modbus.name, within: limit, limit: limit) { status.heartbeat }
        }
    }
}
