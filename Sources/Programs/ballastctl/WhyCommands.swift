import ArgumentParser
import ControlSocket

struct Why: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say in one line why a unit's power, or the site's, is what it is.")
    @Argument(help: "Identifier of the unit; none = the site and all its units.") var unit: String?
    @OptionGroup var socket: SocketOption

    func run() throws {
        guard let status = try socket.ask(ControlRequest(.status)).status else { throw Refusal("no status") }
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
    @Argument(help: "Identifier of a unit; none = all.") var unit: String?
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
