import JSONText
import SiteConfig

extension InterlockMatrix {
    /// The matrix as one JSON object; limits are in `unit`, an absent limit is null.
    var json: String {
        let config = site.config
        return JSONValue.object([
            ("site", .text(config.siteID)), ("mode", .text(config.mode.rawValue)),
            ("chemistry", .text(config.interlocks.chemistry.rawValue)),
            ("table", .text(config.interlocks.tableFile ?? "shipped")),
            (
                "files",
                .list(
                    site.files.map {
                        .object([("path", .text($0.path)), ("sha256", .text($0.sha256))])
                    })
            ),
            ("not_in_force", .list(notInForce.map { .text($0) })),
            ("rows", .list(rows.map { Self.object($0) })),
            ("remarks", .list(site.remarkLines.map { Self.object($0.remark, line: $0.line) })),
        ]).text
    }

    private static func object(_ remark: Remark, line: Int?) -> JSONValue {
        .object([
            ("weight", .text(remark.weight.word.lowercased())), ("key", .text(remark.key)),
            ("line", .number(line.map { Double($0) })), ("text", .text(remark.text)),
        ])
    }

    private static func object(_ row: Row) -> JSONValue {
        let rule = row.rule
        return .object([
            ("id", .text(rule.name)), ("signal", .text(rule.signal.word)), ("unit", .text(row.unit.symbol)),
            ("side", .text(rule.side.word)), ("direction", .text(rule.direction.word)),
            ("warn", .number(rule.warn)), ("derate_from", .number(rule.derate?.from)),
            ("derate_to", .number(rule.derate?.to)), ("trip", .number(rule.trip)),
            ("hysteresis", .number(rule.hysteresis)),
            ("exposure_ms", .number(rule.exposure > .zero ? rule.exposure.milliseconds : nil)),
            ("count", .number(rule.count.map { Double($0.times) })),
            ("count_window_s", .number(rule.count?.window.seconds)),
            ("debounce_ms", .number(rule.debounce.milliseconds)), ("while", .text(rule.condition.word)),
            ("action", .text(row.action)), ("reset", .text(rule.resetWord)),
            ("presence", .text(rule.presence.word)), ("group", .text(rule.group)),
            ("wired", .flag(row.isWired)),
            ("mandatory", .flag(rule.floor != nil)), ("absolute_trip", .number(rule.floor?.trip)),
            ("absolute_derate_end", .number(rule.floor?.derateEnd)),
            ("absolute_debounce_ms", .number(rule.floor?.debounce.milliseconds)),
            ("process_safety_time_ms", .number(rule.processSafetyTime?.milliseconds)),
            ("opens_under_load_after_ms", .number(row.patience?.milliseconds)),
            ("declared_emergency", .flag(row.isEmergency)),
            ("source", .text(rule.source)), ("process_safety_time_source", .text(rule.timeSource)),
            ("time_to_safe", .list(row.times.map { object($0) })),
        ])
    }

    private static func object(_ time: TimeToSafe) -> JSONValue {
        .object([
            ("unit", .text(time.unit)), ("total_ms", .number(time.total.milliseconds)),
            ("limit_ms", .number(time.limit?.milliseconds)),
            ("contacts_open_ms", .number(time.opening?.milliseconds)),
            (
                "parts",
                .list(
                    time.parts.map {
                        .object([
                            ("name", .text($0.name)), ("duration_ms", .number($0.duration.milliseconds)),
                        ])
                    })
            ),
        ])
    }
}

/// A value of JSON (RFC 8259) and its text.
indirect enum JSONValue {
    case text(String)
    case number(Double?)
    case flag(Bool)
    case list([JSONValue])
    case object([(String, JSONValue)])

    var text: String {
        switch self {
        case .text(let text): JSONString.quoted(text)
        case .number(let number): number.map { InterlockMatrix.number($0) } ?? "null"
        case .flag(let flag): flag ? "true" : "false"
        case .list(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { "\(JSONString.quoted($0.0)):\($0.1.text)" }.joined(separator: ",") + "}"
        }
    }
}
