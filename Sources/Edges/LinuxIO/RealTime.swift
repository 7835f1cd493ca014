import CLinux
import Glibc

/// What the kernel granted a thread that asked for real time.
public struct RealTimeGrant: Sendable {
    /// SCHED_FIFO priority; `nil` where refused.
    public var priority: CInt?
    public var isMemoryLocked: Bool
    /// The processor it is bound to.
    public var cpu: Int?
    /// Why what is missing is missing; empty where all was granted.
    public var refusals: [String]
    /// What limits real time on this machine although it was granted.
    public var notes: [String] = []

    /// What a site cannot do without: its cycle goes before all else, and never waits for the disk.
    public var isSufficient: Bool { priority != nil && isMemoryLocked }

    /// One line for the log.
    public var text: String {
        var parts: [String] = []
        parts.append(priority.map { "SCHED_FIFO \($0)" } ?? "normal scheduling")
        if let cpu { parts.append("processor \(cpu)") }
        parts.append(isMemoryLocked ? "memory locked" : "memory not locked")
        let granted = parts.joined(separator: ", ")
        let asides = (refusals + notes).joined(separator: "; ")
        let aside = asides.isEmpty ? "" : " (\(asides))"
        return (refusals.isEmpty ? "real time: " : "no full real time: ") + granted + aside
    }
}

public enum RealTime {
    private static let resetOnFork: CInt = 0x4000_0000
    /// More than any thread of ours has used; its pages are there before the first cycle.
    private static let stackBytes = 128 * 1_024
    /// Kept by the allocator, for whoever needs memory later.
    private static let heapBytes = 1 << 20

    /// Asks for SCHED_FIFO at `priority` on the calling thread, for a processor, and for locked memory.
    ///
    /// Threads that this one starts later fall back to normal scheduling, unless they ask themselves.
    public static func enter(priority: Int, cpu: Int?, locksMemory: Bool) -> RealTimeGrant {
        var grant = RealTimeGrant(priority: nil, isMemoryLocked: false, cpu: nil, refusals: [])
        schedule(priority, &grant)
        if let cpu {
            if ballast_set_thread_affinity(CInt(cpu)) == 0 {
                grant.cpu = cpu
            } else {
                grant.refusals.append("no processor \(cpu) to bind to")
            }
        }
        if locksMemory { lockMemory(&grant) }
        ballast_touch_stack(stackBytes)
        // A thread of ours sleeps until an instant, not until about it.
        if ballast_set_timer_slack(1) != 0 { grant.notes.append("timer slack stays as it is") }
        return grant
    }

    private static func schedule(_ priority: Int, _ grant: inout RealTimeGrant) {
        var parameter = sched_param(sched_priority: CInt(clamping: priority))
        if sched_getscheduler(0) & ~resetOnFork == SCHED_FIFO {
            // Inherited from the service manager: a thread may lower itself, without any right of its own.
            if sched_setparam(0, &parameter) == 0 { return grant.priority = CInt(clamping: priority) }
            let error = SystemError.last("sched_setparam")
            var own = sched_param()
            sched_getparam(0, &own)
            grant.priority = own.sched_priority
            grant.refusals.append(
                "\(error): the unit gives priority \(own.sched_priority), the configuration asks for"
                    + " \(priority); set CPUSchedulingPriority=\(priority) in the unit")
            return
        }
        if sched_setscheduler(0, SCHED_FIFO | resetOnFork, &parameter) == 0 {
            return grant.priority = CInt(clamping: priority)
        }
        grant.refusals.append(
            SchedulingRefusal(
                error: SystemError.last("sched_setscheduler"), priority: priority,
                limit: ballast_realtime_priority_limit(), mayRaise: RealTimeSurroundings.mayRaise,
                groupRuntime: RealTimeSurroundings.groupRuntime
            ).text)
    }

    private static func lockMemory(_ grant: inout RealTimeGrant) {
        // ONFAULT: lock what is used, not the whole of every library and thread stack.
        grant.isMemoryLocked = mlockall(MCL_CURRENT | MCL_FUTURE | CInt(MCL_ONFAULT)) == 0
        if grant.isMemoryLocked {
            ballast_keep_heap(heapBytes)
        } else {
            let error = SystemError.last("mlockall")
            let limit = ballast_memory_lock_limit()
            grant.refusals.append(
                "\(error): RLIMIT_MEMLOCK is \(limit / 1_024) kB; set LimitMEMLOCK=256M in the unit")
        }
    }

    /// Goes to normal scheduling: for threads that inherited real time and do not need it.
    public static func leave() {
        var parameter = sched_param(sched_priority: 0)
        _ = sched_setscheduler(0, SCHED_OTHER, &parameter)
    }
}

/// Why SCHED_FIFO was refused, in words that name what to change.
struct SchedulingRefusal {
    var error: SystemError
    var priority: Int
    /// RLIMIT_RTPRIO.
    var limit: UInt64
    /// The process has CAP_SYS_NICE.
    var mayRaise: Bool
    /// `cpu.rt_runtime_us` of the control group; `nil` where it has none.
    var groupRuntime: Int64?

    var text: String {
        guard error.code == EPERM else {
            return error.code == EINVAL ? "\(error): priority \(priority) is out of range" : "\(error)"
        }
        if !mayRaise && limit < UInt64(max(0, priority)) {
            return "\(error): no CAP_SYS_NICE, and RLIMIT_RTPRIO is \(limit), the priority is \(priority);"
                + " set CPUSchedulingPolicy=fifo in the unit"
        }
        if groupRuntime == 0 {
            return "\(error): the CPU control group has no real time (RT_GROUP_SCHED); give its"
                + " cpu.rt_runtime_us a share"
        }
        return "\(error): the CPU control group may grant no real time (RT_GROUP_SCHED, cpu.rt_runtime_us)"
    }
}
