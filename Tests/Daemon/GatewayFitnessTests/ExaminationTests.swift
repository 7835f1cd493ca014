import GatewayFitness
import Testing

/// What `ballastctl doctor` makes of a machine.
@Suite struct ExaminationTests {
    static let measured = Measurements(
        clock: .init(isSynchronised: true, maximumErrorMicroseconds: 4_000),
        disk: .init(
            path: "/var/lib/ballast", freeBytes: 8 << 30, totalBytes: 16 << 30, freeFiles: 100_000,
            slowestSyncMilliseconds: 12))

    static func examine(
        _ machine: FakeMachine, _ demands: Demands = Demands(cpu: 3), _ measured: Measurements = measured
    ) -> Examination {
        Examination(machine, demands, measured)
    }

    /// The finding about `subject`; there is one.
    static func finding(_ subject: String, _ examination: Examination) throws -> Finding {
        let found = examination.findings.filter { $0.subject == subject }
        #expect(found.count == 1, "\(subject)")
        return try #require(found.first)
    }

    @Test func `a gateway on which nothing is wrong is fit`() {
        let examination = Self.examine(.good)
        #expect(examination.findings.filter { $0.verdict != .good } == [])
        #expect(examination.exitStatus == 0)
        #expect(examination.text.contains("This gateway is fit."))
    }

    @Test func `a machine that shows nothing is not called fit`() {
        let examination = Examination(FakeMachine(files: [:]), Demands(), Measurements())
        #expect(examination.exitStatus == 3)
        #expect(examination.findings.contains { $0.verdict == .unknown })
        #expect(!examination.text.contains("This gateway is fit."))
    }

    typealias Row = (
        path: String, text: String?, subject: String, verdict: Finding.Verdict, why: Comment
    )

    private static let cpu3 = "/sys/devices/system/cpu/cpu3"
    private static let can = "/sys/class/net/can0"

    // swift-format-ignore
    static let kernel: [Row] = [
        ("/proc/sys/kernel/sched_rt_runtime_us", "-1\n", "real-time throttling", .good, "no throttling"),
        ("/proc/sys/kernel/sched_rt_runtime_us", "0\n", "real-time throttling", .bad, "no real time at all"),
        ("/proc/sys/kernel/sched_rt_runtime_us", "499999\n", "real-time throttling", .warning, "less than half"),
        ("/proc/sys/kernel/sched_rt_runtime_us", "500000\n", "real-time throttling", .good, "half"),
        ("/proc/sys/kernel/sched_rt_runtime_us", nil, "real-time throttling", .unknown, "not to be seen"),
        ("/proc/sys/kernel/sched_rt_period_us", "0\n", "real-time throttling", .unknown, "nonsense divides nothing"),
        ("/proc/700/cgroup", "4:cpu,cpuacct:/ballast\n", "real-time group scheduling", .good, "no file of that group"),
        ("/boot/config-6.1.0-rt", "CONFIG_RT_GROUP_SCHED=y\n", "real-time group scheduling", .warning, "may refuse"),
        ("/sys/devices/system/cpu/online", "0\n", "processors", .warning, "one processor"),
        ("/sys/devices/system/cpu/online", "0,2\n", "processors", .good, "two, with a gap"),
        ("/sys/devices/system/cpu/online", "x-\n", "processors", .warning, "nonsense is no second processor"),
        ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n", "clock source", .warning, "slow"),
    ]

    // swift-format-ignore
    static let hardware: [Row] = [
        (cpu3 + "/cpufreq/scaling_governor", "ondemand\n", "processor frequency", .warning, "scales down"),
        (cpu3 + "/cpuidle/state1/latency", "200\n", "idle states", .good, "1 % of 20 ms"),
        (cpu3 + "/cpuidle/state1/latency", "201\n", "idle states", .warning, "more than 1 % of 20 ms"),
        ("/sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "900\n", "idle states", .good, "not the cycle's"),
        ("/proc/irq/25/smp_affinity_list", "0-3\n", "interrupt affinity", .warning, "on the cycle's processor"),
        ("/proc/irq/25/effective_affinity_list", "2\n", "interrupt affinity", .good, "what holds is what counts"),
        ("/sys/devices/system/cpu/online", "0-2\n", "interrupt affinity", .bad, "the cycle's processor is off"),
        ("/sys/bus/usb-serial/devices/ttyUSB0/latency_timer", "16\n", "USB serial latency", .warning, "the default"),
        (can + "/operstate", "down\n", "CAN can0", .bad, "not heard"),
        (can + "/statistics/rx_errors", "101\n", "CAN can0", .warning, "more than one in ten thousand"),
        (can + "/statistics/rx_errors", "100\n", "CAN can0", .good, "one in ten thousand"),
        (can + "/type", nil, "clock source", .good, "no CAN, no finding about it"),
    ]

    // swift-format-ignore
    static let daemon: [Row] = [
        ("/proc/700/status", "VmLck:\t 0 kB\n", "locked memory", .bad, "mlockall was refused"),
        ("/proc/700/limits", "Max open files            39    39    files\n", "open files", .warning, "half used"),
        ("/proc/700/limits", "Max open files            4096  4096  files\n", "open files", .warning, "select() ends at 1024"),
        ("/proc/700/limits", nil, "open files", .unknown, "not to be seen"),
        ("/proc/700/task/701/stat", nil, "priority of the cycle", .unknown, "no such thread"),
    ]

    @Test(arguments: kernel + hardware + daemon) func `one thing is wrong`(row: Row) throws {
        let examination = Self.examine(FakeMachine.good.with(row.path, row.text))
        let finding = try Self.finding(row.subject, examination)
        #expect(finding.verdict == row.verdict, row.why)
        if finding.verdict > .unknown {
            #expect(!finding.reason.isEmpty && !finding.remedy.isEmpty, row.why)
        }
    }

    typealias Preemption = (version: String, mode: String?, period: Double, verdict: Finding.Verdict)

    // swift-format-ignore
    static let preemptions: [Preemption] = [
        ("SMP PREEMPT_RT",      nil,                      1,  .good),
        ("SMP PREEMPT_DYNAMIC", "none voluntary (full)",  10, .good),
        ("SMP PREEMPT_DYNAMIC", "none voluntary (full)",  9,  .warning),
        ("SMP PREEMPT_DYNAMIC", "none (voluntary) full",  20, .warning),
        ("SMP PREEMPT_DYNAMIC", "(none) voluntary full",  20, .warning),
        ("SMP PREEMPT_DYNAMIC", nil,                      20, .warning),
        ("SMP PREEMPT_DYNAMIC", "full)(",                 20, .warning),
        ("SMP PREEMPT",         nil,                      20, .good),
        ("SMP",                 nil,                      20, .warning),
    ]

    @Test(arguments: preemptions) func `the kernel's pre-emption is judged by the period`(row: Preemption)
        throws
    {
        let machine = FakeMachine.good.with("/proc/version", "Linux version 6 #1 \(row.version) Debian")
            .with("/sys/kernel/realtime", nil).with("/sys/kernel/debug/sched/preempt", row.mode)
        let examination = Self.examine(machine, Demands(periodMilliseconds: row.period))
        #expect(try Self.finding("kernel preemption", examination).verdict == row.verdict)
    }

    typealias Threads = (
        cycle: Int?, other: Int?, foreign: Int?, own: Finding.Verdict, above: Finding.Verdict
    )

    // swift-format-ignore
    static let threads: [Threads] = [
        (50,  49, nil, .good,    .good),
        (nil, 49, nil, .bad,     .good),
        (49,  48, nil, .warning, .good),
        (50,  50, nil, .warning, .good),
        (50,  49, 50,  .good,    .good),
        (50,  49, 51,  .good,    .warning),
    ]

    @Test(arguments: threads) func `the cycle's priority stands above all but the kernel's own`(row: Threads)
        throws
    {
        var machine = FakeMachine.good
        machine.add(
            process: 700, "ballastd", threads: [("x", nil), ("cycle", row.cycle), ("can", row.other)])
        machine.add(process: 900, "jackd", threads: [("audio) 1", row.foreign)])
        let examination = Self.examine(machine)
        #expect(try Self.finding("priority of the cycle", examination).verdict == row.own)
        #expect(try Self.finding("threads above the cycle", examination).verdict == row.above)
    }

    @Test func `a control group without a share of real time is bad, one with a share is good`() throws {
        let machine = FakeMachine.good.with("/proc/700/cgroup", "4:cpu,cpuacct:/site\n")
        let file = "/sys/fs/cgroup/cpu,cpuacct/site/cpu.rt_runtime_us"
        let none = Self.examine(machine.with(file, "0\n"))
        #expect(try Self.finding("real-time group scheduling", none).verdict == .bad)
        let some = Self.examine(machine.with(file, "400000\n"))
        #expect(try Self.finding("real-time group scheduling", some).verdict == .good)
    }

    @Test func `without a daemon its part stays unknown and the rest is judged`() throws {
        let machine = FakeMachine.good.with("/proc/700/comm", nil)
        let examination = Self.examine(machine)
        #expect(try Self.finding("ballastd", examination).verdict == .unknown)
        #expect(examination.exitStatus == 3)
    }
}
