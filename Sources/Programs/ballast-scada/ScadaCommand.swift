import ArgumentParser
import BallastScada
import Glibc
import LinuxIO

@main struct ScadaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ballast-scada", abstract: "The site for a control centre, by IEC 60870-5-104.",
        discussion: """
            An outstation: it shows the points of its file to the masters that the file lists, and brings their setpoints \
            to ballastd as leases of the source AGC, inside the bounds of the site's section control_centre.
            """,
        version: Product.version)

    @Option(help: "The configuration file (YAML).") var config: String
    @Flag(help: "Says what the file means, or what is wrong with it, and ends.") var check = false
    @Flag(help: "Prints the signal list for the control centre (CSV), and ends.") var table = false

    /// As in sysexits(3): the service manager does not try again.
    private static let unusableConfiguration = ExitCode(78)

    func run() throws {
        do {
            if table {
                print(try Scada.signalList(configPath: config), terminator: "")
            } else if check {
                for line in try Scada.check(configPath: config) { print(line) }
            } else {
                try Scada.run(configPath: config)
            }
        } catch is Scada.UnusableConfiguration {
            throw Self.unusableConfiguration
        } catch {
            let bytes = Array("\(error)\n".utf8)
            _ = write(STDERR_FILENO, bytes, bytes.count)
            throw Self.unusableConfiguration
        }
    }
}
