import ArgumentParser
import BallastAggregator

@main struct AggregatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ballast-aggregator",
        abstract: "Takes the reports of Ballast sites, stores them, and shows them.")

    @Option(help: "The configuration file (YAML).") var config: String

    func run() async throws { try await Aggregator.run(configPath: config) }
}
