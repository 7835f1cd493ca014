import BooksFiles
import ConfigText
import ExactAmounts
import FoundationEssentials
import GRDB
import Ledger
import Metering
import Settlement

/// Production batches: what a source made over a stretch of time, what it earned, and who gets which part.
enum BatchDesk {
    private struct Batch {
        var id: String
        var resource: String
        var party: String
        var period: Period
        var owners: [Party.Owner]
        var shared: MinorUnits?
    }

    private static let share = BooksBody.whole("share", 1...1_000_000, .required, "how much of the revenue")

    static func add(_ call: BooksCall, _ database: Database) throws -> String {
        let made = try BooksBody.read(call) { reader -> Batch? in
            let id = reader.value(BooksKeys.name("id", "its name"))
            let resource = reader.value(BooksKeys.name("resource", "the source"))
            let period = TariffsFile.period(reader, "from", "until")
            let owners = reader.list("owners", count: 0...1_000) { section, _ -> Party.Owner? in
                let party = section.value(BooksKeys.name("party", "who gets it"))
                let share = section.value(share)
                guard let party, let share else { return nil }
                return Party.Owner(party: party, share: share)
            }
            guard let id, let resource, let period else { return nil }
            return Batch(id: id, resource: resource, party: "", period: period, owners: owners, shared: nil)
        }
        guard let meter = try MeterDesk.meter(made.resource, database), call.reaches(meter.party) else {
            throw call.scope == nil
                ? BooksRefusal.unknown("resource \(made.resource)")
                : BooksRefusal.notYours("resource \(made.resource)")
        }
        if try Registry.exists("books_batch", made.id, database) {
            throw BooksRefusal(409, "there is a batch \(made.id) already")
        }
        let length = try FactsRows.length(database)
        guard length.starts(in: made.period) != nil else {
            throw BooksRefusal.impossible("from: must stand at blocks of \(length.seconds / 60) min")
        }
        try checkOnce(made, meter.party, database)
        for owner in made.owners where try !Registry.isThere(owner.party, database) {
            throw BooksRefusal.impossible("owners: there is no party \(owner.party)")
        }
        try database.execute(
            sql: "INSERT INTO books_batch VALUES (?, ?, ?, ?, ?, ?, NULL)",
            arguments: [
                made.id, made.resource, made.period.from.seconds, made.period.until.seconds,
                made.owners.map { "\($0.party)=\($0.share)" }.joined(separator: " "), call.now.seconds,
            ])
        return JSONOut.object([("batch", JSONOut.text(made.id))])
    }

    /// What a source made is in one batch, and shared out once.
    private static func checkOnce(_ made: Batch, _ party: String, _ database: Database) throws {
        let other = try String.fetchOne(
            database, sql: "SELECT id FROM books_batch WHERE resource = ? AND from_s < ? AND until_s > ?",
            arguments: [made.resource, made.period.until.seconds, made.period.from.seconds])
        if let other { throw BooksRefusal(409, "batch \(other) has what \(made.resource) makes then") }
        if Set(made.owners.map(\.party)).count < made.owners.count {
            throw BooksRefusal.impossible("owners: a party stands there twice")
        }
        let owners = try String.fetchOne(
            database, sql: "SELECT owners FROM books_party WHERE id = ?", arguments: [party])
        if owners != "", !made.owners.isEmpty {
            throw BooksRefusal.impossible("owners: each settlement shares out what \(party) earns already")
        }
    }

    private static let select = """
        SELECT b.*, r.party FROM books_batch b JOIN books_resource r ON r.id = b.resource
        """

    private static func batch(_ row: Row) throws -> Batch {
        let period = Period(
            from: UTCInstant(seconds: row["from_s"]), until: UTCInstant(seconds: row["until_s"]))
        guard let period else { throw BooksRefusal(500, "a batch has no length") }
        let shared: Int64? = row["shared"]
        return Batch(
            id: row["id"], resource: row["resource"], party: row["party"], period: period,
            owners: FactsRows.owners(row["owners"]), shared: shared.map { MinorUnits($0) })
    }

    private static func find(_ call: BooksCall, _ database: Database) throws -> Batch {
        let row = try Row.fetchOne(database, sql: "\(select) WHERE b.id = ?", arguments: [call.id])
        let owners = FactsRows.owners(row?["owners"] ?? "").map(\.party)
        // Who gets a part of it sees it; who sold it shares it out.
        let isOwner = call.operation == .batch && call.caller.party.map(owners.contains) ?? false
        guard let row, call.reaches(row["party"]) || isOwner else {
            throw call.scope == nil
                ? BooksRefusal.unknown("batch \(call.id)") : BooksRefusal.notYours("batch \(call.id)")
        }
        return try batch(row)
    }

    static func list(_ call: BooksCall, _ database: Database) throws -> String {
        let rows = try Row.fetchAll(
            database,
            sql: """
                \(select) WHERE ?1 IS NULL OR r.party = ?1 OR ' ' || b.owners LIKE '% ' || ?1 || '=%'
                ORDER BY b.from_s DESC, b.id LIMIT 1000
                """,
            arguments: [call.scope])
        let list = try rows.map { JSONOut.object(members(try batch($0))) }
        return JSONOut.object([("batches", JSONOut.list(list))])
    }

    private static func members(_ batch: Batch) -> [(String, String)] {
        [
            ("id", JSONOut.text(batch.id)), ("resource", JSONOut.text(batch.resource)),
            ("from", JSONOut.text(batch.period.from.text)),
            ("until", JSONOut.text(batch.period.until.text)),
            ("shared_inr", JSONOut.text(batch.shared?.text(.inr))),
        ]
    }

    static func one(_ call: BooksCall, _ database: Database) throws -> String {
        let batch = try find(call, database)
        let result = try Earnings(batch.resource, batch.period, database)
        return JSONOut.object(
            members(batch) + [
                ("exported_wh", "\(result.exported.count)"), ("blocks", "\(result.blocks)"),
                ("blocks_settled", "\(result.settled)"),
                ("revenue_inr", JSONOut.text(try result.revenue().text(.inr))),
                (
                    "owners",
                    JSONOut.text(batch.owners.map { "\($0.party)=\($0.share)" }.joined(separator: " "))
                ),
            ])
    }

    /// Shares the batch's revenue among its owners, out of its party's wallet, to the last paisa. Once; and
    /// what later data changed of it again, by a transfer that says what it corrects.
    static func distribute(_ call: BooksCall, _ database: Database) throws -> String {
        try BooksBody.nothing(call)
        let batch = try find(call, database)
        if batch.owners.isEmpty { throw BooksRefusal.impossible("owners: this batch has none") }
        let result = try Earnings(batch.resource, batch.period, database)
        guard result.settled == result.blocks else {
            throw BooksRefusal(409, "\(result.settled) of its \(result.blocks) blocks are settled")
        }
        let revenue = max(.zero, try result.revenue())
        if let shared = batch.shared, shared == revenue {
            throw BooksRefusal(409, "\(shared.text(.inr)) INR of this batch were shared already")
        }
        if batch.shared == nil, revenue == .zero { throw BooksRefusal.impossible("it earned nothing") }
        let shares = batch.owners.map(\.share)
        let parts = Rounding.shares(of: revenue.count, by: shares)
        let before = Rounding.shares(of: batch.shared?.count ?? 0, by: shares)
        let change = zip(parts, before).map { MinorUnits($0 - $1) }
        try post(change, batch, revenue, at: call.now, database)
        try database.execute(
            sql: "UPDATE books_batch SET shared = ? WHERE id = ?", arguments: [revenue.count, batch.id])
        let told = zip(batch.owners, change).map { owner, part in
            JSONOut.object([
                ("party", JSONOut.text(owner.party)), ("amount_inr", JSONOut.text(part.text(.inr))),
            ])
        }
        return JSONOut.object([("batch", JSONOut.text(batch.id)), ("shares", JSONOut.list(told))])
    }

    /// A batch of which a party still has something to get, or to give back by later data.
    static func unshared(of party: String, _ database: Database) throws -> String? {
        let frozen = try SettleJob.frozen(database)
        let rows = try Row.fetchAll(
            database, sql: "\(select) WHERE ' ' || b.owners LIKE '% ' || ? || '=%' ORDER BY b.id",
            arguments: [party])
        for row in rows {
            let one = try batch(row)
            guard let shared = one.shared, one.period.until.seconds <= frozen else { return one.id }
            if shared != max(.zero, try Earnings(one.resource, one.period, database).revenue()) {
                return one.id
            }
        }
        return nil
    }

    private static func post(
        _ change: [MinorUnits], _ batch: Batch, _ revenue: MinorUnits, at time: UTCInstant,
        _ database: Database
    ) throws {
        var desk = try WalletDesk(database)
        let corrects = batch.shared.map { ", corrects \($0.text(.inr)) INR" } ?? ""
        var postings: [Posting] = []
        for (owner, part) in zip(batch.owners, change) where part != .zero {
            postings.append(Posting(try desk.account(owner.party, .inr), part))
        }
        let sum = change.reduce(Int64(0)) { $0 + $1.count }
        if sum != 0 { postings.append(Posting(try desk.account(batch.party, .inr), MinorUnits(-sum))) }
        if postings.isEmpty { return }
        try desk.group.post(
            Transfer(at: time, text: "revenue of batch \(batch.id)\(corrects)", postings: postings),
            key: batch.shared == nil
                ? TransferKey.batch.of(batch.id)
                : TransferKey.batch.of(batch.id, "\(try BooksHistory.next(database))"))
    }
}

/// What a source earned in a period: in each block, of what its party was paid for energy, the part that it
/// exported of all that the party did. Exact until it is rounded once.
struct Earnings {
    private(set) var exported = WattHours.zero
    private(set) var blocks = 0
    private(set) var settled = 0
    private var exact = ExactMoney.zero

    init(_ resource: String, _ period: Period, _ database: Database) throws {
        let row = try Row.fetchOne(
            database, sql: "SELECT party, zone FROM books_resource WHERE id = ?", arguments: [resource])
        guard let row else { throw BooksRefusal.unknown("resource \(resource)") }
        let (party, zone): (String, String) = (row["party"], row["zone"])
        let length = try FactsRows.length(database)
        let income = try Self.income(of: party, in: zone, period, database)
        let own = try String.fetchAll(
            database, sql: "SELECT id FROM books_resource WHERE party = ? AND zone = ?",
            arguments: [party, zone])
        let intervals = try FactsRows.intervals(period, of: own, database)
        for start in length.starts(in: period) ?? [] {
            blocks += 1
            let here = intervals.energy(of: resource, at: start, length: length)?.exported ?? .zero
            exported += here
            guard let earned = income[start.seconds] else { continue }
            settled += 1
            let all = own.reduce(WattHours.zero) {
                $0 + (intervals.energy(of: $1, at: start, length: length)?.exported ?? .zero)
            }
            if all == .zero { continue }
            let scaled = Rounding.halfEven(earned.nano * Int128(here.count), by: Int128(all.count))
            exact += ExactMoney(nano: scaled.quotient)
        }
    }

    /// By the start of each block that is settled; all runs together.
    private static func income(
        of party: String, in zone: String, _ period: Period, _ database: Database
    ) throws -> [Int64: ExactMoney] {
        var quantities: [Int64: [Entry.Key: WattHours]] = [:]
        var keys: [Int64: [Int64: Entry.Key]] = [:]
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT run, start_s, entries FROM books_block WHERE zone = ? AND start_s >= ? AND start_s < ?
                AND run IN (SELECT n FROM books_run)
                """, arguments: [zone, period.from.seconds, period.until.seconds])
        while let row = try rows.next() {
            let (run, start): (Int64, Int64) = (row["run"], row["start_s"])
            let lines = try keys[run] ?? EarlierRows.keys(run, database)
            keys[run] = lines
            var sums = quantities[start] ?? [:]
            let bytes: Data = row["entries"]
            EntryBlob.read(Array(bytes)) { number, quantity in
                guard let key = lines[number], key.party == party, key.kind.movesEnergy else { return }
                sums[key, default: .zero] += quantity
            }
            quantities[start] = sums
        }
        // What was bought is no revenue.
        return quantities.mapValues { sums in
            sums.reduce(ExactMoney.zero) { $0 + max(.zero, -($1.value * $1.key.price)) }
        }
    }

    /// Rounded once, halves to even.
    func revenue() throws -> MinorUnits {
        guard let amount = exact.rounded(to: .inr)?.amount else {
            throw BooksRefusal.impossible("the revenue does not fit 64 bits of paise")
        }
        return amount
    }
}
