import BooksFiles
import ConfigText
import Contracts
import ExactAmounts
import GRDB
import Ledger
import Settlement

/// Contracts: their terms, what happens to them, and what follows in reservations and escrow.
enum ContractDesk {
    /// A contract as it stands.
    struct Standing {
        var terms: Contract
        var life = ContractLife()
        var isAutomatic: Bool
        /// What a prepaid one is paid with.
        var asset = Asset.inr
        /// When it came into force and when it was ended early.
        var start: UTCInstant?
        var end: UTCInstant?
        /// Who offered last.
        var offeredBy: String?
        var events: Int64 = 0

        /// In which it delivers.
        var active: Period? {
            start.flatMap {
                Period(
                    from: max(terms.window.from, $0),
                    until: min(terms.window.until, end ?? terms.window.until))
            }
        }
    }

    static func add(_ call: BooksCall, _ database: Database) throws -> String {
        var (isAutomatic, asset) = (false, Asset.inr)
        let terms = try BooksBody.read(call) { reader -> Contract? in
            let id = reader.value(BooksKeys.name("id", "its name"))
            let kind = reader.value(ConfigKey<Contract.Kind>.choice("kind", .required, "what is promised"))
            let buyer = reader.value(BooksKeys.name("buyer", "the party that pays"))
            let resource = reader.value(BooksKeys.name("resource", "whose export is the delivery"))
            let window = TariffsFile.period(reader, "from", "until")
            let energy = reader.value(BooksKeys.energy)
            let price = reader.value(BooksKeys.price("price_inr_per_kwh", "for each kWh delivered"))
            let penalty = reader.value(
                BooksKeys.price("penalty_inr_per_kwh", "for each kWh not delivered", without: .fixed(.zero)))
            let payment = reader.value(
                ConfigKey<Contract.Payment>.choice("payment", .fixed("postpaid"), "prepaid: through escrow"))
            isAutomatic = reader.value(BooksBody.isAutomatic) ?? false
            asset = reader.value(BooksBody.money) ?? .inr
            if asset == .btc, payment == .postpaid {
                reader.refuse(
                    "asset", "only a prepaid contract is paid in satoshi: a bill can be, when it is paid")
            }
            guard let id, let kind, let buyer, let resource, let window, let energy, let price, let penalty,
                let payment
            else { return nil }
            return Contract(
                id: id, kind: kind, seller: "", buyer: buyer, resource: resource, window: window,
                energy: energy, price: price, penalty: penalty, payment: payment, tradedAt: call.now)
        }
        let seller = try check(terms, call, database)
        try database.execute(
            sql: "INSERT INTO books_contract VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                terms.id, terms.kind.rawValue, seller, terms.buyer, terms.resource,
                terms.window.from.seconds, terms.window.until.seconds, terms.energy.count,
                terms.price.micro, terms.penalty.micro, terms.payment.rawValue, call.now.seconds, isAutomatic,
                asset.code,
            ])
        try note(terms.id, version: 1, at: call.now, database)
        return JSONOut.object([("contract", JSONOut.text(terms.id)), ("state", "\"draft\"")])
    }

    /// What a version said stays.
    private static func note(
        _ contract: String, version: Int, at time: UTCInstant, _ database: Database
    ) throws {
        try database.execute(
            sql: "INSERT INTO books_terms SELECT id, ?, energy_wh, price, ? FROM books_contract WHERE id = ?",
            arguments: [version, time.seconds, contract])
    }

    private static let mostBlocks: Int64 = 10_000

    /// - Returns: the seller, whose resource it is.
    private static func check(
        _ terms: Contract, _ call: BooksCall, _ database: Database
    ) throws -> String {
        guard let meter = try MeterDesk.meter(terms.resource, database) else {
            throw BooksRefusal.unknown("resource \(terms.resource)")
        }
        guard call.reaches(meter.party) || call.reaches(terms.buyer) else {
            throw BooksRefusal.notYours("this contract")
        }
        guard try Registry.isThere(terms.buyer, database) else {
            throw BooksRefusal.unknown("party \(terms.buyer)")
        }
        if meter.party == terms.buyer {
            throw BooksRefusal.impossible("buyer: owns \(terms.resource)")
        }
        if try Registry.exists("books_contract", terms.id, database) {
            throw BooksRefusal(409, "there is a contract \(terms.id) already")
        }
        let length = try FactsRows.length(database)
        if length.starts(in: terms.window) == nil {
            throw BooksRefusal.impossible(
                "from: the window must begin and end with blocks of \(length.seconds / 60) min")
        }
        // Its blocks are reserved in one transaction, for which reports of sites wait.
        if terms.window.seconds / length.seconds > mostBlocks {
            throw BooksRefusal.impossible(
                "until: a window has at most \(mostBlocks) blocks; make one contract after the other")
        }
        return meter.party
    }

    // MARK: What happens

    static func happen(_ call: BooksCall, _ database: Database) throws -> String {
        var change: (energy: WattHours?, price: Price?) = (nil, nil)
        var version: Int64?
        let event = try BooksBody.read(call) { reader -> ContractLife.Event? in
            if reader.has("energy_kwh") { change.energy = reader.value(BooksKeys.energy) }
            if reader.has("price_inr_per_kwh") {
                change.price = reader.value(BooksKeys.price("price_inr_per_kwh", "for each kWh"))
            }
            if reader.has("version") {
                version = reader.value(
                    BooksBody.whole("version", 1...1_000_000, .required, "which is accepted"))
            }
            return reader.value(ConfigKey<ContractLife.Event>.choice("event", .required, "what happens"))
        }
        guard let standing = try load("c.id = ?", [call.id], database).first else {
            throw call.scope == nil
                ? BooksRefusal.unknown("contract \(call.id)") : BooksRefusal.notYours("contract \(call.id)")
        }
        try checkMay(event, standing, call)
        if [.offer, .accept, .activate].contains(event), standing.terms.window.until <= call.now {
            throw BooksRefusal(409, "its window was over at \(standing.terms.window.until.text)")
        }
        try checkVersion(event, version, standing)
        if event != .amend, change.energy != nil || change.price != nil {
            throw BooksRefusal.impossible("only amend changes energy or price")
        }
        let who = call.caller.party ?? call.caller.name
        let after = try take(event, standing, at: call.now, who, database)
        if event == .amend {
            try database.execute(
                sql: """
                    UPDATE books_contract SET energy_wh = coalesce(?, energy_wh), price = coalesce(?, price)
                    WHERE id = ?
                    """, arguments: [change.energy?.count, change.price?.micro, call.id])
            try note(call.id, version: after.version, at: call.now, database)
        }
        return JSONOut.object([
            ("contract", JSONOut.text(call.id)), ("state", JSONOut.text(text(after.state))),
            ("version", "\(after.version)"),
        ])
    }

    /// Who accepts is bound to what they saw: what was amended is accepted by its version.
    private static func checkVersion(
        _ event: ContractLife.Event, _ version: Int64?, _ standing: Standing
    ) throws {
        let now = Int64(standing.life.version)
        if let version, version != now {
            throw BooksRefusal(409, "version: this contract is at version \(now)")
        }
        if event == .accept, version == nil, now > 1 {
            throw BooksRefusal.impossible("version: is missing: it was amended, and is at version \(now)")
        }
    }

    private static func checkMay(
        _ event: ContractLife.Event, _ standing: Standing, _ call: BooksCall
    ) throws {
        guard call.reaches(standing.terms.seller) || call.reaches(standing.terms.buyer) else {
            throw BooksRefusal.notYours("contract \(standing.terms.id)")
        }
        switch event {
        case .accept, .reject:
            if let offered = standing.offeredBy, offered == call.caller.party {
                throw BooksRefusal(403, "who offers cannot \(event.rawValue): the other party does")
            }
        case .windowOver, .settled: throw BooksRefusal(403, "\(event.rawValue) is the settlement's to say")
        case .offer, .activate, .amend, .cancel, .endEarly: break
        }
    }

    /// Plays the event on the contract and does what follows.
    static func take(
        _ event: ContractLife.Event, _ standing: Standing, at time: UTCInstant, _ who: String,
        _ database: Database
    ) throws -> ContractLife {
        var life = standing.life
        let output = life.handle(event)
        if output == .refused {
            throw BooksRefusal(
                409, "\(event.rawValue) is not possible while the contract is \(text(standing.life.state))")
        }
        try database.execute(
            sql: "INSERT INTO books_contract_event VALUES (?, ?, ?, ?, ?)",
            arguments: [standing.terms.id, standing.events + 1, event.rawValue, time.seconds, who])
        if standing.life.state == .agreed { try AutomaticContracts.forget(standing.terms.id, database) }
        switch output {
        case .nothing, .refused: break
        case .reserve:
            try reserve(standing.terms, at: time, database)
            if standing.isAutomatic { try AutomaticContracts.wait(standing, agreed: time, database) }
        case .fundEscrow: try Escrow.fund(standing, at: time, database)
        case .releaseReservation: try release(standing.terms, from: standing.life.state, time, database)
        case .refundEscrow:
            try release(standing.terms, from: standing.life.state, time, database)
            // What was delivered before an early end is still to be settled out of it.
            if event == .settled { try Escrow.refund(standing, at: time, database) }
        }
        return life
    }

    private static func reserve(_ terms: Contract, at time: UTCInstant, _ database: Database) throws {
        let length = try FactsRows.length(database)
        let capacity = try Int64.fetchOne(
            database, sql: "SELECT export_max_w FROM books_resource WHERE id = ?", arguments: [terms.resource]
        )
        let size = WattHours(Int64(Int128(capacity ?? 0) * Int128(length.seconds) / 3_600))
        var book = ReservationBook()
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT start_s, sum(energy_wh) AS energy FROM books_reserved WHERE resource = ?
                AND start_s >= ? AND start_s < ? GROUP BY start_s
                """, arguments: [terms.resource, terms.window.from.seconds, terms.window.until.seconds])
        do throws(ReservationBook.Refusal) {
            try book.reserve(
                "others", resource: terms.resource,
                blocks: rows.map { (UTCInstant(seconds: $0["start_s"]), WattHours($0["energy"])) },
                capacity: .limit)
            try book.reserve(
                terms.id, resource: terms.resource, blocks: terms.promised(length) ?? [], capacity: size)
        } catch {
            let shortage = Reservations.Shortage(
                contract: terms.id, resource: terms.resource, refusal: error)
            throw BooksRefusal(409, shortage.text)
        }
        let insert = try database.cachedStatement(sql: "INSERT INTO books_reserved VALUES (?, ?, ?, ?)")
        for block in terms.promised(length) ?? [] where block.energy > .zero {
            try insert.execute(arguments: [
                terms.resource, block.start.seconds, terms.id, block.energy.count,
            ])
        }
        // Earlier trades are served first: the trade is the moment in which both agree.
        try database.execute(
            sql: "UPDATE books_contract SET traded_s = ? WHERE id = ?", arguments: [time.seconds, terms.id])
    }

    /// Gives back what is not yet delivered: of an active contract the blocks from now on, else all.
    private static func release(
        _ terms: Contract, from state: ContractLife.State, _ time: UTCInstant, _ database: Database
    ) throws {
        let first = state == .active ? time.seconds : Int64.min
        try database.execute(
            sql: "DELETE FROM books_reserved WHERE resource = ? AND contract = ? AND start_s >= ?",
            arguments: [terms.resource, terms.id, first])
    }

    // MARK: Reading

    static func load(
        _ condition: String, _ arguments: StatementArguments, _ database: Database
    ) throws -> [Standing] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT c.* FROM books_contract c WHERE \(condition) ORDER BY c.id",
            arguments: arguments)
        return try rows.compactMap { row in
            guard
                let window = Period(
                    from: UTCInstant(seconds: row["from_s"]), until: UTCInstant(seconds: row["until_s"]))
            else { return nil }
            let terms = Contract(
                id: row["id"], kind: Contract.Kind(rawValue: row["kind"]) ?? .supply, seller: row["seller"],
                buyer: row["buyer"], resource: row["resource"], window: window,
                energy: WattHours(row["energy_wh"]), price: Price(row["price"]),
                penalty: Price(row["penalty"]),
                payment: Contract.Payment(rawValue: row["payment"]) ?? .postpaid,
                tradedAt: UTCInstant(seconds: row["traded_s"]))
            let standing = Standing(
                terms: terms, isAutomatic: row["is_automatic"], asset: Asset(code: row["asset"]) ?? .inr)
            return try played(standing, database)
        }
    }

    private static func played(_ standing: Standing, _ database: Database) throws -> Standing {
        var standing = standing
        let events = try Row.fetchAll(
            database, sql: "SELECT * FROM books_contract_event WHERE contract = ? ORDER BY n",
            arguments: [standing.terms.id])
        for row in events {
            guard let event = ContractLife.Event(rawValue: row["event"]) else { continue }
            _ = standing.life.handle(event)
            standing.events = row["n"]
            if event == .activate { standing.start = UTCInstant(seconds: row["at_s"]) }
            if event == .endEarly { standing.end = UTCInstant(seconds: row["at_s"]) }
            if event == .offer { standing.offeredBy = row["who"] }
        }
        return standing
    }

    static func text(_ state: ContractLife.State) -> String {
        switch state {
        case .draft: "draft"
        case .offered: "offered"
        case .agreed: "agreed"
        case .active: "active"
        case .settling: "settling"
        case .ended(let ending): ending.rawValue
        }
    }

    private static func versions(_ contract: String, _ database: Database) throws -> String {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT version, energy_wh, price FROM books_terms WHERE contract = ? ORDER BY version",
            arguments: [contract])
        return JSONOut.list(
            rows.map { row in
                JSONOut.object([
                    ("version", JSONOut.number(row["version"])),
                    ("energy_wh", JSONOut.number(row["energy_wh"])),
                    ("price", JSONOut.text(Price(row["price"]).text)),
                ])
            })
    }

    /// What has been settled of it so far.
    private static func delivered(_ terms: Contract, _ database: Database) throws -> Int64 {
        let sum = try Int64.fetchOne(
            database,
            sql: """
                SELECT abs(coalesce(sum(quantity_wh), 0)) FROM books_line WHERE party = ? AND reference = ?
                AND kind IN ('delivery', 'storage') AND run IN (SELECT n FROM books_run)
                """, arguments: [terms.buyer, terms.id])
        return sum ?? 0
    }

    static func list(_ call: BooksCall, _ database: Database) throws -> String {
        let standings = try load(
            "?1 IS NULL OR c.seller = ?1 OR c.buyer = ?1", [call.scope], database)
        let contracts = try standings.map { one in
            let terms = one.terms
            let delivered = try delivered(terms, database)
            return JSONOut.object([
                ("id", JSONOut.text(terms.id)), ("kind", JSONOut.text(terms.kind.rawValue)),
                ("state", JSONOut.text(text(one.life.state))), ("version", "\(one.life.version)"),
                ("seller", JSONOut.text(terms.seller)), ("buyer", JSONOut.text(terms.buyer)),
                ("resource", JSONOut.text(terms.resource)), ("from", JSONOut.text(terms.window.from.text)),
                ("until", JSONOut.text(terms.window.until.text)),
                ("energy_wh", "\(terms.energy.count)"), ("delivered_wh", "\(delivered)"),
                ("price", JSONOut.text(terms.price.text)),
                ("penalty", JSONOut.text(terms.penalty.text)),
                ("payment", JSONOut.text(terms.payment.rawValue)), ("automatic", "\(one.isAutomatic)"),
                ("asset", JSONOut.text(one.asset.code)),
                ("versions", try versions(terms.id, database)),
                ("traded_at", JSONOut.text(terms.tradedAt.text)),
            ])
        }
        return JSONOut.object([("contracts", JSONOut.list(contracts))])
    }
}
