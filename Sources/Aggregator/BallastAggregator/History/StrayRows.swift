import GRDB

/// Rows that nothing in the history stands for: somebody has put them there.
///
/// A row that lies among those of an entry is found by the entry's own digest.
enum StrayRows {
    // swift-format-ignore
    private static let kinds: [(words: String, sql: String)] = [
        ("a gap of site", """
            SELECT site, from_n AS number FROM gap WHERE NOT EXISTS (
                SELECT 1 FROM chain WHERE seq = abs(gap.chain) AND (
                    gap.chain > 0 AND kind = 'report' AND site = gap.site AND epoch = gap.epoch
                    OR gap.chain < 0 AND kind = 'found' AND epoch = 'gaps'))
            """),
        ("a record that came with another content of site", """
            SELECT site, n AS number FROM (SELECT site, epoch, n FROM differing
                EXCEPT SELECT site, epoch, from_n FROM chain WHERE kind = 'differing')
            """),
        ("a lease of site", """
            SELECT site, sequence AS number FROM (SELECT site, sequence FROM lease
                EXCEPT SELECT site, from_n FROM chain WHERE kind = 'lease')
            """),
        ("an answer to a lease of site", """
            SELECT site, sequence AS number FROM (
                SELECT site, sequence FROM lease WHERE state != 'waiting' OR answer != ''
                EXCEPT SELECT site, from_n FROM chain WHERE kind = 'result')
            """),
        // Those of before the chain know of no entry; the first of all has them.
        ("a request", """
            SELECT '' AS site, seq AS number FROM audit WHERE NOT EXISTS (
                SELECT 1 FROM chain WHERE seq = audit.chain AND kind = 'audit'
                    AND audit.seq BETWEEN from_n AND to_n)
            AND NOT (chain = 0 AND seq <= (
                SELECT coalesce(max(to_n), 0) FROM chain WHERE kind = 'audit' AND from_n = 1))
            """),
    ]

    /// In words; `nil` = there is none. A database that this version has not served yet is not looked at.
    static func first(in database: Database) throws -> String? {
        let sql = "SELECT EXISTS (SELECT 1 FROM grdb_migrations WHERE identifier = 'whole-history')"
        guard try Bool.fetchOne(database, sql: sql) == true else { return nil }
        for (words, sql) in kinds {
            let first = sql + " ORDER BY number LIMIT 1"
            guard let row = try Row.fetchOne(database, sql: first) else { continue }
            let (site, number): (String, Int64) = (row["site"], row["number"])
            return "\(words)\(site.isEmpty ? "" : " \(site)"), \(number), has no entry"
        }
        return nil
    }
}
