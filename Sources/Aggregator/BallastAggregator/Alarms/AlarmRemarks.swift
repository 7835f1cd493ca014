import SiteRecords

/// What the section `alarms` says that has no effect, or an effect that nobody meant.
enum AlarmRemarks {
    static func all(_ config: AlarmConfig) -> [String] {
        var remarks = config.rules.compactMap { rule in
            channel(of: rule.condition).flatMap { name in
                known.contains(name)
                    ? nil : "alarm \(rule.id): no site tells a channel \(name): it is never raised"
            }
        }
        if let quiet = config.quiet, quiet.from == quiet.until {
            remarks.append("quiet_hours have no effect: they begin and end at the same minute")
        }
        if let url = config.webhook?.url, url.hasPrefix("http://"), !isLocal(url) {
            remarks.append("webhook: alarms travel in the clear: the URL is http:// to another machine")
        }
        return remarks
    }

    /// Of numbers, as the status has them at its top.
    private static let known = Set(
        (Channel.ofSite + Channel.ofUnit).compactMap { channel -> String? in
            switch channel.kind {
            case .number: channel.key.contains(".") ? nil : channel.key
            case .flag, .name, .list: nil
            }
        })

    private static func channel(of condition: AlarmRule.Condition) -> String? {
        switch condition {
        case .above(let channel, _, _), .below(let channel, _, _): channel
        case .danger, .trip, .noReport, .held, .warning: nil
        }
    }

    /// `http://localhost:x@elsewhere` is elsewhere.
    private static func isLocal(_ url: String) -> Bool {
        let place = url.dropFirst(7).prefix { !"/?#".contains($0) }
        return ["127.0.0.1", "localhost", "[::1]"].contains { host in
            place == host
                || place.hasPrefix(host + ":")
                    && place.dropFirst(host.count + 1).utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
    }
}
