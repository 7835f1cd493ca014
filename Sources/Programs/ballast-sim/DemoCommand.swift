import ArgumentParser
import BallastSimulator
import Glibc

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run a whole site with all its processes, play a scenario, and judge what happened.",
        discussion: """
            Shows a live view on a terminal and plain lines elsewhere. The exit status is 0 only if everything that was \
            to happen happened, and 130 after Ctrl-C.
            """)

    @Option(help: "Folder with ballastd, ballast-link, ballast-aggregator and ballast-sim.") var programs:
        String
    @Option(help: "The site's configuration.") var site: String
    @Option(help: "The scenario; its last fault must trip a unit.") var scenario: String
    @Option(help: "Folder for logs, state and records.") var records: String
    @Flag(help: "Leave the site running in the end until Ctrl-C, and say what to try.") var keep = false

    func run() throws {
        var options = Demo.Options(
            programs: absolute(programs), site: absolute(site), scenario: absolute(scenario),
            records: absolute(records))
        options.keeps = keep
        let demo = try Demo(options)
        switch try demo.run() {
        case .passed: return
        case .failed: throw ExitCode(1)
        case .interrupted: throw ExitCode(130)
        }
    }

    /// The programs of the demonstration run in a folder of their own.
    private func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return String(cString: here) + "/" + path
    }
}
