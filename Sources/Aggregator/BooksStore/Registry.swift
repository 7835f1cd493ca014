import BooksFiles
import ConfigText
import ExactAmounts
import GRDB
import Ledger
import Settlement

/// Parties, zones and resources.
enum Registry {
    static func addParty(_ call: BooksCall, _ database: Database) throws -> String {
        let made = try BooksBody.read(call) { reader -> (Party, isListed: Bool)? in
            let id = reader.value(BooksKeys.name("id", "its name in accounts and paths"))
            let name = reader.value(BooksKeys.words("name", "for people"))
            let address = reader.value(BooksKeys.address)
            let isListed = reader.value(BooksBody.isListed)
            let owners = reader.list("owners", count: 0...1_000) { section, _ -> Party.Owner? in
                let party = section.value(BooksKeys.name("party", "an owner"))
                let share = section.value(
                    BooksBody.whole("share", 1...1_000_000, .required, "how much of the revenue"))
                guard let party, let share else { return nil }
                return Party.Owner(party: party, share: share)
            }
            guard let id, let name, let address, let isListed else { return nil }
            return (Party(id: id, name: name, owners: owners, bitcoinAddress: address), isListed)
        }
        let party = made.0
        if party.id == TransferDesk.outside {
            throw BooksRefusal.impossible("id: outside is where money comes from and goes to")
        }
        guard try !exists("books_party", party.id, database) else {
            throw BooksRefusal(409, "there is a party \(party.id) already")
        }
        // Owners are there before what they own, so nobody owns itself by way of others.
        for owner in party.owners where try !isThere(owner.party, database) {
            throw BooksRefusal.impossible("owners: there is no party \(owner.party)")
        }
        if Set(party.owners.map(\.party)).count < party.owners.count {
            throw BooksRefusal.impossible("owners: a party stands there twice")
        }
        let owners = party.owners.map { "\($0.party)=\($0.share)" }.joined(separator: " ")
        try database.execute(
            sql: "INSERT INTO books_party VALUES (?, ?, ?, ?, ?, NULL)",
            arguments: [party.id, party.name, owners, party.bitcoinAddress, made.isListed])
        return JSONOut.object([("party", JSONOut.text(party.id))])
    }

    static func exists(_ table: String, _ id: String, _ database: Database) throws -> Bool {
        let statement = try database.cachedStatement(sql: "SELECT 1 FROM \(table) WHERE id = ?")
        return try Int.fetchOne(statement, arguments: [id]) != nil
    }

    /// Whether there is such a party, and it was not erased.
    static func isThere(_ party: String, _ database: Database) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT 1 FROM books_party WHERE id = ? AND erased_s IS NULL")
        return try Int.fetchOne(statement, arguments: [party]) != nil
    }

    static func addZone(_ call: BooksCall, _ database: Database) throws -> String {
        let made = try BooksBody.read(call) { reader -> (Zone, length: Int64)? in
            let id = reader.value(BooksKeys.name("id", "its name"))
            let grid = reader.value(BooksKeys.name("grid", "the party that gives and takes the rest"))
            let operatingParty = reader.value(BooksKeys.name("operator", "gets fees, bears losses"))
            let length = reader.value(BooksBody.block)
            let cooperative = reader.value(BooksKeys.cooperative)
            guard let id, let grid, let operatingParty, let length, let cooperative else { return nil }
            return (
                Zone(id: id, grid: grid, operatingParty: operatingParty, cooperative: cooperative), length
            )
        }
        let zone = made.0
        for party in [zone.grid, zone.operatingParty] where try !isThere(party, database) {
            throw BooksRefusal.impossible("there is no party \(party)")
        }
        if zone.grid == zone.operatingParty {
            throw BooksRefusal.impossible("operator: must be another party than the grid")
        }
        guard try !exists("books_zone", zone.id, database) else {
            throw BooksRefusal(409, "there is a zone \(zone.id) already")
        }
        let other = try Int64.fetchOne(database, sql: "SELECT block_s FROM books_zone LIMIT 1")
        if let other, other != made.length {
            throw BooksRefusal.impossible("block_min: the other zones have blocks of \(other / 60) min")
        }
        if other == nil, try TariffDesk.newest(database) > 0 {
            try TariffDesk.checkBlocks(try TariffDesk.file(database), made.length)
        }
        try database.execute(
            sql: "INSERT INTO books_zone VALUES (?, ?, ?, ?, ?)",
            arguments: [zone.id, zone.grid, zone.operatingParty, made.length, zone.cooperative])
        return JSONOut.object([("zone", JSONOut.text(zone.id))])
    }

    private struct Draft {
        var resource: Resource
        var demand: Int64?
        var place: String
        var source: String?
    }

    static func addResource(_ call: BooksCall, _ database: Database) throws -> String {
        let made = try BooksBody.read(call) { reader -> Draft? in
            let id = reader.value(BooksKeys.name("id", "its name"))
            let party = reader.value(BooksKeys.name("party", "whose it is"))
            let zone = reader.value(BooksKeys.name("zone", "where it is settled"))
            let kind = reader.value(ConfigKey<Resource.Kind>.choice("kind", .required, "what it is"))
            let export = reader.value(BooksKeys.exportMax)
            let demand = reader.value(BooksBody.demand)
            let place = reader.value(BooksBody.words("place", "where it stands", without: ""))
            let source = reader.value(
                BooksBody.optional("source", "SITE/POINT whose energy records are its intervals"))
            let from = reader.value(
                BooksKeys.membership("from", "it belongs to its zone from this block on"))
            guard let id, let party, let zone, let kind, let export, let demand, let place, let source,
                let from
            else { return nil }
            return Draft(
                resource: Resource(
                    id: id, party: party, zone: zone, kind: kind, exportMax: export, from: from),
                demand: demand, place: place, source: source)
        }
        let resource = made.resource
        try check(resource, made.source, database)
        let from = try Membership.begin(resource, at: call.now, database)
        try database.execute(
            sql: """
                INSERT INTO books_resource (id, party, zone, kind, export_max_w, demand_w, place, state, source, from_s)
                VALUES (?, ?, ?, ?, ?, ?, ?, 'working', ?, ?)
                """,
            arguments: [
                resource.id, resource.party, resource.zone, resource.kind.rawValue, resource.exportMax.count,
                made.demand, made.place, made.source, from?.seconds,
            ])
        return JSONOut.object([
            ("resource", JSONOut.text(resource.id)), ("from", JSONOut.text(from?.text)),
        ])
    }

    private static func check(_ resource: Resource, _ source: String?, _ database: Database) throws {
        guard try isThere(resource.party, database) else {
            throw BooksRefusal.impossible("party: there is no party \(resource.party)")
        }
        let grid = try String.fetchOne(
            database, sql: "SELECT grid FROM books_zone WHERE id = ?", arguments: [resource.zone])
        guard let grid else { throw BooksRefusal.impossible("zone: there is no zone \(resource.zone)") }
        if (grid == resource.party) != (resource.kind == .gridConnection) {
            throw BooksRefusal.impossible(
                "kind: the grid's party has grid connections, and nobody else has one")
        }
        guard try !exists("books_resource", resource.id, database) else {
            throw BooksRefusal(409, "there is a resource \(resource.id) already")
        }
        let taken = try String.fetchOne(
            database, sql: "SELECT id FROM books_resource WHERE source = ?", arguments: [source])
        if let taken { throw BooksRefusal(409, "source: feeds \(taken) already") }
    }

    /// The state and the dates of maintenance: what may change of a resource.
    static func setResource(_ call: BooksCall, _ database: Database) throws -> String {
        enum Condition: String, CaseIterable, Sendable { case working, fault, maintenance, removed }
        let made = try BooksBody.read(call) {
            reader -> (Condition, last: String?, next: String?, from: UTCInstant?)? in
            let state = reader.value(ConfigKey<Condition>.choice("state", .required, "how it is"))
            let last = reader.value(BooksBody.day("maintained_on", "when it was maintained last"))
            let next = reader.value(BooksBody.day("next_maintenance_on", "when it will be"))
            let from = reader.value(
                BooksKeys.membership("from", "it belongs to its zone from this block on"))
            guard let state, let last, let next, let from else { return nil }
            return (state, last, next, from)
        }
        let party = try String.fetchOne(
            database, sql: "SELECT party FROM books_resource WHERE id = ?", arguments: [call.id])
        guard let party else { throw BooksRefusal.unknown("resource \(call.id)") }
        if !call.reaches(party) { throw BooksRefusal.notYours("resource \(call.id)") }
        guard try isThere(party, database) else {
            throw BooksRefusal.impossible("the party of \(call.id) was erased")
        }
        if let from = made.from { try Membership.move(call, to: from, database) }
        let before = try String.fetchOne(
            database, sql: "SELECT state FROM books_resource WHERE id = ?", arguments: [call.id])
        if call.scope != nil, made.0 == .removed || before == "removed" {
            throw BooksRefusal(403, "state: an admin or the operator takes away, and takes back")
        }
        try database.execute(
            sql: """
                UPDATE books_resource SET state = ?, maintained_on = coalesce(?, maintained_on),
                next_maintenance_on = coalesce(?, next_maintenance_on) WHERE id = ?
                """, arguments: [made.0.rawValue, made.last, made.next, call.id])
        return JSONOut.object([
            ("resource", JSONOut.text(call.id)), ("state", JSONOut.text(made.0.rawValue)),
        ])
    }

    // MARK: Reading

    static func parties(_ call: BooksCall, _ database: Database) throws -> String {
        let rows = try Row.fetchAll(
            database, sql: "SELECT * FROM books_party WHERE ? IS NULL OR id = ? ORDER BY id",
            arguments: [call.scope, call.scope])
        return JSONOut.object([("parties", JSONOut.list(rows.map(party)))])
    }

    private static func party(_ row: Row) -> String {
        let isListed: Bool = row["is_listed"]
        return JSONOut.object([
            ("id", JSONOut.text(row["id"])), ("name", JSONOut.text(row["name"])),
            ("owners", JSONOut.text(row["owners"])), ("bitcoin_address", JSONOut.text(row["address"])),
            ("is_listed", "\(isListed)"), ("erased_s", JSONOut.number(row["erased_s"])),
        ])
    }

    static func zones(_ database: Database) throws -> String {
        let rows = try Row.fetchAll(database, sql: "SELECT * FROM books_zone ORDER BY id")
        let zones = rows.map { row in
            JSONOut.object([
                ("id", JSONOut.text(row["id"])), ("grid", JSONOut.text(row["grid"])),
                ("operator", JSONOut.text(row["operator"])), ("block_s", JSONOut.number(row["block_s"])),
                ("cooperative", JSONOut.text(row["cooperative"])),
            ])
        }
        return JSONOut.object([("zones", JSONOut.list(zones))])
    }

    static func resources(_ call: BooksCall, _ database: Database) throws -> String {
        let rows = try Row.fetchAll(
            database, sql: "SELECT * FROM books_resource WHERE ? IS NULL OR party = ? ORDER BY id",
            arguments: [call.scope, call.scope])
        let resources = rows.map { row in
            JSONOut.object(
                ["id", "party", "zone", "kind", "place", "state", "maintained_on", "next_maintenance_on"]
                    .map { ($0, JSONOut.text(row[$0])) }
                    + [
                        ("export_max_w", JSONOut.number(row["export_max_w"])),
                        ("demand_w", JSONOut.number(row["demand_w"])),
                        ("source", JSONOut.text(row["source"])),
                        ("from", JSONOut.text(Membership.instant(row["from_s"])?.text)),
                    ])
        }
        return JSONOut.object([("resources", JSONOut.list(resources))])
    }

    // MARK: A person's data

    static func export(_ call: BooksCall, _ database: Database) throws -> String {
        if !call.reaches(call.id) { throw BooksRefusal.notYours("party \(call.id)") }
        let row = try Row.fetchOne(
            database, sql: "SELECT * FROM books_party WHERE id = ?", arguments: [call.id])
        guard let row else { throw BooksRefusal.unknown("party \(call.id)") }
        let tables = [
            ("resources", "SELECT * FROM books_resource WHERE party = ?"),
            (
                "intervals",
                """
                SELECT r.id AS resource, i.kind, start_s, revision, import_wh, export_wh, is_measured, record, event
                FROM books_interval i JOIN books_resource r ON r.number = i.resource WHERE r.party = ?
                """
            ),
            ("notes", "SELECT event, kind, id, text FROM books_note WHERE parties LIKE '% ' || ? || ' %'"),
            ("contracts_sold", "SELECT * FROM books_contract WHERE seller = ?"),
            ("contracts_bought", "SELECT * FROM books_contract WHERE buyer = ?"),
            ("accounts", "SELECT name, asset, floor, balance, held FROM books_account WHERE party = ?"),
            (
                "postings",
                """
                SELECT key, at_s, text, name, asset, amount FROM books_posting JOIN books_account a
                ON a.id = account JOIN books_transfer t ON t.id = transfer WHERE party = ?
                """
            ),
            (
                "registers",
                """
                SELECT r.id AS resource, meter, at_s, import_wh, export_wh FROM books_register g
                JOIN books_resource r ON r.number = g.resource WHERE r.party = ?
                """
            ),
            ("holds", "SELECT * FROM books_hold WHERE party = ?"),
            (
                "batches",
                "SELECT b.* FROM books_batch b JOIN books_resource r ON r.id = b.resource WHERE r.party = ?"
            ),
            ("contract_events", "SELECT * FROM books_contract_event WHERE who = ?"),
            ("bills", "SELECT * FROM books_bill WHERE party = ? AND run IN (SELECT n FROM books_run)"),
            ("lines", "SELECT * FROM books_line WHERE party = ? AND run IN (SELECT n FROM books_run)"),
            (
                "certificates",
                "SELECT * FROM books_certificate WHERE owner = ? AND run IN (SELECT n FROM books_run)"
            ),
        ]
        var members = [("party", party(row))]
        for (name, sql) in tables {
            let rows = try Row.fetchAll(database, sql: sql, arguments: [call.id])
            members.append((name, JSONOut.list(rows.map(anything))))
        }
        return JSONOut.object(members)
    }

    /// A row as it is.
    static func anything(_ row: Row) -> String {
        JSONOut.object(
            row.map { name, value in
                if value.isNull { return (name, "null") }
                if let number = Int64.fromDatabaseValue(value) { return (name, "\(number)") }
                return (name, JSONOut.text(String.fromDatabaseValue(value)))
            })
    }

    /// The name goes, and where satoshi would go; what was settled stays under the party's letters.
    static func erase(_ call: BooksCall, _ database: Database) throws -> String {
        guard try isThere(call.id, database) else { throw BooksRefusal.unknown("party \(call.id)") }
        try checkSettled(call.id, database)
        // Nobody waits for its meters, and nothing is told of them any more.
        try database.execute(
            sql: "UPDATE books_resource SET state = 'removed' WHERE party = ?", arguments: [call.id])
        // What is overwritten must not lie on in the file's free pages.
        try database.execute(sql: "PRAGMA secure_delete = ON")
        try database.execute(
            sql: """
                UPDATE books_party SET name = 'erased', address = NULL, is_listed = 0, erased_s = ? WHERE id = ?
                """, arguments: [call.now.seconds, call.id])
        try database.execute(
            sql: "UPDATE books_resource SET place = '', source = NULL WHERE party = ?", arguments: [call.id])
        try database.execute(
            sql: "UPDATE books_hold SET text = '' WHERE party = ?", arguments: [call.id])
        try ErasedWords.erase(call.id, database)
        return JSONOut.object([("erased", JSONOut.text(call.id))])
    }

    private static func checkSettled(_ party: String, _ database: Database) throws {
        guard try PendingRows.isEmpty(database) else {
            throw BooksRefusal(409, "a settlement is being posted: ask again")
        }
        let zone = try String.fetchOne(
            database, sql: "SELECT id FROM books_zone WHERE grid = ?1 OR operator = ?1", arguments: [party])
        if let zone { throw BooksRefusal(409, "zone \(zone) is settled with this party") }
        try checkOwns(party, database)
        let accounts = try String.fetchAll(
            database,
            sql: """
                SELECT name || ' in ' || asset FROM books_account
                WHERE party = ? AND asset IN ('INR', 'BTC') AND (balance <> 0 OR held <> 0)
                """, arguments: [party])
        if let account = accounts.first {
            throw BooksRefusal(409, "\(account) is not settled: pay it out first")
        }
        try checkFrozen(party, database)
        for one in try ContractDesk.load("c.seller = ?1 OR c.buyer = ?1", [party], database) {
            guard case .ended = one.life.state else {
                throw BooksRefusal(409, "contract \(one.terms.id) has not ended")
            }
        }
    }

    /// What others earn must not go to somebody who is gone, nor wait for them.
    private static func checkOwns(_ party: String, _ database: Database) throws {
        let owned = try String.fetchOne(
            database,
            sql: """
                SELECT id FROM books_party WHERE erased_s IS NULL AND ' ' || owners LIKE '% ' || ? || '=%'
                """, arguments: [party])
        if let owned {
            throw BooksRefusal(409, "a part of what \(owned) earns is theirs: it would go to nobody")
        }
        if let batch = try BatchDesk.unshared(of: party, database) {
            throw BooksRefusal(409, "a part of batch \(batch) is theirs, and not shared and frozen")
        }
    }

    /// No later run may find that somebody who is gone owes something.
    private static func checkFrozen(_ party: String, _ database: Database) throws {
        let length = try FactsRows.length(database).seconds
        let open = try Int64.fetchOne(
            database,
            sql: """
                SELECT max(start_s) FROM books_interval i JOIN books_resource r ON r.number = i.resource
                WHERE r.party = ? AND i.kind = 'actual' AND is_production = 1 AND (
                    start_s >= (SELECT before_s FROM books_frozen) OR NOT EXISTS (
                        SELECT 1 FROM books_block b WHERE b.zone = r.zone
                        AND b.start_s = i.start_s - i.start_s % \(length)
                        AND run IN (SELECT n FROM books_run)))
                """, arguments: [party])
        guard let open else { return }
        throw BooksRefusal(
            409,
            "what its meters told up to \(UTCInstant(seconds: open).text) is not settled and frozen: a correction "
                + "could still come; settle, then settle --late --frozen-before")
    }
}
