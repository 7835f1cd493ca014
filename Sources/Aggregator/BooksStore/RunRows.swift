import Contracts
import ExactAmounts
import FoundationEssentials
import GRDB
import Ledger
import Settlement

/// A run's blocks as they are drafted.
enum DraftRows {
    /// Where drafts lie: what is there without its run is none.
    static let tables = [
        "books_block", "books_open", "books_certificate", "books_line", "books_bill", "books_pending",
    ]

    static func write(
        _ run: SettlementRun, _ blobs: [ZoneBlock: [UInt8]], _ number: Int64, _ database: Database
    ) throws {
        let block = try database.cachedStatement(
            sql: "INSERT INTO books_block VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        for one in run.settled {
            try block.execute(arguments: [
                number, one.at.zone, one.at.start.seconds, one.exported.count, one.imported.count,
                one.grid.count, one.losses.count, Data(blobs[one.at] ?? []),
            ])
        }
        let open = try database.cachedStatement(sql: "INSERT INTO books_open VALUES (?, ?, ?, ?)")
        for one in run.open {
            let lacks = one.lacksTariff ? "tariff" : one.missing.prefix(20).joined(separator: " ")
            try open.execute(arguments: [number, one.at.zone, one.at.start.seconds, lacks])
        }
    }

    static func write(
        _ issued: some Sequence<(key: CertificateBook.Slot, value: Certificate)>, _ number: Int64,
        _ database: Database
    ) throws {
        let certificate = try database.cachedStatement(
            sql: """
                INSERT INTO books_certificate (resource, start_s, energy_wh, owner, state, run)
                VALUES (?, ?, ?, ?, ?, ?)
                """)
        for (slot, one) in issued {
            try certificate.execute(arguments: [
                slot.resource, slot.start.seconds, one.energy.count, one.owner, one.state.rawValue, number,
            ])
        }
    }
}

/// What earlier runs settled of a period.
enum EarlierRows {
    static func settled(_ period: Period, _ database: Database) throws -> Settled {
        var settled = Settled()
        let frozen = try Int64.fetchOne(database, sql: "SELECT before_s FROM books_frozen") ?? 0
        settled.frozenBefore = frozen > 0 ? UTCInstant(seconds: frozen) : nil
        var keys: [Int64: [Int64: Entry.Key]] = [:]
        let blocks = try Row.fetchCursor(
            database,
            sql: """
                SELECT run, zone, start_s, entries FROM books_block
                WHERE start_s >= ? AND start_s < ? AND run IN (SELECT n FROM books_run) ORDER BY run
                """, arguments: [period.from.seconds, period.until.seconds])
        while let row = try blocks.next() {
            let run: Int64 = row["run"]
            let at = ZoneBlock(zone: row["zone"], start: UTCInstant(seconds: row["start_s"]))
            let lines = try keys[run] ?? self.keys(run, database)
            keys[run] = lines
            settled.run[at] = "r\(run)"
            let bytes: Data = row["entries"]
            var positions = settled.positions[at] ?? [:]
            EntryBlob.read(Array(bytes)) { number, quantity in
                guard var key = lines[number] else { return }
                key.zone = at.zone
                key.block = at.start
                settled.quantity[key, default: .zero] += quantity
                // All that a party made more than it used has gone to others, in these entries.
                if key.kind.movesEnergy { positions[key.party, default: .zero] -= quantity }
            }
            settled.positions[at] = positions
        }
        try certificates(period, &settled, database)
        return settled
    }

    /// By the numbers that blocks know the lines by; without what they adjust, as runs add up.
    static func keys(_ run: Int64, _ database: Database) throws -> [Int64: Entry.Key] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT n, party, kind, reference, price FROM books_line WHERE run = ?",
            arguments: [run])
        var keys: [Int64: Entry.Key] = [:]
        for row in rows {
            guard let kind = EntryKind(rawValue: row["kind"]), kind != .share else { continue }
            keys[row["n"]] = Entry.Key(
                party: row["party"], zone: "", block: UTCInstant(seconds: 0), kind: kind,
                reference: row["reference"], price: Price(row["price"]))
        }
        return keys
    }

    private static func certificates(
        _ period: Period, _ settled: inout Settled, _ database: Database
    ) throws {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT * FROM books_certificate WHERE start_s >= ? AND start_s < ?
                AND run IN (SELECT n FROM books_run)
                """, arguments: [period.from.seconds, period.until.seconds])
        while let row = try rows.next() { try CertificateDesk.load(row, &settled.certificates) }
    }
}

/// Bills and lines of a run.
enum BillRows {
    static func write(
        _ lines: some Sequence<(number: Int64, line: BillLine)>, run: Int64, _ database: Database
    ) throws {
        let statement = try database.cachedStatement(
            sql: "INSERT INTO books_line VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        for (number, one) in lines {
            try statement.execute(arguments: [
                run, number, one.id, one.party, one.kind.rawValue, one.reference, one.price.micro,
                one.adjusts, one.from.seconds, one.until.seconds, one.quantity.count, "\(one.exact.nano)",
                one.amount.count,
            ])
        }
    }

    static func write(
        _ bills: some Sequence<Bill>, _ number: Int64, _ run: String, _ database: Database
    ) throws {
        let statement = try database.cachedStatement(
            sql: "INSERT INTO books_bill (id, run, party, total) VALUES (?, ?, ?, ?)")
        for bill in bills {
            try statement.execute(arguments: [
                "\(run)-\(bill.party)", number, bill.party, bill.total.count,
            ])
        }
    }

    /// The keys of transfers `t` by which a bill `b` was paid.
    static let paymentKeys = """
        (t.key > 'pay/' || b.id || '/' AND t.key < 'pay/' || b.id || '0'
        OR t.key > 'pay-' || b.id || '-' AND t.key < 'pay-' || b.id || '.')
        """
    /// The keys of transfers `t` by which escrow paid for deliveries on a bill `b`.
    static let escrowKeys =
        "(t.key > 'r' || b.run || '/escrow-paid-' AND t.key < 'r' || b.run || '/escrow-paid.')"

    /// What transfers of these keys posted onto the account of a bill `b`.
    static func posted(_ keys: String) -> String {
        """
        (SELECT coalesce(sum(amount), 0) FROM books_transfer t JOIN books_posting p ON p.transfer = t.id
        JOIN books_account a ON a.id = p.account
        WHERE \(keys) AND a.asset = 'INR' AND a.name LIKE 'Assets:Party:%:Bills' AND a.party = b.party)
        """
    }

    /// Before, what escrow paid was added to what is paid, whoever was to get the rest.
    static func tellEscrow(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE books_bill ADD COLUMN escrow INTEGER NOT NULL DEFAULT 0;
                UPDATE books_bill AS b SET escrow = \(posted(escrowKeys)), paid = abs(\(posted(paymentKeys)));
                """)
    }

    /// The run's transfers with all that a party's bill and meters say in one, its postings added up by
    /// account: so no transfer leaves a party with energy.
    static func grouped(
        _ posted: [(key: String, transfer: Transfer)], _ bills: [Bill]
    ) throws -> [(key: String, transfer: Transfer)] {
        var owners: [String: String] = [:]
        for bill in bills {
            owners[TransferKey.metered.of(bill.party)] = bill.party
            for line in bill.lines { owners[line.id] = bill.party }
        }
        var sums: [String: [AccountKey: MinorUnits]] = [:]
        var (rest, ends): ([(key: String, transfer: Transfer)], [String: UTCInstant]) = ([], [:])
        for (key, transfer) in posted {
            guard let owner = owners[key] else {
                rest.append((key, transfer))
                continue
            }
            ends[owner] = max(ends[owner] ?? transfer.at, transfer.at)
            for posting in transfer.postings {
                let sum = sums[owner, default: [:]][posting.account, default: .zero]
                guard let next = sum.adding(posting.amount) else {
                    throw SettleFailure(description: "the bill of \(owner) does not fit 64 bits")
                }
                sums[owner, default: [:]][posting.account] = next
            }
        }
        let billed = sums.keys.sorted().map { owner in
            let postings = (sums[owner] ?? [:]).filter { $0.value != .zero }.sorted { $0.key < $1.key }
                .map { Posting($0.key, $0.value) }
            let transfer = Transfer(
                at: ends[owner] ?? UTCInstant(seconds: 0), text: "bill of \(owner)", postings: postings)
            return (key: "bill-\(owner)", transfer: transfer)
        }
        return billed.filter { !$0.transfer.postings.isEmpty } + rest
    }

    /// `Assets:Party:Asha:Bills` is asha's: the first letter of each part was made a capital.
    static func party(of account: AccountName) -> String? {
        let parts = account.text.split(separator: ":")
        guard parts.count == 4, parts[1] == "Party" else { return nil }
        return parts[2].prefix(1).lowercased() + parts[2].dropFirst()
    }
}

/// What the settlement does with contracts.
enum ContractRows {
    /// Windows end.
    ///
    /// - Returns: those to which it happened.
    static func endWindows(at now: UTCInstant, _ database: Database) throws -> [String] {
        var changed: [String] = []
        for standing in try ContractDesk.load("c.until_s <= ?", [now.seconds], database) {
            guard standing.life.state == .active || standing.life.state == .agreed else { continue }
            _ = try ContractDesk.take(
                .windowOver, standing, at: standing.terms.window.until, "settlement", database)
            changed.append(standing.terms.id)
        }
        return changed
    }

    /// Confirmed delivery of prepaid contracts is paid out of escrow, and what later data adds to it; what
    /// that takes away of it goes back, as long as the escrow is held.
    static func pay(
        _ contracts: [ContractDesk.Standing], _ bills: [Bill], _ run: String, at now: UTCInstant,
        _ database: Database
    ) throws {
        for one in contracts where one.terms.payment == .prepaid {
            let terms = one.terms
            let bill = bills.first { $0.party == terms.buyer }
            var owed = MinorUnits.zero
            for line in bill?.lines ?? [] where line.kind.isOfContract && line.reference == terms.id {
                owed = owed.adding(-line.amount) ?? owed
            }
            let paid = try Escrow.pay(one, owed, run: run, at: now, database)
            if paid == .zero { continue }
            try database.execute(
                sql: "UPDATE books_bill SET escrow = escrow + ? WHERE id = ?",
                arguments: [paid.count, "\(run)-\(terms.buyer)"])
        }
    }

    /// Contracts all of whose blocks are settled end, and what is left in escrow goes back.
    ///
    /// - Returns: those to which something happened.
    static func end(at now: UTCInstant, _ database: Database) throws -> [String] {
        var changed: [String] = []
        for one in try ContractDesk.load("1", [], database) {
            let isOver = one.life.state == .settling || one.life.state == .ended(.endedEarly)
            guard isOver, try isSettled(one, database) else { continue }
            if one.life.state == .settling {
                _ = try ContractDesk.take(.settled, one, at: now, "settlement", database)
                changed.append(one.terms.id)
            } else {
                try Escrow.refund(one, at: now, database)
            }
        }
        return changed
    }

    private static func isSettled(_ one: ContractDesk.Standing, _ database: Database) throws -> Bool {
        guard let active = one.active else { return true }
        let length = try FactsRows.length(database)
        let wanted = ContractInForce(terms: one.terms, active: active).promised(length).count
        let done = try Int.fetchOne(
            database,
            sql: """
                SELECT count(DISTINCT start_s) FROM books_block b
                JOIN books_resource r ON r.zone = b.zone WHERE r.id = ? AND start_s >= ? AND start_s < ?
                AND run IN (SELECT n FROM books_run)
                """, arguments: [one.terms.resource, active.from.seconds, active.until.seconds])
        return (done ?? 0) >= wanted
    }
}
