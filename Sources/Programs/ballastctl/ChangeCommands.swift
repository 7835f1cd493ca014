import ArgumentParser
import ControlSocket
import LinuxIO

/// How long something holds, as people type it.
struct ForOption: ParsableArguments {
    @Option(name: .customLong("for"), help: "How long: 90s, 15m, 2h. It then ends by itself.")
    var duration: String

    func seconds() throws -> Double {
        guard let seconds = DurationText.seconds(duration) else {
            throw ValidationError("--for takes a number with its unit: 90s, 15m, 2h; not \(duration)")
        }
        return seconds
    }
}

/// The site, or one unit of it.
struct UnitOption: ParsableArguments {
    @Option(
        help: "One unit alone: it leaves the sharing of the site's power, and the others make up for it.",
        completion: Completion.units)
    var unit: String?
}

struct Setpoint: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Ask for a power of the site, or of one unit, in the place of schedule and remote, for a time.",
        subcommands: [Ask.self, Revoke.self], defaultSubcommand: Ask.self)

    struct Ask: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ask for a power. Positive = discharge. No interlock or limit is passed by.")
        @Argument(parsing: .allUnrecognized, help: "Power in kW; negative = charge.") var kilowatts: [String]
        @OptionGroup var unit: UnitOption
        @OptionGroup var hold: ForOption
        @OptionGroup var reason: ReasonOption
        @OptionGroup var socket: SocketOption

        func run() throws {
            guard kilowatts.count == 1, let power = Double(kilowatts[0]), power.isFinite else {
                throw ValidationError("give one power in kW")
            }
            let request = ControlRequest(
                .setpoint, unit: unit.unit, reason: reason.reason, power_kw: power,
                for_s: try hold.seconds())
            print(try socket.ask(request).done ?? "")
        }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "End the operator's setpoint now.")
        @OptionGroup var unit: UnitOption
        @OptionGroup var reason: ReasonOption
        @OptionGroup var socket: SocketOption

        func run() throws {
            let request = ControlRequest(.revoke, unit: unit.unit, reason: reason.reason)
            print(try socket.ask(request).done ?? "")
        }
    }
}

struct Mode: ParsableCommand {
    enum Wanted: String, ExpressibleByArgument, CaseIterable { case maintenance, standby, hold, auto }

    static let configuration = CommandConfiguration(
        abstract: "Take a unit out for a time, or give it back.",
        discussion: """
            maintenance: zero power, contactors open; it is no lock-out. standby: zero power, ready to run. hold: zero power, \
            contactors open, without an end if none is given. auto: what you have set ends, and the unit enters service \
            anew unless somebody else keeps it out; --of ends what another person has set. A trip, a reset, a resume and a \
            restart end none of it. An end by time starts nothing: 'ballastctl resume UNIT' does.
            """)
    @Argument(help: "Identifier of the unit.", completion: Completion.units) var unit: String
    @Argument(help: "maintenance, standby, hold or auto.") var mode: Wanted
    @Option(name: .customLong("for"), help: "With maintenance, standby and hold: how long (15m, 2h).")
    var duration: String?
    @Option(help: "With auto: whose (a name or user id, or unknown); your own without it.") var of: String?
    @OptionGroup var reason: ReasonOption
    @OptionGroup var socket: SocketOption

    func run() throws {
        let seconds = duration.flatMap(DurationText.seconds)
        if of != nil && mode != .auto { throw ValidationError("--of belongs to auto") }
        switch mode {
        case .maintenance where seconds == nil, .standby where seconds == nil,
            .hold where seconds == nil && duration != nil:
            throw ValidationError("\(mode) takes --for with a number and its unit: 15m, 2h")
        case .auto where duration != nil:
            throw ValidationError("auto takes no --for")
        case .maintenance, .standby, .hold, .auto:
            let request = ControlRequest(
                .mode, unit: unit, reason: reason.reason, for_s: seconds, mode: mode.rawValue,
                of: try person())
            print(try socket.ask(request).done ?? "")
        }
    }

    /// The daemon knows persons by their numbers.
    private func person() throws -> String? {
        guard let of, UInt32(of) == nil, of != "unknown" else { return of }
        guard let number = Accounts.userID(named: of) else {
            throw ValidationError("--of: this machine has no account \(of)")
        }
        return "\(number)"
    }
}
