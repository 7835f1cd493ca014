import BooksFiles
import Contracts
import ExactAmounts
import GRDB
import Ledger
import Metering
import Settlement

/// What a settlement is asked for.
public struct SettleWish: Sendable {
    public var period: Period
    /// Stamps what is noted.
    public var now: UTCInstant
    /// When the bills are due.
    public var due: UTCInstant
    /// Blocks before it take no more corrections.
    public var frozenBefore: UTCInstant?

    public init(period: Period, now: UTCInstant, due: UTCInstant, frozenBefore: UTCInstant? = nil) {
        self.period = period
        self.now = now
        self.due = due
        self.frozenBefore = frozenBefore
    }
}

/// Why nothing was settled; the text says what would be right.
public struct SettleFailure: Error, CustomStringConvertible {
    public var description: String
}

/// Settles a period day by day beside a serving aggregator: each day's blocks are drafted in a transaction of
/// their own, which is short; bills, postings and the run itself come in the last one. Until then, and if the
/// job dies, there is no run, and the next one begins by taking the drafts away.
///
/// One job at a time: who starts it holds a lock.
public struct SettleJob {
    private static let certificatesOfStep = 1_000
    private let writer: any DatabaseWriter
    private let wish: SettleWish
    private let number: Int64
    private let tariffs: (file: TariffsFile, version: Int64)
    private var facts: Facts
    private var lines = LineFold()
    private var total = SettlementRun()
    private var counts = (settled: 0, corrected: 0, open: 0, frozen: 0)
    private var broken: [String] = []
    private var corrections: [CertificateBook.Slot: Certificate] = [:]

    /// - Returns: what came of it, a line each.
    public static func run(_ writer: any DatabaseWriter, _ wish: SettleWish) throws -> [String] {
        do {
            try BooksTables.migrator.migrate(writer)
            var job = try SettleJob(writer, wish)
            return try job.settle()
        } catch let refusal as BooksRefusal { throw SettleFailure(description: refusal.why) }
    }

    private init(_ writer: any DatabaseWriter, _ wish: SettleWish) throws {
        self.writer = writer
        self.wish = wish
        try writer.write { database in
            for table in ["books_block", "books_open", "books_certificate"] {
                try database.execute(
                    sql: "DELETE FROM \(table) WHERE run NOT IN (SELECT n FROM books_run)")
            }
            try ContractRows.advance(until: wish.period.until, at: wish.now, database)
        }
        (number, tariffs, facts) = try writer.read { database in
            let last = try Int64.fetchOne(database, sql: "SELECT max(n) FROM books_run") ?? 0
            let version = try TariffDesk.newest(database)
            let file = try TariffDesk.file(database, version: version)
            let facts = try FactsRows.facts(wish.period, file, database)
            return (last + 1, (file, version), facts)
        }
        if facts.length.starts(in: wish.period) == nil {
            throw SettleFailure(
                description: "the period must stand at multiples of \(facts.length.seconds / 60) min UTC")
        }
        if facts.zones.isEmpty { throw SettleFailure(description: "there is no zone: POST /v1/zones") }
    }

    private var name: String { "r\(number)" }

    private mutating func settle() throws -> [String] {
        let wish = wish
        let substitutes = Dictionary(
            grouping: try writer.read { try FactsRows.substitutes(wish.period, $0) }
        ) { $0.start.seconds / 86_400 }
        var from = wish.period.from
        while from < wish.period.until {
            let end = min(UTCInstant(seconds: (from.seconds / 86_400 + 1) * 86_400), wish.period.until)
            guard let day = Period(from: from, until: end) else { break }
            try settle(day, substitutes[from.seconds / 86_400] ?? [])
            from = end
        }
        if let first = broken.first {
            throw SettleFailure(description: "these books do not balance, nothing was settled: \(first)")
        }
        return try finish()
    }

    private mutating func settle(_ day: Period, _ substitutes: [Interval]) throws {
        var daily = facts
        daily.period = day
        let (intervals, earlier) = try writer.read { database in
            (
                try FactsRows.intervals(day, database),
                try EarlierRows.settled(day, frozenBefore: wish.frozenBefore, database)
            )
        }
        daily.intervals = intervals
        for one in substitutes { _ = try daily.intervals.accept(one) }
        let run = Settlement.run(daily, after: earlier)
        broken += run.check(daily, [], Ledger(), asset: .inr).flatMap(\.findings).prefix(3)
        counts.settled += run.settled.count - run.adjusted.count
        counts.corrected += run.adjusted.count
        counts.open += run.open.count
        counts.frozen += run.frozen.count
        total.metered.merge(run.metered, uniquingKeysWith: +)
        total.certified.merge(run.certified, uniquingKeysWith: +)
        try draft(run, earlier, daily.length)
    }

    private mutating func draft(
        _ run: SettlementRun, _ earlier: Settled, _ length: BlockLength
    ) throws {
        var blobs: [ZoneBlock: [UInt8]] = [:]
        for entry in run.entries {
            let line = lines.add(entry, length)
            let at = ZoneBlock(zone: entry.key.zone, start: entry.key.block)
            EntryBlob.append(line, entry.quantity, to: &blobs[at, default: []])
        }
        var issued: [CertificateBook.Slot: Certificate] = [:]
        for (slot, certificate) in run.certificates.certificates {
            let before = earlier.certificates.certificate(slot)
            if before == certificate { continue }
            if before == nil { issued[slot] = certificate } else { corrections[slot] = certificate }
        }
        let number = number
        try writer.write { try DraftRows.write(run, blobs, number, $0) }
        let ordered = issued.sorted { ($0.key.start, $0.key.resource) < ($1.key.start, $1.key.resource) }
        // Drafts: nobody sees them before the run is there, so they may come in small transactions.
        for begin in stride(from: 0, to: ordered.count, by: Self.certificatesOfStep) {
            let step = ordered[begin..<min(begin + Self.certificatesOfStep, ordered.count)]
            try writer.write { try DraftRows.write(step, number, $0) }
        }
    }

    /// Bills, postings and the run itself, all in one transaction.
    private mutating func finish() throws -> [String] {
        if counts.settled == 0, counts.corrected == 0 {
            return ["nothing to settle: \(counts.open) blocks open, \(counts.frozen) frozen"]
        }
        total.entries = lines.entries(facts.parties)
        facts.contracts = []
        let bills: [Bill]
        let ledger: Ledger
        do {
            bills = lines.placed(try total.bills(facts, asset: .inr), name)
            ledger = try total.ledger(facts, bills, asset: .inr)
        } catch { throw SettleFailure(description: "\(error)") }
        let (finish, contracts) = (self, try writer.read { try ContractDesk.load("1", [], $0) })
        try writer.write { try finish.write(bills, ledger, contracts, $0) }
        var told = [
            "\(name): \(wish.period.from.text) … \(wish.period.until.text): \(counts.settled) blocks settled, "
                + "\(counts.corrected) corrected, \(counts.open) open, \(counts.frozen) frozen; \(bills.count) bills"
        ]
        told += bills.prefix(20).map { "\($0.party): \($0.total.text(.inr)) INR, \($0.lines.count) lines" }
        return told
    }

    private func write(
        _ bills: [Bill], _ ledger: Ledger, _ contracts: [ContractDesk.Standing], _ database: Database
    ) throws {
        try database.execute(
            sql: "INSERT INTO books_run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                name, number, wish.period.from.seconds, wish.period.until.seconds, wish.now.seconds,
                wish.due.seconds, counts.settled, counts.corrected, counts.open, tariffs.version,
            ])
        try BillRows.write(bills, lines, number, name, database)
        for (slot, certificate) in corrections {
            try CertificateDesk.write(slot, certificate, database)
        }
        for (account, _) in ledger.trialBalance {
            try LedgerRows.open(account, floor: nil, party: BillRows.party(of: account.name), database)
        }
        for (key, transfer) in try BillRows.grouped(ledger.posted, bills) {
            try LedgerRows.post(transfer, key: "\(name)/\(key)", database)
        }
        try ContractRows.pay(contracts, bills, name, at: wish.now, database)
        try ContractRows.end(at: wish.now, database)
        try BooksHistory.note(
            "settle", who: "settlement", at: wish.now,
            "{\"run\":\"\(name)\",\"from\":\"\(wish.period.from.text)\",\"until\":\"\(wish.period.until.text)\","
                + "\"bills\":\(bills.count)}", database)
    }
}

/// The lines that entries belong to, numbered in the order in which they turn up.
struct LineFold {
    private struct Sum {
        var number: Int64
        var quantity = WattHours.zero
        var from: UTCInstant
        var until: UTCInstant
    }

    private var sums: [Entry.Key: Sum] = [:]

    /// A line is all entries that differ in their block alone.
    private static func key(_ key: Entry.Key) -> Entry.Key {
        var key = key
        key.zone = ""
        key.block = UTCInstant(seconds: 0)
        return key
    }

    mutating func add(_ entry: Entry, _ length: BlockLength) -> Int64 {
        let (key, end) = (Self.key(entry.key), entry.key.block + length.seconds)
        let number = Int64(sums.count + 1)
        var sum = sums[key] ?? Sum(number: number, from: entry.key.block, until: end)
        sum.quantity += entry.quantity
        sum.from = min(sum.from, entry.key.block)
        sum.until = max(sum.until, end)
        sums[key] = sum
        return sum.number
    }

    /// One entry for each line; quantity times price is the same as the sum over its blocks, exactly.
    func entries(_ parties: [Party]) -> [Entry] {
        sums.map { Entry($0.key, $0.value.quantity) }.sorted { $0.key < $1.key }
    }

    private func sum(of line: BillLine) -> Sum? {
        sums[
            Entry.Key(
                party: line.party, zone: "", block: UTCInstant(seconds: 0), kind: line.kind,
                reference: line.reference, price: line.price, adjusts: line.adjusts)]
    }

    /// The number that entries know the line by; `nil` for a share.
    func number(of line: BillLine) -> Int64? { line.kind == .share ? nil : sum(of: line)?.number }

    /// With names that are unique in the books, and the blocks that the lines really have.
    func placed(_ bills: [Bill], _ run: String) -> [Bill] {
        bills.map { bill in
            var bill = bill
            for index in bill.lines.indices {
                bill.lines[index].id = "\(run)-\(bill.lines[index].id)"
                guard let sum = sum(of: bill.lines[index]) else { continue }
                bill.lines[index].from = sum.from
                bill.lines[index].until = sum.until
            }
            return bill
        }
    }
}
