import Crypto
import ExactAmounts
import GRDB
import Synchronization

/// The books in a database: who asks, may they, load what it names, decide in pure code, and one transaction
/// for rows, postings, history and the answer of the request's key.
///
/// There is no other way in which anything here changes, but for `settle` and `feed`, which are jobs of the
/// same shape.
public final class BooksStore: Sendable {
    private struct Flight: Hashable {
        var who: String
        var key: String
    }

    let writer: any DatabaseWriter
    let commits: BooksCommits
    private let flights = Mutex<Set<Flight>>([])
    /// Whether the write-ahead log may still have what was erased; nobody knows at the start.
    let remembers = Mutex(true)

    /// The names of what has made the tables as they are.
    public static var migrations: [String] { BooksTables.migrator.migrations }

    /// Makes the tables where they are not there.
    public init(_ writer: any DatabaseWriter) throws {
        self.writer = writer
        commits = BooksCommits(writer)
        try BooksTables.migrator.migrate(writer)
    }

    /// Answers a request; a refusal is an answer too. Throws where the database fails, and then nothing was
    /// taken.
    public func answer(_ call: BooksCall) async throws -> BooksAnswer {
        do {
            if call.operation.reach(call.caller.role) == .none {
                throw BooksRefusal(403, "\(call.caller.role.rawValue) may not do this")
            }
            if call.operation.reach(call.caller.role) == .own, call.caller.party == nil {
                throw BooksRefusal(403, "this token belongs to no party")
            }
            let scope = call.operation.scope
            if let scopes = call.caller.scopes, !scopes.contains(scope) {
                throw BooksRefusal(403, "this token has not the scope \(scope.rawValue)")
            }
            return call.operation.method == .post ? try await command(call) : try await read(call)
        } catch let refusal as BooksRefusal {
            return BooksAnswer(refusal.why, status: refusal.status)
        }
    }

    private func read(_ call: BooksCall) async throws -> BooksAnswer {
        let writer = writer
        return try await Task {
            try await writer.read { database in
                try Self.checkIsThere(call, database)
                return try BooksQueries.answer(call, database)
            }
        }.value
    }

    private func command(_ call: BooksCall) async throws -> BooksAnswer {
        guard let key = call.key, (1...128).contains(key.utf8.count),
            key.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw BooksRefusal.malformed("Idempotency-Key: is missing, or not 1 … 128 visible characters")
        }
        let flight = Flight(who: call.caller.name, key: key)
        guard flights.withLock({ $0.insert(flight).inserted }) else {
            throw BooksRefusal(409, "a request with this key is on its way")
        }
        defer { _ = flights.withLock { $0.remove(flight) } }
        // In tasks of their own: GRDB rolls back where the caller's task is cancelled, and a request is
        // cancelled when its connection goes away.
        let answer = try await commits.carryOut(call, key: key)
        if call.operation == .eraseParty { remembers.withLock { $0 = true } }
        return answer
    }

    /// Whose party was erased is nobody any more.
    private static func checkIsThere(_ call: BooksCall, _ database: Database) throws {
        guard call.scope != nil, let party = call.caller.party else { return }
        let erased = try database.cachedStatement(
            sql: "SELECT 1 FROM books_party WHERE id = ? AND erased_s IS NOT NULL")
        if try Int.fetchOne(erased, arguments: [party]) != nil {
            throw BooksRefusal(403, "the party of this token was erased")
        }
    }

    /// The stored answer of the key, or the command and its answer in this transaction.
    static func once(_ call: BooksCall, _ key: String, _ database: Database) throws -> BooksAnswer {
        let body = digest("\(call.operation.rawValue) \(call.id)\n", call.body)
        let known = try database.cachedStatement(
            sql: "SELECT body, status, answer FROM books_answer WHERE who = ? AND key = ?")
        let stored = try Row.fetchOne(known, arguments: [call.caller.name, key])
        if let stored {
            guard stored["body"] == body else {
                throw BooksRefusal.impossible("this key was used with another body")
            }
            return BooksAnswer(stored["answer"], status: stored["status"])
        }
        try AutomaticContracts.begin(at: call.now, database)
        try checkIsThere(call, database)
        var answer = BooksAnswer("")
        do {
            try database.inSavepoint {
                answer = try BooksCommands.answer(call, body, database)
                return .commit
            }
        } catch let refusal as BooksRefusal {
            // What could not be read decides nothing: the key stays free.
            if refusal.status == 400 { throw refusal }
            answer = BooksAnswer(refusal.why, status: refusal.status)
        }
        try database.cachedStatement(sql: "INSERT INTO books_answer VALUES (?, ?, ?, ?, ?, ?)").execute(
            arguments: [
                call.caller.name, key, body, answer.status, answer.body, call.now.seconds,
            ])
        return answer
    }

    static func digest(_ heading: String, _ bytes: [UInt8]) -> String {
        BooksHistory.hexadecimal(SHA256.hash(data: Array(heading.utf8) + bytes))
    }
}

/// Which function carries out which command.
enum BooksCommands {
    static func answer(_ call: BooksCall, _ digest: String, _ database: Database) throws -> BooksAnswer {
        let (event, before) = (try BooksHistory.next(database), try RecordTree.newestTransfer(database))
        let told = try told(call, database)
        let takesIntervals = [.addIntervals, .addIntervalsCSV].contains(call.operation)
        var roots = try RecordTree.note(
            intervalsOf: takesIntervals ? event : nil, transfersAfter: before, database)
        if call.operation == .addRegisters { roots += try RecordTree.noteRegisters(of: event, database) }
        roots += try RecordNotes.note(
            try RecordNotes.touched(call, told, database), event: event, database)
        try BooksHistory.note(
            call.operation.rawValue, who: call.caller.name, at: call.now,
            "{\"body_sha256\":\"\(digest)\",\"id\":\(JSONOut.text(call.id)),\"told\":\(told)\(roots)}",
            database)
        return BooksAnswer(told, status: 201)
    }

    /// What came of it, as JSON.
    private static func told(_ call: BooksCall, _ database: Database) throws -> String {
        switch call.operation {
        case .addParty: try Registry.addParty(call, database)
        case .addZone: try Registry.addZone(call, database)
        case .addResource: try Registry.addResource(call, database)
        case .setResource: try Registry.setResource(call, database)
        case .addIntervals, .addIntervalsCSV: try MeterDesk.addIntervals(call, database)
        case .addRegisters: try MeterDesk.addRegisters(call, database)
        case .addTariffs: try TariffDesk.add(call, database)
        case .addContract: try ContractDesk.add(call, database)
        case .contractEvent: try ContractDesk.happen(call, database)
        case .transfer: try TransferDesk.transfer(call, database)
        case .pay: try BillDesk.pay(call, database)
        case .moveCertificate: try CertificateDesk.move(call, database)
        case .eraseParty: try Registry.erase(call, database)
        case .addHold: try HoldDesk.add(call, database)
        case .endHold: try HoldDesk.end(call, database)
        case .addBatch: try BatchDesk.add(call, database)
        case .distribute: try BatchDesk.distribute(call, database)
        case .payOut: try PayoutDesk.simulate(call, database)
        case .parties, .zones, .resources, .intervals, .netto, .completeness, .tariffs, .contracts, .accounts,
            .trialBalance, .runs, .bills, .bill, .billCSV, .billPage, .explain, .certificates, .leaderboard,
            .performance, .view, .interfaceCalls, .events, .roots, .proof, .exportParty, .holds, .batches,
            .batch, .payouts:
            throw BooksRefusal(405, "this only reads")
        }
    }
}

/// Which function answers which question.
enum BooksQueries {
    static func answer(_ call: BooksCall, _ database: Database) throws -> BooksAnswer {
        switch call.operation {
        case .parties: BooksAnswer(try Registry.parties(call, database))
        case .zones: BooksAnswer(try Registry.zones(database))
        case .resources: BooksAnswer(try Registry.resources(call, database))
        case .intervals: try MeterDesk.intervals(call, database)
        case .netto: BooksAnswer(try MeterDesk.netto(call, database))
        case .completeness: BooksAnswer(try MeterDesk.completeness(call, database))
        case .tariffs: BooksAnswer(try TariffDesk.text(database), form: .text)
        case .contracts: BooksAnswer(try ContractDesk.list(call, database))
        case .accounts: BooksAnswer(try TransferDesk.accounts(call, database))
        case .trialBalance: BooksAnswer(try TransferDesk.trialBalance(database))
        case .runs: BooksAnswer(try BillDesk.runs(database))
        case .bills: BooksAnswer(try BillDesk.bills(call, database))
        case .bill: BooksAnswer(try BillDesk.json(call, database))
        case .billCSV: BooksAnswer(try BillDesk.csv(call, database), form: .csv)
        case .billPage: BooksAnswer(try BillDesk.page(call, database), form: .page)
        case .explain: BooksAnswer(try BillDesk.explain(call, database), form: .text)
        case .certificates: BooksAnswer(try CertificateDesk.list(call, database))
        case .leaderboard: BooksAnswer(try CertificateDesk.leaderboard(database))
        case .performance: BooksAnswer(try Performance.json(call, database))
        case .view: BooksAnswer(try BooksViews.json(call, database))
        case .interfaceCalls: BooksAnswer(try InterfaceCalls.json(call, database))
        case .events: BooksAnswer(try BooksHistory.list(call, database))
        case .roots: BooksAnswer(try BooksHistory.roots(database))
        case .proof: BooksAnswer(try BooksHistory.proof(call, database))
        case .exportParty: BooksAnswer(try Registry.export(call, database))
        case .holds: BooksAnswer(try HoldDesk.list(call, database))
        case .batches: BooksAnswer(try BatchDesk.list(call, database))
        case .batch: BooksAnswer(try BatchDesk.one(call, database))
        case .payouts: BooksAnswer(try PayoutDesk.show(database))
        case .addParty, .addZone, .addResource, .setResource, .addIntervals, .addIntervalsCSV, .addRegisters,
            .addTariffs, .addContract, .contractEvent, .transfer, .pay, .moveCertificate, .eraseParty,
            .addHold,
            .endHold, .addBatch, .distribute, .payOut:
            throw BooksRefusal(405, "this changes something")
        }
    }
}

extension BooksCall {
    /// Whether what belongs to `party` is in the caller's reach.
    func reaches(_ party: String) -> Bool {
        switch operation.reach(caller.role) {
        case .all: true
        case .own: caller.party == party
        case .none: false
        }
    }

    /// The party that a list is narrowed to; `nil` = all.
    var scope: String? {
        switch operation.reach(caller.role) {
        case .all: nil
        case .own, .none: caller.party ?? ""
        }
    }
}
