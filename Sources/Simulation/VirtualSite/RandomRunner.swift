import BallastDaemon
import BallastSimulator
import Quantities
import Scenario
import SiteConfig
import SiteFile
import YAMLText

/// Runs scenarios that nobody thought of, and keeps the files of those that fail.
public enum RandomRunner {
    public struct Failure: Sendable {
        public var seed: UInt64
        public var script: RandomScenario.Script
        public var outcome: RunOutcome
    }

    /// How the seeds are judged.
    public struct Options: Sendable {
        /// What `Invariant.open` names fails a seed too.
        public var isStrict = false
        /// A failing seed is made as short as it still fails.
        public var shrinks = false
        /// Something of ours that is put wrong on purpose, so that it can be seen that it is found.
        public var defect: SeededDefect?
        /// Every run is recorded, and the recording replayed: it must be identical.
        public var replays = false
        /// Every seed is run a second time with everybody remote gone: nothing may be decided otherwise
        /// (I18).
        public var isPaired = false

        public init(
            isStrict: Bool = false, shrinks: Bool = false, defect: SeededDefect? = nil, replays: Bool = false,
            isPaired: Bool = false
        ) {
            self.isPaired = isPaired
            self.replays = replays
            self.isStrict = isStrict
            self.shrinks = shrinks
            self.defect = defect
        }
    }

    /// The scenario of one seed.
    public static func script(seed: UInt64, site: SiteConfig, sitePath: String) -> RandomScenario.Script {
        RandomScenario.script(seed: seed, path: sitePath, site: RandomScenario.Site(site))
    }

    /// Runs one seed; `nil` where everything holds.
    public static func run(seed: UInt64, sitePath: String, _ options: Options = Options()) -> Failure? {
        var script = RandomScenario.Script(
            why: "", site: sitePath, seed: seed, duration: 0, charge: 60, steps: [])
        do {
            script = self.script(
                seed: seed, site: try SiteConfig.load(path: sitePath), sitePath: sitePath)
        } catch {
            let outcome = RunOutcome(path: name(seed), tier: .virtual, problem: "\(error)")
            return Failure(seed: seed, script: script, outcome: outcome)
        }
        if options.isPaired { return pair(script, options) }
        let outcome = run(script, options)
        if outcome.isPassed { return nil }
        let failure = Failure(seed: seed, script: script, outcome: outcome)
        return options.shrinks ? shrunk(failure, options) : failure
    }

    private static func name(_ seed: UInt64) -> String { "random-\(seed).yaml" }

    private static func run(_ script: RandomScenario.Script, _ options: Options) -> RunOutcome {
        let name = name(script.seed)
        do {
            let text = try YAMLText.parse(Array(script.yaml.utf8), file: name)
            let scenario = try Scenario(text, file: name)
            let files = try SimulationFiles.load(site: script.site, scenario, at: "")
            var recording: [UInt8]?
            var outcome = ScenarioRunner.run(
                files, path: name, defect: options.defect,
                captured: options.replays ? { recording = $0 } : nil)
            if let recording {
                let replay = Replay(recording)
                if !replay.isIdentical {
                    return RunOutcome(path: name, tier: .virtual, problem: "replayed: \(replay.text)")
                }
            }
            outcome.verdict.isStrict = options.isStrict
            return outcome
        } catch {
            return RunOutcome(path: name, tier: .virtual, problem: "\(error)")
        }
    }

    // MARK: Alone

    /// The seed with nobody remote, and once more with leases of both that come all the time, while a
    /// person's own setpoint stands above them: whoever is there or gone must change no decision.
    private static func pair(_ script: RandomScenario.Script, _ options: Options) -> Failure? {
        var alone = script
        alone.steps.removeAll { $0.contains("operator: lease") }
        var visited = alone
        // An end of the program forgets the person's setpoint, and then a lease counts.
        let end = visited.steps.first { $0.contains("daemon:") }.flatMap(time) ?? alone.duration
        var random = SplitMix64(seed: ~script.seed)
        for _ in 0..<12 {
            let at = 0.6 + Double(random.next() % 200) / 10
            guard at < end else { continue }
            let source = random.next() % 2 == 0 ? "agc" : "aggregator"
            let power = Int(random.next() % 400) - 200
            visited.steps.append(
                "at_s: \(Figure.text(at)), operator: lease \(source) \(power) --for \(1 + random.next() % 20)s"
            )
        }
        visited.steps.sort { (time($0) ?? 0) < (time($1) ?? 0) }
        let (one, other) = (run(alone, options), run(visited, options))
        if let problem = one.problem ?? other.problem {
            return Failure(
                seed: script.seed, script: visited,
                outcome: RunOutcome(path: name(script.seed), tier: .virtual, problem: problem))
        }
        guard let difference = difference(one.history, other.history) else { return nil }
        return Failure(
            seed: script.seed, script: visited,
            outcome: RunOutcome(path: name(script.seed), tier: .virtual, problem: difference))
    }

    private static func time(_ step: String) -> Double? {
        let words = step.split(separator: " ")
        return words.count > 1 ? Double(words[1].split(separator: ",")[0]) : nil
    }

    private static func difference(_ one: RunHistory, _ other: RunHistory) -> String? {
        guard one.samples.count == other.samples.count else { return "I18: another length of the run" }
        guard let index = one.samples.indices.first(where: { one.samples[$0] != other.samples[$0] })
        else { return nil }
        let time = Figure.text(one.samples[index].time.seconds)
        return "I18: with remote parties something is decided otherwise at \(time) s"
    }

    // MARK: As short as it still fails

    /// What is left when nothing can be left out any more without another outcome; the end comes soon after
    /// what fails.
    private static func shrunk(_ failure: Failure, _ options: Options) -> Failure {
        var best = failure
        func attempt(_ script: RandomScenario.Script) -> Bool {
            let outcome = run(script, options)
            guard broken(outcome) == broken(failure.outcome) else { return false }
            best.script = script
            best.outcome = outcome
            return true
        }
        var isShorter = true
        while isShorter {
            isShorter = false
            for index in best.script.steps.indices.reversed() where best.script.steps.count > 1 {
                var script = best.script
                script.steps.remove(at: index)
                if attempt(script) { isShorter = true }
            }
        }
        for seconds in [8.0, 12, 20, 30, 45] where seconds < best.script.duration {
            var script = best.script
            script.duration = seconds
            if attempt(script) { break }
        }
        return best
    }

    /// The first invariant that fails, else what kept the run from being judged.
    private static func broken(_ outcome: RunOutcome) -> String? {
        if let problem = outcome.problem { return problem }
        return outcome.verdict.failed.first?.rawValue
    }
}
