import JSONText
import LinuxIO
import NIOCore
import Synchronization

/// What the newest state of every site is, put together once for all who look: pages, listeners and alarms.
actor FleetDesk {
    private struct Text {
        var urgent: String
        var figures: String
        /// The looks at which either changed last.
        var urgentLook: Int
        var look: Int
    }

    /// With more sites, figures go out once a second and not as they come.
    private static let largeFleet = 100
    private let store: TelemetryStore
    private let gate: TokenGate
    private let signs: SiteSigns
    private let contacts: Contacts
    /// Sites of which something has come since it was looked at last.
    private let news = Mutex<Set<String>>([])
    private var sights: [String: SiteSight] = [:]
    private var asked: Set<String> = []
    private var rows: [String: FleetRow] = [:]
    private var texts: [String: Text] = [:]
    /// Raised and not shelved, as they were judged last.
    private var alarms: [String: [AlarmMachine.Severity: Int]] = [:]
    private(set) var look = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// What all who may see every site are sent, by the look that they know.
    private var shared: [Int: ByteBuffer] = [:]

    init(store: TelemetryStore, gate: TokenGate, signs: SiteSigns, contacts: Contacts) {
        self.store = store
        self.gate = gate
        self.signs = signs
        self.contacts = contacts
    }

    /// Something of `site` was stored: it is looked at within a tenth of a second.
    nonisolated func note(_ site: String) { news.withLock { _ = $0.insert(site) } }

    nonisolated var hasNews: Bool { news.withLock { !$0.isEmpty } }

    /// Looks at what has come since it was asked last, at the start at all there is.
    ///
    /// - Returns: the sites that have changed.
    func refresh() async throws -> Set<String> {
        var changed = news.withLock { news in
            defer { news = [] }
            return news
        }
        // At the start, and where the file has new ones.
        for site in gate.sites where asked.insert(site).inserted { changed.insert(site) }
        guard !changed.isEmpty else { return [] }
        var known: [String: SiteSight] = [:]
        for site in changed { known[site] = sights[site] }
        do {
            for sight in try await store.sights(of: changed, known: known) { take(sight) }
        } catch {
            news.withLock { $0.formUnion(changed) }
            throw error
        }
        return changed
    }

    private func take(_ sight: SiteSight) {
        sights[sight.site] = sight
        let stream = TelemetryStore.Stream(epoch: sight.epoch, storedThrough: sight.through, lastSeen: "")
        let present = signs.present(of: sight.site, stream)
        var row = FleetRow(
            site: sight.site, telemetry: present?.data ?? sight.telemetry, seenAt: sight.seenAt)
        row.view.isSilent = signs.isSilent(sight.site)
        row.receivedAt = present.flatMap { FleetRow.time($0.receivedAt) } ?? sight.seenAt
        rows[sight.site] = row
    }

    /// Of every site of the configuration, also those that never reported; or of those of `only` alone.
    func views(only: Set<String>? = nil) -> [AlarmView] {
        gate.sites.filter { only?.contains($0) ?? true }.map { rows[$0]?.view ?? AlarmView(site: $0) }
    }

    var siteCount: Int { gate.sites.count }

    /// The names of the units of a site, as it told them last.
    func units(of site: String) -> [String] { rows[site]?.view.units.map(\.id) ?? [] }

    /// Of one site; `nil` = it never reported.
    func row(of site: String) -> FleetRow? { rows[site] }

    /// Every site of the configuration, for who counts them.
    var figures: [SiteFigures] {
        gate.sites.sorted().map { site in
            SiteFigures(
                row: rows[site] ?? FleetRow(site: site, telemetry: nil, seenAt: nil),
                alarms: alarms[site] ?? [:], contact: contacts.last(of: site))
        }
    }

    /// Puts the texts together with what the alarms say, and wakes who waits for them.
    ///
    /// - Parameter urgentlyOnly: these alone; of a large fleet nothing but what somebody must know at once,
    ///   and figures wait for the next round.
    func publish(alarms: [String: [AlarmMachine.Severity: Int]], urgentlyOnly: Set<String>? = nil) {
        var isNew = urgentlyOnly == nil
        let (next, isLarge) = (look + 1, gate.sites.count > Self.largeFleet)
        for site in urgentlyOnly.map(Array.init) ?? gate.sites {
            let row = rows[site] ?? FleetRow(site: site, telemetry: nil, seenAt: nil)
            self.alarms[site] = alarms[site]
            let urgent = row.urgent(alarms: alarms[site] ?? [:])
            let former = texts[site]
            if urgentlyOnly != nil, isLarge, former?.urgent == urgent { continue }
            let figures = row.figures(contact: contacts.last(of: site))
            guard former?.urgent != urgent || former?.figures != figures else { continue }
            isNew = true
            let urgentLook = former?.urgent == urgent ? former?.urgentLook ?? next : next
            texts[site] = Text(urgent: urgent, figures: figures, urgentLook: urgentLook, look: next)
        }
        guard isNew else { return }
        look = next
        shared = [:]
        let woken = waiting
        waiting = []
        for one in woken { one.resume() }
    }

    /// Waits for the look after `look`.
    func next(after look: Int) async {
        if self.look > look { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Every row of `sites`, the whole of each.
    func all(_ sites: some Sequence<String>) -> [String] {
        sites.compactMap { site in texts[site].map { Self.row(site, $0, after: -1) } }
    }

    /// What has changed since `look`, as one event of the stream: of a row that has nothing urgent its
    /// figures alone.
    ///
    /// - Parameter sites: `nil` = all; they are put together once for everybody.
    func changes(after look: Int, of sites: [String]?) -> (ByteBuffer, look: Int) {
        if sites == nil, let ready = shared[look] { return (ready, self.look) }
        let list = (sites ?? gate.sites).compactMap { site -> String? in
            guard let text = texts[site], text.look > look else { return nil }
            return Self.row(site, text, after: look)
        }
        let now = WallClock.nowMilliseconds()
        let event = ByteBuffer(
            string: "data: {\"now_ms\":\(now),\"sites\":[\(list.joined(separator: ","))]}\n\n")
        if sites == nil { shared[look] = event }
        return (event, self.look)
    }

    private static func row(_ site: String, _ text: Text, after look: Int) -> String {
        let urgent = text.urgentLook > look ? ",\(text.urgent)" : ""
        return "{\"site\":\(JSONText.quoted(site)),\(text.figures)\(urgent)}"
    }
}

/// When each site's link was last heard of, whatever it wanted: a link that asks and brings nothing has a
/// controller that is dead.
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
