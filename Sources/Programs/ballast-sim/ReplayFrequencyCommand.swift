import ArgumentParser
import BallastSimulator
import FrequencyReplay
import LinuxIO
import Quantities

struct ReplayFrequencyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay-frequency",
        abstract: "Run a measured frequency event through a site in virtual time.",
        discussion: """
            The production controller with the site's own configuration, and the simulated plant: no wires, no waiting. The \
            site enters service at the profile's first frequency; then the profile is played to its end. "Expected" is the \
            closed form: the droop curve at the profile's frequency, without any delay.

            EXAMPLE
              ballast-sim replay-frequency hil/profiles/uk_2019-08-09_1s.csv \\
                --config config/examples/demo-site.yaml --csv event.csv --plot event.svg
            """)

    @Argument(help: "The profile: CSV with the header t_s,f_hz.")
    var profile: String

    @Option(help: "The site's configuration, the same file that ballastd reads.")
    var config: String

    @Option(
        help: "Write a row each --every-ms: frequency, powers, and power and state of charge of each unit.")
    var csv: String?

    @Option(help: "Write a drawing (SVG) of frequency, power and state of charge.")
    var plot: String?

    @Option(help: "State of charge at the begin, 0 … 100.")
    var socPercent = 60.0

    @Option(help: "Time between two rows, 1 … 60000.")
    var everyMs = 100

    func validate() throws {
        guard (0...100).contains(socPercent) else { throw ValidationError("--soc-percent is 0 … 100") }
        guard (1...60_000).contains(everyMs) else { throw ValidationError("--every-ms is 1 … 60000") }
    }

    func run() throws {
        let site = try SimulationFiles.load(site: config, scenario: nil).site
        let grid = try SimulationFiles.load(profile: profile)
        var replay = try FrequencyReplay(site, profile: grid, stateOfCharge: .percent(socPercent))
        let rows = try replay.run(every: .milliseconds(everyMs))
        if let csv { try DurableFile.replace(csv, with: Array(replay.csv(rows).utf8)) }
        if let plot {
            try DurableFile.replace(
                plot, with: Array(replay.plot(rows, title: "\(site.siteID): \(profile)").svg.utf8))
        }
        print(replay.text(rows))
    }
}
