import ArgumentParser
import Glibc
import Incident

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Run the controller on a recording of its cycles and compare each decision, bit by bit.",
        discussion: """
            The recording carries the site's files and what the controller was given each cycle; nothing of this machine is \
            read, and nothing is driven. The controller is that of the ballastd beside this program. The exit status is 1 \
            where a decision differs, or the recording is damaged: then the place is told, and what is before it still counts.

            --step, --csv, --comtrade, --page, --plot and --scenario show what was recorded, and run no controller: they read recordings of every \
            version that has the same form. Only the program that recorded it can replay one that begins with a running \
            controller's state; 'ballastd' keeps such, a simulation does not.

            EXAMPLE
              ballastctl replay trip.cycles
              ballastctl replay trip.cycles --with new-site.yaml
              ballastctl replay trip.cycles --step --from 29.5 --to 30.5
              ballastctl replay trip.cycles --step --from 14:03:05 --to 2026-11-24T14:03:09
              ballastctl replay trip.cycles --comtrade trip --form binary --page trip.html
              ballastctl replay Tests/Simulation/VirtualSiteTests/recordings/trip.cycles --accept
            """)

    @Argument(help: "The recording.")
    var file: String

    @Option(
        name: .customLong("with"),
        help:
            "A site's file in place of the recorded one: what would its settings have decided on the same measurements?"
    )
    var other: String?

    @Flag(help: "Print every cycle: what was seen, decided, and what held it back.")
    var step = false

    @Option(
        help: "From here on: s since the first cycle, or a time (UTC), 14:03:07 or 2026-11-24T14:03:07.")
    var from: String?

    @Option(help: "Up to here, likewise.")
    var to: String?

    @Option(help: "Write all values, a line a cycle.")
    var csv: String?

    @Option(help: "Write IEEE C37.111-2013 files: this name with .cfg and .dat.")
    var comtrade: String?

    @Option(help: "How COMTRADE data are written: ascii, binary or float32.")
    var form = "float32"

    @Option(help: "Write a page: what happened in which order, states, curves.")
    var page: String?

    @Option(help: "Write the page's curves as one drawing (SVG).")
    var plot: String?

    @Option(
        help:
            "Make a folder with a scenario of it, for ballast-sim run: frequency, silences, wired inputs, what was asked for; what it cannot carry over is told."
    )
    var scenario: String?

    @Flag(help: "Write the recording anew with what this version decides, where a test holds it to another.")
    var accept = false

    @Option(help: "Write what happened as JSON.")
    var json: String?

    func validate() throws {
        guard ["ascii", "binary", "float32"].contains(form) else {
            throw ValidationError("--form takes ascii, binary or float32")
        }
        for place in [from, to] {
            guard place.map({ TracePlace($0) != nil }) ?? true else {
                throw ValidationError(
                    "--from and --to take seconds, 14:03:07 or 2026-11-24T14:03:07, not \(place ?? "")")
            }
        }
        let shows =
            step || csv != nil || comtrade != nil || page != nil || json != nil || plot != nil
            || scenario != nil
        if other != nil && shows { throw ValidationError("--with compares, and shows nothing else") }
        if accept && (shows || other != nil) { throw ValidationError("--accept stands alone") }
        if (from != nil || to != nil) && !shows {
            throw ValidationError(
                "--from and --to need --step, --csv, --comtrade, --page, --plot, --scenario or --json")
        }
    }

    func run() throws {
        var words = [OtherProgram.beside("ballastd"), "--replay", file]
        if let other { words += ["--with", other] }
        if step { words.append("--step") }
        if let from { words += ["--from", from] }
        if let to { words += ["--to", to] }
        if let csv { words += ["--csv", csv] }
        if let comtrade { words += ["--comtrade", comtrade, "--form", form] }
        if let page { words += ["--page", page] }
        if let scenario { words += ["--scenario", scenario] }
        if let plot { words += ["--plot", plot] }
        if accept { words.append("--accept") }
        if let json { words += ["--incident-json", json] }
        let status = try OtherProgram.run(words)
        // Who reads has seen enough.
        if status == 128 + SIGPIPE { return }
        guard status < 128 else {
            throw Refusal(
                "\(file): \(words[0]) was ended by signal \(status - 128) while it went on from a recorded state: no ballastd has left that"
            )
        }
        if status != 0 { throw ExitCode(status) }
    }
}
