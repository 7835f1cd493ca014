import BooksFiles
import ConfigText
import ExactAmounts
import GRDB
import Ledger
import Metering
import Settlement

/// Certificates: who has them, and what is done with them.
enum CertificateDesk {
    private enum Action: String, CaseIterable, Sendable { case transfer, retire }

    private struct Wish {
        var slot: CertificateBook.Slot
        var action: Action
        var to: String?
    }

    static func move(_ call: BooksCall, _ database: Database) throws -> String {
        let wish = try BooksBody.read(call) { reader -> Wish? in
            let resource = reader.value(BooksKeys.name("resource", "which made the energy"))
            let start = reader.value(BooksKeys.time("start", "the block"))
            let action = reader.value(ConfigKey<Action>.choice("action", .required, "what is done"))
            let to = reader.value(BooksBody.optional("to", "the party that gets it"))
            guard let resource, let start, let action, let to else { return nil }
            if action == .transfer, to == nil { reader.refuse("to", "is missing: a transfer has a party") }
            return Wish(
                slot: CertificateBook.Slot(resource: resource, start: start), action: action, to: to)
        }
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT * FROM books_certificate WHERE resource = ? AND start_s = ?
                AND run IN (SELECT n FROM books_run)
                """, arguments: [wish.slot.resource, wish.slot.start.seconds])
        guard let row, call.reaches(row["owner"]) else {
            throw call.scope == nil
                ? BooksRefusal.unknown("such certificate") : BooksRefusal.notYours("this certificate")
        }
        return try move(wish, row, at: call.now, database)
    }

    private static func move(
        _ wish: Wish, _ row: Row, at now: UTCInstant, _ database: Database
    ) throws -> String {
        var book = CertificateBook()
        try load(row, &book)
        let owner: String = row["owner"]
        do throws(CertificateRefusal) {
            switch wish.action {
            case .transfer: try book.transfer(wish.slot, from: owner, to: wish.to ?? owner)
            case .retire: try book.retire(wish.slot, by: owner)
            }
        } catch { throw BooksRefusal(409, "it is \(row["state"] as String), and never moves again") }
        guard let after = book.certificate(wish.slot), let from = BookAccounts.certificates(owner),
            let retired = BookAccounts.equity("Retired")
        else { throw BooksRefusal.impossible("owner") }
        var target = AccountKey(retired, .certificate)
        if let to = wish.to, wish.action == .transfer {
            guard try Registry.isThere(to, database), let name = BookAccounts.certificates(to)
            else { throw BooksRefusal.unknown("party \(to)") }
            target = AccountKey(name, .certificate)
        }
        try LedgerRows.open(target, floor: nil, party: BillRows.party(of: target.name), database)
        // A certificate is there before the run has posted it.
        try LedgerRows.open(AccountKey(from, .certificate), floor: nil, party: owner, database)
        let number = try Int64.fetchOne(database, sql: "SELECT max(id) FROM books_transfer") ?? 0
        let amount = MinorUnits(after.energy.count)
        try LedgerRows.post(
            Transfer(
                at: now, text: "\(wish.action.rawValue) of the certificate of \(wish.slot.resource)",
                postings: [
                    Posting(target, amount), Posting(AccountKey(from, .certificate), -amount),
                ]),
            key: TransferKey.certificate.of(
                wish.slot.resource, "\(wish.slot.start.seconds)", "\(number)"), database)
        try write(wish.slot, after, database)
        return JSONOut.object([
            ("resource", JSONOut.text(wish.slot.resource)), ("start", JSONOut.text(wish.slot.start.text)),
            ("owner", JSONOut.text(after.owner)), ("state", JSONOut.text(after.state.rawValue)),
        ])
    }

    /// Later data says that a block's export was another: its certificate follows, unless it was used up.
    ///
    /// - Returns: the block, where more was used up than was made.
    static func correct(
        _ slot: CertificateBook.Slot, at now: UTCInstant, _ database: Database
    ) throws -> String? {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT * FROM books_certificate WHERE resource = ? AND start_s = ?
                AND run IN (SELECT n FROM books_run)
                """, arguments: [slot.resource, slot.start.seconds])
        guard let row else { return nil }
        let length = try FactsRows.length(database)
        guard let period = Period(from: slot.start, until: slot.start + length.seconds) else { return nil }
        let intervals = try FactsRows.intervals(period, of: [slot.resource], database)
        guard let energy = intervals.energy(of: slot.resource, at: slot.start, length: length) else {
            return nil
        }
        var book = CertificateBook()
        try load(row, &book)
        let before = book.certificate(slot)?.energy ?? .zero
        // What was rebuilt from registers proves nothing about the block.
        let final = energy.quality == .measured ? energy.exported : .zero
        // What is frozen was billed as it is: nothing is certified beyond it, and what is taken back is.
        if slot.start.seconds < (try SettleJob.frozen(database)), final > before { return nil }
        do throws(CertificateRefusal) { try book.correct(slot, final: final) } catch {
            return "\(slot.resource) \(slot.start.text)"
        }
        guard let after = book.certificate(slot), after.energy != before else { return nil }
        try write(slot, after, database)
        try post(after.energy - before, to: after.owner, slot, at: now, database)
        return nil
    }

    private static func post(
        _ change: WattHours, to owner: String, _ slot: CertificateBook.Slot, at now: UTCInstant,
        _ database: Database
    ) throws {
        guard let name = BookAccounts.certificates(owner), let source = BookAccounts.equity("Certificates")
        else { return }
        let (account, other) = (AccountKey(name, .certificate), AccountKey(source, .certificate))
        var group = try LedgerGroup(database)
        try group.open(account, floor: nil, party: owner)
        try group.open(other, floor: nil, party: nil)
        let number = try Int64.fetchOne(database, sql: "SELECT max(id) FROM books_transfer") ?? 0
        let amount = MinorUnits(change.count)
        try group.post(
            Transfer(
                at: now, text: "the certificate of \(slot.resource) follows later data",
                postings: [Posting(account, amount), Posting(other, -amount)]),
            key: TransferKey.certificateLate.of(slot.resource, "\(slot.start.seconds)", "\(number)"))
    }

    static func load(_ row: Row, _ book: inout CertificateBook) throws {
        let slot = CertificateBook.Slot(
            resource: row["resource"], start: UTCInstant(seconds: row["start_s"]))
        let (owner, energy): (String, WattHours) = (row["owner"], WattHours(row["energy_wh"]))
        switch Certificate.State(rawValue: row["state"]) {
        case .issued: try book.issue(slot, energy: energy, final: energy, isRenewable: true, to: owner)
        case .retired:
            try book.issue(slot, energy: energy, final: energy, isRenewable: true, to: owner)
            try book.retire(slot, by: owner)
        case .withdrawn:
            // A withdrawn one has no energy left; it is known so that no second one is issued.
            let one = WattHours(1)
            try book.issue(slot, energy: one, final: one, isRenewable: true, to: owner)
            try book.correct(slot, final: .zero)
        case nil: throw BooksRefusal(500, "a certificate has a state that none has")
        }
    }

    static func write(
        _ slot: CertificateBook.Slot, _ certificate: Certificate, _ database: Database
    ) throws {
        try database.execute(
            sql: """
                UPDATE books_certificate SET energy_wh = ?, owner = ?, state = ?
                WHERE resource = ? AND start_s = ?
                """,
            arguments: [
                certificate.energy.count, certificate.owner, certificate.state.rawValue, slot.resource,
                slot.start.seconds,
            ])
    }

    static func list(_ call: BooksCall, _ database: Database) throws -> String {
        let period = try call.period()
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT * FROM books_certificate WHERE start_s >= ? AND start_s < ? AND (? IS NULL OR owner = ?)
                AND run IN (SELECT n FROM books_run) ORDER BY start_s, resource LIMIT 3000
                """, arguments: [period.from.seconds, period.until.seconds, call.scope, call.scope])
        let list = rows.map { row in
            JSONOut.object([
                ("resource", JSONOut.text(row["resource"])),
                ("start", JSONOut.text(UTCInstant(seconds: row["start_s"]).text)),
                ("energy_wh", JSONOut.number(row["energy_wh"])), ("owner", JSONOut.text(row["owner"])),
                ("state", JSONOut.text(row["state"])),
            ])
        }
        return JSONOut.object([("certificates", JSONOut.list(list))])
    }

    /// What parties that want to be seen sold to others of what they made from sun and wind.
    static func leaderboard(_ database: Database) throws -> String {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT l.party, p.name, -sum(quantity_wh) AS sold FROM books_line l
                JOIN books_party p ON p.id = l.party WHERE p.is_listed = 1 AND l.run IN (SELECT n FROM books_run) AND quantity_wh < 0
                AND kind IN ('delivery', 'community', 'cooperative') AND EXISTS (
                    SELECT 1 FROM books_resource r WHERE r.party = l.party AND r.kind IN ('pv', 'wind'))
                AND NOT EXISTS (SELECT 1 FROM books_resource r
                    WHERE r.party = l.party AND r.kind IN ('battery', 'meter'))
                GROUP BY l.party ORDER BY sold DESC, l.party LIMIT 100
                """)
        let list = rows.map { row in
            JSONOut.object([
                ("party", JSONOut.text(row["party"])), ("name", JSONOut.text(row["name"])),
                ("renewable_sold_wh", JSONOut.number(row["sold"])),
            ])
        }
        return JSONOut.object([("leaderboard", JSONOut.list(list))])
    }
}
