import LinuxIO

/// When a day is summed up, in a zone, and in which words.
struct DailySummary: Sendable, Equatable {
    /// A day, in milliseconds.
    static let length: Int64 = 86_400_000
    /// How many standing alarms are named; the rest is counted.
    private static let most = 50

    /// Minutes of the day.
    var at: Int
    /// East of UTC.
    var zoneMinutes: Int

    /// The number of the day that is to be summed up at `now`: it grows at the hour. `nil` in the hours
    /// that are further from it than twelve, so that a program that was down for long tells no old day.
    func day(at now: Int64) -> Int64? {
        let minutes = now / 60_000 + Int64(zoneMinutes) - Int64(at)
        return minutes % 1_440 < 720 ? minutes / 1_440 : nil
    }

    /// - Parameters:
    ///   - standing: what is raised now.
    ///   - told: how often anything was told since the day before, by what it was.
    static func text(
        standing: [AlarmRecord], shelved: Int, told: [String: Int], sites: Int, at now: Int64
    ) -> String {
        let raised = standing.sorted { left, right in
            let (a, b) = (left.machine.settings.severity, right.machine.settings.severity)
            return a == b ? "\(left.key)" < "\(right.key)" : a > b
        }
        var lines = [
            "\(sites) \(sites == 1 ? "site" : "sites"); \(raised.count) alarms stand, \(shelved) are shelved; "
                + "in the last 24 h \(told["raised"] ?? 0) raised, \(told["cleared"] ?? 0) over, "
                + "\(told["escalated"] ?? 0) told again because nobody had acknowledged them"
        ]
        for record in raised.prefix(most) {
            lines.append("\(record.machine.settings.severity.rawValue): \(LogText.plain(record.text))")
        }
        if raised.count > most { lines.append("and \(raised.count - most) more") }
        return lines.joined(separator: "\n")
    }
}
