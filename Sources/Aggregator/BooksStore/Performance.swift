import ExactAmounts
import GRDB
import JSONText
import Settlement

/// What a resource made of what it could, and what may be expected of it.
enum Performance {
    /// In ten thousandths, halves to even; `nil` of nothing.
    static func share(_ part: Int64, of whole: Int64) -> Int64? {
        whole > 0 ? Int64(Rounding.halfEven(Int128(part) * 10_000, by: Int128(whole)).quotient) : nil
    }

    private static func text(_ share: Int64?) -> String {
        share.map { FixedText.write(Int128($0), decimals: 4) } ?? "null"
    }

    static func json(_ call: BooksCall, _ database: Database) throws -> String {
        let resource = try Row.fetchOne(
            database, sql: "SELECT * FROM books_resource WHERE id = ?", arguments: [call.id])
        guard let resource, call.reaches(resource["party"]) else {
            throw call.scope == nil
                ? BooksRefusal.unknown("resource \(call.id)") : BooksRefusal.notYours("resource \(call.id)")
        }
        let (number, period): (Int64, Period) = (resource["number"], try call.period())
        let told = try sums(number, "actual", period, database)
        let expected = try sums(number, "forecast", period, database)
        let size: Int64 = resource["export_max_w"]
        let possible = Int64(Int128(size) * Int128(period.seconds) / 3_600)
        return JSONOut.object([
            ("resource", JSONOut.text(call.id)), ("state", JSONOut.text(resource["state"])),
            ("exported_wh", "\(told.exported)"), ("imported_wh", "\(told.imported)"),
            ("possible_wh", "\(possible)"),
            // What it gave of what its rating allows over the whole period: a capacity factor.
            ("efficiency", text(share(told.exported, of: possible))),
            // What it gave of what it took: of storage alone.
            (
                "round_trip",
                resource["kind"] == "battery" ? text(share(told.exported, of: told.imported)) : "null"
            ),
            ("availability", text(share(told.seconds, of: period.seconds))),
            ("expected_wh", expected.seconds > 0 ? "\(expected.exported)" : "null"),
            ("produced_of_expected", text(share(told.exported, of: expected.exported))),
            ("predicted_demand_wh", try demand(number, period, database)),
            ("prediction", "\"mean of the same quarter of an hour of the last 7 days before until\""),
        ])
    }

    private static func sums(
        _ number: Int64, _ kind: String, _ period: Period, _ database: Database
    ) throws -> (exported: Int64, imported: Int64, seconds: Int64) {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT coalesce(sum(export_wh), 0) AS e, coalesce(sum(import_wh), 0) AS i,
                    count(*) * max(s.length_s) AS t
                FROM (\(IntervalRows.counting)) v JOIN books_series s ON s.resource = v.resource AND s.kind = v.kind
                WHERE v.resource = ? AND v.kind = ? AND start_s >= ? AND start_s < ? AND is_production = 1
                """, arguments: [number, kind, period.from.seconds, period.until.seconds])
        let seconds: Int64? = row?["t"]
        return (row?["e"] ?? 0, row?["i"] ?? 0, seconds ?? 0)
    }

    /// By the quarter of the day, UTC; only those of which something is known.
    private static func demand(_ number: Int64, _ period: Period, _ database: Database) throws -> String {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT start_s % 86400 AS q, sum(import_wh) AS energy, count(*) AS days
                FROM (\(IntervalRows.counting)) v WHERE resource = ? AND kind = 'actual' AND start_s >= ?
                AND start_s < ? AND is_production = 1 GROUP BY q ORDER BY q
                """, arguments: [number, period.until.seconds - 7 * 86_400, period.until.seconds])
        let members = rows.map { row -> (String, String) in
            let (second, energy, days): (Int64, Int64, Int64) = (row["q"], row["energy"], row["days"])
            let mean = Rounding.halfEven(Int128(energy), by: Int128(days)).quotient
            return (UTCInstant(seconds: second).text.dropFirst(11).prefix(5).description, "\(mean)")
        }
        return JSONOut.object(members)
    }
}

/// The books as one of those who look at them sees them.
enum BooksViews {
    private static let views: [String: (sql: String, party: String)] = [
        "grid": ("SELECT * FROM books_view_grid", "''"),
        "prosumer": ("SELECT * FROM books_view_prosumer", "party"),
        "trader": ("SELECT * FROM books_view_trader", "seller"),
    ]

    static func json(_ call: BooksCall, _ database: Database) throws -> String {
        guard let view = views[call.id] else {
            throw BooksRefusal(404, "the views are grid, prosumer, trader")
        }
        if call.id == "grid", call.scope != nil { throw BooksRefusal.notYours("the view of the grid") }
        if call.id == "prosumer", !call.caller.role.seesMoney {
            throw BooksRefusal.notYours("the money of the view of prosumers")
        }
        let buyer = call.id == "trader" ? " OR buyer = ?1" : ""
        let rows = try Row.fetchAll(
            database, sql: "\(view.sql) WHERE ?1 IS NULL OR \(view.party) = ?1\(buyer) LIMIT 3000",
            arguments: [call.scope])
        return JSONOut.object([(call.id, JSONOut.list(rows.map(Registry.anything)))])
    }

    static let tables = """
        CREATE VIEW books_view_grid AS
            SELECT zone, start_s, sum(export_wh) AS export_wh, sum(import_wh) AS import_wh, sum(grid_wh) AS grid_wh,
                sum(losses_wh) AS losses_wh, max(run) AS last_run
            FROM (SELECT *, max(run) OVER (PARTITION BY zone, start_s) AS newest FROM books_block
                WHERE run IN (SELECT n FROM books_run)) WHERE run = newest
            GROUP BY zone, start_s ORDER BY start_s DESC, zone;
        CREATE VIEW books_view_prosumer AS
            SELECT l.party, r.id AS run, l.kind, sum(l.quantity_wh) AS got_wh, sum(l.amount) AS amount_paise
            FROM books_line l JOIN books_run r ON r.n = l.run GROUP BY l.party, r.n, l.kind
            ORDER BY r.n DESC, l.party, l.kind;
        CREATE VIEW books_view_trader AS
            SELECT c.id AS contract, c.seller, c.buyer, c.resource, c.energy_wh, c.price, c.traded_s,
                (SELECT coalesce(sum(l.quantity_wh), 0) FROM books_line l WHERE l.reference = c.id
                    AND l.party = c.buyer AND l.kind = 'delivery') AS delivered_wh,
                (SELECT coalesce(sum(v.energy_wh), 0) FROM books_reserved v WHERE v.contract = c.id) AS reserved_wh
            FROM books_contract c ORDER BY c.traded_s DESC, c.id;
        """

    /// What a storage took in is its buyer's to give.
    static let trader = """
        DROP VIEW books_view_trader;
        CREATE VIEW books_view_trader AS
            SELECT c.id AS contract, c.kind, c.seller, c.buyer, c.resource, c.energy_wh, c.price, c.traded_s,
                (SELECT coalesce(sum(iif(l.kind = 'storage', -l.quantity_wh, l.quantity_wh)), 0)
                    FROM books_line l WHERE l.reference = c.id AND l.party = c.buyer
                    AND l.kind IN ('delivery', 'storage') AND l.run IN (SELECT n FROM books_run)) AS delivered_wh,
                (SELECT coalesce(sum(v.energy_wh), 0) FROM books_reserved v WHERE v.contract = c.id) AS reserved_wh
            FROM books_contract c ORDER BY c.traded_s DESC, c.id;
        """
}
