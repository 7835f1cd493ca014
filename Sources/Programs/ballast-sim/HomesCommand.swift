import ArgumentParser
import BallastSimulator
import Glibc

struct HomesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "homes",
        abstract:
            "Homes with roof, load, battery and faulty meters tell an aggregator a month, in minutes; then its bills are judged.",
        discussion: """
            The aggregator must serve books that are empty. Its own 'settle' is run in between. Every bill is worked out a \
            second time from what the meters told; exit status 1 if anything differs.
            """)

    @Option(help: "How many, 1 … 10000 [1000].") var homes: Int?
    @Option(help: "How many days from 2026-01-01 on, 1 … 365 [31].") var days: Int?
    @Option(help: "The same seed, the same month [1].") var seed: UInt64?
    @Option(help: "A file with homes, days, seed and what the books must say: hil/books.d/homes.yaml is one.")
    var scenario: String?
    @Option(help: "The aggregator's port on 127.0.0.1.") var port: UInt16
    @Option(help: "The token of one of its admins.") var token: String
    @Option(help: "The program that settles.") var aggregator = "ballast-aggregator"
    @Option(help: "The aggregator's configuration file.") var config: String

    func validate() throws {
        guard (1...10_000).contains(homes ?? 1), (1...365).contains(days ?? 1) else {
            throw ValidationError("--homes is 1 … 10000, --days 1 … 365")
        }
        if scenario != nil, homes != nil || days != nil || seed != nil {
            throw ValidationError("--scenario says homes, days and seed itself")
        }
    }

    func run() throws {
        let file = try scenario.map { try HomesScenario(path: $0) }
        var run = try HomesRun(
            homes: file?.homes ?? homes ?? 1_000, days: file?.days ?? days ?? 31,
            seed: file?.seed ?? seed ?? 1,
            port: port, token: token)
        print(try run.fill())
        try settle(run.period)
        var verdicts = try run.judge()
        if let file { verdicts += try run.judge(file) }
        for verdict in verdicts { print(verdict.line) }
        if verdicts.contains(where: { !$0.holds }) { throw ExitCode.failure }
    }

    private func settle(_ period: (from: String, to: String)) throws {
        let arguments = [aggregator, "settle", "--config", config, "--from", period.from, "--to", period.to]
        let texts: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for text in texts { text.map { free($0) } } }
        var child: pid_t = 0
        fflush(nil)
        guard posix_spawnp(&child, aggregator, nil, nil, texts, environ) == 0 else {
            throw ValidationError("\(aggregator): cannot be started")
        }
        var status: CInt = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        if status != 0 { throw ExitCode.failure }
    }
}
