import FoundationEssentials
import JSONText

/// What a page and the alarms need of one site, out of its state. Lenient: one bad value is left out, and a
/// state that
/// cannot be read at all leaves a row that says so.
struct FleetRow: Sendable {
    var view: AlarmView
    /// Why the state cannot be read; `nil` where it can.
    var fault: String?
    var mode = ""
    /// The site's own time of the state.
    var at: String?
    /// Of the units, by their mode.
    var modes: [String: Int] = [:]

    /// A value of the state, whatever it is.
    private enum Loose: Decodable {
        case number(Double), flag(Bool), text(String), list([String]), objects([[String: Loose]]), other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            // The first that fits is what it is; what fits none is passed over.
            if let value = try? container.decode(Bool.self) {
                self = .flag(value)
            } else if let value = try? container.decode(Double.self) {
                self = value.isFinite ? .number(value) : .other
            } else if let value = try? container.decode(String.self) {
                self = .text(value)
            } else if let value = try? container.decode([String].self) {
                self = .list(value)
            } else if let value = try? container.decode([[String: Loose]].self) {
                self = .objects(value)
            } else {
                self = .other
            }
        }

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
        let state: [String: Loose]
        do {
            state = try JSONDecoder().decode([String: Loose].self, from: Data(telemetry.utf8))
        } catch {
            fault = "its newest state cannot be read"
            return
        }
        mode = state["mode"]?.text ?? ""
        at = state["at"]?.text
        view.values = state.compactMapValues(\.number)
        if case .flag(true)? = state["stopped"] { view.isStopped = true }
        guard case .objects(let units)? = state["units"] else { return }
        for unit in units.prefix(64) {
            var one = AlarmView.Unit(id: unit["id"]?.text ?? "?")
            one.trips = unit["trips"]?.list ?? []
            one.dangers = unit["dangers"]?.list ?? []
            one.warnings = unit["warnings"]?.list ?? []
            one.holds = unit["holds"]?.list ?? []
            one.values = unit.compactMapValues(\.number)
            view.units.append(one)
            modes[unit["mode"]?.text ?? "unknown", default: 0] += 1
        }
    }

    /// For the list of all sites.
    ///
    /// - Parameters:
    ///   - alarms: raised and not shelved, by severity.
    ///   - contact: when the site's link was last heard of, whatever it wanted.
    func json(alarms: [AlarmMachine.Severity: Int], contact: Int64?) -> String {
        var text =
            "{\"site\":\(JSONText.quoted(view.site)),\"seen_ms\":\(view.seenAt.map(String.init) ?? "null")"
        text += ",\"contact_ms\":\(contact.map(String.init) ?? "null"),\"mode\":\(JSONText.quoted(mode))"
        text += ",\"at\":\(at.map(JSONText.quoted) ?? "null"),\"stopped\":\(view.isStopped)"
        for key in ["frequency_hz", "site_power_kw", "setpoint_kw"] {
            text += ",\"\(key)\":\(view.values[key].map { "\($0)" } ?? "null")"
        }
        let charges = view.units.compactMap { $0.values["soc_percent"] }
        let mean = charges.isEmpty ? nil : charges.reduce(0, +) / Double(charges.count)
        text += ",\"soc_percent\":\(mean.map { "\(($0 * 10).rounded() / 10)" } ?? "null")"
        text += ",\"units\":\(view.units.count),\"running\":\(modes["running"] ?? 0)"
        text += ",\"tripped\":\(modes["tripped"] ?? 0),\"offline\":\(modes["offline"] ?? 0)"
        let dangers = view.units.flatMap { unit in unit.dangers.map { "\($0) (at \(unit.id))" } }
        text += ",\"dangers\":[\(dangers.map(JSONText.quoted).joined(separator: ","))]"
        let counts = AlarmMachine.Severity.allCases.map { "\"\($0.rawValue)\":\(alarms[$0] ?? 0)" }
        text += ",\"alarms\":{\(counts.joined(separator: ","))}"
        return text + ",\"fault\":\(fault.map(JSONText.quoted) ?? "null")}"
    }
}
