import FrequencyRecord
import HTTPTypes
import Hummingbird
import JSONText
import LinuxIO
import NIOCore

/// What the aggregator answers, path by path.
struct AggregatorRoutes: Sendable {
    let gate: TokenGate
    let store: TelemetryStore
    let desk: LeaseDesk
    let figures: Figures
    let fleet: FleetDesk
    let alarms: AlarmDesk
    let listeners: Listeners
    /// Of pages, which are many and are all sent the same.
    let watchers: Listeners
    let sessions: Sessions
    let audit: AuditLog
    let log: @Sendable (String) -> Void
    let painter = CapturePainter()
    /// `nil` = there are no books here.
    let books: BooksRoutes?
    let signs: SiteSigns
    /// `nil` = this aggregator is no level of a fleet.
    let level: FleetRoutes?
    /// What sites' months are held against.
    let codes: GridCodes
    private let states = StateCache()

    init(
        gate: TokenGate, store: TelemetryStore, desk: LeaseDesk, figures: Figures, fleet: FleetDesk,
        alarms: AlarmDesk, audit: AuditLog, sessions: Sessions, signs: SiteSigns, books: BooksRoutes? = nil,
        level: FleetRoutes? = nil, codes: GridCodes = GridCodes(), log: @escaping @Sendable (String) -> Void
    ) {
        self.level = level
        self.codes = codes
        self.books = books
        self.gate = gate
        self.store = store
        self.desk = desk
        self.figures = figures
        self.fleet = fleet
        self.alarms = alarms
        self.sessions = sessions
        self.signs = signs
        listeners = Listeners(most: 64, mostOfOne: 8)
        watchers = Listeners(most: 1_000, mostOfOne: 100)
        self.audit = audit
        self.log = log
    }

    /// All there are.
    var table: [Route] {
        let range: [Query.Parameter] = [.from, .until, .cursor, .limit, .format]
        let list: [Route] =
            [
                Route(
                    .post, "/v1/edge/report", .report, "Stores a batch of numbered records.",
                    bodyLimit: EdgeReport.sizeLimit, isFrequent: true, answer: report),
                Route(
                    .get, "/v1/sites", .read, "The sites, and how far each is stored.",
                    query: [.cursor, .limit], isFrequent: true, answer: allSites),
                Route(
                    .get, "/v1/summary", .read, "The sites with the newest state of each, for a page.",
                    query: [.cursor, .limit], isFrequent: true, answer: summary),
                Route(
                    .get, "/v1/sites/{site}/state", .read, "What a site looks like, and its last events.",
                    isFrequent: true
                ) { Answers.json(try await state(of: $0.site)) },
                Route(
                    .get, "/v1/sites/{site}/events", .read,
                    "Events by the site's time, oldest first; what it tells again as a new epoch is there once.",
                    query: range
                ) { Self.page(try await store.events(try .init($0)), "events", $0) },
                Route(
                    .get, "/v1/sites/{site}/gaps", .read,
                    "Numbers that the site has said it cannot deliver, by the time when it said so.",
                    query: range
                ) { Self.page(try await store.gaps(try .init($0)), "gaps", $0) },
                Route(
                    .get, "/v1/sites/{site}/series", .read,
                    "A value by minutes: lowest, highest, mean over time, and the seconds in which it was known.",
                    query: [.channel, .unit] + range, answer: series),
                Route(
                    .get, "/v1/events", .read,
                    "New events of all sites as they come (SSE); Last-Event-ID takes up a stream again.",
                    answer: listen),
            ] + leases + captures + alarmRoutes + sessionRoutes + pageRoutes + (books?.routes ?? [])
            + (level?.routes ?? [])
        func openAPI(_ text: String) -> Route {
            Route(.get, OpenAPI.path, .read, "This document (OpenAPI 3.1).") { _ in Answers.json(text) }
        }
        return list + [openAPI(OpenAPI.document(list + [openAPI("")]))]
    }

    static func page(_ page: TelemetryStore.Page, _ name: String, _ call: Call) -> Response {
        guard call.query.isCSV else { return Answers.json(page.json(name)) }
        var response = Answers.csv(page.csv)
        if let next = page.next, let link = HTTPField.Name("Link") {
            response.headers[link] = "<?cursor=\(next)>; rel=\"next\""
        }
        return response
    }

    private func report(_ call: Call) async throws -> Response {
        let report: EdgeReport
        do {
            report = try EdgeReport(json: call.body)
        } catch {
            throw Refusal(.badRequest, "the report cannot be used: \(error)")
        }
        try gate.checkMay(.report, report.site, call.caller)
        if let large = report.records.first(where: { $0.data.utf8.count > EdgeReport.recordLimit }) {
            throw Refusal(
                .contentTooLarge, "record \(large.number) is larger than \(EdgeReport.recordLimit) bytes")
        }
        switch try await store.store(report) {
        case .stored(let through, let differing, let head):
            note(report, differing)
            take(signsOf: report)
            fleet.note(report.site)
            await level?.control.take(report)
            let told = differing.prefix(100).map(String.init).joined(separator: ",")
            return Answers.json(
                "{\"epoch\":\"\(report.epoch)\",\"stored_through\":\(through),\"head\":\"\(head)\""
                    + (differing.isEmpty ? "}" : ",\"differing\":[\(told)]}"))
        case .numbersMissing(let mark):
            let first = report.covered?.lowerBound ?? 0
            throw Refusal(
                .conflict, "the report begins at \(first), but \(mark + 1) comes next", storedThrough: mark)
        }
    }

    private func take(signsOf report: EdgeReport) {
        let now = WallClock.text(milliseconds: WallClock.nowMilliseconds())
        guard let isSilent = signs.take(report, received: now) else { return }
        let words = isSilent ? "its controller writes nothing any more" : "its controller speaks again"
        log("site \(report.site): \(words)")
        audit.note(
            AuditLog.Entry(
                who: "site \(report.site)", address: "", method: "CONTROLLER", path: "", status: 200,
                why: words))
    }

    private func note(_ report: EdgeReport, _ differing: [Int64]) {
        figures.add(.reports, 1)
        figures.add(.records, report.records.count)
        guard let first = differing.first else { return }
        figures.add(.recordsDiffering, differing.count)
        log(
            "site \(report.site): \(differing.count) records, from \(first) on, came again with another "
                + "content; the first stands, the other is kept beside it")
    }

    /// One page of the sites that the caller may see, and where the next begins.
    private func sites(_ call: Call, most: Int) throws -> (page: [String], next: String) {
        let all = call.caller.sites(.read, of: gate.sites).sorted()
        let limit = try call.query.limit(most: most)
        let rest = call.query[.cursor].map { cursor in all.drop { $0 <= cursor } } ?? all[...]
        let page = Array(rest.prefix(limit))
        let next = rest.count > limit ? page.last.map(JSONText.quoted) : nil
        return (page, next ?? "null")
    }

    private func allSites(_ call: Call) async throws -> Response {
        let (page, next) = try sites(call, most: 1_000)
        var entries: [String] = []
        for site in page {
            entries.append(
                "{\"id\":\(JSONText.quoted(site)),\(Answers.members(try await store.stream(of: site)))}")
        }
        return Answers.json("{\"sites\":[\(entries.joined(separator: ","))],\"next\":\(next)}")
    }

    private func summary(_ call: Call) async throws -> Response {
        let (page, rest) = try sites(call, most: 100)
        var (texts, bytes): ([String], Int) = ([], 0)
        for site in page where bytes < 4 * TelemetryStore.answerBytes {
            let text = try await state(of: site)
            texts.append(text)
            bytes += text.utf8.count
        }
        let next = texts.count < page.count ? JSONText.quoted(page[texts.count - 1]) : rest
        return Answers.json("{\"sites\":[\(texts.joined(separator: ","))],\"next\":\(next)}")
    }

    private func state(of site: String) async throws -> String {
        let stream = try await store.stream(of: site)
        let present = stream.flatMap { signs.present(of: site, $0) }
        let isSilent = signs.isSilent(site)
        let key = stream.map {
            "\($0.epoch) \($0.storedThrough) \($0.lastSeen) \(present?.number ?? 0) \(isSilent)"
        }
        if let key, let known = states.text(of: site, key) { return known }
        let state = try await store.state(of: site)
        let audit = try await store.auditHead(of: site).map(JSONText.quoted) ?? "null"
        let telemetry = (present ?? state?.telemetry).map(Answers.record) ?? "null"
        let events = (state?.events ?? []).map(Answers.record).joined(separator: ",")
        let text =
            "{\"site\":\(JSONText.quoted(site)),\(Answers.members(state?.stream)),"
            + "\"controller\":\(isSilent ? "\"silent\"" : "null"),"
            + "\"audit\":\(audit),\"telemetry\":\(telemetry),\"events\":[\(events)]}"
        if let key { states.keep(text, of: site, key) }
        return text
    }

    private func series(_ call: Call) async throws -> Response {
        guard let channel = call.query[.channel] else {
            throw Refusal(.badRequest, "channel: is missing")
        }
        let wanted = try TelemetryStore.Wanted(call, most: 1_440)
        let page = try await store.minutes(wanted, unit: call.query[.unit] ?? "", channel: channel)
        return Self.page(page, "minutes", call)
    }

    /// New events as they come, for ten minutes; who goes on names the last one that came.
    private func listen(_ call: Call) async throws -> Response {
        let seat = try listeners.take(call.caller.name)
        let newest = try await store.lastRow()
        var row = newest
        if let last = call.lastEvent {
            guard let number = Int64(last), number >= 0 else {
                throw Refusal(.badRequest, "Last-Event-ID: is not one of this stream")
            }
            row = min(number, newest)
        }
        let begin = row
        let (store, figures, gate) = (store, figures, gate)
        let body = ResponseBody { writer in
            defer { seat.leave() }
            var row = begin
            let end = ContinuousClock.now + .seconds(600)
            var quiet = 0
            while ContinuousClock.now < end, let caller = gate.caller(call.caller.digest) {
                let (events, through) = try await store.eventsTold(after: row)
                var text = ""
                for event in events where caller.may(.read, event.site) {
                    text += "id: \(event.row)\ndata: \(event.json)\n\n"
                    figures.add(.eventsStreamed, 1)
                }
                quiet = text.isEmpty ? quiet + 1 : 0
                // A line now and then shows a peer that has gone.
                if quiet % 15 == 1 { text = ": row \(through)\n\n" }
                if !text.isEmpty { try await writer.write(ByteBuffer(string: text)) }
                if through == row { try await Task.sleep(for: .seconds(1)) }
                row = through
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
    }
}
