/// What is an alarm, and how grave.
struct AlarmRule: Sendable, Equatable {
    enum Condition: Sendable, Equatable {
        /// A trip that endangers people.
        case danger
        /// Any other trip.
        case trip
        /// Nothing came from the site, or what comes is no news of its controller.
        case noReport
        /// The site stopped by a person, or a unit that waits for one.
        case held
        case warning
        /// A channel of the site or of any unit beyond a limit; it is gone once it is back by `hysteresis`.
        case above(channel: String, limit: Double, hysteresis: Double)
        case below(channel: String, limit: Double, hysteresis: Double)

        /// Where the word stands for itself.
        static let words: [(String, Condition)] = [
            ("danger", .danger), ("trip", .trip), ("no_report", .noReport), ("held", .held),
            ("warning", .warning),
        ]
    }

    var id: String
    var condition: Condition
    var settings: AlarmMachine.Settings
    /// Empty = all.
    var sites: [String] = []

    func isAbout(_ site: String) -> Bool { sites.isEmpty || sites.contains(site) }

    /// What holds without a word in the file. Danger and silence cannot be left out.
    static let shipped: [AlarmRule] = [
        AlarmRule(
            id: "danger", condition: .danger,
            settings: .init(
                severity: .lifeSafety, raiseAfter: 0, clearAfter: 10_000, escalateAfter: 300_000)),
        AlarmRule(
            id: "trip", condition: .trip,
            settings: .init(severity: .critical, raiseAfter: 0, clearAfter: 10_000, escalateAfter: 900_000)),
        AlarmRule(
            id: "no_report", condition: .noReport,
            settings: .init(
                severity: .critical, raiseAfter: 60_000, clearAfter: 10_000, escalateAfter: 900_000)),
        AlarmRule(
            id: "held", condition: .held,
            settings: .init(severity: .warning, raiseAfter: 600_000, clearAfter: 10_000)),
    ]
}

/// When only what cannot wait is told: minutes of the day in a zone; from > until passes midnight.
struct QuietHours: Sendable, Equatable {
    var from: Int
    var until: Int
    /// East of UTC.
    var zoneMinutes: Int

    /// - Parameter now: UTC, in milliseconds since 1970.
    func holds(at now: Int64) -> Bool {
        let minute = Int(((now / 60_000 + Int64(zoneMinutes)) % 1_440 + 1_440) % 1_440)
        return from <= until ? (from..<until).contains(minute) : minute >= from || minute < until
    }

    /// Life safety is never silenced; what is critical waits for nobody either.
    static func silences(_ hours: QuietHours?, _ severity: AlarmMachine.Severity, at now: Int64) -> Bool {
        guard severity < .critical, let hours else { return false }
        return hours.holds(at: now)
    }
}
