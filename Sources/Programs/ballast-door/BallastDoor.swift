import ArgumentParser
import ControlSocket
import Glibc
import LinuxIO

@main
struct BallastDoor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ballast-door",
        abstract: "Tells the controller who asks.",
        discussion: """
            The controller runs in a user namespace of its own and sees everybody else as nobody. This program takes \
            the requests of ballastctl, learns the asker's user and groups from the kernel, and hands both on. It \
            decides nothing. Runs as the controller's user; ballast-door.service starts it.
            """,
        version: Product.version)

    @Option(help: "Where people ask: the socket of ballastctl.")
    var listen = "/run/ballast/control.sock"

    @Option(help: "Where the controller listens: its --behind-door.")
    var daemon = "/run/ballast/door.sock"

    func run() throws {
        var door = try ControlDoor(path: listen, daemon: daemon)
        door.run(while: { true }, told: { change in Self.say("ballast-door: \(listen) \(change)\n") })
    }

    /// To the journal, by systemd.
    private static func say(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
