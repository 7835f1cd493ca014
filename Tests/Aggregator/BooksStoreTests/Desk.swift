import ExactAmounts
import GRDB
import JSONText
import Testing

@testable import BooksStore

/// A store in memory with the village that the tests settle: asha makes and draws, ravi draws, coop has a roof.
final class Desk {
    /// 2026-11-01T00:00:00Z.
    static let start = UTCInstant(seconds: 1_793_491_200)

    let queue: DatabaseQueue
    let store: BooksStore
    var now = Desk.start + 40 * 86_400
    private var keys = 0

    init() throws {
        queue = try DatabaseQueue()
        store = try BooksStore(queue)
    }

    static func caller(_ role: BooksRole, _ party: String? = nil) -> BooksCaller {
        BooksCaller(name: party ?? role.rawValue, role: role, party: party)
    }

    /// Asks as an admin where nobody is named; each time with a new key where none is.
    func ask(
        _ operation: BooksOperation, _ body: String = "", id: String = "", query: [String: String] = [:],
        as caller: BooksCaller = Desk.caller(.admin), key: String? = nil
    ) async throws -> BooksAnswer {
        keys += 1
        return try await store.answer(
            BooksCall(
                caller: caller, operation: operation, id: id, query: query, body: Array(body.utf8),
                key: key ?? "k\(keys)", now: now))
    }

    /// Asks and wants a yes.
    @discardableResult
    func done(
        _ operation: BooksOperation, _ body: String = "", id: String = "", query: [String: String] = [:],
        as caller: BooksCaller = Desk.caller(.admin), sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let answer = try await ask(operation, body, id: id, query: query, as: caller)
        #expect(
            !answer.isRefusal, "\(operation): \(answer.status) \(answer.body)", sourceLocation: sourceLocation
        )
        return answer.body
    }

    static let tariffs = """
        tariffs:
          - id: t
            regulation: none
            source: made up
            mark: illustrative
            effective_from: 2026-01-01T00:00:00Z
            effective_until: 2028-01-01T00:00:00Z
            clock_offset_min: 0
            community_price_inr_per_kwh: 5
            bands: [{name: all, from: "00:00", until: "24:00", import_inr_per_kwh: 8, feed_in_inr_per_kwh: 3}]
            fees:
              - {name: wheeling, price_inr_per_kwh: 0.10}
              - {name: platform, price_inr_per_kwh: 0.01}
              - {name: metering, price_inr_per_kwh: 0.02}
              - {name: reserve, price_inr_per_kwh: 0.01}
        bitcoin: {inr_per_btc: 8500000, source: made up}
        carbon: {source: made up, mark: illustrative, grid_g_per_kwh: 716, pv_g_per_kwh: 41}
        """

    func village() async throws {
        for party in ["grid", "op", "asha", "ravi", "coop"] {
            try await done(
                .addParty, "{\"id\": \"\(party)\", \"name\": \"Name of \(party)\", \"is_listed\": true}")
        }
        try await done(.addZone, #"{"id": "north", "grid": "grid", "operator": "op"}"#)
        for (id, party, kind) in [
            ("asha-home", "asha", "meter"), ("ravi-home", "ravi", "load"), ("coop-pv", "coop", "pv"),
        ] {
            try await done(
                .addResource,
                "{\"id\": \"\(id)\", \"party\": \"\(party)\", \"zone\": \"north\", \"kind\": \"\(kind)\", "
                    + "\"export_max_kw\": 80, \"source\": \"demo/\(id)\"}")
        }
        try await done(.addTariffs, Self.tariffs)
    }

    static func at(_ block: Int64) -> UTCInstant { start + block * 900 }

    func tell(
        _ resource: String, _ block: Int64, in imported: Int64 = 0, out exported: Int64 = 0, revision: Int = 0
    ) async throws {
        // What was measured is told when it has been.
        let clock = now
        now = max(now, Self.at(block + 1))
        defer { now = clock }
        try await done(.addIntervals, Self.interval(resource, block, imported, exported, revision))
    }

    static func interval(
        _ resource: String, _ block: Int64, _ imported: Int64, _ exported: Int64, _ revision: Int = 0,
        mode: String = "production"
    ) -> String {
        "{\"resource\": \"\(resource)\", \"start\": \"\(at(block).text)\", \"import_wh\": \(imported), "
            + "\"export_wh\": \(exported), \"revision\": \(revision), \"mode\": \"\(mode)\"}"
    }

    /// Settles blocks counted from the first.
    func settle(_ blocks: Range<Int64>) throws -> [String] {
        let period = Period(from: Self.at(blocks.lowerBound), until: Self.at(blocks.upperBound))
        guard let period else { return [] }
        return try SettleJob.run(
            queue, SettleWish(period: period, now: now, due: now + 15 * 86_400))
    }

    /// What of B1 … B8 does not hold.
    func findings() throws -> [String] { try BooksCheck.run(queue).flatMap(\.findings) }

    func balance(_ name: String, _ asset: String = "INR") throws -> Int64? {
        try queue.read {
            try Int64.fetchOne(
                $0, sql: "SELECT balance FROM books_account WHERE name = ? AND asset = ?",
                arguments: [name, asset])
        }
    }

    func deposit(_ party: String, _ amount: String, _ asset: String = "INR") async throws {
        try await done(
            .transfer,
            "{\"transfers\": [{\"from\": \"outside\", \"to\": \"\(party)\", \"asset\": \"\(asset)\", "
                + "\"amount\": \(amount), \"text\": \"paid in\"}]}")
    }
}
