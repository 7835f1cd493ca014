import Contracts
import ExactAmounts
import GRDB
import Settlement

/// What rows say that no root of the history covers, against what other rows say of the same.
enum RowChecks {
    /// What keeps a wallet or an escrow from being overdrawn stands beside its balance.
    static func floors(_ database: Database) throws -> [String] {
        try String.fetchAll(
            database,
            sql: """
                SELECT name || ' has another floor than 0' FROM books_account WHERE floor IS NOT 0
                AND (name LIKE 'Assets:Party:%:Wallet' OR name LIKE 'Assets:Escrow:%') LIMIT 20
                """)
    }

    /// An account is whose its name says.
    static func holders(_ database: Database) throws -> [String] {
        try String.fetchAll(
            database,
            sql: """
                SELECT name || ' is said to be of ' || coalesce(party, 'nobody') FROM books_account WHERE
                CASE WHEN name LIKE 'Assets:Party:%' THEN party IS NOT
                        lower(substr(name, 14, 1)) || substr(name, 15, instr(substr(name, 15), ':') - 1)
                    WHEN name LIKE 'Assets:Escrow:%' THEN NOT EXISTS (SELECT 1 FROM books_contract c
                        WHERE c.buyer = party
                        AND 'Assets:Escrow:' || upper(substr(c.id, 1, 1)) || substr(c.id, 2) = name)
                    ELSE party IS NOT NULL END LIMIT 20
                """)
    }

    /// A contract that was agreed and is not over has all its energy reserved.
    static func reserved(_ database: Database) throws -> [String] {
        // Who only looks at an older database finds it as it is.
        guard try database.tableExists("books_terms") else { return [] }
        let rows = try Row.fetchAll(
            database, sql: "SELECT contract, sum(energy_wh) AS energy FROM books_reserved GROUP BY contract")
        let energy: [String: Int64] = Dictionary(
            uniqueKeysWithValues: rows.map { ($0["contract"], $0["energy"]) })
        return try ContractDesk.load("1", [], database).filter { one in
            switch one.life.state {
            case .agreed, .active, .settling:
                energy[one.terms.id] ?? 0 != one.terms.energy.count
            case .draft, .offered, .ended: false
            }
        }.map { "contract \($0.terms.id) has not reserved what it promises" }
    }

    /// Versions of the tariffs are numbered as they came, each by who told it.
    static func versions(_ database: Database) throws -> [String] {
        let told = try String.fetchAll(
            database, sql: "SELECT who FROM books_event WHERE kind = 'addTariffs' ORDER BY seq")
        let rows = try Row.fetchAll(
            database, sql: "SELECT n, who FROM books_document WHERE kind = 'tariffs' ORDER BY n")
        return zip(told, rows).enumerated().filter { index, pair in
            pair.1["n"] != index + 1 || pair.1["who"] != pair.0
        }.map { "version \($0.offset + 1) of the tariffs has another number, or is another's" }
    }

    private struct Slot: Hashable {
        var resource: String
        var start: Int64
    }

    /// A certificate is whose the last transfer of it says, and its maker's where there is none.
    static func certificates(_ database: Database) throws -> [String] {
        // Keys of before do not tell a resource's `-` from their own: what they moved is not judged.
        let old = try String.fetchSet(
            database,
            sql: "SELECT key FROM books_transfer WHERE key > 'certificate-' AND key < 'certificate.'")
        let before = Set(old.map { $0.split(separator: "-").dropFirst().dropLast().joined(separator: "-") })
        var moves: [Slot: (owner: String, isRetired: Bool)] = [:]
        let legs = try Row.fetchCursor(
            database,
            sql: """
                SELECT t.key, a.party, a.name = 'Equity:Retired' AS retired FROM books_transfer t
                JOIN books_posting p ON p.transfer = t.id JOIN books_account a ON a.id = p.account
                WHERE t.key > 'certificate/' AND t.key < 'certificate0' ORDER BY t.id, p.amount
                """)
        // Of each transfer who gives comes first, then who gets it.
        while let leg = try legs.next() {
            let words = (leg["key"] as String).split(separator: "/")
            guard words.count == 4, let start = Int64(words[2]) else { continue }
            let slot = Slot(resource: String(words[1]), start: start)
            let party: String? = leg["party"]
            moves[slot] = (party ?? moves[slot]?.owner ?? "", leg["retired"])
        }
        var findings: [String] = []
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT c.resource, start_s, owner, c.state, party FROM books_certificate c
                JOIN books_resource r ON r.id = c.resource WHERE run IN (SELECT n FROM books_run)
                """)
        while findings.count < 20, let row = try rows.next() {
            let slot = Slot(resource: row["resource"], start: row["start_s"])
            if before.contains("\(slot.resource)-\(slot.start)") { continue }
            let last = moves[slot] ?? (row["party"], false)
            if row["owner"] != last.owner || (row["state"] == "retired") != last.isRetired {
                findings.append(
                    "the certificate of \(slot.resource), \(UTCInstant(seconds: slot.start).text), is not as "
                        + "it was moved last")
            }
        }
        return findings
    }
}
