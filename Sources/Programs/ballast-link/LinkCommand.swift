import ArgumentParser
import BallastLink

@main struct LinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ballast-link", abstract: "Delivers a site's spool to the aggregator.")

    @Option(help: "The configuration file (YAML).") var config: String

    /// As in sysexits(3): the service manager does not try again.
    private static let unusableConfiguration = ExitCode(78)

    func run() async throws {
        do {
            try await Link.run(configPath: config)
        } catch is Link.UnusableConfiguration {
            throw Self.unusableConfiguration
        }
    }
}
