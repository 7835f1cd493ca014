import ArgumentParser
import BallastLink
import Glibc
import LinuxIO

@main struct LinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ballast-link", abstract: "Delivers a site's spool to the aggregator.",
        version: Product.version)

    @Option(help: "The configuration file (YAML).") var config: String
    @Flag(help: "Says what the file means, or what is wrong with it, and ends.") var check = false

    /// As in sysexits(3): the service manager does not try again.
    private static let unusableConfiguration = ExitCode(78)

    func run() async throws {
        if check {
            do {
                for line in try Link.check(configPath: config) { print(line) }
            } catch {
                let bytes = Array("\(error)\n".utf8)
                _ = write(STDERR_FILENO, bytes, bytes.count)
                throw Self.unusableConfiguration
            }
            return
        }
        do {
            try await Link.run(configPath: config)
        } catch is Link.UnusableConfiguration {
            throw Self.unusableConfiguration
        }
    }
}
