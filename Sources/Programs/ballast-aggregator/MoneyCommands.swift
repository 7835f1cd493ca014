import ArgumentParser
import BallastAggregator
import Glibc
import LinuxIO

struct SettleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settle",
        abstract: "Settles a period of the books into bills and postings, beside a serving aggregator.")
    @Option(help: "The configuration file (YAML), with its section books.") var config: String
    @Option(help: "The first block's start, with its offset: 2026-11-01T00:00:00+05:30.") var from: String?
    @Option(help: "The end of the last block, with its offset; it must be over.") var to: String?
    @Flag(help: "What came for blocks that were settled before, instead of a period.") var late = false
    @Option(help: "Blocks that start before this instant take no more corrections.") var frozenBefore: String?

    func run() throws {
        let period = from.flatMap { from in to.map { (from: from, to: $0) } }
        guard (period == nil) == late, late == (from == nil && to == nil) else {
            throw ValidationError("give --from and --to, or --late")
        }
        try showing {
            try Upkeep.settle(config: config, period: period, frozenBefore: frozenBefore)
        }
    }
}

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Makes keys, and signs web tokens (JWT, EdDSA) for people of the books.",
        subcommands: [TokenKey.self, TokenIssue.self])
}

struct TokenKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Makes a signing key, and prints what goes into the aggregator's file.")
    @Option(help: "The file that takes the secret; it must not be there yet.") var out: String
    @Option(help: "The key's name, as tokens carry it.") var id = "issuer-1"

    func run() throws {
        let open = try SecretFile.make(out)
        print("books:\n  tokens:\n    issuer: ISSUER\n    audience: AUDIENCE\n    keys:")
        print("      - {id: \(id), public_key: \(open)}")
    }
}

struct TokenIssue: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "issue", abstract: "Prints a token.")
    @Option(help: "The file with the secret.") var key: String
    @Option(help: "The key's name, as the aggregator's file has it.") var id = "issuer-1"
    @Option(help: "The issuer, as that file has it.") var issuer: String
    @Option(help: "The audience, as that file has it.") var audience: String
    @Option(help: "Whose token it is.") var subject: String
    @Option(help: "prosumer, consumer, vendor, device, auditor, grid_operator, admin.") var role: String
    @Option(help: "Whose things are the person's own.") var party: String?
    @Option(help: "What it is narrowed to: \"books:read books:money\".") var scope: String?
    @Option(help: "For how many hours it holds.") var hours: Int = 8

    func run() throws {
        guard (1...8_760).contains(hours) else { throw ValidationError("--hours takes 1 … 8760") }
        if let complaint = WebTokenMaker.complaint(
            subject: subject, role: role, party: party, scope: scope)
        {
            throw ValidationError(complaint)
        }
        let seed = try SecretFile.read(key)
        let now = WallClock.nowMilliseconds() / 1_000
        let wish = WebTokenMaker.Wish(
            issuer: issuer, audience: audience, key: id, subject: subject, role: role, party: party,
            scope: scope, issued: now, expires: now + Int64(hours) * 3_600)
        guard let token = WebTokenMaker.token(wish, seed: seed) else {
            throw ValidationError("\(key): a key has 64 hexadecimal digits")
        }
        print(token)
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
