import ExactAmounts
import GRDB

/// The calls of the mission's contract interfaces: each a view of the books, and as the data that such a call
/// would carry. Nothing here sends them.
enum InterfaceCalls {
    struct Interface {
        var name: String
        var call: String
        /// Its columns are the arguments, in their order. ?1 and ?2 are the period.
        var sql: String
    }

    static func json(_ call: BooksCall, _ database: Database) throws -> String {
        let period = try call.period()
        let name = call.query["name"]
        let wanted = interfaces.filter { name == nil || $0.call == name }
        if wanted.isEmpty {
            throw BooksRefusal.malformed("name: takes \(interfaces.map(\.call).joined(separator: ", "))")
        }
        var calls: [String] = []
        for one in wanted {
            let isRanged = one.sql.contains("?1")
            let rows = try Row.fetchAll(
                database, sql: one.sql + " LIMIT 3000",
                arguments: isRanged ? [period.from.seconds, period.until.seconds] : [])
            calls += rows.map { row in
                JSONOut.object([
                    ("interface", JSONOut.text(one.name)), ("call", JSONOut.text(one.call)),
                    ("arguments", Registry.anything(row)), ("data", JSONOut.text(data(one.call, row))),
                ])
            }
        }
        return JSONOut.object([("calls", JSONOut.list(calls))])
    }

    /// `nil` where an argument is not known: absent is absent, not 0.
    private static func data(_ call: String, _ row: Row) -> String? {
        var arguments: [CallData.Argument] = []
        for (_, value) in row {
            if let number = Int64.fromDatabaseValue(value) {
                arguments.append(.number(number))
            } else if let text = String.fromDatabaseValue(value) {
                arguments.append(.text(text))
            } else {
                return nil
            }
        }
        return CallData.hexadecimal(call, arguments)
    }

    private static let intervals = """
        FROM (\(IntervalRows.counting)) i JOIN books_resource r ON r.number = i.resource
        WHERE i.kind = 'actual' AND is_production = 1 AND start_s >= ?1 AND start_s < ?2
        """

    static let interfaces = sources + consumers + grid + billing

    private static let sources = [
        Interface(
            name: "source", call: "registerSource",
            sql: """
                SELECT id AS source, kind, export_max_w AS capacity_w, party AS owner FROM books_resource
                WHERE export_max_w > 0 ORDER BY id
                """),
        Interface(
            name: "source", call: "updateSourceStatus",
            sql: """
                SELECT id AS source, state, coalesce(next_maintenance_on, '') AS next_maintenance_on
                FROM books_resource ORDER BY id
                """),
        Interface(
            name: "source", call: "recordProduction",
            sql: """
                SELECT r.id AS source, start_s, export_wh \(intervals) AND export_wh > 0
                ORDER BY start_s, r.id
                """),
        Interface(
            name: "source", call: "getSourceEfficiency",
            sql: """
                SELECT r.id AS source, sum(export_wh) AS exported_wh,
                    r.export_max_w * (?2 - ?1) / 3600 AS possible_wh \(intervals) AND r.export_max_w > 0
                GROUP BY r.id ORDER BY r.id
                """),
    ]

    private static let consumers = [
        Interface(
            name: "consumer", call: "registerConsumer",
            sql: """
                SELECT id AS consumer, demand_w, party AS owner FROM books_resource
                WHERE kind IN ('load', 'meter') ORDER BY id
                """),
        Interface(
            name: "consumer", call: "recordUsage",
            sql: """
                SELECT r.id AS consumer, start_s, import_wh \(intervals) AND import_wh > 0
                ORDER BY start_s, r.id
                """),
        Interface(
            name: "consumer", call: "predictDemand",
            sql: """
                SELECT r.id AS consumer, start_s % 86400 AS second_of_day, sum(import_wh) AS drawn_wh,
                    count(*) AS days \(intervals) AND r.kind IN ('load', 'meter')
                GROUP BY r.id, second_of_day ORDER BY r.id, second_of_day
                """),
        Interface(
            name: "consumer", call: "getUsageHistory",
            sql: """
                SELECT r.id AS consumer, start_s / 86400 * 86400 AS day_s, sum(import_wh) AS drawn_wh
                \(intervals) AND r.kind IN ('load', 'meter') GROUP BY r.id, day_s ORDER BY r.id, day_s
                """),
    ]

    private static let grid = [
        Interface(
            name: "grid", call: "updateGridState",
            sql: """
                SELECT zone, start_s, export_wh, import_wh, grid_wh, losses_wh FROM books_view_grid
                WHERE start_s >= ?1 AND start_s < ?2
                """),
        Interface(
            name: "grid", call: "manageStorage",
            sql: """
                SELECT r.id AS storage, start_s, export_wh - import_wh AS net_wh \(intervals)
                AND r.kind = 'battery' ORDER BY start_s, r.id
                """),
        Interface(
            name: "grid", call: "handlePeakDemand",
            sql: """
                SELECT r.id AS consumer, max(import_wh) AS peak_wh \(intervals)
                GROUP BY r.id ORDER BY peak_wh DESC, r.id
                """),
        Interface(
            name: "grid", call: "getGridMetrics",
            sql: """
                SELECT zone, count(*) AS blocks, sum(export_wh) AS export_wh, sum(import_wh) AS import_wh,
                    sum(grid_wh) AS grid_wh, sum(losses_wh) AS losses_wh FROM books_view_grid
                WHERE start_s >= ?1 AND start_s < ?2 GROUP BY zone ORDER BY zone
                """),
    ]

    private static let billing = [
        Interface(
            name: "billing", call: "calculateBill",
            sql: """
                SELECT b.id AS bill, party, total AS total_paise FROM books_bill b
                JOIN books_run r ON r.n = b.run WHERE r.from_s < ?2 AND r.until_s > ?1 ORDER BY b.id
                """),
        Interface(
            name: "billing", call: "processPayment",
            sql: """
                SELECT t.key AS payment, t.at_s, a.party, a.asset, -p.amount AS amount FROM books_transfer t
                JOIN books_posting p ON p.transfer = t.id JOIN books_account a ON a.id = p.account
                WHERE (t.key LIKE 'pay/%' OR t.key LIKE 'pay-%') AND a.name LIKE '%:Wallet' AND t.at_s >= ?1 AND t.at_s < ?2
                ORDER BY t.id
                """),
        Interface(
            name: "billing", call: "distributeRevenue",
            sql: """
                SELECT l.party, l.reference AS source, l.amount AS paise FROM books_line l
                JOIN books_run r ON r.n = l.run WHERE l.kind = 'share' AND r.from_s < ?2 AND r.until_s > ?1
                UNION ALL
                SELECT a.party, substr(t.key, 7, instr(substr(t.key, 7) || '/', '/') - 1), p.amount FROM books_transfer t
                JOIN books_posting p ON p.transfer = t.id JOIN books_account a ON a.id = p.account
                WHERE (t.key LIKE 'batch/%' OR t.key LIKE 'batch-%') AND t.at_s >= ?1 AND t.at_s < ?2
                """),
        Interface(
            name: "billing", call: "applyIncentives",
            sql: """
                SELECT l.party, l.reference AS incentive, l.quantity_wh, l.amount AS paise FROM books_line l
                JOIN books_run r ON r.n = l.run
                WHERE l.kind = 'incentive' AND r.from_s < ?2 AND r.until_s > ?1 ORDER BY l.id
                """),
    ]
}
