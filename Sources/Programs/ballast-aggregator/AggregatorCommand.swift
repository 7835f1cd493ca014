import ArgumentParser
import BallastAggregator
import LinuxIO

@main struct AggregatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ballast-aggregator",
        abstract:
            "Takes the reports of Ballast sites, stores them, and shows them; settles energy into money.",
        version: Product.version,
        subcommands: [
            ServeCommand.self, CheckCommand.self, VerifyCommand.self, BackupCommand.self, RestoreCommand.self,
            BooksCommand.self, LeaseCommand.self, CertificateCommand.self, SettleCommand.self,
            LedgerCommand.self, ExplainCommand.self, TokenCommand.self,
        ],
        defaultSubcommand: ServeCommand.self)
}

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Takes the reports of sites until a signal ends it; what is done where no command is named."
    )

    @Option(help: "The configuration file (YAML).") var config: String

    /// As in sysexits(3): the service manager does not try again.
    private static let unusableConfiguration = ExitCode(78)

    func run() async throws {
        do {
            try await Aggregator.run(configPath: config)
        } catch is Aggregator.UnusableConfiguration {
            throw Self.unusableConfiguration
        }
    }
}
