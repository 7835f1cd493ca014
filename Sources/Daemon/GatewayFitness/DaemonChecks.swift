/// The running daemon: what it was granted, and who stands above it.
enum DaemonChecks {
    static func all(_ machine: some MachineTexts, _ demands: Demands, _ daemon: DaemonProcess?) -> [Finding] {
        guard let daemon else {
            return [
                Finding(
                    "ballastd", .unknown, "does not run",
                    reason: "what it is granted shows only while it runs",
                    remedy: "systemctl start ballastd")
            ]
        }
        return [
            priority(daemon, demands), above(machine, daemon, demands), memory(daemon), files(daemon),
        ]
    }

    static func priority(_ daemon: DaemonProcess, _ demands: Demands) -> Finding {
        let subject = "priority of the cycle"
        guard let cycle = daemon.threads.first(where: { $0.name == "cycle" }) else {
            return Finding(subject, .unknown, "process \(daemon.id) has no thread 'cycle' that we may see")
        }
        let remedy =
            "set CPUSchedulingPolicy=fifo and CPUSchedulingPriority=\(demands.priority) by"
            + " systemctl edit ballastd"
        guard let granted = cycle.priority else {
            return Finding(
                subject, .bad, "normal scheduling",
                reason: "any busy process delays the cycle", remedy: remedy)
        }
        if granted < demands.priority {
            return Finding(
                subject, .warning, "SCHED_FIFO \(granted), configured is \(demands.priority)",
                reason: "the unit gives less than the configuration asks for", remedy: remedy)
        }
        let faster = daemon.threads.filter { $0.name != "cycle" && ($0.priority ?? 0) >= granted }
        if !faster.isEmpty {
            return Finding(
                subject, .warning,
                "SCHED_FIFO \(granted), as \(names(faster.map(\.name))) of the same process",
                reason: "a busy bus delays the cycle",
                remedy: "set realtime_priority to 2 or more in the configuration")
        }
        return Finding(subject, .good, "SCHED_FIFO \(granted)")
    }

    /// Threads of others that the cycle waits for.
    static func above(_ machine: some MachineTexts, _ daemon: DaemonProcess, _ demands: Demands) -> Finding {
        let subject = "threads above the cycle"
        // The kernel's own, one for each processor, work for microseconds at a time.
        let harmless = ["migration/", "stopper/", "watchdog/", "idle_inject/", "irq_work/", "cpuhp/", "rcu"]
        var found: [String] = []
        var seen = 0
        for name in machine.names(in: "/proc") {
            guard let id = Int(name), id != daemon.id else { continue }
            for task in machine.names(in: "/proc/\(id)/task") {
                guard let text = machine.text("/proc/\(id)/task/\(task)/stat"),
                    let thread = DaemonProcess.thread(text)
                else { continue }
                seen += 1
                guard let priority = thread.priority, priority > demands.priority,
                    !harmless.contains(where: { thread.name.hasPrefix($0) })
                else { continue }
                found.append("\(thread.name) (\(priority))")
            }
        }
        if seen == 0 { return Finding(subject, .unknown, "the threads of others cannot be seen") }
        if found.isEmpty { return Finding(subject, .good, "none") }
        return Finding(
            subject, .warning, names(found), reason: "while one of them works, the cycle waits",
            remedy: "chrt --pid \(demands.priority - 1) PID, or a higher realtime_priority")
    }

    private static func names(_ all: [String]) -> String {
        let unique = Set(all).sorted()
        let rest = unique.count > 5 ? " and \(unique.count - 5) more" : ""
        return unique.prefix(5).joined(separator: ", ") + rest
    }

    static func memory(_ daemon: DaemonProcess) -> Finding {
        let subject = "locked memory"
        let found =
            "\(daemon.residentKilobytes / 1_024) MB in use" + (daemon.lockedKilobytes > 0 ? ", locked" : "")
        guard daemon.lockedKilobytes > 0 else {
            return Finding(
                subject, .bad, found, reason: "the cycle waits for the disk when its pages were taken away",
                remedy: "set LimitMEMLOCK=256M by systemctl edit ballastd")
        }
        return Finding(subject, .good, found)
    }

    static func files(_ daemon: DaemonProcess) -> Finding {
        let subject = "open files"
        guard let limit = daemon.fileLimit else {
            return Finding(subject, .unknown, "the limit of process \(daemon.id) cannot be read")
        }
        let found = "\(daemon.openFiles) of \(limit)"
        if daemon.openFiles * 2 > limit {
            return Finding(
                subject, .warning, found, reason: "a link that reconnects may find none",
                remedy: "set LimitNOFILE=1024 by systemctl edit ballastd")
        }
        if limit > 1_024 {
            return Finding(
                subject, .warning, found, reason: "libmodbus ends the process at descriptor 1024",
                remedy: "set LimitNOFILE=1024 by systemctl edit ballastd")
        }
        return Finding(subject, .good, found)
    }
}
