/// What alarm rules look at: a site as far as the aggregator knows it. No JSON, no clock.
struct AlarmView: Sendable, Equatable {
    struct Unit: Sendable, Equatable {
        var id: String
        var mode = ""
        var trips: [String] = []
        var dangers: [String] = []
        var warnings: [String] = []
        var holds: [String] = []
        var locks: [String] = []
        /// Which input of which unit began an emergency stop; empty = none did.
        var begunBy = ""
        /// Numbers by the names that the status has for them.
        var values: [String: Double] = [:]

        /// Those that endanger nobody by themselves: a graver one beside them ends none of them.
        var otherTrips: [String] {
            trips.filter { trip in !dangers.contains { $0 == trip || $0.hasPrefix(trip + ":") } }
        }
    }

    var site: String
    /// When its newest record came; `nil` = never. UTC, in milliseconds since 1970.
    var seenAt: Int64?
    var isStopped = false
    /// Its link says that its controller writes nothing any more.
    var isSilent = false
    var values: [String: Double] = [:]
    var units: [Unit] = []

    /// A record comes each second; so long without one is silence.
    static let silence: Int64 = 15_000

    /// What a rule has to say about it: a subject and whether its condition holds; `was` is whether it held.
    ///
    /// What nobody knows holds no condition of a value, and heals none: it keeps what was.
    func findings(_ rule: AlarmRule, at now: Int64, was: (String) -> Bool) -> [(
        subject: String, holds: Bool?
    )] {
        switch rule.condition {
        case .noReport: return [("", isSilent || seenAt.map { abs(now - $0) > Self.silence } ?? true)]
        case .danger: return units.map { ($0.id, known($0, !$0.dangers.isEmpty, now)) }
        case .trip: return units.map { ($0.id, known($0, !$0.otherTrips.isEmpty, now)) }
        case .warning: return units.map { ($0.id, known($0, !$0.warnings.isEmpty, now)) }
        case .held:
            return [("", isFresh(now) ? isStopped : nil)]
                + units.map { ($0.id, known($0, !$0.holds.isEmpty, now)) }
        case .above(let channel, let limit, let hysteresis):
            return subjects(channel, now).map { subject, value in
                (subject, value.map { $0 > (was(subject) ? limit - hysteresis : limit) })
            }
        case .below(let channel, let limit, let hysteresis):
            return subjects(channel, now).map { subject, value in
                (subject, value.map { $0 < (was(subject) ? limit + hysteresis : limit) })
            }
        }
    }

    func isFresh(_ now: Int64) -> Bool { seenAt.map { abs(now - $0) <= Self.silence } ?? false }

    private func known(_ unit: Unit, _ holds: Bool, _ now: Int64) -> Bool? {
        // What stood when the site fell silent stands until it says otherwise.
        holds || isFresh(now) ? holds : nil
    }

    private func subjects(_ channel: String, _ now: Int64) -> [(String, Double?)] {
        let fresh = isFresh(now)
        if let value = values[channel] { return [("", fresh ? value : nil)] }
        return units.map { ($0.id, fresh ? $0.values[channel] : nil) }
    }
}
