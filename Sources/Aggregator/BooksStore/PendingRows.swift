import ExactAmounts
import GRDB
import Ledger

/// What a run has to post: written before the run is there, and posted in steps once it is. A step that is
/// cut short has not happened; the next one, of whomever, goes on where the last one ended.
enum PendingRows {
    private static let transfersOfStep = 100

    static func write(
        _ transfers: some Sequence<(offset: Int, element: (key: String, transfer: Transfer))>,
        _ number: Int64, _ run: String, _ database: Database
    ) throws {
        let statement = try database.cachedStatement(
            sql: "INSERT INTO books_pending VALUES (?, ?, ?, ?, ?, ?)")
        for (place, one) in transfers {
            let postings = one.transfer.postings.map { posting in
                "\(posting.account.name.text) \(posting.account.asset.code) \(posting.amount.count)"
            }.joined(separator: "\n")
            try statement.execute(arguments: [
                number, place, "\(run)/\(one.key)", one.transfer.at.seconds, one.transfer.text, postings,
            ])
        }
    }

    /// What cannot be posted is known before its run is there.
    static func checkFits(
        _ transfers: [(key: String, transfer: Transfer)], _ database: Database
    ) throws {
        var sums: [AccountKey: (up: Int128, down: Int128)] = [:]
        for posting in transfers.flatMap(\.transfer.postings) {
            let amount = Int128(posting.amount.count)
            sums[posting.account, default: (0, 0)].up += max(0, amount)
            sums[posting.account, default: (0, 0)].down += min(0, amount)
        }
        for (account, sum) in sums {
            let balance = Int128(try LedgerRows.balance(account.name, account.asset, database).count)
            if Int64(exactly: balance + sum.up) == nil || Int64(exactly: balance + sum.down) == nil {
                throw SettleFailure(
                    description:
                        "nothing was settled: the balance of \(account.name.text) would not fit 64 bits")
            }
        }
    }

    /// - Returns: whether there may be more to post.
    static func post(_ database: Database) throws -> Bool {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT * FROM books_pending WHERE run IN (SELECT n FROM books_run)
                ORDER BY run, n LIMIT \(transfersOfStep)
                """)
        if rows.isEmpty { return false }
        let before = try RecordTree.newestTransfer(database)
        var group = try LedgerGroup(database)
        for row in rows {
            let postings = try (row["postings"] as String).split(separator: "\n").map(posting)
            for one in postings {
                try group.open(one.account, floor: nil, party: BillRows.party(of: one.account.name))
            }
            try group.post(
                Transfer(at: UTCInstant(seconds: row["at_s"]), text: row["text"], postings: postings),
                key: row["key"])
            try database.cachedStatement(sql: "DELETE FROM books_pending WHERE run = ? AND n = ?").execute(
                arguments: [row["run"] as Int64, row["n"] as Int64])
        }
        let roots = try RecordTree.note(intervalsOf: nil, transfersAfter: before, database)
        // At the newest time that the history has: the run's own is behind it.
        try BooksHistory.note(
            "post", who: "settlement", at: UTCInstant(seconds: 0), "{\"posted\":\(rows.count)\(roots)}",
            database)
        return true
    }

    private static func posting(_ text: Substring) throws -> Posting {
        let words = text.split(separator: " ")
        guard words.count == 3, let name = AccountName(String(words[0])),
            let asset = Asset(code: String(words[1])), let amount = Int64(words[2])
        else { throw BooksRefusal(500, "a posting that waits has no account") }
        return Posting(AccountKey(name, asset), MinorUnits(amount))
    }

    static func isEmpty(_ database: Database) throws -> Bool {
        try Int.fetchOne(database, sql: "SELECT 1 FROM books_pending LIMIT 1") == nil
    }
}

extension BooksStore {
    /// Posts what a run that was cut short still has to post.
    ///
    /// - Returns: whether there may be more.
    public func postSome() async throws -> Bool {
        let writer = writer
        return try await Task {
            if try await writer.read({ try PendingRows.isEmpty($0) }) { return false }
            return try await writer.write { try PendingRows.post($0) }
        }.value
    }
}
