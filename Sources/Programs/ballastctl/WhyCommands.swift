import ArgumentParser
import ControlSocket

struct Why: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say in one line why a unit's power, or the site's, is what it is.")
    @Argument(
        help: "Identifier of the unit; none = the site and all its units.", completion: Completion.units)
    var unit: String?
    @OptionGroup var socket: SocketOption
    @Flag(help: "Print JSON.") var json = false

    /// What `--json` prints.
    private struct Report: JSONPrinted {
        struct Unit: Encodable {
            var unit: String
            var mode: String
            var setpoint_kw: Double
            var limited_by: String
            var text: String
        }

        /// What is to be done at once; first, because people come first.
        var dangers: [String]
        /// Wall time of the decision, ISO 8601 in UTC.
        var at: String
        var site: String
        var setpoint_kw: Double
        /// Absent where one unit was asked for.
        var text: String?
        var units: [Unit]
    }

    private func report(_ status: SiteStatus) throws -> Report {
        let units = try unit.map { [try status.unit(named: $0)] } ?? status.units
        return Report(
            dangers: DangerText.lines(status), at: status.at, site: status.site,
            setpoint_kw: status.setpoint_kw, text: unit == nil ? WhyText.site(status) : nil,
            units: units.map { unit in
                Report.Unit(
                    unit: unit.id, mode: unit.mode, setpoint_kw: unit.setpoint_kw,
                    limited_by: unit.limited_by, text: WhyText.unit(unit, in: status))
            })
    }

    func run() throws {
        guard let status = try socket.ask(ControlRequest(.status)).status else { throw Refusal("no status") }
        if json { return try report(status).print() }
        for line in DangerText.lines(status) { print(line) }
        if let unit {
            print(WhyText.unit(try status.unit(named: unit), in: status))
        } else {
            print(WhyText.site(status))
            for unit in status.units { print(WhyText.unit(unit, in: status)) }
        }
    }
}

struct Trips: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show latched trips: what came first, when, by how much, who may reset it, what to check.")
    @Argument(help: "Identifier of a unit; none = all.", completion: Completion.units) var unit: String?
    @OptionGroup var socket: SocketOption
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        guard let all = try socket.ask(ControlRequest(.trips)).trips else { throw Refusal("no trips") }
        if let unit {
            guard let status = try socket.ask(ControlRequest(.status)).status else {
                throw Refusal("no status")
            }
            _ = try status.unit(named: unit)
        }
        let trips = all.filter { unit == nil || $0.unit == unit }
        if json, let bytes = JSONLine.encode(trips) {
            print(String(decoding: bytes, as: UTF8.self), terminator: "")
        } else {
            print(TripText.page(trips))
        }
    }
}

extension SiteStatus {
    /// A name that is no unit's has no trips and no reasons, which must not sound like a unit that is well.
    fileprivate func unit(named name: String) throws -> UnitStatus {
        if let found = units.first(where: { $0.id == name }) { return found }
        throw Refusal("no such unit; the units are \(units.map(\.id).joined(separator: ", "))")
    }
}
