import ArgumentParser
import BallastSimulator
import ConfigText
import Glibc
import LinuxIO
import Quantities
import Scenario
import SiteConfig
import VirtualSite
import YAMLText

extension Scenario.Tier: ExpressibleByArgument {}

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run scenarios and judge what happened.",
        discussion: """
            A scenario says what is done and what must come of it; the safety invariants are judged in every run besides. \
            In virtual time the production controller and codecs and the simulated plant run in this process. The exit status \
            is 1 if anything failed. Files that do not name the tier are left out where several are given.

            EXAMPLE
              ballast-sim run hil/scenarios/*.yaml
              ballast-sim run hil/scenarios/010-battery-silent.yaml --plot run.svg --json run.json
            """)

    @Argument(help: "Scenario files; hil/scenarios/README.md describes them.")
    var files: [String]

    @Option(
        help: "virtual: in this process. host: the real programs on this machine. rig: the installed service."
    )
    var tier = Scenario.Tier.virtual

    @Option(help: "Seed of the plant's random numbers, in place of the file's own; virtual alone.")
    var seed: UInt64?

    @Option(help: "Write the result as JSON.")
    var json: String?

    @Option(
        help: "Write the time line as a drawing (SVG); of several files each has its name before the ending.")
    var plot: String?

    @Option(help: "Write every sample of the plant and of what the controller says, as CSV; of one file.")
    var samples: String?

    @Option(help: "Write a recording of every cycle, for ballastctl replay; of one file, virtual alone.")
    var capture: String?

    @Flag(help: "Judge what is known to be unmended too.")
    var strict = false

    @Flag(help: "Say only what failed.")
    var quiet = false

    @Option(help: "host: folder with the programs of a site.")
    var programs = ".build/debug"

    @Option(help: "host and rig: folder for logs, a folder in it for each scenario.")
    var records = "hil/out/scenarios"

    @Option(help: "host and rig: added to every bound, for the machine's own delays, s.")
    var allowance = 1.0

    @Option(help: "rig: where the simulated batteries stand on SocketCAN, can0=can1.")
    var canPeer: [String] = []

    func validate() throws {
        if capture != nil && (files.count > 1 || tier != .virtual) {
            throw ValidationError("--capture stands with one file, in virtual time")
        }
        if samples != nil && files.count > 1 { throw ValidationError("--samples stands with one file") }
    }

    func run() throws {
        var outcomes: [RunOutcome] = []
        for (index, file) in files.enumerated() {
            Progress.show("\(index + 1)/\(files.count) \(file)")
            guard var outcome = outcome(of: file) else { continue }
            outcome.verdict.isStrict = strict
            Progress.clear()
            show(outcome)
            if let plot { try write(RunPlot(outcome).svg, to: path(plot, of: outcome)) }
            if let samples { try write(RunSamples.csv(outcome.history), to: samples) }
            outcomes.append(outcome)
        }
        Progress.clear()
        if let json { try write(RunJSON.text(outcomes), to: json) }
        let failed = outcomes.filter { !$0.isPassed }.count
        if files.count > 1 { print("\(outcomes.count - failed) of \(outcomes.count) scenarios passed") }
        if failed > 0 { throw ExitCode(1) }
    }

    /// `nil` where the file is another tier's, and not the only one.
    private func outcome(of file: String) -> RunOutcome? {
        let path = absolute(file)
        let scenario: Scenario
        do throws(ConfigError) {
            scenario = try Scenario(try YAMLText.load(path: file), file: file)
        } catch {
            return RunOutcome(path: file, tier: tier, problem: "\(error)")
        }
        if !scenario.tiers.contains(tier) {
            if files.count > 1 { return nil }
            return RunOutcome(
                path: file, tier: tier, scenario: scenario,
                problem: "it does not name the tier \(tier.rawValue)")
        }
        switch tier {
        case .virtual:
            guard let capture else { return ScenarioRunner.run(path: file, seed: seed) }
            var recording: [UInt8] = []
            let outcome = ScenarioRunner.run(path: file, seed: seed) { recording = $0 }
            do {
                try DurableFile.replace(capture, with: recording)
            } catch {
                return RunOutcome(path: file, tier: tier, problem: "\(capture): \(error)")
            }
            return outcome
        case .host, .rig: return live(scenario, path: path)
        }
    }

    private func live(_ scenario: Scenario, path: String) -> RunOutcome {
        let name = RunOutcome(path: path, tier: tier, problem: "").name
        let folder = absolute(records) + "/" + name
        do {
            if let refusal = scenario.refusal {
                let said = try LiveRunner.refusal(
                    scenario, path: path, programs: absolute(programs), folder: folder)
                if said?.contains(refusal) == true {
                    return .refused(path: path, tier: tier, scenario: scenario)
                }
                let problem =
                    said.map { "it is refused, and not with '\(refusal)': \($0)" } ?? "it is not refused"
                return RunOutcome(path: path, tier: tier, scenario: scenario, problem: problem)
            }
            let history =
                tier == .host
                ? try LiveRunner.host(scenario, path: path, programs: absolute(programs), folder: folder)
                : try LiveRunner.rig(scenario, path: path, canPeers: canPeer, folder: folder)
            return RunOutcome(
                path: path, tier: tier, scenario: scenario, history: history,
                allowance: .milliseconds(Int64(allowance * 1_000)))
        } catch {
            return RunOutcome(path: path, tier: tier, scenario: scenario, problem: "\(error)")
        }
    }

    private func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return String(cString: here) + "/" + path
    }

    private func show(_ outcome: RunOutcome) {
        if quiet && outcome.isPassed { return }
        print(files.count == 1 && !quiet ? RunTable.text(outcome) : RunTable.failures(outcome))
    }

    private func path(_ plot: String, of outcome: RunOutcome) -> String {
        guard files.count > 1 else { return plot }
        let stem = plot.hasSuffix(".svg") ? String(plot.dropLast(4)) : plot
        return "\(stem)-\(outcome.name).svg"
    }

    private func write(_ text: String, to path: String) throws {
        try DurableFile.replace(path, with: Array(text.utf8))
    }
}

/// One line that is written over, on a terminal alone.
enum Progress {
    private static let isTerminal = isatty(2) == 1

    static func show(_ text: String) { if isTerminal { put("\r\u{1b}[K\(text)") } }
    static func clear() { if isTerminal { put("\r\u{1b}[K") } }

    private static func put(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }
}
