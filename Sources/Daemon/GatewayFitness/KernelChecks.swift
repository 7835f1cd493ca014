/// The kernel: how it pre-empts, and how much real time it gives.
enum KernelChecks {
    static func all(_ machine: some MachineTexts, _ demands: Demands, _ daemon: DaemonProcess?) -> [Finding] {
        [
            preemption(machine, demands), throttling(machine), groups(machine, daemon), processors(machine),
            clockSource(machine),
        ]
    }

    /// `(full)` of `none voluntary (full)`.
    private static func chosenMode(_ machine: some MachineTexts) -> String? {
        guard let modes = machine.text("/sys/kernel/debug/sched/preempt"),
            let open = modes.firstIndex(of: "("), let close = modes[open...].firstIndex(of: ")")
        else { return nil }
        return String(modes[modes.index(after: open)..<close])
    }

    private static func commandLineMode(_ machine: some MachineTexts) -> String? {
        machine.text("/proc/cmdline")?.split(whereSeparator: \.isWhitespace)
            .first { $0.hasPrefix("preempt=") }.map { String($0.dropFirst(8)) }
    }

    static func preemption(_ machine: some MachineTexts, _ demands: Demands) -> Finding {
        let subject = "kernel preemption"
        guard let version = machine.text("/proc/version") else {
            return Finding(subject, .unknown, "/proc/version cannot be read")
        }
        if machine.number("/sys/kernel/realtime") == 1 || version.contains("PREEMPT_RT") {
            return Finding(subject, .good, "PREEMPT_RT")
        }
        let mode = chosenMode(machine) ?? commandLineMode(machine)
        let isDynamic = version.contains("PREEMPT_DYNAMIC")
        let isStatic = version.contains("PREEMPT") && !isDynamic
        if mode == "full" || (mode == nil && isStatic) {
            if demands.periodMilliseconds >= 10 {
                return Finding(subject, .good, "full, without PREEMPT_RT")
            }
            return Finding(
                subject, .warning, "full, without PREEMPT_RT",
                reason: "drivers may hold a period of \(shown(demands.periodMilliseconds)) ms back",
                remedy: "apt install linux-image-rt-amd64 && reboot")
        }
        let found = mode.map { "\($0)" } ?? (isDynamic ? "dynamic, its mode cannot be read" : "none")
        return Finding(
            subject, .warning, found,
            reason: "a long system call of another process delays the cycle until it ends",
            remedy: "add preempt=full to the kernel's command line, or install a PREEMPT_RT kernel")
    }

    static func throttling(_ machine: some MachineTexts) -> Finding {
        let subject = "real-time throttling"
        let folder = "/proc/sys/kernel/"
        guard let runtime = machine.number(folder + "sched_rt_runtime_us"),
            let period = machine.number(folder + "sched_rt_period_us"), period > 0
        else { return Finding(subject, .unknown, "sched_rt_runtime_us cannot be read") }
        if runtime < 0 { return Finding(subject, .good, "off") }
        let share = Double(runtime) / Double(period) * 100
        let found = "\(shown(share)) % of each \(period / 1_000) ms for all real-time threads together"
        let remedy = "sysctl -w kernel.sched_rt_runtime_us=\(period * 95 / 100)"
        if runtime == 0 {
            return Finding(
                subject, .bad, found, reason: "no thread may run in real time", remedy: remedy)
        }
        guard share >= 50 else {
            return Finding(
                subject, .warning, found,
                reason: "a burst of the buses may use it up, and the cycle then stands still",
                remedy: remedy)
        }
        return Finding(subject, .good, found)
    }

    /// Real-time group scheduling gives a control group without a share no real time at all.
    static func groups(_ machine: some MachineTexts, _ daemon: DaemonProcess?) -> Finding {
        let subject = "real-time group scheduling"
        let process = daemon.map { "\($0.id)" } ?? "self"
        for line in (machine.text("/proc/\(process)/cgroup") ?? "").split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[1].split(separator: ",").contains("cpu") else { continue }
            for mount in ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/\(parts[1])"] {
                let file = mount + (parts[2] == "/" ? "" : String(parts[2])) + "/cpu.rt_runtime_us"
                guard let runtime = machine.number(file) else { continue }
                if runtime > 0 {
                    return Finding(subject, .good, "\(runtime) µs for control group \(parts[2])")
                }
                return Finding(
                    subject, .bad, "no real time for control group \(parts[2])",
                    reason: "SCHED_FIFO is refused there, even to root",
                    remedy: "echo 400000 > \(file)")
            }
        }
        guard let release = machine.word("/proc/sys/kernel/osrelease"),
            let config = machine.text("/boot/config-\(release)")
        else { return Finding(subject, .good, "no control group limits real time") }
        if config.contains("CONFIG_RT_GROUP_SCHED=y") {
            return Finding(
                subject, .warning, "in the kernel",
                reason: "a control group with the cpu controller may refuse SCHED_FIFO",
                remedy: "add rt_group_sched=0 to the kernel's command line")
        }
        return Finding(subject, .good, "not in the kernel")
    }

    static func processors(_ machine: some MachineTexts) -> Finding {
        let subject = "processors"
        guard let online = machine.word("/sys/devices/system/cpu/online") else {
            return Finding(subject, .unknown, "/sys/devices/system/cpu/online cannot be read")
        }
        guard CPUList.count(online) > 1 else {
            return Finding(
                subject, .warning, "one",
                reason: "recording, logging and every other process share it with the cycle",
                remedy: "use a gateway with two or more processors")
        }
        return Finding(subject, .good, "\(CPUList.count(online)) (\(online))")
    }

    static func clockSource(_ machine: some MachineTexts) -> Finding {
        let subject = "clock source"
        let folder = "/sys/devices/system/clocksource/clocksource0/"
        guard let source = machine.word(folder + "current_clocksource") else {
            return Finding(subject, .unknown, "current_clocksource cannot be read")
        }
        guard ["hpet", "acpi_pm", "jiffies", "refined-jiffies"].contains(source) else {
            return Finding(subject, .good, source)
        }
        return Finding(
            subject, .warning, source,
            reason: "each look at the clock is a slow access to hardware",
            remedy: "echo tsc > \(folder)current_clocksource")
    }
}

/// `0-3,6`: a list of processors as the kernel writes it.
enum CPUList {
    /// What the list holds; what cannot be read is left out.
    static func members(_ text: String) -> Set<Int> {
        var members: Set<Int> = []
        for part in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            let ends = part.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, first >= 0, last >= first, last < 8_192 else {
                continue
            }
            members.formUnion(first...last)
        }
        return members
    }

    static func count(_ text: String) -> Int { members(text).count }
}

/// A number with at most one digit behind the point.
func shown(_ value: Double) -> String {
    let tenths = (value * 10).rounded()
    guard tenths.magnitude < 1e15 else { return "\(value)" }
    let whole = Int64(tenths)
    return whole % 10 == 0 ? "\(whole / 10)" : "\(Double(whole) / 10)"
}
