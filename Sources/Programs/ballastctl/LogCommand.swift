import ArgumentParser
import Glibc
import SiteEvents

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show what happened at the site, from the journal.",
        discussion: """
            Asks journalctl for the events that an operator must know: trips, warnings, changes of mode, stops, requests of \
            people, links that went down. Further arguments go to journalctl as they are, for example:

              ballastctl log --explain --since yesterday --unit BESS_02 -- --reverse

            With --json each event is one object on a line, by our own names (config/schemas/log.schema.json).
            """)

    @Flag(help: "With each event, what the controller did, what to check, and who may reset (journalctl -x).")
    var explain = false

    @Flag(help: "Everything that the programs said, not only what an operator must know.")
    var all = false

    @Flag(help: "Go on with what happens from now.")
    var follow = false

    @Flag(help: "One JSON object for each event.")
    var json = false

    @Option(
        parsing: .unconditional,
        help: "From this time on, as journalctl knows it: \"2026-05-01 10:00\", yesterday, -1h.")
    var since: String?

    @Option(parsing: .unconditional, help: "Up to this time.")
    var until: String?

    @Option(help: "Of this unit alone.", completion: Completion.units)
    var unit: String?

    @Option(help: "Of this row of the interlock table alone, such as smoke.", completion: Completion.rows)
    var row: String?

    func validate() throws {
        guard let row, !Completion.rowNames.contains(row) else { return }
        throw ValidationError("there is no row \(row): \(Completion.rowNames.joined(separator: ", "))")
    }

    @Argument(help: "More for journalctl, for example --reverse.")
    var more: [String] = []

    private var arguments: [String] {
        var arguments = ["journalctl", "--unit=ballastd.service"]
        if !all { arguments.append("--priority=notice") }
        if json {
            arguments += ["--output=json", "--all", "--no-pager"]
        } else if explain {
            arguments.append("--catalog")
        }
        if follow { arguments.append("--follow") }
        if let since { arguments.append("--since=\(since)") }
        if let until { arguments.append("--until=\(until)") }
        if let unit { arguments.append("BALLAST_UNIT=\(unit)") }
        if let row { arguments.append("\(EventField.interlock.rawValue)=\(row)") }
        return arguments + more
    }

    func run() throws {
        guard json else { try OtherProgram.become(arguments) }
        let status = try OtherProgram.read(arguments) { line in
            guard let text = JournalEntry(json: line)?.json(isExplained: explain) else { return }
            print(text)
            // Who follows waits for each.
            fflush(nil)
        }
        guard status == 0 else { throw ExitCode(status) }
    }
}
