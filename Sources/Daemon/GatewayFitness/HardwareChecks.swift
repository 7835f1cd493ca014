/// Processors, interrupts and wires.
enum HardwareChecks {
    static func all(_ machine: some MachineTexts, _ demands: Demands) -> [Finding] {
        [
            governor(machine), idleStates(machine, demands), interrupts(machine, demands),
            serialLatency(machine),
        ] + canInterfaces(machine)
    }

    private static let cpus = "/sys/devices/system/cpu/"

    /// Only the processor that the cycle is bound to; without one, all of them.
    private static func cpuNames(_ machine: some MachineTexts, _ demands: Demands? = nil) -> [String] {
        if let cpu = demands?.cpu { return ["cpu\(cpu)"] }
        return machine.names(in: cpus).filter { $0.hasPrefix("cpu") && Int($0.dropFirst(3)) != nil }
    }

    static func governor(_ machine: some MachineTexts) -> Finding {
        let subject = "processor frequency"
        let governors = Set(
            cpuNames(machine).compactMap { machine.word(cpus + "\($0)/cpufreq/scaling_governor") })
        if governors.isEmpty { return Finding(subject, .good, "not scaled by this kernel") }
        if governors == ["performance"] { return Finding(subject, .good, "performance") }
        return Finding(
            subject, .warning, governors.sorted().joined(separator: ", "),
            reason: "the cycle starts on a slow clock after each pause",
            remedy: "cpupower frequency-set -g performance")
    }

    static func idleStates(_ machine: some MachineTexts, _ demands: Demands) -> Finding {
        let subject = "idle states"
        var deepest: (name: String, latency: Int64)?
        for cpu in cpuNames(machine, demands) {
            let folder = cpus + "\(cpu)/cpuidle"
            for state in machine.names(in: folder) where state.hasPrefix("state") {
                guard let latency = machine.number("\(folder)/\(state)/latency"),
                    machine.number("\(folder)/\(state)/disable") != 1
                else { continue }
                if latency >= deepest?.latency ?? 0 {
                    deepest = (machine.word("\(folder)/\(state)/name") ?? state, latency)
                }
            }
        }
        guard let deepest else { return Finding(subject, .good, "none") }
        let found = "deepest \(deepest.name), \(deepest.latency) µs to wake"
        // One hundredth of the period is what the sleep of a processor may take from it.
        guard Double(deepest.latency) > demands.periodMilliseconds * 10 else {
            return Finding(subject, .good, found)
        }
        return Finding(
            subject, .warning, found,
            reason: "more than 1 % of the period of \(shown(demands.periodMilliseconds)) ms",
            remedy: "cpupower idle-set -D \(Int(demands.periodMilliseconds * 10))")
    }

    static func interrupts(_ machine: some MachineTexts, _ demands: Demands) -> Finding {
        let subject = "interrupt affinity"
        guard let cpu = demands.cpu else {
            return Finding(subject, .good, "the cycle is bound to no processor")
        }
        guard CPUList.members(machine.text(cpus + "online") ?? "").contains(cpu) else {
            return Finding(
                subject, .bad, "processor \(cpu) is not online",
                reason: "the cycle cannot be bound to it",
                remedy: "change control.cpu in the configuration")
        }
        let folder = "/proc/irq"
        let numbers = machine.names(in: folder).filter { Int($0) != nil }
        if numbers.isEmpty { return Finding(subject, .unknown, "/proc/irq cannot be read") }
        let here = numbers.filter { number in
            let text =
                machine.text("\(folder)/\(number)/effective_affinity_list")
                ?? machine.text("\(folder)/\(number)/smp_affinity_list") ?? ""
            return CPUList.members(text).contains(cpu)
        }
        guard !here.isEmpty else { return Finding(subject, .good, "no interrupt on processor \(cpu)") }
        return Finding(
            subject, .warning, "\(here.count) of \(numbers.count) interrupts may come on processor \(cpu)",
            reason: "each delays the cycle", remedy: "start the kernel with irqaffinity= and isolcpus=\(cpu)")
    }

    static func serialLatency(_ machine: some MachineTexts) -> Finding {
        let subject = "USB serial latency"
        let folder = "/sys/bus/usb-serial/devices"
        let slow = machine.names(in: folder).compactMap { port in
            machine.number("\(folder)/\(port)/latency_timer").map { (port: port, milliseconds: $0) }
        }
        if slow.isEmpty { return Finding(subject, .good, "no adapter with a latency timer") }
        let found = slow.map { "\($0.port) \($0.milliseconds) ms" }.joined(separator: ", ")
        guard let worst = slow.first(where: { $0.milliseconds > 1 }) else {
            return Finding(subject, .good, found)
        }
        return Finding(
            subject, .warning, found, reason: "each Modbus answer waits that long in the adapter",
            remedy: "echo 1 > \(folder)/\(worst.port)/latency_timer")
    }

    /// `ARPHRD_CAN`.
    private static let canType: Int64 = 280

    static func canInterfaces(_ machine: some MachineTexts) -> [Finding] {
        let folder = "/sys/class/net"
        return machine.names(in: folder).filter { machine.number("\(folder)/\($0)/type") == canType }
            .map { canInterface(machine, $0, "\(folder)/\($0)") }
    }

    private static func canInterface(
        _ machine: some MachineTexts, _ name: String, _ folder: String
    ) -> Finding {
        let subject = "CAN \(name)"
        func count(_ counter: String) -> Int64 { machine.number("\(folder)/statistics/\(counter)") ?? 0 }
        let state = machine.word("\(folder)/operstate") ?? "unknown"
        let errors = count("rx_errors") + count("tx_errors")
        let lost = count("rx_dropped") + count("tx_dropped") + count("rx_over_errors")
        let frames = count("rx_packets") + count("tx_packets")
        let found = "\(state), \(frames) frames, \(errors) errors, \(lost) lost"
        if state == "down" {
            return Finding(
                subject, .bad, found, reason: "the battery on it is not heard",
                remedy: "systemctl start ballast-can@\(name)")
        }
        // One in ten thousand is what a sound wire stays below.
        if errors + lost > max(0, frames / 10_000) {
            return Finding(
                subject, .warning, found, reason: "the wire, its termination or the bit rate is at fault",
                remedy: "ip -details -statistics link show \(name)")
        }
        return Finding(subject, .good, found)
    }
}
