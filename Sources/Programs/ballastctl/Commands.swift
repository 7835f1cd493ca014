import ArgumentParser
import ControlSocket
import Glibc
import LinuxIO

/// Where the daemon listens.
struct SocketOption: ParsableArguments {
    /// Whoever looks at another daemon all the time, such as a simulated one, says so once.
    static let standard =
        getenv("BALLAST_SOCKET").map { String(cString: $0) } ?? "/run/ballast/control.sock"

    @Option(help: "The daemon's control socket; BALLAST_SOCKET names another one.", completion: .file())
    var socket = SocketOption.standard

    /// Asks, and turns a refusal into a failure of the command.
    func ask(_ request: ControlRequest) throws -> ControlAnswer {
        let answer: ControlAnswer?
        do {
            answer = try ControlClient.ask(request, at: socket)
        } catch {
            throw Refusal(
                "\(socket): \(error); does ballastd run, and may you use its socket (group ballast)?")
        }
        guard let answer else { throw Refusal("\(socket): no answer within 5 s") }
        if let error = answer.error { throw Refusal(error) }
        return answer
    }
}

/// Why a command did not do its work.
struct Refusal: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A change is always asked for with a reason.
struct ReasonOption: ParsableArguments {
    @Option(help: "Why; it goes into the log with your name.")
    var reason: String
}

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the site, its units and its links.")
    @OptionGroup var socket: SocketOption
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        guard let status = try socket.ask(ControlRequest(.status)).status else { throw Refusal("no status") }
        if json, let bytes = JSONLine.encode(status) {
            print(String(decoding: bytes, as: UTF8.self), terminator: "")
        } else {
            print(StatusText.page(status))
        }
    }
}

struct Reset: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Clear a unit's latched trips whose cause is gone.",
        discussion: """
            A reset starts nothing: the unit is held in standby, its contactors open, until 'ballastctl resume UNIT', or the
            whole site's resume by who has reset it.
            """)
    @Argument(help: "Identifier of the unit.", completion: Completion.units) var unit: String
    @OptionGroup var reason: ReasonOption
    @OptionGroup var socket: SocketOption

    func run() throws {
        print(try socket.ask(ControlRequest(.reset, unit: unit, reason: reason.reason)).done ?? "")
    }
}

struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Take the whole site out of service.")
    @OptionGroup var reason: ReasonOption
    @OptionGroup var socket: SocketOption

    func run() throws { print(try socket.ask(ControlRequest(.stop, reason: reason.reason)).done ?? "") }
}

struct Resume: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let the site, or one unit that is held, run again.",
        discussion: """
            A unit is held after the reset of a trip, after an unplanned restart, after a person's lock (maintenance, \
            standby, hold) that ended by its time, and where an interlock asks for it. Without a unit this ends the site's \
            stop, what only a restart holds, and what a trip holds that you have reset; what else a person or a \
            trip holds ends by its unit's name. A unit with a \
            latched trip is reset first. A lock is its person's, and stays: 'ballastctl mode UNIT auto'. \
            Power comes after enter_service_s with everything seen good: nobody may be at the unit.
            """)
    @Argument(help: "Identifier of the unit; without it the whole site.", completion: Completion.units)
    var unit: String?
    @OptionGroup var reason: ReasonOption
    @OptionGroup var socket: SocketOption

    func run() throws {
        print(try socket.ask(ControlRequest(.resume, unit: unit, reason: reason.reason)).done ?? "")
    }
}
