import CLinux
import Glibc

/// What the kernel granted a thread that asked for real time.
public struct RealTimeGrant: Sendable {
    /// SCHED_FIFO priority; `nil` where refused.
    public var priority: CInt?
    public var isMemoryLocked: Bool
    public var isBoundToCPU: Bool
    /// Why what is missing is missing; empty where all was granted.
    public var refusals: [String]

    /// One line for the log.
    public var text: String {
        var parts: [String] = []
        parts.append(priority.map { "SCHED_FIFO \($0)" } ?? "normal scheduling")
        parts.append(isMemoryLocked ? "memory locked" : "memory not locked")
        let granted = parts.joined(separator: ", ")
        return refusals.isEmpty
            ? "real time: \(granted)" : "no full real time: \(granted) (\(refusals.joined(separator: "; ")))"
    }
}

public enum RealTime {
    private static let resetOnFork: CInt = 0x4000_0000

    /// Asks for SCHED_FIFO at `priority` on the calling thread, for a processor, and for locked memory.
    ///
    /// Threads that this one starts later fall back to normal scheduling, unless they ask themselves.
    public static func enter(priority: Int, cpu: Int?, locksMemory: Bool) -> RealTimeGrant {
        var grant = RealTimeGrant(priority: nil, isMemoryLocked: false, isBoundToCPU: false, refusals: [])
        var parameter = sched_param(sched_priority: CInt(priority))
        let isGranted: Bool
        if sched_getscheduler(0) & ~resetOnFork == SCHED_FIFO {
            // Inherited from the service manager: a thread may lower itself, without any right of its own.
            isGranted = sched_setparam(0, &parameter) == 0
        } else {
            isGranted = sched_setscheduler(0, SCHED_FIFO | resetOnFork, &parameter) == 0
        }
        if isGranted {
            grant.priority = CInt(priority)
        } else {
            grant.refusals.append(schedulingRefusal(SystemError.last("sched_setscheduler"), priority))
        }
        if let cpu {
            grant.isBoundToCPU = ballast_set_thread_affinity(CInt(cpu)) == 0
            if !grant.isBoundToCPU { grant.refusals.append("no CPU \(cpu) to bind to") }
        }
        if locksMemory {
            // ONFAULT: lock what is used, not the whole of every library and thread stack.
            grant.isMemoryLocked = mlockall(MCL_CURRENT | MCL_FUTURE | CInt(MCL_ONFAULT)) == 0
            if !grant.isMemoryLocked {
                let error = SystemError.last("mlockall")
                grant.refusals.append("\(error); raise LimitMEMLOCK (RLIMIT_MEMLOCK)")
            }
        }
        _ = ballast_set_timer_slack(1)
        return grant
    }

    /// Goes to normal scheduling: for threads that inherited real time and do not need it.
    public static func leave() {
        var parameter = sched_param(sched_priority: 0)
        _ = sched_setscheduler(0, SCHED_OTHER, &parameter)
    }

    private static func schedulingRefusal(_ error: SystemError, _ priority: Int) -> String {
        guard error.code == EPERM else { return "\(error)" }
        let limit = ballast_realtime_priority_limit()
        if geteuid() != 0 && limit < UInt64(priority) {
            return "\(error): RLIMIT_RTPRIO is \(limit), the priority is \(priority);"
                + " set CPUSchedulingPolicy=fifo in the unit"
        }
        return "\(error): the CPU control group may grant no real time (RT_GROUP_SCHED, cpu.rt_runtime_us)"
    }
}

/// A thread of the operating system: no Swift concurrency stands between it and the scheduler.
public final class SystemThread: Sendable {
    private let handle: pthread_t

    private final class Body {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    /// Starts `body` on a thread called `name` (at most 15 bytes are kept). It takes over what it captures.
    public init(name: String, _ body: sending @escaping () -> Void) throws(SystemError) {
        var thread = pthread_t()
        let shortName = String(name.prefix(15))
        let context = Unmanaged.passRetained(
            Body {
                _ = ballast_set_thread_name(shortName)
                body()
            })
        let code = pthread_create(
            &thread, nil,
            { pointer in
                guard let pointer else { return nil }
                Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            throw SystemError("pthread_create", code: code)
        }
        handle = thread
    }

    /// Waits until the thread has ended; once.
    public func join() { pthread_join(handle, nil) }
}
