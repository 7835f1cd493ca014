import GatewayFitness

/// A tree of files below `/proc`, `/sys` and `/boot`, made up.
struct FakeMachine: MachineTexts {
    var files: [String: String]

    /// A gateway on which nothing is wrong, with a running daemon.
    static var good: FakeMachine {
        var files: [String: String] = [
            "/proc/version": "Linux version 6.1.0-rt (gcc) #1 SMP PREEMPT_RT Debian",
            "/sys/kernel/realtime": "1\n",
            "/proc/sys/kernel/sched_rt_runtime_us": "950000\n",
            "/proc/sys/kernel/sched_rt_period_us": "1000000\n",
            "/proc/sys/kernel/osrelease": "6.1.0-rt\n",
            "/boot/config-6.1.0-rt": "CONFIG_PREEMPT_RT=y\n# CONFIG_RT_GROUP_SCHED is not set\n",
            "/sys/devices/system/cpu/online": "0-3\n",
            "/sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
            "/proc/irq/24/smp_affinity_list": "0\n",
            "/proc/irq/25/smp_affinity_list": "0-1\n",
            "/sys/bus/usb-serial/devices/ttyUSB0/latency_timer": "1\n",
            "/sys/class/net/eth0/type": "1\n",
            "/sys/class/net/can0/type": "280\n",
            "/sys/class/net/can0/operstate": "up\n",
            "/sys/class/net/can0/statistics/rx_packets": "1000000\n",
        ]
        for cpu in 0..<4 {
            files["/sys/devices/system/cpu/cpu\(cpu)/cpufreq/scaling_governor"] = "performance\n"
            let state = "/sys/devices/system/cpu/cpu\(cpu)/cpuidle/state1"
            files[state + "/name"] = "C1\n"
            files[state + "/latency"] = "2\n"
            files[state + "/disable"] = "0\n"
        }
        var machine = FakeMachine(files: files)
        machine.add(process: 700, "ballastd", threads: [("ballastd", nil), ("cycle", 50), ("modbus", 49)])
        machine.add(process: 2, "kthreadd", threads: [("migration/0", 99), ("irq/24-eth0", 50)])
        return machine
    }

    mutating func add(process id: Int, _ name: String, threads: [(name: String, priority: Int?)]) {
        files["/proc/\(id)/comm"] = name + "\n"
        files["/proc/\(id)/cgroup"] = "0::/system.slice/\(name).service\n"
        files["/proc/\(id)/status"] = "Name:\t\(name)\nVmLck:\t   20480 kB\nVmRSS:\t   20480 kB\n"
        files["/proc/\(id)/limits"] =
            "Limit                     Soft Limit           Hard Limit           Units\n"
            + "Max open files            1024                 1024                 files\n"
        for number in 0..<20 { files["/proc/\(id)/fd/\(number)"] = "" }
        for (index, thread) in threads.enumerated() {
            let task = id + index
            // State and 36 more fields stand between the name and the priority.
            let between = "S " + Array(repeating: "0", count: 36).joined(separator: " ")
            let policy = thread.priority == nil ? 0 : 1
            files["/proc/\(id)/task/\(task)/stat"] =
                "\(task) (\(thread.name)) \(between) \(thread.priority ?? 0) \(policy) 0 0\n"
        }
    }

    func with(_ path: String, _ text: String?) -> FakeMachine {
        var other = self
        other.files[path] = text
        return other
    }

    func text(_ path: String) -> String? { files[path] }

    func names(in path: String) -> [String] {
        let prefix = path.hasSuffix("/") ? path : path + "/"
        let names = files.keys.filter { $0.hasPrefix(prefix) }
            .compactMap { $0.dropFirst(prefix.count).split(separator: "/").first.map(String.init) }
        return Set(names).sorted()
    }
}
