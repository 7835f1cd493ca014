import JSONText
import LinuxIO
import ServiceLifecycle

/// Judges the rules each second, remembers what was raised, and hands on what is to be told.
///
/// What it decides is on the disk before anybody is told; what was on the disk before a restart stands after
/// it.
actor AlarmDesk: Service {
    /// What has come is looked at so soon, and everything each second.
    private static let pause = Duration.milliseconds(100)
    private static let round = Duration.seconds(1)
    private let store: TelemetryStore
    private let fleet: FleetDesk
    private let config: AlarmConfig
    private let log: @Sendable (String) -> Void
    private var records: [AlarmRecord.Key: AlarmRecord] = [:]
    private var isLoaded = false
    /// The last day that was summed up; `nil` = not known yet.
    private var lastDay: Int64?

    init(
        store: TelemetryStore, fleet: FleetDesk, config: AlarmConfig,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.store = store
        self.fleet = fleet
        self.config = config
        self.log = log
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var due = ContinuousClock.now
            while !Task.isCancelled {
                let isRound = ContinuousClock.now >= due
                if isRound { due = .now + Self.round }
                if isRound || self.fleet.hasNews { await self.turn(isRound: isRound) }
                // Ends early only where the program ends, which the loop looks at.
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// - Parameter isRound: all sites are judged, for time alone moves alarms too; else those with news.
    private func turn(isRound: Bool) async {
        var changed: Set<String> = []
        do {
            if !isLoaded {
                for record in try await store.alarms(config.rules) { records[record.key] = record }
                isLoaded = true
            }
            changed = try await fleet.refresh()
            try await judge(
                await fleet.views(only: isRound ? nil : changed), at: WallClock.nowMilliseconds())
            if isRound { try await tellDay(at: WallClock.nowMilliseconds()) }
        } catch {
            log("alarms cannot be judged: \(error)")
        }
        await fleet.publish(
            alarms: counts(at: WallClock.nowMilliseconds()), urgentlyOnly: isRound ? nil : changed)
    }

    /// Once a day, where the file says so: what stands, and what came and went.
    private func tellDay(at now: Int64) async throws {
        guard let summary = config.summary, let day = summary.day(at: now) else { return }
        if lastDay == nil { lastDay = try await store.lastSummaryDay() }
        guard day > lastDay ?? 0 else { return }
        let text = DailySummary.text(
            standing: records.values.filter(\.machine.isRaised).map { $0 },
            shelved: records.values.count { $0.machine.isShelved(at: now) },
            told: try await store.told(since: now - DailySummary.length), sites: await fleet.siteCount,
            at: now)
        let key = AlarmRecord.Key(rule: "summary", site: "-", subject: "")
        try await store.save(
            [],
            config.ways.map { way in
                AlarmNotice(way: way, told: .summary, severity: .notice, key: key, text: text, at: now)
            }, summaryOf: day)
        lastDay = day
    }

    /// One look of every rule at every site.
    func judge(_ views: [AlarmView], at now: Int64) async throws {
        var changed: [AlarmRecord] = []
        var notices: [AlarmNotice] = []
        for rule in config.rules {
            for view in views where rule.isAbout(view.site) {
                look(rule, view, now, &changed, &notices)
            }
        }
        guard !changed.isEmpty else { return }
        try await store.save(changed, notices)
        // Only now: what the disk refused is judged again in a second.
        for record in changed { records[record.key] = record }
        for notice in notices where notice.way == config.ways.first {
            log("alarm \(notice.told.rawValue): \(notice.text)")
        }
    }

    private func look(
        _ rule: AlarmRule, _ view: AlarmView, _ now: Int64, _ changed: inout [AlarmRecord],
        _ notices: inout [AlarmNotice]
    ) {
        func key(_ subject: String) -> AlarmRecord.Key {
            AlarmRecord.Key(rule: rule.id, site: view.site, subject: subject)
        }
        let findings = view.findings(rule, at: now) { records[key($0)]?.machine.isRaised ?? false }
        for (subject, holds) in findings {
            guard let holds else { continue }
            let former =
                records[key(subject)] ?? AlarmRecord(key: key(subject), machine: AlarmMachine(rule.settings))
            var record = former
            let output = record.machine.handle(.seen(holds), at: now)
            if record.machine.isRaised, holds { record.text = words(rule, view, subject, now) }
            guard record != former else { continue }
            changed.append(record)
            guard case .tell(let told) = output else { continue }
            notices += config.notices(of: record, told, at: now)
        }
    }

    /// What is the matter, in a line for a person who is woken by it.
    private func words(_ rule: AlarmRule, _ view: AlarmView, _ subject: String, _ now: Int64) -> String {
        let unit = view.units.first { $0.id == subject }
        let place = subject.isEmpty ? "site \(view.site)" : "\(subject) at \(view.site)"
        switch rule.condition {
        case .danger: return "DANGER at \(place): \((unit?.dangers ?? []).joined(separator: "; "))"
        case .trip:
            let begun = unit.flatMap { $0.begunBy.isEmpty ? nil : ", begun by \($0.begunBy)" } ?? ""
            return "\(place) tripped: \((unit?.otherTrips ?? []).joined(separator: ", "))\(begun)"
        case .warning: return "\(place) warns: \((unit?.warnings ?? []).joined(separator: ", "))"
        case .held:
            return subject.isEmpty
                ? "\(place) is stopped by a person"
                : "\(place) waits for a person: \((unit?.holds ?? []).joined(separator: ", "))"
        case .noReport:
            if view.isSilent {
                return "\(place) does not report: its link is there, its controller writes nothing"
            }
            let since = view.seenAt.map { "since \(WallClock.text(milliseconds: $0))" } ?? "ever"
            return "\(place) does not report: no data \(since)"
        case .above(let channel, let limit, _): return "\(place): \(channel) is above \(limit)"
        case .below(let channel, let limit, _): return "\(place): \(channel) is below \(limit)"
        }
    }

    private func counts(at now: Int64) -> [String: [AlarmMachine.Severity: Int]] {
        var counts: [String: [AlarmMachine.Severity: Int]] = [:]
        for record in records.values where record.machine.isRaised && !record.machine.isShelved(at: now) {
            counts[record.key.site, default: [:]][record.machine.settings.severity, default: 0] += 1
        }
        return counts
    }

    // MARK: People

    /// Those that stand or are shelved, the gravest and oldest first.
    func standing(_ sites: Set<String>, at now: Int64) -> [AlarmRecord] {
        records.values.filter { record in
            sites.contains(record.key.site) && (record.machine.isRaised || record.machine.isShelved(at: now))
        }.sorted { left, right in
            let (a, b) = (left.machine.settings.severity, right.machine.settings.severity)
            return a == b ? "\(left.key)" < "\(right.key)" : a > b
        }
    }

    /// - Throws: why it is not granted.
    func act(_ event: AlarmMachine.Event, on key: AlarmRecord.Key, at now: Int64) async throws {
        guard var record = records[key] ?? shelvable(key, event) else {
            throw Refusal(.notFound, "there is no such alarm: it has ended, or its rule is another one")
        }
        if case .refused(let why) = record.machine.handle(event, at: now) { throw Refusal(.conflict, why) }
        try await store.save([record], [])
        records[key] = record
        await fleet.publish(alarms: counts(at: now), urgentlyOnly: [key.site])
    }

    /// What does not stand may be shelved beforehand: work on a unit is planned.
    private func shelvable(_ key: AlarmRecord.Key, _ event: AlarmMachine.Event) -> AlarmRecord? {
        guard case .shelve = event, let rule = config.rules.first(where: { $0.id == key.rule }) else {
            return nil
        }
        return rule.isAbout(key.site) ? AlarmRecord(key: key, machine: AlarmMachine(rule.settings)) : nil
    }

    /// Lets every way prove itself.
    func test(by name: String, at now: Int64) async throws -> Int {
        let key = AlarmRecord.Key(rule: "test", site: "-", subject: "")
        let notices = config.ways.map { way in
            AlarmNotice(
                way: way, told: .raised, severity: .notice, key: key,
                text: "a test of the alarms, asked for by \(name)",
                at: now)
        }
        try await store.save([], notices)
        return notices.count
    }
}

extension AlarmRecord {
    func json(at now: Int64) -> String {
        var text = "{\"rule\":\(JSONText.quoted(key.rule)),\"site\":\(JSONText.quoted(key.site))"
        text += ",\"subject\":\(JSONText.quoted(key.subject))"
        text +=
            ",\"severity\":\"\(machine.settings.severity.rawValue)\",\"text\":\(JSONText.quoted(self.text))"
        var (raised, act, isGone): (Int64?, AlarmMachine.Act?, Bool) = (nil, nil, false)
        switch machine.state {
        case .clear, .pending: break
        case .raised(let at): raised = at
        case .acknowledged(let at, let by): (raised, act) = (at, by)
        case .leaving(let at, let by, _): (raised, act, isGone) = (at, by, true)
        }
        text += ",\"raised_ms\":\(raised.map(String.init) ?? "null"),\"gone\":\(isGone)"
        text += ",\"acknowledged\":\(act?.json ?? "null")"
        let shelf = machine.isShelved(at: now) ? machine.shelf : nil
        text +=
            ",\"shelved\":\(shelf?.act.json ?? "null"),\"shelved_until_ms\":\(shelf.map { "\($0.until)" } ?? "null")"
        return text + ",\"may_shelve\":\(machine.settings.severity != .lifeSafety)}"
    }
}

extension AlarmMachine.Act {
    fileprivate var json: String {
        "{\"by\":\(JSONText.quoted(by)),\"at_ms\":\(at),\"reason\":\(JSONText.quoted(reason))}"
    }
}
