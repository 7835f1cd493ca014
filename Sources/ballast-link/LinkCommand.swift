import ArgumentParser
import BallastLink

@main struct LinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ballast-link", abstract: "Delivers a site's spool to the aggregator.")

    @Option(help: "The configuration file (YAML).") var config: String

    func run() async throws { try await Link.run(configPath: config) }
}
