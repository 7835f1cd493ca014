import GRDB
import LinuxIO
import Synchronization

/// What the newest state of every site is, put together once for all who look: pages, listeners and alarms.
actor FleetDesk {
    private let store: TelemetryStore
    private let gate: TokenGate
    private let contacts: Contacts
    private var rows: [String: (key: String, row: FleetRow)] = [:]
    /// As JSON, and the number of the look at which it last changed.
    private(set) var texts: [String: (json: String, look: Int)] = [:]
    private(set) var look = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(store: TelemetryStore, gate: TokenGate, contacts: Contacts) {
        self.store = store
        self.gate = gate
        self.contacts = contacts
    }

    /// Looks at what has come since the last look.
    func refresh() async throws {
        let known = rows.mapValues(\.key)
        let news = try await store.news(beside: known)
        for (site, key, telemetry, seen) in news {
            rows[site] = (key, FleetRow(site: site, telemetry: telemetry, seenAt: seen))
        }
    }

    /// Of every site of the configuration, also those that never reported.
    var views: [AlarmView] {
        gate.sites.map { rows[$0]?.row.view ?? AlarmView(site: $0) }
    }

    /// Puts the texts together with what the alarms say, and wakes who waits for them.
    func publish(alarms: [String: [AlarmMachine.Severity: Int]]) {
        look += 1
        for site in gate.sites {
            let row = rows[site]?.row ?? FleetRow(site: site, telemetry: nil, seenAt: nil)
            let text = row.json(alarms: alarms[site] ?? [:], contact: contacts.last(of: site))
            if texts[site]?.json != text { texts[site] = (text, look) }
        }
        let woken = waiting
        waiting = []
        for one in woken { one.resume() }
    }

    /// Waits for the look after `look`.
    func next(after look: Int) async -> Int {
        if self.look > look { return self.look }
        await withCheckedContinuation { waiting.append($0) }
        return self.look
    }
}

/// When each site's link was last heard of, whatever it wanted: a link that asks and brings nothing has a
/// controller
/// that is dead.
final class Contacts: Sendable {
    private let times = Mutex<[String: Int64]>([:])

    func note(_ caller: Caller) {
        guard let site = caller.grants.first(where: { $0.roles == [.report] })?.sites?.first else { return }
        let now = WallClock.nowMilliseconds()
        // To whole ten seconds: it goes into texts that are compared.
        times.withLock { $0[site] = now - now % 10_000 }
    }

    func last(of site: String) -> Int64? { times.withLock { $0[site] } }
}

extension TelemetryStore {
    /// The state of each site whose stream is another one than `known` says.
    func news(
        beside known: [String: String]
    ) async throws -> [(site: String, key: String, telemetry: String?, seen: Int64?)] {
        try await pool.read { database in
            let sql = """
                SELECT site, epoch, stored_through, last_seen,
                    CAST(round((julianday(last_seen) - 2440587.5) * 86400000) AS INTEGER) AS seen
                FROM stream ORDER BY last_seen, first_seen
                """
            var newest: [String: (key: String, epoch: String, seen: Int64?)] = [:]
            let rows = try Row.fetchCursor(database, sql: sql)
            while let row = try rows.next() {
                let (site, epoch): (String, String) = (row["site"], row["epoch"])
                let (through, last): (Int64, String) = (row["stored_through"], row["last_seen"])
                newest[site] = ("\(epoch) \(through) \(last)", epoch, row["seen"])
            }
            return try newest.compactMap { site, stream in
                guard known[site] != stream.key else { return nil }
                let telemetry = try Self.telemetry(of: site, stream.epoch, in: database)
                return (site, stream.key, telemetry?.data, stream.seen)
            }
        }
    }
}
