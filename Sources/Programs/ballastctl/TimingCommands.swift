import ArgumentParser
import ControlSocket
import LinuxIO

struct Timing: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show how punctual the control cycle is.",
        discussion: """
            Times since the daemon's start: how late each cycle began, how long it worked and on what, how old its \
            samples were, how long a setpoint took to the device. Steps of 6 %, rounded up.
            """)
    @OptionGroup var socket: SocketOption
    @Flag(help: "Print JSON.") var json = false
    @Flag(help: "Print bars over doublings of the time.") var plot = false

    func validate() throws {
        if json && plot { throw ValidationError("--json and --plot exclude each other") }
    }

    func run() throws {
        guard let timing = try socket.ask(ControlRequest(.timing)).timing else { throw Refusal("no timing") }
        if json, let bytes = JSONLine.encode(timing) {
            print(String(decoding: bytes, as: UTF8.self), terminator: "")
        } else {
            print(plot ? TimingText.plot(timing) : TimingText.table(timing))
        }
    }
}

struct Metrics: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the site and the cycle as metrics in the Prometheus text format.")
    @OptionGroup var socket: SocketOption
    @Option(help: "Write them into this file at once and whole, for the node exporter: it ends in .prom.")
    var textfile: String?

    func validate() throws {
        if let textfile, !textfile.hasSuffix(".prom") {
            throw ValidationError("--textfile: the node exporter reads files that end in .prom")
        }
    }

    func run() throws {
        guard let metrics = try socket.ask(ControlRequest(.metrics)).metrics else {
            throw Refusal("no metrics")
        }
        guard let textfile else { return print(metrics, terminator: "") }
        do throws(SystemError) {
            try DurableFile.replace(textfile, with: Array(metrics.utf8))
        } catch {
            throw Refusal("\(textfile): \(error)")
        }
    }
}
