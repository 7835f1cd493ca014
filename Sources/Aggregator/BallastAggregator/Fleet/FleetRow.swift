import JSONText

/// What a page and the alarms need of one site, out of its state. Lenient: one bad value is left out, and a
/// state that cannot be read at all leaves a row that says so.
struct FleetRow: Sendable {
    var view: AlarmView
    /// Why the state cannot be read; `nil` where it can.
    var fault: String?
    var mode = ""
    /// The site's own time of the state.
    var at: String?
    /// When the newest record of the state came, UTC, in milliseconds since 1970.
    var receivedAt: Int64?
    /// Whether nothing is missing since the site's newest snapshot.
    var isWhole = true
    /// Of the units, by their mode.
    var modes: [String: Int] = [:]

    /// A value of the state, whatever it is.
    fileprivate enum Loose {
        case number(Double), flag(Bool), text(String), list([String]), other

        var number: Double? { if case .number(let value) = self { value } else { nil } }
        var text: String? { if case .text(let value) = self { value } else { nil } }
        var list: [String] { if case .list(let value) = self { value } else { [] } }
    }

    /// - Parameters:
    ///   - telemetry: the site's state as JSON; `nil` = there is none.
    ///   - seenAt: when its newest record came.
    init(site: String, telemetry: String?, seenAt: Int64?) {
        view = AlarmView(site: site, seenAt: seenAt)
        guard let telemetry else { return }
        var state: [String: Loose] = [:]
        var units: [[String: Loose]] = []
        do throws(JSONError) {
            let bytes = Array(telemetry.utf8)
            var cursor = JSONCursor(bytes)
            try cursor.object { (key, cursor) throws(JSONError) in
                guard key == "units", cursor.isAtArray else {
                    return state[key] = try Loose.read(&cursor, bytes)
                }
                try cursor.array { (_, cursor) throws(JSONError) in
                    guard cursor.isAtObject else { return _ = try cursor.skipValue() }
                    var unit: [String: Loose] = [:]
                    try cursor.object { (key, cursor) throws(JSONError) in
                        unit[key] = try Loose.read(&cursor, bytes)
                    }
                    units.append(unit)
                }
            }
            try cursor.end()
        } catch {
            fault = "its newest state cannot be read"
            return
        }
        take(state, units)
    }

    private mutating func take(_ state: [String: Loose], _ units: [[String: Loose]]) {
        mode = state["mode"]?.text ?? ""
        at = state["at"]?.text
        view.values = state.compactMapValues(\.number)
        if case .flag(true)? = state["stopped"] { view.isStopped = true }
        if case .flag(false)? = state["whole"] { isWhole = false }
        for unit in units.prefix(64) {
            var one = AlarmView.Unit(id: unit["id"]?.text ?? "?")
            one.trips = unit["trips"]?.list ?? []
            one.dangers = unit["dangers"]?.list ?? []
            one.warnings = unit["warnings"]?.list ?? []
            one.holds = unit["holds"]?.list ?? []
            one.locks = unit["locks"]?.list ?? []
            one.mode = unit["mode"]?.text ?? ""
            one.begunBy = unit["begun_by"]?.text ?? ""
            one.values = unit.compactMapValues(\.number)
            view.units.append(one)
            modes[unit["mode"]?.text ?? "unknown", default: 0] += 1
        }
    }

    /// For the list of all sites: what somebody must know at once.
    ///
    /// - Parameter alarms: raised and not shelved, by severity.
    func urgent(alarms: [AlarmMachine.Severity: Int]) -> String {
        var text =
            "\"mode\":\(JSONText.quoted(mode)),\"stopped\":\(view.isStopped),\"silent\":\(view.isSilent)"
        text += ",\"units\":\(view.units.count),\"running\":\(modes["running"] ?? 0)"
        text += ",\"tripped\":\(modes["tripped"] ?? 0),\"offline\":\(modes["offline"] ?? 0)"
        let dangers = view.units.flatMap { unit in unit.dangers.map { "\($0) (at \(unit.id))" } }
        text += ",\"dangers\":[\(dangers.map(JSONText.quoted).joined(separator: ","))]"
        let counts = AlarmMachine.Severity.allCases.map { "\"\($0.rawValue)\":\(alarms[$0] ?? 0)" }
        text += ",\"alarms\":{\(counts.joined(separator: ","))}"
        return text + ",\"fault\":\(fault.map(JSONText.quoted) ?? "null")"
    }

    /// What changes all the time.
    ///
    /// - Parameter contact: when the site's link was last heard of, whatever it wanted.
    func figures(contact: Int64?) -> String {
        var text = "\"seen_ms\":\(view.seenAt.map(String.init) ?? "null")"
        text += ",\"contact_ms\":\(contact.map(String.init) ?? "null")"
        text += ",\"at\":\(at.map(JSONText.quoted) ?? "null")"
        for key in ["frequency_hz", "site_power_kw", "setpoint_kw"] {
            text += ",\"\(key)\":\(view.values[key].map { "\($0)" } ?? "null")"
        }
        let charges = view.units.compactMap { $0.values["soc_percent"] }
        let mean = charges.isEmpty ? nil : charges.reduce(0, +) / Double(charges.count)
        return text + ",\"soc_percent\":\(mean.map { "\(($0 * 10).rounded() / 10)" } ?? "null")"
    }
}

extension FleetRow.Loose {
    /// Reads a value of any kind; what is too deep or mixed is `other`.
    fileprivate static func read(
        _ cursor: inout JSONCursor, _ bytes: [UInt8]
    ) throws(JSONError) -> FleetRow.Loose {
        if cursor.isAtString { return .text(try cursor.string()) }
        if cursor.isAtArray {
            var (texts, isOther) = ([String](), false)
            try cursor.array { (_, cursor) throws(JSONError) in
                if cursor.isAtString {
                    texts.append(try cursor.string())
                } else {
                    isOther = true
                    _ = try cursor.skipValue()
                }
            }
            return isOther ? .other : .list(texts)
        }
        let word = String(decoding: bytes[try cursor.skipValue()], as: UTF8.self)
        if word == "true" || word == "false" { return .flag(word == "true") }
        // Words of JSON alone come here: null and objects are no numbers.
        return Double(word).flatMap { $0.isFinite ? .number($0) : nil } ?? .other
    }
}
