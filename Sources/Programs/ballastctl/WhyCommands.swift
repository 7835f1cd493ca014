import ArgumentParser
import ControlSocket

struct Why: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say in one line why a unit's power, or the site's, is what it is.")
    @Argument(help: "Identifier of the unit; none = the site and all its units.") var unit: String?
    @OptionGroup var socket: SocketOption

    func run() throws {
        guard let status = try socket.ask(ControlRequest(.status)).status else { throw Refusal("no status") }
        if let unit {
            guard let found = status.units.first(where: { $0.id == unit }) else {
                let names = status.units.map(\.id).joined(separator: ", ")
                throw Refusal("no such unit; the units are \(names)")
            }
            print(WhyText.unit(found, in: status))
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
        let trips = all.filter { unit == nil || $0.unit == unit }
        if json, let bytes = JSONLine.encode(trips) {
            print(String(decoding: bytes, as: UTF8.self), terminator: "")
        } else {
            print(TripText.page(trips))
        }
    }
}
