import ControlSocket
import Glibc
import LinuxIO
import Quantities
import Scenario
import SiteConfig

/// The demonstration: every process of a site, a measured frequency event, a fault, and what the operator
/// sees.
public struct Demo {
    public struct Options: Sendable {
        /// Folder with the five programs.
        public var programs: String
        public var site: String
        public var scenario: String
        public var aggregator: String
        public var link: String
        /// Folder for logs, state and records; made anew.
        public var records: String
        /// Where the aggregator listens.
        public var aggregatorPort: UInt16

        public init(
            programs: String, site: String, scenario: String, aggregator: String, link: String,
            records: String,
            aggregatorPort: UInt16
        ) {
            self.programs = programs
            self.site = site
            self.scenario = scenario
            self.aggregator = aggregator
            self.link = link
            self.records = records
            self.aggregatorPort = aggregatorPort
        }
    }

    /// How it ended.
    public enum Outcome: Sendable, Equatable {
        case passed
        case failed
        /// Ctrl-C.
        case interrupted
    }

    /// What stands in the way of a demonstration at all.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    private let options: Options
    private let files: SimulationFiles
    private let signals = SignalInbox()
    private let view: DemoView
    private var children: [ChildProcess] = []
    private var observation: DemoObservation

    public init(_ options: Options) throws(Failure) {
        self.options = options
        do {
            files = try SimulationFiles.load(site: options.site, scenario: options.scenario)
        } catch {
            throw Failure(description: "\(error)")
        }
        guard let fault = files.scenario.faults.first, let victim = fault.unit else {
            throw Failure(description: "\(options.scenario): a demonstration needs a fault of a unit")
        }
        view = DemoView()
        observation = DemoObservation(site: files.site, victim: victim, nadir: files.nadir)
    }

    /// Plays it all. Whatever happens, no process stays behind.
    public mutating func run() throws(Failure) -> Outcome {
        do {
            try startAll()
            guard try watch("entering service", for: .seconds(30), until: { $0.allRun }) else {
                return .interrupted
            }
            try ask("start")
            let end = MonotonicTime.now() + files.playTime
            let faultAt = files.scenario.faults.map(\.at).max() ?? .zero
            guard try watch("measured event", for: faultAt, until: { _ in false }) else {
                return .interrupted
            }
            guard try watch("one cell overheats", for: .seconds(30), until: { $0.tripped != nil }) else {
                return .interrupted
            }
            let rest = max(.seconds(8), end - .now())
            guard try watch("after the trip", for: rest, until: { _ in false }) else {
                return .interrupted
            }
            try collect()
        } catch {
            throw Failure(description: "\(error); see the logs in \(options.records)")
        }
        endAll()
        let verdicts = observation.verdicts
        view.say(DemoText.summary(verdicts, records: options.records))
        return verdicts.allSatisfy(\.isPassed) ? .passed : .failed
    }

    private mutating func startAll() throws {
        try DurableFile.createDirectories(options.records + "/run")
        try start(
            "ballast-sim",
            [
                "plant", "--site", options.site, "--scenario", options.scenario,
                "--control", "run/sim.sock",
            ])
        try waitForFile("run/sim.sock")
        try start("ballast-aggregator", ["--config", options.aggregator])
        try start("ballastd", ["--config", options.site])
        try waitForFile("run/control.sock")
        try start("ballast-link", ["--config", options.link])
    }

    private mutating func start(_ name: String, _ arguments: [String]) throws {
        children.append(
            try ChildProcess(
                name, [options.programs + "/" + name] + arguments, output: "\(options.records)/\(name).log",
                folder: options.records))
    }

    private func waitForFile(_ name: String) throws {
        let deadline = MonotonicTime.now() + .seconds(10)
        while access(options.records + "/" + name, F_OK) != 0 {
            try checkChildren()
            guard MonotonicTime.now() < deadline else {
                throw Failure(description: "\(name) did not appear within 10 s")
            }
            (MonotonicTime.now() + .milliseconds(20)).sleep()
        }
    }

    private func checkChildren() throws {
        for child in children {
            if let status = child.exitStatus() {
                throw Failure(description: "\(child.name) ended with \(status)")
            }
        }
    }

    /// Looks at the site each half second.
    ///
    /// - Returns: `false` where somebody wants us to end.
    private mutating func watch(
        _ phase: String, for limit: Duration, until isDone: (DemoObservation) -> Bool
    ) throws -> Bool {
        let begun = MonotonicTime.now()
        while MonotonicTime.now() - begun < limit {
            if signals.wait(timeout: .milliseconds(200)) != nil {
                endAll()
                view.say("interrupted; every process has ended")
                return false
            }
            try checkChildren()
            // A daemon that is only just starting gives no answer yet; its end would have been seen above.
            guard let status = try? ControlClient.ask(ControlRequest(.status), at: socket("control"))?.status
            else {
                continue
            }
            observation.see(status)
            view.show(status, phase: phase)
            if isDone(observation) { break }
        }
        return true
    }

    private func socket(_ name: String) -> String { "\(options.records)/run/\(name).sock" }

    @discardableResult
    private func ask(_ command: String) throws -> String { try LineClient.ask(command, at: socket("sim")) }

    /// Looks where the daemon does not: at the plant, the log and the aggregator.
    private mutating func collect() throws {
        let truth = JSONLine.decode(Truth.self, from: Array(try ask("truth").utf8))
        observation.victimTruePower = truth?.units.first { $0.id == observation.victim }.map {
            $0.power_w / 1_000
        }
        let log = try DurableFile.read(options.records + "/ballastd.log", limit: 16 << 20) ?? []
        observation.isTripLogged = String(decoding: log, as: UTF8.self).split(separator: "\n").contains {
            $0.contains("BALLAST_EVENT=trip") && $0.contains("BALLAST_UNIT=\(observation.victim)")
                && $0.contains("BALLAST_INTERLOCK=cell_overtemperature_discharge")
        }
        let path = "/v1/sites/\(files.site.siteID)/state"
        if let body = PlainHTTP.get(port: options.aggregatorPort, path: path),
            let state = JSONLine.decode(StoredState.self, from: Array(body.utf8))
        {
            observation.stored = (state.stored_through, body.contains("cell_overtemperature_discharge"))
        }
    }

    /// The controller first, so that its last zero reaches the plant.
    private mutating func endAll() {
        for name in ["ballastd", "ballast-link", "ballast-aggregator", "ballast-sim"] {
            guard let child = children.first(where: { $0.name == name }) else { continue }
            observation.exits.append((name, Int(child.end(within: .seconds(15)))))
        }
        children = []
    }

    private struct Truth: Decodable {
        struct Unit: Decodable {
            var id: String
            var power_w: Double
        }
        var units: [Unit]
    }

    private struct StoredState: Decodable { var stored_through: Int }
}

extension DemoObservation {
    fileprivate var allRun: Bool { haveRun.count == site.units.count }
}

/// Draws in place on a terminal, prints a line each five seconds elsewhere.
final class DemoView {
    private let isTerminal = isatty(1) == 1
    private let begun = MonotonicTime.now()
    private var lineDue = MonotonicTime(nanoseconds: 0)
    private var phase = ""

    func show(_ status: SiteStatus, phase: String) {
        let now = MonotonicTime.now()
        let clock = (now - begun).seconds
        if isTerminal {
            say("\u{1b}[H\u{1b}[2J" + DemoText.screen(status, phase: phase, clock: clock))
        } else if now >= lineDue || phase != self.phase {
            lineDue = now + .seconds(5)
            self.phase = phase
            say(DemoText.line(status, phase: phase, clock: clock))
        }
    }

    func say(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }
}
