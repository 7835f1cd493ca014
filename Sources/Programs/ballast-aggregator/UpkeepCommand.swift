import ArgumentParser
import BallastAggregator
import Glibc

extension ParsableCommand {
    /// Prints the lines; what is wrong goes to standard error, and the program ends with 1.
    func showing(_ body: () throws -> [String]) throws {
        do {
            for line in try body() { print(line) }
        } catch {
            let bytes = Array("\(error)\n".utf8)
            _ = write(STDERR_FILENO, bytes, bytes.count)
            throw ExitCode.failure
        }
    }
}

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Says what a configuration file means, or what is wrong with it.")
    @Option(help: "The configuration file (YAML).") var config: String

    func run() throws { try showing { try Upkeep.check(config: config) } }
}

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Goes through the history and names the first record that is not as it was stored.",
        discussion: """
            Held by the history: records with the time at which each came, gaps, records that came again as \
            others, requests, leases and the answers to them, captures, alarms and who was told of them, \
            dispatches, and what retention has cut. What is changed, taken away or put there is named.

            Outside it, and not seen here: when a stream was heard first and last (stream.first_seen, \
            last_seen), when a capture came, log-ins (table session: secrets that end within twelve hours), how \
            far retention has looked (table retention), what became of a mail on its way, and, for records that \
            an older version has stored, when they came. Values by minutes are compared by --replay until \
            retention has cut them. The books have a check of their own: ballast-aggregator check.

            Exit status: 0 all is well; 1 something is not as it was stored; 2 all of it is, and a site's own \
            audit was cut or made anew on site, which is said in a remark.
            """)
    @Option(help: "The configuration file (YAML).") var config: String
    @Option(help: "An earlier head, NUMBER:HASH as the log has it, which the history must still have.")
    var head: String?
    @Flag(help: "Rebuild every table from the history, in an empty store, and compare their digests.")
    var replay = false

    func run() throws {
        var remarks: [String] = []
        try showing {
            let found = try Upkeep.verify(config: config, head: head, replay: replay)
            remarks = found.remarks
            return found.lines + remarks
        }
        if !remarks.isEmpty { throw ExitCode(2) }
    }
}

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract:
            "Copies the database as it is at one instant, while the aggregator serves; verifies the copy.")
    @Option(help: "The configuration file (YAML).") var config: String
    @Option(help: "The file that takes the copy; it must not be there yet.") var out: String

    func run() throws { try showing { try Upkeep.backup(config: config, to: out) } }
}

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract:
            "Makes the database out of a copy, which it verifies; never writes over one. Run it as the user that serves."
    )
    @Option(help: "The configuration file (YAML).") var config: String
    @Option(help: "The copy.") var from: String

    func run() throws { try showing { try Upkeep.restore(config: config, from: from) } }
}
