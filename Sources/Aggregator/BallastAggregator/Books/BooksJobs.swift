import BooksStore
import ConfigText
import ExactAmounts
import Glibc
import GRDB
import LinuxIO
import Quantities

/// What is done with the books beside serving: each gives back lines for people.
extension Upkeep {
    private static func booksDatabase(_ path: String) throws -> (
        AggregatorConfig.Books, String, DatabaseQueue
    ) {
        let config = try load(path)
        guard let books = config.books else {
            throw Failure(description: "\(path): has no section books")
        }
        return (books, config.database, try open(config.database))
    }

    private static func instant(_ text: String, _ option: String) throws -> UTCInstant {
        guard let time = UTCInstant(text) else {
            throw Failure(
                description: "\(option): takes an instant with its offset, as 2026-11-01T00:00:00+05:30")
        }
        return time
    }

    /// Settles a period beside a serving aggregator, or, without one, what came late for blocks that were
    /// settled; one such job at a time.
    public static func settle(
        config path: String, period wanted: (from: String, to: String)?, frozenBefore: String?
    ) throws -> [String] {
        let (books, file, queue) = try booksDatabase(path)
        let lock = Glibc.open(file + ".settle", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw Failure(description: "\(file).settle: \(SystemError.last("open"))") }
        let owned = FileDescriptor(owning: lock)
        guard flock(owned.number, LOCK_EX | LOCK_NB) == 0 else {
            throw Failure(description: "another settlement is running")
        }
        let now = UTCInstant(seconds: WallClock.nowMilliseconds() / 1_000)
        let frozen = try frozenBefore.map { try instant($0, "--frozen-before") }
        if let frozen, frozen > now {
            throw Failure(
                description: "--frozen-before: is not over yet; what is frozen is never opened again")
        }
        guard let period = try wanted.map(period) ?? SettleJob.late(queue) else {
            guard let frozen else { return ["nothing came late"] }
            let closed = try SettleJob.freeze(queue, before: frozen)
            return ["nothing came late; what is before \(closed.text) takes no more corrections"]
        }
        guard period.until <= now else {
            throw Failure(description: "--to: is not over yet; only what has been is settled")
        }
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        let wish = SettleWish(
            period: period, now: now, due: now + Int64(books.dueDays) * 86_400,
            frozenBefore: frozen)
        // Reports of sites, which wait for the same disk, ask again every few milliseconds.
        return try SettleJob.run(queue, wish) { (MonotonicTime.now() + .milliseconds(10)).sleep() }
    }

    private static func period(_ wanted: (from: String, to: String)) throws -> Period {
        guard
            let period = Period(
                from: try instant(wanted.from, "--from"), until: try instant(wanted.to, "--to"))
        else { throw Failure(description: "--to: is not after --from") }
        return period
    }

    /// The ledger as text for hledger, ledger or beancount.
    public static func ledger(config path: String, format: String) throws -> [String] {
        let (_, _, queue) = try booksDatabase(path)
        return [String(try BooksExport.text(queue, format).dropLast())]
    }

    /// Why a line of a bill is what it is.
    public static func explain(config path: String, line: String) async throws -> [String] {
        let (_, _, queue) = try booksDatabase(path)
        let store = try BooksStore(queue)
        let answer = try await store.answer(
            BooksCall(
                caller: BooksCaller(name: "explain", role: .auditor, party: nil), operation: .explain,
                id: line, now: UTCInstant(seconds: 0)))
        if answer.isRefusal { throw Failure(description: answer.body) }
        return [answer.body]
    }

    /// The history of the books and its records, which are a chain of their own; `nil` without books.
    static func booksHistory(_ config: AggregatorConfig) throws -> String? {
        guard config.books != nil else { return nil }
        guard let line = try BooksCheck.history(try open(config.database)) else { return nil }
        if !line.findings.isEmpty {
            throw Failure(
                description: "\(config.database): \(line.name): \(line.findings.joined(separator: "; "))")
        }
        return "\(config.database): the history of the books holds, and the records that it notes"
    }

    /// B1 … B8, a line each; throws where one does not hold.
    static func booksLines(_ config: AggregatorConfig) throws -> [String] {
        guard config.books != nil, access(config.database, R_OK) == 0 else { return [] }
        let queue = try open(config.database)
        let lines = try BooksCheck.run(queue)
        if let broken = lines.first(where: { !$0.findings.isEmpty }) {
            throw Failure(
                description: "\(config.database): DOES NOT HOLD: \(broken.name): "
                    + broken.findings.prefix(5).joined(separator: "; "))
        }
        return lines.map { "holds: \($0.name)" }
    }
}
