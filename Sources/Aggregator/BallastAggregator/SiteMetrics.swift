import FrequencyRecord
import LinuxIO

/// What is known of a site, for `/metrics`.
struct SiteFigures: Sendable {
    var row: FleetRow
    var alarms: [AlarmMachine.Severity: Int]
    /// When its link was last heard of, ms since 1970.
    var contact: Int64?
}

/// The sites in the text format of Prometheus: for each the same as its own `ballastctl metrics` has for its
/// units, put together. What is old has no line; what stood when a site fell silent (danger, trips) stands.
actor SiteMetrics {
    /// The response is judged over so long.
    private static let window: Int64 = 86_400_000
    /// Of one site it is judged anew after so long, of so many sites in one scrape.
    private static let scoreLife: Int64 = 300_000
    private static let scoresOfScrape = 20
    /// Rows of a table that one site may name.
    private static let mostRows = 40

    private let store: TelemetryStore
    private let fleet: FleetDesk
    private var scores: [String: (told: ToldResponse, at: Int64)] = [:]

    init(store: TelemetryStore, fleet: FleetDesk) {
        self.store = store
        self.fleet = fleet
    }

    func text() async -> String {
        let now = WallClock.nowMilliseconds()
        let figures = await fleet.figures
        await judge(figures.map(\.row.view.site), at: now)
        var page = MetricsPage()
        for one in figures {
            Self.add(one, at: now, to: &page)
            add(scores[one.row.view.site]?.told, of: one.row.view.site, to: &page)
        }
        return page.text
    }

    /// Those that were judged longest ago, a few at a time.
    private func judge(_ sites: [String], at now: Int64) async {
        let due = sites.filter { now - (scores[$0]?.at ?? 0) >= Self.scoreLife }
            .sorted { (scores[$0]?.at ?? 0) < (scores[$1]?.at ?? 0) }
        for site in due.prefix(Self.scoresOfScrape) {
            // A store that fails says nothing new; the scrape says so itself.
            guard let told = try? await store.response(of: site, in: (now - Self.window)..<now) else {
                continue
            }
            scores[site] = (told, now)
        }
    }

    private static func name(_ name: String) -> String { "ballast_fleet_site_\(name)" }

    private static func add(_ one: SiteFigures, at now: Int64, to page: inout MetricsPage) {
        let (row, view) = (one.row, one.row.view)
        let isFresh = view.isFresh(now) && row.fault == nil
        func add(_ name: String, _ help: String, _ value: Double?, _ more: [(String, String)] = []) {
            page.add(Self.name(name), help, [("site", view.site)] + more, value)
        }
        func count(_ value: Int) -> Double { Double(value) }
        add("info", "1, with the mode that the site told.", 1, [("mode", row.mode)])
        add("reporting", "1 while records come and its controller writes.", isFresh && !view.isSilent ? 1 : 0)
        add(
            "last_record_timestamp_seconds", "When its newest record came.",
            view.seenAt.map { Double($0) / 1_000 })
        add(
            "last_contact_timestamp_seconds", "When its link was last heard of, to ten seconds.",
            one.contact.map { Double($0) / 1_000 })
        for severity in AlarmMachine.Severity.allCases {
            add(
                "alarms", "Alarms that stand and are not shelved.", count(one.alarms[severity] ?? 0),
                [("severity", severity.rawValue)])
        }
        guard view.seenAt != nil else { return }
        add("units", "Units that it has told.", count(view.units.count))
        add(
            "people_in_danger", "Units with a trip that endangers people.",
            count(view.units.count { !$0.dangers.isEmpty }))
        add("stopped", "1 while a person has stopped it.", view.isStopped ? 1 : 0)
        for (rows, kind) in [(view.units.map(\.trips), "trip"), (view.units.map(\.warnings), "warning")] {
            for (name, units) in Self.counted(rows) {
                add(kind, "Units with this \(kind) of the interlock table.", count(units), [("row", name)])
            }
        }
        guard isFresh else { return }
        addValues(row, to: &page)
    }

    private static func counted(_ units: [[String]]) -> [(String, Int)] {
        var counts: [String: Int] = [:]
        for name in units.flatMap({ Set($0) }) { counts[name, default: 0] += 1 }
        return Array(counts.sorted { $0.key < $1.key }.prefix(mostRows))
    }

    private static func addValues(_ row: FleetRow, to page: inout MetricsPage) {
        let view = row.view
        func add(_ name: String, _ help: String, _ value: Double?) {
            page.add(Self.name(name), help, [("site", view.site)], value)
        }
        func watts(_ key: String) -> Double? { view.values[key].map { $0 * 1_000 } }
        add("power_watts", "Its units together; positive = injected.", watts("site_power_kw"))
        add("meter_power_watts", "At its connection; positive = injected.", watts("meter_power_kw"))
        add("setpoint_watts", "What its units are asked for together.", watts("setpoint_kw"))
        add("base_point_watts", "Without frequency response.", watts("base_point_kw"))
        add("frequency_response_watts", "Droop's part of the power asked for.", watts("response_kw"))
        add("frequency_hertz", "The frequency that it uses.", view.values["frequency_hz"])
        let delay = row.receivedAt.flatMap { came in
            row.at.flatMap { FleetRow.time($0) }.map { Double(came - $0) / 1_000 }
        }
        add(
            "report_delay_seconds",
            "From the site's own time of its newest state until it was here; clocks apart show in it.", delay)
        addUnits(view, to: &page)
    }

    private static func addUnits(_ view: AlarmView, to page: inout MetricsPage) {
        func add(_ name: String, _ help: String, _ value: Double?) {
            page.add(Self.name(name), help, [("site", view.site)], value)
        }
        let serving = view.units.filter(\.isServing)
        func sum(_ key: String, _ units: [AlarmView.Unit]) -> Double? {
            let values = units.map { $0.values[key] }
            return values.contains(nil) ? nil : values.reduce(0) { $0 + ($1 ?? 0) } * 1_000
        }
        func all(_ key: String) -> [Double] { view.units.compactMap { $0.values[key] } }
        let count = Double(view.units.count)
        add("units_available", "Units that serve: running, no trip, no lock, no hold.", Double(serving.count))
        add(
            "availability_ratio", "Share of its units that serve.",
            count > 0 ? Double(serving.count) / count : nil)
        add("rating_watts", "Its units' ratings together.", sum("rating_kw", view.units))
        add(
            "available_charge_watts", "Most that the units in service may charge; a magnitude.",
            sum("charge_limit_kw", serving).map { -$0 })
        add(
            "available_discharge_watts", "Most that the units in service may discharge.",
            sum("discharge_limit_kw", serving))
        add(
            "redundancy_units", "Largest units that may be lost while the rest still bears the setpoint.",
            redundancy(view, serving))
        let charged = view.units.filter { $0.values["soc_percent"] != nil && $0.values["rating_kw"] ?? 0 > 0 }
        let weight = charged.reduce(0) { $0 + ($1.values["rating_kw"] ?? 0) }
        let charge = charged.reduce(0) {
            $0 + ($1.values["soc_percent"] ?? 0) * ($1.values["rating_kw"] ?? 0)
        }
        add(
            "state_of_charge_ratio", "Mean of its batteries, weighted by rating.",
            weight > 0 ? charge / weight / 100 : nil)
        add(
            "state_of_health_ratio", "Of the battery that is worst.",
            all("soh_percent").min().map { $0 / 100 })
        add("cell_temperature_max_celsius", "Its hottest cell.", all("cell_temperature_max_c").max())
        add("cell_temperature_min_celsius", "Its coldest cell.", all("cell_temperature_min_c").min())
        add("cell_voltage_max_volts", "Its highest cell.", all("cell_voltage_max_v").max())
        add("cell_voltage_min_volts", "Its lowest cell.", all("cell_voltage_min_v").min())
    }

    /// As the site's own `ballast_redundancy_units` counts.
    private static func redundancy(_ view: AlarmView, _ serving: [AlarmView.Unit]) -> Double? {
        guard let asked = view.values["setpoint_kw"] else { return nil }
        let key = asked < 0 ? "charge_limit_kw" : "discharge_limit_kw"
        let windows = serving.compactMap { $0.values[key]?.magnitude }.sorted(by: >)
        guard windows.count == serving.count else { return nil }
        var left = windows.reduce(0, +)
        var lost = 0
        for window in windows {
            left -= window
            // What one decimal of a kilowatt does not show is no loss.
            guard left + 0.05 >= asked.magnitude, lost + 1 < windows.count else { break }
            lost += 1
        }
        return Double(lost)
    }

    private func add(_ told: ToldResponse?, of site: String, to page: inout MetricsPage) {
        guard let told else { return }
        func add(_ name: String, _ help: String, _ value: Double?) {
            page.add(Self.name(name), help, [("site", site)], value)
        }
        add("frequency_activations", "Events of the last 24 h, as it judged them.", Double(told.eventCount))
        guard case .scored(let score) = told.verdict else { return }
        add(
            "frequency_score_ratio", "Score of the last 24 h, 0 to 1; not a regulator's number.",
            score.total / 100)
        add("frequency_accuracy_ratio", "Of the score: delivered against expected power.", score.accuracy)
        add("frequency_delay_ratio", "Of the score: how soon the response was full.", score.delay)
        add("frequency_sustained_ratio", "Of the score: how long it was held.", score.sustained)
        add("frequency_in_service_ratio", "Of the score: share of the rating in service.", score.inService)
    }
}

extension AlarmView.Unit {
    /// What serves now: a unit that could serve if something else ended does not.
    var isServing: Bool { mode == "running" && trips.isEmpty && locks.isEmpty && holds.isEmpty }
}
