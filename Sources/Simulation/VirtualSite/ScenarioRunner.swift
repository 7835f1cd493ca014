import BallastDaemon
import BallastSimulator
import CycleRecord
import Quantities
import Scenario
import SiteConfig
import YAMLText

/// Runs scenarios in virtual time.
public enum ScenarioRunner {
    /// Longer without service than the configured time to enter it.
    private static let patience = Duration.seconds(60)
    /// By so much the second of many sites is met later than the first, the third than the second: another
    /// instant of polls and frames each time.
    private static let stagger = Duration.milliseconds(140)
    /// So long power may move before the scenario's clock begins.
    private static let settling = Duration.seconds(3)

    /// Reads and runs a scenario file.
    ///
    /// - Parameters:
    ///   - seed: in place of the file's own.
    ///   - captured: is given a recording of every cycle of the run.
    public static func run(
        path: String, seed: UInt64? = nil, captured: (([UInt8]) -> Void)? = nil
    ) -> RunOutcome {
        var scenario = Scenario()
        do {
            scenario = try Scenario(try YAMLText.load(path: path), file: path)
            if let seed { scenario.seed = seed }
            guard let site = scenario.site else {
                return RunOutcome(path: path, tier: .virtual, scenario: scenario, problem: "names no site")
            }
            let files = try SimulationFiles.load(
                site: SimulationFiles.path(site, besides: path), scenario, at: path)
            if let refusal = scenario.refusal {
                return RunOutcome(
                    path: path, tier: .virtual, scenario: scenario,
                    problem: "the configuration was to be refused with '\(refusal)', and is taken")
            }
            return runAll(files, path: path, captured: captured)
        } catch {
            if let refusal = scenario.refusal, "\(error)".contains(refusal) {
                return .refused(path: path, tier: .virtual, scenario: scenario)
            }
            return RunOutcome(path: path, tier: .virtual, scenario: scenario, problem: "\(error)")
        }
    }

    /// - Returns: the outcome of the first site that fails, else of the first.
    private static func runAll(
        _ files: SimulationFiles, path: String, captured: (([UInt8]) -> Void)?
    ) -> RunOutcome {
        let first = run(files, path: path, defect: nil, captured: captured)
        var files = files
        for index in 1..<max(1, files.scenario.sites) where first.isPassed {
            files.scenario.seed &+= 1
            var other = run(files, path: path, defect: nil, lead: stagger * index)
            guard !other.isPassed else { continue }
            other.site = "\(index + 1) of \(files.scenario.sites)"
            return other
        }
        return first
    }

    /// Runs what has been read.
    public static func run(_ files: SimulationFiles, path: String) -> RunOutcome {
        run(files, path: path, defect: nil)
    }

    static func run(
        _ files: SimulationFiles, path: String, defect: SeededDefect?, lead: Duration = .zero,
        captured: (([UInt8]) -> Void)? = nil
    ) -> RunOutcome {
        let recorder = captured.map { _ in
            CycleRecorder(
                unitCount: files.site.units.count, about: "ballast-sim, virtual time, \(path)",
                files: files.sources)
        }
        var site = VirtualSite(files, recorder: recorder)
        defer { if let bytes = site.takeRecording() { captured?(bytes) } }
        site.defect = defect
        let scenario = files.scenario
        if scenario.start == .inService, let problem = enterService(&site) {
            return RunOutcome(path: path, tier: .virtual, scenario: scenario, problem: problem)
        }
        let begin = site.now + lead
        while site.now < begin { _ = site.cycle() }
        site.begin()
        var history = site.history
        let hasRival = scenario.rival != nil
        history.lastLoadStep = scenario.steps.last { hasRival || $0.isOfPlant }?.at
        var next = 0
        let period = site.config.control.period
        let cycles = (scenario.length.nanoseconds + period.nanoseconds - 1) / period.nanoseconds
        for cycle in 0..<cycles {
            let time = Duration.nanoseconds(cycle * period.nanoseconds)
            while next < scenario.steps.count, scenario.steps[next].at <= time {
                if case .command(let command) = scenario.steps[next].action {
                    history.commands.append(
                        RunWish(time: time, wish: command.wish, person: command.person))
                }
                perform(scenario.steps[next], on: &site)
                next += 1
            }
            let events = site.cycle()
            history.events += events.map {
                RunEvent(time: time, name: $0.name, unit: $0.unit, cause: $0.cause, text: $0.text)
            }
            history.samples.append(site.sample(at: time + period))
        }
        return RunOutcome(path: path, tier: .virtual, scenario: scenario, history: history)
    }

    private static func perform(_ step: Scenario.Step, on site: inout VirtualSite) {
        switch step.action {
        case .command(let command): site.handle(command)
        case .daemon(let action, _): site.handle(action)
        case .machine(let step): site.handle(step)
        // The plant does it by itself; a shell has only the rig.
        case .fault, .clear, .frequency, .siteLoad, .gridLoad, .run: break
        }
    }

    /// - Returns: what keeps the site out of service.
    private static func enterService(_ site: inout VirtualSite) -> String? {
        let end = site.now + site.config.control.enterService + patience
        while site.now < end {
            _ = site.cycle()
            guard site.sample(at: .zero).units.allSatisfy({ $0.mode == "running" }) else { continue }
            let settled = site.now + settling
            while site.now < settled { _ = site.cycle() }
            return nil
        }
        let sample = site.sample(at: .zero)
        let stuck = zip(site.config.units, sample.units).filter { $0.1.mode != "running" }.map { unit, seen in
            let trips = seen.trips.isEmpty ? "" : " (\(seen.trips.joined(separator: ", ")))"
            return "\(unit.id) stays \(seen.mode ?? "silent")\(trips)"
        }
        return "the site does not enter service: " + stuck.joined(separator: ", ")
    }
}
