import ArgumentParser
import BallastAggregator
import Glibc

struct SettleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settle",
        abstract: "Settles a period of the books into bills and postings, beside a serving aggregator.")
    @Option(help: "The configuration file (YAML), with its section books.") var config: String
    @Option(help: "The first block's start, with its offset: 2026-11-01T00:00:00+05:30.") var from: String
    @Option(help: "The end of the last block, with its offset; it must be over.") var to: String
    @Option(help: "Blocks that start before this instant take no more corrections.") var frozenBefore: String?

    func run() throws {
        try showing {
            try Upkeep.settle(config: config, from: from, to: to, frozenBefore: frozenBefore)
        }
    }
}

struct LedgerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger", abstract: "The ledger of the books.", subcommands: [LedgerExport.self])
}

struct LedgerExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Prints the ledger as hledger, ledger or beancount read it.")
    @Option(help: "The configuration file (YAML), with its section books.") var config: String
    @Option(help: "hledger, ledger or beancount.") var format = "hledger"

    func run() throws { try showing { try Upkeep.ledger(config: config, format: format) } }
}

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Shows the blocks, readings and records behind a line of a bill.")
    @Argument(help: "The line: r1-asha-3.") var line: String
    @Option(help: "The configuration file (YAML), with its section books.") var config: String

    func run() async throws {
        do {
            for line in try await Upkeep.explain(config: config, line: line) { print(line, terminator: "") }
        } catch {
            let bytes = Array("\(error)\n".utf8)
            _ = write(STDERR_FILENO, bytes, bytes.count)
            throw ExitCode.failure
        }
    }
}
