import Crypto
import FoundationEssentials
import GRDB
import JSONText

/// A piece of a capture as a site's link brings it.
struct CapturePart: Sendable {
    /// The largest piece, in bytes.
    static let sizeLimit = 1 << 20
    /// The largest capture, in bytes.
    static let captureLimit = 64 << 20
    /// What the captures of one site may hold together, in bytes; then the oldest go.
    static let siteLimit = 256 << 20

    /// The file's name at the site; names sort by time.
    var name: String
    /// SHA-256 of the whole file, 64 lower-case hexadecimal digits.
    var digest: String
    /// Of the whole file.
    var total: Int64
    var offset: Int64
    var bytes: [UInt8]

    static func isName(_ name: String) -> Bool {
        (1...96).contains(name.utf8.count) && !name.hasPrefix(".")
            && name.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || $0 == 0x2E || $0 == 0x5F || $0 == 0x2D
            }
    }
}

extension CapturePart {
    /// - Throws: where the query names no capture, or the piece does not lie in it.
    init(_ call: Call) throws(Refusal) {
        guard let name = call.query[.name], Self.isName(name) else {
            throw Refusal(.badRequest, "name: takes 1 … 96 letters, digits, _ . and -, no dot in front")
        }
        guard let digest = call.query[.sha256], digest.utf8.count == 64,
            digest.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { throw Refusal(.badRequest, "sha256: takes 64 lower-case hexadecimal digits") }
        guard let total = try call.query.number(.bytes), let offset = try call.query.number(.offset),
            (1...Int64(Self.captureLimit)).contains(total)
        else { throw Refusal(.badRequest, "bytes and offset: take 1 … \(Self.captureLimit), and 0 on") }
        guard !call.body.isEmpty, offset + Int64(call.body.count) <= total else {
            throw Refusal(.badRequest, "the piece is empty, or ends behind the capture's end")
        }
        (self.name, self.digest, self.total, self.offset, bytes) = (name, digest, total, offset, call.body)
    }
}

/// Windows of a site's recordings, as they came.
extension TelemetryStore {
    struct StoredCapture: Sendable, Equatable {
        var name: String
        var digest: String
        var total: Int64
        /// So much of it is here.
        var stored: Int64
        var receivedAt: String

        var json: String {
            "{\"name\":\(JSONText.quoted(name)),\"bytes\":\(total),\"stored\":\(stored),"
                + "\"sha256\":\"\(digest)\",\"received_at\":\"\(receivedAt)\"}"
        }
    }

    static func createCaptures(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE capture (
                    site TEXT NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL,
                    stored INTEGER NOT NULL, received_at TEXT NOT NULL, PRIMARY KEY (site, name));
                CREATE TABLE capture_part (
                    site TEXT NOT NULL, name TEXT NOT NULL, at INTEGER NOT NULL, data BLOB NOT NULL,
                    PRIMARY KEY (site, name, at));
                """)
    }

    /// Takes a piece that follows what is here; another one changes nothing.
    ///
    /// - Returns: how much of the capture is here now, and the names of those that made room.
    /// - Throws: where the name stands for another file, or the whole is not what its digest says.
    func add(_ part: CapturePart, of site: String) async throws -> (stored: Int64, dropped: [String]) {
        let outcome = try await write { database -> (stored: Int64, dropped: [String])? in
            var known = try Self.captures(in: database, of: site).first { $0.name == part.name }
            var dropped: [String] = []
            if known == nil {
                dropped = try Self.makeRoom(for: part.total, of: site, in: database)
                try database.execute(
                    sql: "INSERT INTO capture VALUES (?, ?, ?, ?, 0, \(Self.now), 0)",
                    arguments: [site, part.name, part.digest, part.total])
                known = try Self.captures(in: database, of: site).first { $0.name == part.name }
            }
            guard let known, known.digest == part.digest, known.total == part.total else { return nil }
            guard part.offset == known.stored else { return (known.stored, dropped) }
            let end = part.offset + Int64(part.bytes.count)
            try database.execute(
                sql: "INSERT INTO capture_part VALUES (?, ?, ?, ?)",
                arguments: [site, part.name, part.offset, Data(part.bytes)])
            try database.execute(
                sql: "UPDATE capture SET stored = ?, received_at = \(Self.now) WHERE site = ? AND name = ?",
                arguments: [end, site, part.name])
            if end == known.total {
                let whole = try Self.whole(part.name, of: site, in: database)
                if Self.digest(whole) != part.digest {
                    try Self.drop(part.name, of: site, in: database)
                    return (-1, dropped)
                }
                try Self.sealCapture(part.name, of: site, in: database)
            }
            return (end, dropped)
        }
        guard let outcome else {
            throw Refusal(.conflict, "\(part.name) is another file here: a name stands for one content")
        }
        if outcome.stored < 0 {
            throw Refusal(.badRequest, "\(part.name) is not what its sha256 says: it is taken anew from 0")
        }
        return outcome
    }

    /// The captures of a site, the newest first.
    func captures(of site: String) async throws -> [StoredCapture] {
        try await pool.read { try Self.captures(in: $0, of: site).reversed() }
    }

    /// A whole capture; `nil` where it is not here, or not whole yet.
    func capture(_ name: String, of site: String) async throws -> [UInt8]? {
        try await pool.read { database in
            let known = try Self.captures(in: database, of: site).first { $0.name == name }
            guard let known, known.stored == known.total else { return nil }
            return try Self.whole(name, of: site, in: database)
        }
    }

    private static func captures(in database: Database, of site: String) throws -> [StoredCapture] {
        let sql = "SELECT * FROM capture WHERE site = ? ORDER BY name"
        return try Row.fetchAll(database, sql: sql, arguments: [site]).map {
            StoredCapture(
                name: $0["name"], digest: $0["sha256"], total: $0["bytes"], stored: $0["stored"],
                receivedAt: $0["received_at"])
        }
    }

    static func whole(_ name: String, of site: String, in database: Database) throws -> [UInt8] {
        let sql = "SELECT data FROM capture_part WHERE site = ? AND name = ? ORDER BY at"
        return Array(try Data.fetchAll(database, sql: sql, arguments: [site, name]).joined())
    }

    static func digest(_ bytes: [UInt8]) -> String { ChainText.hexadecimal(SHA256.hash(data: bytes)) }

    // MARK: In the chain

    /// Captures that came before the chain had them are put into it as they are found now.
    static func chainCaptures(_ database: Database) throws {
        try database.execute(sql: "ALTER TABLE capture ADD COLUMN chain INTEGER NOT NULL DEFAULT 0")
        let sql = "SELECT site, name FROM capture WHERE stored = bytes ORDER BY site, name"
        for row in try Row.fetchAll(database, sql: sql) {
            try sealCapture(row["name"], of: row["site"], in: database)
        }
    }

    static func sealCapture(_ name: String, of site: String, in database: Database) throws {
        let sql = "SELECT * FROM capture WHERE site = ? AND name = ?"
        guard let row = try Row.fetchOne(database, sql: sql, arguments: [site, name]) else { return }
        var content = ChainContent()
        content.add(fields: fields(ofCapture: row))
        let entry = try append(
            .capture, site: site, epoch: name, from: 0, to: row["bytes"], content, in: database)
        try database.execute(
            sql: "UPDATE capture SET chain = ? WHERE site = ? AND name = ?", arguments: [entry, site, name])
    }

    static func fields(ofCapture row: Row) -> [String] { [row["name"], row["sha256"]] }

    private static func drop(_ name: String, of site: String, in database: Database) throws {
        let sql = "SELECT chain FROM capture WHERE site = ? AND name = ?"
        if let entry = try Int64.fetchOne(database, sql: sql, arguments: [site, name]), entry > 0 {
            try append(
                .dropped, site: site, epoch: name, from: entry, to: entry, ChainContent(), in: database)
        }
        for table in ["capture", "capture_part"] {
            try database.execute(
                sql: "DELETE FROM \(table) WHERE site = ? AND name = ?", arguments: [site, name])
        }
    }

    /// The oldest go; those of trips after the others.
    private static func makeRoom(for bytes: Int64, of site: String, in database: Database) throws -> [String]
    {
        var held = try captures(in: database, of: site)
        held.sort { ($0.isOfTrip ? 1 : 0, $0.name) < ($1.isOfTrip ? 1 : 0, $1.name) }
        var sum = held.reduce(0) { $0 + $1.total }
        var dropped: [String] = []
        while sum + bytes > Int64(CapturePart.siteLimit) || held.count >= 1_000, !held.isEmpty {
            let oldest = held.removeFirst()
            try drop(oldest.name, of: site, in: database)
            sum -= oldest.total
            dropped.append(oldest.name)
        }
        return dropped
    }
}

extension TelemetryStore.StoredCapture {
    fileprivate var isOfTrip: Bool { name.contains("-trip") }
}
