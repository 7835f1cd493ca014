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
    private static let linesOfStep = 1_000
    private let writer: any DatabaseWriter
    private let wish: SettleWish
    /// Between two transactions: reports of sites wait for the same disk.
    private let rest: () -> Void
    private let number: Int64
    private let tariffs: (file: TariffsFile, version: Int64)
    private var facts: Facts
    private var lines = LineFold()
    private var total = SettlementRun()
    private var counts = (settled: 0, corrected: 0, open: 0, frozen: 0)
    private var broken: [String] = []
    /// Certificates that no longer are what their blocks say, or that came late.
    private var corrections: Set<CertificateBook.Slot> = []
    /// What was noted as late up to here is in what this run reads.
    private let mark: Int64
    private var usedUp: Set<String> = []
    /// For how many blocks each resource was waited for.
    private var lacking: [String: Int] = [:]
    /// What registers counted that cannot be.
    private var leftOpen: [Substitution.TooMuch] = []

    /// - Parameter rest: is called between two transactions, and lets others have their turn.
    /// - Returns: what came of it, a line each.
    public static func run(
        _ writer: any DatabaseWriter, _ wish: SettleWish, rest: @escaping () -> Void = {}
    ) throws -> [String] {
        do {
            try BooksTables.migrator.migrate(writer)
            var told: [String] = []
            var wish = wish
            for _ in 0..<mostRounds {
                var job = try SettleJob(writer, wish, rest)
                told += try job.settle()
                // What came while the run was made is settled by another, which names it.
                guard let late = try job.cameMeanwhile() else { break }
                told.append("data came for \(late.from.text) … \(late.until.text) meanwhile")
                wish.period = late
            }
            return told
        } catch {
            // It is at work no more.
            try? writer.write { try $0.execute(sql: "DELETE FROM books_settling") }
            throw (error as? BooksRefusal).map { SettleFailure(description: $0.why) } ?? error
        }
    }

    /// What came for blocks that were settled before; `nil` of nothing.
    public static func late(_ reader: any DatabaseReader) throws -> Period? {
        try reader.read { database in
            try database.tableExists("books_late") ? LateRows.waiting(database) : nil
        }
    }

    /// Closes what is before an instant, where there is nothing to settle.
    ///
    /// - Returns: what is before this instant is closed: an earlier wish opens nothing.
    public static func freeze(
        _ writer: any DatabaseWriter, before time: UTCInstant
    ) throws -> UTCInstant {
        try BooksTables.migrator.migrate(writer)
        try writer.write { try freeze(before: time, $0) }
        return try writer.read { UTCInstant(seconds: try frozen($0)) }
    }

    /// Blocks that start before it take no more corrections.
    static func frozen(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT before_s FROM books_frozen") ?? 0
    }

    private static func freeze(before time: UTCInstant?, _ database: Database) throws {
        try database.execute(
            sql: "UPDATE books_frozen SET before_s = max(before_s, ?)", arguments: [time?.seconds ?? 0])
    }

    private static let mostRounds = 5

    private func cameMeanwhile() throws -> Period? {
        let (mark, period) = (mark, wish.period)
        return try writer.read { database in
            let slots = try LateRows.slots(after: mark, period, database)
            guard let first = slots.first, let last = slots.last else { return nil }
            let end = last.start + (try FactsRows.length(database).seconds)
            return Period(from: first.start, until: end)
        }
    }

    private init(
        _ writer: any DatabaseWriter, _ wish: SettleWish, _ rest: @escaping () -> Void
    ) throws {
        (self.writer, self.wish, self.rest) = (writer, wish, rest)
        // What a run that was cut short still has to post comes first.
        while try writer.write({ try PendingRows.post($0) }) { rest() }
        try writer.write { database in
            for table in DraftRows.tables {
                try database.execute(
                    sql: "DELETE FROM \(table) WHERE run NOT IN (SELECT n FROM books_run)")
            }
            try database.execute(
                sql: "DELETE FROM books_settling; INSERT INTO books_settling VALUES (?, ?)",
                arguments: [wish.period.from.seconds, wish.period.until.seconds])
            try Self.freeze(before: wish.frozenBefore, database)
            try Self.advance(wish, database)
        }
        (number, mark, tariffs, facts) = try writer.read { database in
            let mark = try LateRows.mark(database)
            let last = try Int64.fetchOne(database, sql: "SELECT max(n) FROM books_run") ?? 0
            let version = try TariffDesk.newest(database)
            let file = try TariffDesk.file(database, version: version)
            let facts = try FactsRows.facts(wish.period, file, database)
            return (last + 1, mark, (file, version), facts)
        }
        if facts.length.starts(in: wish.period) == nil {
            throw SettleFailure(
                description: "the period must stand at multiples of \(facts.length.seconds / 60) min UTC")
        }
        if facts.zones.isEmpty { throw SettleFailure(description: "there is no zone: POST /v1/zones") }
    }

    /// What the time does to contracts, and the history is told.
    private static func advance(_ wish: SettleWish, _ database: Database) throws {
        try AutomaticContracts.begin(at: wish.now, database)
        let changed = try ContractRows.endWindows(at: wish.now, database)
        if changed.isEmpty { return }
        let notes = try RecordNotes.note(
            changed.map { RecordNotes.Name(kind: .contract, id: $0) },
            event: try BooksHistory.next(database), database)
        try BooksHistory.note(
            "contracts", who: "settlement", at: wish.now, "{\"contracts\":\(changed.count)\(notes)}", database
        )
    }

    private var name: String { "r\(number)" }

    private mutating func settle() throws -> [String] {
        let wish = wish
        let filled = try writer.read { try SubstituteRows.of(wish.period, $0) }
        leftOpen = filled.open
        let substitutes = Dictionary(grouping: filled.intervals) { $0.start.seconds / 86_400 }
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
                try EarlierRows.settled(day, database)
            )
        }
        daily.intervals = intervals
        for one in substitutes { _ = try daily.intervals.accept(one) }
        let run = Settlement.run(daily, after: earlier)
        // More used up than was made is a fact of the certificates, and no reason to settle nothing.
        usedUp.formUnion(run.overcertified)
        var judged = run
        judged.overcertified = []
        broken += judged.check(daily, [], Ledger(), asset: .inr).flatMap(\.findings).prefix(3)
        counts.settled += run.settled.count - run.adjusted.count
        counts.corrected += run.adjusted.count
        counts.open += run.open.count
        for name in run.open.flatMap(\.missing) { lacking[name, default: 0] += 1 }
        counts.frozen += run.frozen.count
        total.metered.merge(run.metered, uniquingKeysWith: +)
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
            if before == nil { issued[slot] = certificate } else { corrections.insert(slot) }
            if before == nil { total.certified[certificate.owner, default: .zero] += certificate.energy }
        }
        let number = number
        try writer.write { try DraftRows.write(run, blobs, number, $0) }
        rest()
        let ordered = issued.sorted { ($0.key.start, $0.key.resource) < ($1.key.start, $1.key.resource) }
        try inSteps(of: Self.certificatesOfStep, ordered) { try DraftRows.write($0, number, $1) }
    }

    /// Drafts: nobody sees them before the run is there, so they may come in small transactions.
    private func inSteps<Element>(
        of size: Int, _ elements: [Element],
        _ write: (ArraySlice<Element>, Database) throws -> Void
    ) throws {
        for begin in stride(from: 0, to: elements.count, by: size) {
            let step = elements[begin..<min(begin + size, elements.count)]
            try writer.write { try write(step, $0) }
            rest()
        }
    }

    /// Bills and postings are drafted, the run itself makes them true in one short transaction, and what it
    /// has to post is posted in steps.
    private mutating func finish() throws -> [String] {
        if counts.settled == 0, counts.corrected == 0 {
            let wish = (period: wish.period, mark: mark)
            try writer.write { database in
                try LateRows.clear(wish.period, through: wish.mark, database)
                try database.execute(sql: "DELETE FROM books_settling")
            }
            return ["nothing to settle: \(counts.open) blocks open, \(counts.frozen) frozen"] + waited
        }
        total.entries = lines.entries(facts.parties)
        facts.contracts = []
        let bills: [Bill]
        let ledger: Ledger
        do {
            bills = lines.placed(try total.bills(facts, asset: .inr), name)
            ledger = try total.ledger(facts, bills, asset: .inr)
        } catch { throw SettleFailure(description: "\(error)") }
        try draft(bills, ledger)
        let (finish, contracts) = (self, try writer.read { try ContractDesk.load("1", [], $0) })
        try writer.write { try finish.write(bills, contracts, $0) }
        while try writer.write({ try PendingRows.post($0) }) { rest() }
        return told(bills)
    }

    /// Whom open blocks wait for, a line each.
    private var waited: [String] {
        lacking.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(10).map {
            "open: \($0.key) lacks \($0.value) blocks"
        } + leftOpen.prefix(10).map(\.text)
    }

    private func told(_ bills: [Bill]) -> [String] {
        [
            "\(name): \(wish.period.from.text) … \(wish.period.until.text): \(counts.settled) blocks settled, "
                + "\(counts.corrected) corrected, \(counts.open) open, \(counts.frozen) frozen; \(bills.count) bills"
        ] + usedUp.sorted().map { "\($0): more certificates were used up than later data says was made" }
            + waited
            + bills.prefix(20).map { "\($0.party): \($0.total.text(.inr)) INR, \($0.lines.count) lines" }
    }

    private func draft(_ bills: [Bill], _ ledger: Ledger) throws {
        let (number, name, fold) = (number, name, lines)
        // Behind all numbers that entries know.
        let behind = Int64(bills.reduce(0) { $0 + $1.lines.count } + 1)
        let numbered = bills.flatMap(\.lines).enumerated().map { index, line in
            (number: fold.number(of: line) ?? behind + Int64(index), line: line)
        }
        try inSteps(of: Self.linesOfStep, numbered) { try BillRows.write($0, run: number, $1) }
        try inSteps(of: Self.linesOfStep, bills) { try BillRows.write($0, number, name, $1) }
        let grouped = try BillRows.grouped(ledger.posted, bills)
        try writer.read { try PendingRows.checkFits(grouped, $0) }
        let transfers = Array(grouped.enumerated())
        try inSteps(of: Self.linesOfStep, transfers) { try PendingRows.write($0, number, name, $1) }
    }

    private func write(
        _ bills: [Bill], _ contracts: [ContractDesk.Standing], _ database: Database
    ) throws {
        try database.execute(
            sql: "INSERT INTO books_run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                name, number, wish.period.from.seconds, wish.period.until.seconds, wish.now.seconds,
                wish.due.seconds, counts.settled, counts.corrected, counts.open, tariffs.version,
            ])
        let before = try RecordTree.newestTransfer(database)
        let late = corrections.union(try LateRows.slots(after: mark, wish.period, database))
        for slot in late.sorted() { _ = try CertificateDesk.correct(slot, at: wish.now, database) }
        try LateRows.clear(wish.period, through: mark, database)
        try database.execute(sql: "DELETE FROM books_settling")
        try ContractRows.pay(contracts, bills, name, at: wish.now, database)
        let ended = try ContractRows.end(at: wish.now, database)
        let roots = try RecordTree.note(intervalsOf: nil, transfersAfter: before, database)
        let root = try RecordTree.bills(of: number, database).root
        let notes = try RecordNotes.note(
            [RecordNotes.Name(kind: .run, id: name)]
                + ended.map { RecordNotes.Name(kind: .contract, id: $0) },
            event: try BooksHistory.next(database), database)
        try BooksHistory.note(
            "settle", who: "settlement", at: wish.now,
            "{\"run\":\"\(name)\",\"from\":\"\(wish.period.from.text)\",\"until\":\"\(wish.period.until.text)\","
                + "\"tariffs\":\(tariffs.version),\"bills\":\(bills.count),\"bills_root\":\"\(root)\"\(roots)\(notes)}",
            database)
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
