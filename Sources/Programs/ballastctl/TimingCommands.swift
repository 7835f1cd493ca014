import ArgumentParser
import ControlSocket
import FrequencyRecord
import Glibc
import LinuxIO
import SiteConfig
import SiteFile

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
        abstract: "Print the site and the cycle as metrics in the Prometheus text format.",
        discussion: """
            With --config also what the performance record says of the last time: activations and the score of the \
            response. The names, with what they mean, stand as HELP in the text; dashboards for Grafana lie beside the \
            examples.
            """)
    @OptionGroup var socket: SocketOption
    @Option(help: "The site's configuration file: adds the frequency response from its performance record.")
    var config: String?
    @Option(help: "With --config: of which time back from now: 24h, 15m.") var window = "24h"
    @Option(help: "Write them into this file at once and whole, for the node exporter: it ends in .prom.")
    var textfile: String?

    func validate() throws {
        if let textfile, !textfile.hasSuffix(".prom") {
            throw ValidationError("--textfile: the node exporter reads files that end in .prom")
        }
        if DurationText.seconds(window) == nil {
            throw ValidationError("--window takes a number with its unit: 24h, 15m")
        }
    }

    /// The same figures as `ballastctl frequency report` of that time.
    private func response() throws -> String {
        guard let config, let seconds = DurationText.seconds(window) else { return "" }
        let site = try SiteConfig.load(path: config)
        let now = WallClock.nowMilliseconds()
        let from = now - Int64(seconds * 1_000)
        let folder = site.paths.stateDirectory + "/performance"
        let record = try PerformanceRecord(folder: folder, from: from, to: now)
        let band = site.gridIntegration.operatingBand.map {
            FrequencyRules.Band(lowMillihertz: $0.lowerBound, highMillihertz: $0.upperBound)
        }
        let rules = FrequencyRules(operatingBand: band)
        return FrequencyReport(record.samples, rules: rules, from: from, to: now).metrics
    }

    func run() throws {
        let metrics: String
        do {
            guard let site = try socket.ask(ControlRequest(.metrics)).metrics else {
                throw Refusal("no metrics")
            }
            metrics = Self.answers(true) + site + (try response())
        } catch {
            // What stood in the file would be shown as of now for ever.
            if let textfile { try write(Self.answers(false), to: textfile) }
            throw error
        }
        guard let textfile else { return print(metrics, terminator: "") }
        try write(metrics, to: textfile)
    }

    private static func answers(_ isUp: Bool) -> String {
        "# HELP ballast_up 1 where the controller has answered; 0 where nobody has, and then nothing else is here.\n"
            + "# TYPE ballast_up gauge\nballast_up \(isUp ? 1 : 0)\n"
    }

    /// At once and whole, for the exporter runs as somebody else and looks at any time.
    private func write(_ text: String, to path: String) throws {
        let unfinished = path + ".unfinished"
        do throws(SystemError) {
            try DurableFile.replace(unfinished, with: Array(text.utf8))
            guard chmod(unfinished, 0o644) == 0 else { throw SystemError.last("chmod") }
            guard rename(unfinished, path) == 0 else { throw SystemError.last("rename") }
        } catch {
            throw Refusal("\(path): \(error)")
        }
    }
}
