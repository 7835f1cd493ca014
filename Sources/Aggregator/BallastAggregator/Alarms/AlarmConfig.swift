import ConfigText

/// What the aggregator's file says of alarms.
public struct AlarmConfig: Sendable, Equatable {
    struct Mail: Sendable, Equatable {
        var host: String
        var port: Int
        var from: String
        var to: [String]
        /// Who is told besides, where nobody has acknowledged an alarm in its time.
        var escalateTo: [String] = []
        /// The connection must become TLS before anything of the alarm is said.
        var startsTLS: Bool
        /// PEM: whom to believe; `nil` = whom this machine believes.
        var rootsFile: String?
    }

    struct Webhook: Sendable, Equatable {
        var url: String
        /// Holds the key of the signature, and nothing else.
        var keyFile: String
    }

    var rules: [AlarmRule] = AlarmRule.shipped
    var mail: Mail?
    var webhook: Webhook?
    /// A program that is given the alarm in its environment.
    var command: String?
    var quiet: QuietHours?
    /// `nil` = no day is summed up.
    var summary: DailySummary?

    var ways: [AlarmNotice.Way] {
        var ways: [AlarmNotice.Way] = []
        if mail != nil { ways.append(.mail) }
        if webhook != nil { ways.append(.webhook) }
        if command != nil { ways.append(.command) }
        return ways
    }

    /// What is to be told of a change, each way; nothing in quiet hours unless it cannot wait.
    func notices(of record: AlarmRecord, _ told: AlarmMachine.Told, at now: Int64) -> [AlarmNotice] {
        let severity = record.machine.settings.severity
        if QuietHours.silences(quiet, severity, at: now) { return [] }
        return ways.map { way in
            AlarmNotice(way: way, told: told, severity: severity, key: record.key, text: record.text, at: now)
        }
    }
}

enum AlarmKeys {
    static let id = ConfigKey<String>.identifier("id", .required, "the rule's name")
    static let when = ConfigKey<String>.text(
        "when", allowed: "danger, trip, no_report, held, warning, above, below", .required, "what is an alarm"
    ) { word in
        AlarmRule.Condition.words.contains { $0.0 == word } || word == "above" || word == "below" ? word : nil
    }
    static let channel = ConfigKey<String?>.text(
        "channel", allowed: "a name", .fixed(nil), shown: "none", "with above and below: soc_percent"
    ) { text in
        text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F } ? .some(text) : nil
    }
    static let limit = number("limit", "with above and below")
    static let hysteresis = number("hysteresis", "how far back it must be to be gone")
    static let severity = ConfigKey<AlarmMachine.Severity>.choice(
        "severity", AlarmMachine.Severity.allCases.map { ($0.rawValue, $0) }, .required,
        "what it means for people")
    static let raiseAfter = seconds("for_s", 0, "how long it must hold")
    static let clearAfter = seconds("clear_after_s", 10, "how long it must be gone")
    static let escalateAfter = ConfigKey<Int64?>.number(
        "escalate_after_s", 10...86_400, "s", .computed("never"),
        "told again where nobody has acknowledged it"
    ) { Int64($0 * 1_000) }
    static let from = ConfigKey<Int>.text(
        "from", allowed: "22:00", .required, "when quiet begins", read: minutes)
    static let until = ConfigKey<Int>.text(
        "until", allowed: "06:00", .required, "when it ends", read: minutes)
    static let zone = ConfigKey.whole("zone_minutes", -840...840, "min", .fixed(0), "east of UTC; India: 330")
    { $0 }
    static let host = ConfigKey<String>.host("host", .fixed("127.0.0.1"), "the mail server")
    static let port = ConfigKey.whole("port", 1...65_535, "", .fixed(25), "its port") { $0 }
    static let sender = address("from", "the sender's address")
    static let receivers = ConfigKey<[String]>(
        "to", allowed: "a list of addresses", .required, "who is told"
    ) { (node) throws(ConfigComplaint) in try addresses(node) }
    static let escalateTo = ConfigKey<[String]>(
        "escalate_to", allowed: "a list of addresses", .fixed([]), shown: "nobody",
        "who is told too, where nobody has acknowledged it in escalate_after_s"
    ) { (node) throws(ConfigComplaint) in try addresses(node) }
    static let summaryAt = ConfigKey<Int>.text(
        "at", allowed: "07:00", .required, "when the day is summed up", read: minutes)

    private static func addresses(_ node: ConfigNode) throws(ConfigComplaint) -> [String] {
        guard case .sequence(let elements) = node.content, (1...50).contains(elements.count) else {
            throw ConfigComplaint("expected a list of 1 … 50 addresses", at: node.position)
        }
        var list: [String] = []
        for element in elements {
            let text = try element.text("an address")
            guard isAddress(text) else { throw ConfigComplaint("is no address", at: element.position) }
            list.append(text)
        }
        return list
    }
    static let startsTLS = ConfigKey<Bool>.flag(
        "starttls", .fixed("true"), "nothing is said before TLS; false on this machine only")
    static let roots = ConfigKey<String?>.text(
        "ca_file", allowed: "a path", .fixed(nil), shown: "the machine's",
        "PEM: the authorities that the mail server may have"
    ) { .some($0) }
    static let url = ConfigKey<String>.text(
        "url", allowed: "http:// or https://", .required, "where it is posted"
    ) {
        $0.hasPrefix("https://") || $0.hasPrefix("http://") ? $0 : nil
    }
    static let keyFile = ConfigKey<String>.path("key_file", .required, "holds the key of the signature")
    static let command = ConfigKey<String>.path(
        "command", .required, "a program that is run with the alarm in its environment")

    private static func number(_ name: String, _ note: String) -> ConfigKey<Double?> {
        ConfigKey<Double?>.number(name, -1e9...1e9, "", .computed("none"), note) { $0 }
    }

    private static func seconds(_ name: String, _ fallback: Double, _ note: String) -> ConfigKey<Int64> {
        ConfigKey.number(name, 0...86_400, "s", .fixed(fallback), note) { Int64($0 * 1_000) }
    }

    private static func address(_ name: String, _ note: String) -> ConfigKey<String> {
        .text(name, allowed: "an address", .required, note) { isAddress($0) ? $0 : nil }
    }

    /// Nothing that could end a line of the mail's dialogue.
    private static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && text.utf8.count <= 254
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x3C && $0 != 0x3E }
    }

    private static func minutes(_ text: String) -> Int? {
        let parts = text.split(separator: ":").map { Int($0) }
        guard text.utf8.count == 5, parts.count == 2, let hour = parts[0], let minute = parts[1],
            (0..<24).contains(hour), (0..<60).contains(minute)
        else { return nil }
        return hour * 60 + minute
    }
}

/// Reads the section `alarms`.
struct AlarmReader {
    typealias Keys = AlarmKeys
    let reader: ConfigReader
    let sites: [String]

    /// What the file says of alarms; without the section what holds everywhere.
    static func alarms(_ reader: ConfigReader, sites: [String]) -> AlarmConfig? {
        guard reader.has("alarms") else { return AlarmConfig() }
        return reader.section("alarms") { AlarmReader(reader: $0, sites: sites).alarms() }
    }

    private func alarms() -> AlarmConfig? {
        var config = AlarmConfig()
        let own = reader.list("rules", count: 0...200) { section, _ in rule(section) }
        for rule in own {
            config.rules.removeAll { $0.id == rule.id }
            config.rules.append(rule)
        }
        // Whatever the file says, what endangers people is an alarm of life safety, everywhere and soon.
        if !config.rules.contains(where: tellsOfDanger) {
            reader.refuse(
                "rules",
                "danger is an alarm of life_safety, at all sites and within 10 s: it cannot be left out or be made less"
            )
        }
        if reader.has("quiet_hours") { config.quiet = reader.section("quiet_hours") { quiet($0) } }
        if reader.has("daily_summary") {
            config.summary = reader.section("daily_summary") { summary($0) }
            if config.summary != nil, !["mail", "webhook", "command"].contains(where: { reader.has($0) }) {
                reader.refuse("daily_summary", "reaches nobody without mail, webhook or command")
            }
        }
        if reader.has("mail") { config.mail = reader.section("mail") { mail($0) } }
        if reader.has("webhook") { config.webhook = reader.section("webhook") { webhook($0) } }
        if reader.has("command") { config.command = reader.value(Keys.command) }
        return config
    }

    private func tellsOfDanger(_ rule: AlarmRule) -> Bool {
        rule.condition == .danger && rule.settings.severity == .lifeSafety && rule.sites.isEmpty
            && rule.settings.raiseAfter <= 10_000
    }

    private func rule(_ section: ConfigReader) -> AlarmRule? {
        let (id, when) = (section.value(Keys.id), section.value(Keys.when))
        let (channel, limit) = (section.value(Keys.channel) ?? nil, section.value(Keys.limit) ?? nil)
        let hysteresis = (section.value(Keys.hysteresis) ?? nil) ?? 0
        let severity = section.value(Keys.severity)
        let (raise, clear) = (section.value(Keys.raiseAfter), section.value(Keys.clearAfter))
        let escalate = section.value(Keys.escalateAfter) ?? nil
        let list = section.has("sites") ? section.value(AggregatorKeys.principalSites) : ["all"]
        guard let id, let when, let severity, let raise, let clear, let list else { return nil }
        for site in list where list != ["all"] && !sites.contains(site) {
            section.refuse("sites", "there is no site \(ConfigWording.quoted(site)) in this file")
        }
        guard let condition = condition(when, channel, limit, hysteresis, section) else { return nil }
        return AlarmRule(
            id: id, condition: condition,
            settings: .init(
                severity: severity, raiseAfter: raise, clearAfter: clear, escalateAfter: escalate),
            sites: list == ["all"] ? [] : list)
    }

    private func condition(
        _ word: String, _ channel: String?, _ limit: Double?, _ hysteresis: Double, _ section: ConfigReader
    ) -> AlarmRule.Condition? {
        if let found = AlarmRule.Condition.words.first(where: { $0.0 == word }) { return found.1 }
        guard let channel, let limit, hysteresis >= 0 else {
            section.refuse("channel", "and limit are missing (required with above and below)")
            return nil
        }
        return word == "above"
            ? .above(channel: channel, limit: limit, hysteresis: hysteresis)
            : .below(channel: channel, limit: limit, hysteresis: hysteresis)
    }

    private func quiet(_ section: ConfigReader) -> QuietHours? {
        let (from, until) = (section.value(Keys.from), section.value(Keys.until))
        guard let from, let until, let zone = section.value(Keys.zone) else { return nil }
        return QuietHours(from: from, until: until, zoneMinutes: zone)
    }

    private func summary(_ section: ConfigReader) -> DailySummary? {
        guard let at = section.value(Keys.summaryAt), let zone = section.value(Keys.zone) else { return nil }
        return DailySummary(at: at, zoneMinutes: zone)
    }

    private func mail(_ section: ConfigReader) -> AlarmConfig.Mail? {
        let (host, port) = (section.value(Keys.host), section.value(Keys.port))
        let (from, to) = (section.value(Keys.sender), section.value(Keys.receivers))
        guard let host, let port, let from, let to, let startsTLS = section.value(Keys.startsTLS) else {
            return nil
        }
        if !startsTLS && !["127.0.0.1", "::1", "localhost"].contains(host) {
            section.refuse(
                "starttls",
                "false stands for a server on this machine only: \(host) is reached over a network")
        }
        let roots = section.value(Keys.roots) ?? nil
        return AlarmConfig.Mail(
            host: host, port: port, from: from, to: to, escalateTo: section.value(Keys.escalateTo) ?? [],
            startsTLS: startsTLS, rootsFile: roots)
    }

    private func webhook(_ section: ConfigReader) -> AlarmConfig.Webhook? {
        guard let url = section.value(Keys.url), let file = section.value(Keys.keyFile) else { return nil }
        return AlarmConfig.Webhook(url: url, keyFile: file)
    }
}
