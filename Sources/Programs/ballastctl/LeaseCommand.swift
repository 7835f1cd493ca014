import ArgumentParser
import ControlSocket

struct Lease: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring a signed power from outside to the site ('ballast-aggregator lease sign').",
        discussion: """
            The signature says who asks, so that no group and no reason is needed. It ranks below the operator's setpoint, \
            and ends by itself. Interlocks, limits, modes, resets and locks cannot be reached by it.
            """)
    @Argument(help: "The lease, as hexadecimal digits.") var lease: String
    @OptionGroup var socket: SocketOption

    func run() throws { print(try socket.ask(ControlRequest(.lease, lease: lease)).done ?? "") }
}
