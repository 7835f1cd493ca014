import ArgumentParser
import ControlSocket
import GatewayFitness
import LinuxIO
import SiteConfig
import SiteFile
import YAMLText

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell whether this gateway is fit for real time, and what to do where it is not.",
        discussion: """
            Looks at the kernel, at the running daemon, at processors, interrupts, wires, clock and disk; changes \
            nothing. With --latency it also sleeps and wakes at the site's period and counts how late it was.

            Exit status: 0 fit, 1 with warnings, 2 unfit, 3 where something could not be seen and nothing is wrong.
            """)
    @Option(help: "The site's configuration file (YAML): period, priority, processor, state directory.")
    var config = "/etc/ballast/site.yaml"
    @Flag(help: "Print JSON.") var json = false
    @Option(help: "Also measure wake-ups for this long: 60s, 5m.") var latency: String?
    @Flag(help: "With --latency: make load on processors, memory and disk meanwhile.") var load = false
    @Option(
        help: ArgumentHelp("Look at copies of /proc, /sys and /boot below this folder.", visibility: .hidden))
    var root = ""

    func validate() throws {
        if load && latency == nil { throw ValidationError("--load stands only with --latency") }
        if let latency, DurationText.seconds(latency) == nil {
            throw ValidationError("--latency takes a number with its unit: 60s, 5m, 1h")
        }
    }

    func run() throws {
        let site = try self.site()
        let machine = Machine(root: root)
        let demands = site.map(Demands.init) ?? Demands()
        let folder = site?.paths.stateDirectory ?? "/var/lib/ballast"
        var measured = Measurements()
        measured.clock = ClockDiscipline().map {
            Measurements.Clock(
                isSynchronised: $0.isSynchronised, maximumErrorMicroseconds: $0.maximumErrorMicroseconds)
        }
        measured.disk = DiskProbe(folder).map { Measurements.Disk($0, path: folder) }
        if let time = latency.flatMap(DurationText.seconds) {
            measured.latency = try measure(demands, seconds: time, folder: folder, machine)
        }
        let examination = Examination(machine, demands, measured)
        if json {
            let bytes = JSONLine.encode(DoctorReport(examination)) ?? []
            print(String(decoding: bytes, as: UTF8.self), terminator: "")
        } else {
            let from = site == nil ? "no \(config): for a period of 20 ms and priority 50" : config
            print("for \(from)\n" + examination.text)
        }
        throw ExitCode(examination.exitStatus)
    }

    /// `nil` where there is no such file; one that is wrong is refused.
    private func site() throws -> SiteConfig? {
        guard TextFile.read(config) != nil else { return nil }
        do {
            return try SiteConfig.read(YAMLText.load(path: config), file: config)
        } catch {
            throw Refusal("\(error)")
        }
    }

    private func measure(
        _ demands: Demands, seconds: Double, folder: String, _ machine: Machine
    ) throws -> Measurements.Latency {
        if load && DaemonProcess.find(machine) != nil {
            throw Refusal("ballastd runs: the load would disturb it; stop it first")
        }
        let processors = machine.names(in: "/sys/devices/system/cpu").count { name in
            name.hasPrefix("cpu") && Int(name.dropFirst(3)) != nil
        }
        let test = LatencyTest()
        do throws(SystemError) {
            let others = load ? try MachineLoad(processors: processors, folder: folder) : nil
            defer { others?.end() }
            try test.run(
                period: .nanoseconds(Int64(demands.periodMilliseconds * 1e6)),
                duration: .milliseconds(Int64(seconds * 1_000)), priority: demands.priority, cpu: demands.cpu)
        } catch {
            throw Refusal("the latency test cannot start a thread: \(error)")
        }
        return Measurements.Latency(test, isLoaded: load)
    }
}

/// The real machine, or a copy of its files.
struct Machine: MachineTexts {
    let root: String
    func text(_ path: String) -> String? { TextFile.read(root + path) }
    func names(in path: String) -> [String] { Folder.names(root + path) }
}

extension Demands {
    init(_ site: SiteConfig) {
        let control = site.control
        self.init(
            periodMilliseconds: Double(control.period.components.attoseconds) / 1e15
                + Double(control.period.components.seconds) * 1_000,
            priority: control.realtimePriority, cpu: control.cpu)
    }
}

extension Measurements.Disk {
    init(_ probe: DiskProbe, path: String) {
        self.init(
            path: path, freeBytes: probe.freeBytes, totalBytes: probe.totalBytes, freeFiles: probe.freeFiles,
            slowestSyncMilliseconds: probe.slowestSync.map {
                Double($0.components.attoseconds) / 1e15 + Double($0.components.seconds) * 1_000
            })
    }
}

extension Measurements.Latency {
    init(_ test: LatencyTest, isLoaded: Bool) {
        func microseconds(_ share: Double) -> Double { Double(test.lateness.quantile(share) ?? 0) / 1_000 }
        let words = test.grant?.text ?? "the thread did not run"
        self.init(
            count: test.lateness.count, p50Microseconds: microseconds(0.5),
            p99Microseconds: microseconds(0.99), p999Microseconds: microseconds(0.999),
            maximumMicroseconds: Double(test.lateness.maximum) / 1_000, overruns: test.overruns,
            scheduling: words + (isLoaded ? ", under load" : ""), isRealTime: test.grant?.priority != nil)
    }
}

/// What `--json` prints.
struct DoctorReport: Encodable {
    struct Row: Encodable {
        var subject: String
        var verdict: String
        var found: String
        var reason: String
        var remedy: String
    }

    var verdict: String
    var findings: [Row]

    init(_ examination: Examination) {
        verdict = examination.verdict.rawValue
        findings = examination.findings.map {
            Row(
                subject: $0.subject, verdict: $0.verdict.rawValue, found: $0.found, reason: $0.reason,
                remedy: $0.remedy)
        }
    }
}
