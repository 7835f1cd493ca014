import ArgumentParser

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show what happened at the site, from the journal.",
        discussion: """
            Asks journalctl for the events that an operator must know: trips, warnings, changes of mode, stops, requests of \
            people, links that went down. Further arguments go to journalctl as they are, for example:

              ballastctl log --explain --since yesterday -- BALLAST_UNIT=BESS_02
            """)

    @Flag(help: "With each event, what the controller did, what to check, and who may reset (journalctl -x).")
    var explain = false

    @Flag(help: "Everything that the programs said, not only what an operator must know.")
    var all = false

    @Flag(help: "Go on with what happens from now.")
    var follow = false

    @Option(
        parsing: .unconditional,
        help: "From this time on, as journalctl knows it: \"2026-05-01 10:00\", yesterday, -1h.")
    var since: String?

    @Option(parsing: .unconditional, help: "Up to this time.")
    var until: String?

    @Argument(help: "More for journalctl, for example BALLAST_UNIT=BESS_02.")
    var more: [String] = []

    private var arguments: [String] {
        var arguments = ["journalctl", "--unit=ballastd.service"]
        if !all { arguments.append("--priority=notice") }
        if explain { arguments.append("--catalog") }
        if follow { arguments.append("--follow") }
        if let since { arguments.append("--since=\(since)") }
        if let until { arguments.append("--until=\(until)") }
        return arguments + more
    }

    func run() throws {
        try OtherProgram.become(arguments)
    }
}
