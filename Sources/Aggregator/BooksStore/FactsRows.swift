import BooksFiles
import Contracts
import ExactAmounts
import GRDB
import Metering
import Settlement

/// What a settlement rests on, out of the database.
enum FactsRows {
    static func length(_ database: Database) throws -> BlockLength {
        try Int64.fetchOne(database, sql: "SELECT block_s FROM books_zone LIMIT 1")
            .flatMap { BlockLength(rawValue: $0) } ?? .quarterHour
    }

    /// Without intervals. Contracts count as paid afterwards: what is in escrow was put there when they came
    /// into force, and is paid out by the run's own postings.
    static func facts(_ period: Period, _ tariffs: TariffsFile, _ database: Database) throws -> Facts {
        let parties = try Row.fetchAll(database, sql: "SELECT id, name, owners, address FROM books_party").map
        {
            Party(id: $0["id"], name: $0["name"], owners: owners($0["owners"]), bitcoinAddress: $0["address"])
        }
        let zones = try Row.fetchAll(database, sql: "SELECT * FROM books_zone").map {
            Zone(
                id: $0["id"], grid: $0["grid"], operatingParty: $0["operator"],
                cooperative: $0["cooperative"])
        }
        let spans = try Membership.all(database)
        let resources = try Row.fetchAll(database, sql: "SELECT * FROM books_resource").map { row in
            let span = spans[row["number"] as Int64]
            return Resource(
                id: row["id"], party: row["party"], zone: row["zone"],
                kind: Resource.Kind(rawValue: row["kind"]) ?? .meter,
                exportMax: WholeWatts(row["export_max_w"]), from: Membership.instant(span?.from),
                until: Membership.instant(span?.until))
        }
        let contracts = try ContractDesk.load("1", [], database).map { one in
            var terms = one.terms
            terms.payment = .postpaid
            return ContractInForce(terms: terms, active: one.active)
        }
        return Facts(
            period: period, length: try length(database), parties: parties, zones: zones,
            resources: resources, contracts: contracts, tariffs: tariffs.tariffs,
            incentives: tariffs.incentives, intervals: IntervalBook())
    }

    static func owners(_ text: String) -> [Party.Owner] {
        text.split(separator: " ").compactMap { pair in
            let parts = pair.split(separator: "=")
            guard parts.count == 2, let share = Int64(parts[1]) else { return nil }
            return Party.Owner(party: String(parts[0]), share: share)
        }
    }

    /// The production intervals of a period.
    static func intervals(_ period: Period, _ database: Database) throws -> IntervalBook {
        var book = IntervalBook()
        let resources = try Row.fetchAll(
            database,
            sql: """
                SELECT r.number, r.id, s.kind, s.length_s FROM books_resource r
                JOIN books_series s ON s.resource = r.number ORDER BY r.number
                """)
        for resource in resources { try add(resource, period, to: &book, database) }
        return book
    }

    /// Those of some resources alone.
    static func intervals(
        _ period: Period, of ids: [String], _ database: Database
    ) throws -> IntervalBook {
        var book = IntervalBook()
        for id in ids {
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT r.number, r.id, s.kind, s.length_s FROM books_resource r
                    JOIN books_series s ON s.resource = r.number AND s.kind = 'actual' WHERE r.id = ?
                    """, arguments: [id])
            for row in rows { try add(row, period, to: &book, database) }
        }
        return book
    }

    /// - Parameter resource: its `number`, `id`, `kind` and `length_s`.
    static func add(
        _ resource: Row, _ period: Period, to book: inout IntervalBook, _ database: Database
    ) throws {
        let id: String = resource["id"]
        guard let length = BlockLength(rawValue: resource["length_s"]) else { return }
        let statement = try database.cachedStatement(
            sql: """
                SELECT kind, start_s, revision, import_wh, export_wh, is_measured, is_production, record
                FROM books_interval WHERE resource = ? AND kind = ? AND start_s >= ? AND start_s < ?
                AND is_production = 1
                """)
        let cursor = try Row.fetchCursor(
            statement,
            arguments: [
                resource["number"] as Int64, resource["kind"] as String, period.from.seconds,
                period.until.seconds,
            ])
        while let row = try cursor.next() { try book.accept(IntervalRows.interval(row, id, length)) }
    }
}
