import GRDB

/// Where the sites' own audits stand, as they have said it: the heads of their chains, which come as records
/// and are kept here, where nobody on site can make them anew.
enum SiteAuditHeads {
    /// - Returns: each site whose audit was cut or made anew, in words about the first time.
    static func faults(in database: Database) throws -> [String] {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT site, n, CASE WHEN json_valid(data) THEN json_extract(data, '$.head') END AS head
                FROM record WHERE kind = 'audit' ORDER BY rowid
                """)
        var known: [String: (last: Int64, heads: Set<String>)] = [:]
        var faults: [String: String] = [:]
        while let row = try rows.next() {
            let site: String = row["site"]
            guard faults[site] == nil else { continue }
            // What is no head says nothing of an audit.
            guard let text = String.fromDatabaseValue(row["head"]), let number = number(of: text) else {
                continue
            }
            var own = known[site] ?? (0, [])
            // A spool that was set back tells again what it has told.
            if own.heads.contains(text) { continue }
            guard number > own.last else {
                faults[site] =
                    "site \(site): its audit stood at record \(own.last), and says \(text) behind that "
                    + "(record \(row["n"] as Int64)): on site it was cut, or made anew"
                continue
            }
            own.last = number
            own.heads.insert(text)
            known[site] = own
        }
        return faults.keys.sorted().compactMap { faults[$0] }
    }

    static func number(of head: String) -> Int64? {
        let parts = head.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == 64 else { return nil }
        return Int64(parts[0])
    }
}

extension TelemetryStore {
    /// What a site has said last of where its audit stands; `nil` where it never did.
    func auditHead(of site: String) async throws -> String? {
        try await pool.read { database in
            guard let stream = try Self.stream(of: site, in: database) else { return nil }
            let text = try String.fetchOne(
                database,
                sql: """
                    SELECT CASE WHEN json_valid(data) THEN json_extract(data, '$.head') END FROM record
                    WHERE site = ? AND epoch = ? AND kind = 'audit' ORDER BY n DESC LIMIT 1
                    """, arguments: [site, stream.epoch])
            return text.flatMap { SiteAuditHeads.number(of: $0) == nil ? nil : $0 }
        }
    }
}
