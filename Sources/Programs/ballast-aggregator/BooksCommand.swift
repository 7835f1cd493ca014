import ArgumentParser
import BallastAggregator
import BooksFiles
import Glibc

struct BooksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "books",
        abstract:
            "Settles meter intervals into bills and a ledger, on files; serves nothing and pays nothing.",
        subcommands: [BooksSettle.self, BooksCheck.self, BooksExplain.self])
}

/// What a settlement rests on.
struct BooksOptions: ParsableArguments {
    @Option(help: "The first block's start, with its offset: 2026-11-01T00:00:00+05:30.") var from: String
    @Option(help: "The end of the last block, with its offset.") var to: String
    @Option(
        help:
            "Intervals (CSV): resource,kind,start,length_s,import_wh,export_wh,revision,quality,mode,record.")
    var intervals: String
    @Option(
        help: "Readings of registers (CSV), for what intervals lack: resource,meter,time,import_wh,export_wh."
    )
    var registers: String?
    @Option(help: "Parties, zones, resources and contracts (YAML).") var contracts: String
    @Option(help: "Dated tariffs, incentives and the rate of a bitcoin (YAML).") var tariffs: String
    @Option(
        help:
            "The folder of an earlier run, whose blocks are corrected and not settled again; may be repeated."
    )
    var previous: [String] = []
    @Option(help: "Blocks that start before this instant take no more corrections.") var frozenBefore: String?

    var request: BooksRequest {
        BooksRequest(
            from: from, until: to, intervals: intervals, registers: registers, contracts: contracts,
            tariffs: tariffs, previous: previous, frozenBefore: frozenBefore)
    }

    /// The run with its invariants looked at; each that does not hold is said.
    func settle() throws(BooksErrors) -> BooksRun {
        let run = try BooksRun.settle(request, digest: Fingerprint.sha256)
        let broken = run.invariants.filter { !$0.findings.isEmpty }
        if let first = broken.first?.findings.first {
            throw BooksErrors("these books do not balance, nothing is written: \(first)")
        }
        return run
    }
}

extension ParsableCommand {
    /// Runs `body`; what is wrong goes to standard error, and the program ends with 1.
    func telling(_ body: () throws(BooksErrors) -> Void) throws {
        do throws(BooksErrors) {
            try body()
        } catch {
            let bytes = Array("\(error)\n".utf8)
            _ = write(STDERR_FILENO, bytes, bytes.count)
            throw ExitCode.failure
        }
    }
}

struct BooksSettle: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settle",
        abstract:
            "Writes bills (CSV, HTML), entries, blocks and the ledger (hledger, ledger, beancount) to a folder."
    )

    @OptionGroup var options: BooksOptions
    @Option(help: "The folder; made if absent, never written over.") var out: String

    func run() throws {
        try telling { () throws(BooksErrors) in
            let run = try options.settle()
            let isNew = try BooksFolder.write(run, to: out)
            for line in run.summary { print(line) }
            print(isNew ? "written to \(out)" : "\(out) holds this very run already; nothing changed")
        }
    }
}

struct BooksCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Says what the files mean or what is wrong with them, and whether the invariants hold.")

    @OptionGroup var options: BooksOptions
    @Option(help: "A folder that must hold exactly what these files give.") var against: String?

    func run() throws {
        try telling { () throws(BooksErrors) in
            let run = try options.settle()
            for line in run.summary { print(line) }
            for invariant in run.invariants { print("holds: \(invariant.name)") }
            guard let against else { return }
            let differing = try BooksFolder.differences(run, against)
            if !differing.isEmpty {
                throw BooksErrors(
                    "\(against): differs from what these files give: \(differing.joined(separator: ", "))")
            }
            print("holds: \(against) is what these files give, byte for byte")
        }
    }
}

struct BooksExplain: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Shows the blocks and readings behind a line of a bill.")

    @Argument(help: "The line: asha-3.") var line: String
    @Option(help: "The folder that the run was written to.") var out: String

    func run() throws {
        try telling { () throws(BooksErrors) in
            print(
                try LineExplanation.text(line, folder: out, digest: Fingerprint.sha256),
                terminator: "")
        }
    }
}
