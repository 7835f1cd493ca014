import BallastSimulator
import Quantities
import Scenario
import SiteConfig
import YAMLText

/// Runs scenarios that nobody thought of, and keeps the files of those that fail.
public enum RandomRunner {
    public struct Failure: Sendable {
        public var seed: UInt64
        /// The scenario as `ballast-sim run` takes it.
        public var yaml: String
        public var outcome: RunOutcome
    }

    /// The text of one seed's scenario.
    ///
    /// - Parameter sitePath: as it is to stand in the file.
    public static func yaml(seed: UInt64, site: SiteConfig, sitePath: String) -> String {
        RandomScenario.yaml(
            seed: seed, site: sitePath,
            units: site.units.map { unit in
                RandomScenario.Unit(id: unit.id, rating: unit.maxPower, hasModule: unit.ioModule != nil)
            })
    }

    /// Runs one seed; `nil` where everything holds.
    public static func run(seed: UInt64, sitePath: String) -> Failure? {
        run(seed: seed, sitePath: sitePath, defect: nil)
    }

    static func run(seed: UInt64, sitePath: String, defect: VirtualSite.Defect?) -> Failure? {
        let name = "random-\(seed).yaml"
        do {
            let site = try SiteConfig.load(path: sitePath)
            let yaml = yaml(seed: seed, site: site, sitePath: sitePath)
            let scenario = try Scenario(
                try YAMLText.parse(Array(yaml.utf8), file: name), file: name)
            let files = try SimulationFiles.load(site: sitePath, scenario, at: "")
            let outcome = ScenarioRunner.run(files, path: name, defect: defect)
            return outcome.isPassed ? nil : Failure(seed: seed, yaml: yaml, outcome: outcome)
        } catch {
            let outcome = RunOutcome(path: name, tier: .virtual, problem: "\(error)")
            return Failure(seed: seed, yaml: "", outcome: outcome)
        }
    }
}
