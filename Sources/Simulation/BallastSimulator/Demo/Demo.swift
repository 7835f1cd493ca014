import ControlSocket
import Glibc
import LinuxIO
import Quantities
import Scenario
import SiteConfig

/// The demonstration: every process of a site, a measured frequency event, a fault, and what the operator
/// sees. It is a run of tier host that somebody looks on at.
public struct Demo {
    public struct Options: Sendable {
        /// Folder with the five programs.
        public var programs: String
        public var site: String
        public var scenario: String
        /// Folder for logs, state and records; made anew.
        public var records: String
        /// Leaves the site running until Ctrl-C, and says what to try.
        public var keeps = false

        /// - Parameters: absolute paths.
        public init(programs: String, site: String, scenario: String, records: String) {
            self.programs = programs
            self.site = site
            self.scenario = scenario
            self.records = records
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
    private let faultAt: Duration
    private let onlooker: Onlooker

    public init(_ options: Options) throws(Failure) {
        self.options = options
        do {
            files = try SimulationFiles.load(site: options.site, scenario: options.scenario)
        } catch {
            throw Failure(description: "\(error)")
        }
        guard let fault = files.scenario.faults.last, let victim = fault.unit else {
            throw Failure(description: "\(options.scenario): a demonstration needs a fault of a unit")
        }
        faultAt = fault.at
        onlooker = Onlooker(
            DemoObservation(site: files.site, victim: victim, nadir: files.nadir), faultAt: fault.at)
    }

    /// Plays it all. Whatever happens, no process stays behind.
    public func run() throws(Failure) -> Outcome {
        do {
            let folder = try SiteFolder(at: options.records, site: options.site, config: files.site)
            let site = try HostSite(
                folder, programs: options.programs, scenario: options.scenario, site: files.site.siteID)
            var scenario = files.scenario
            // The whole part of the profile, and long enough to see the trip and what follows.
            scenario.duration = max(files.playTime, faultAt + .seconds(20))
            var run = LiveRun(scenario, on: site, config: files.site)
            run.watch = onlooker.watch
            run.lookBack = {
                try onlooker.lookBack(at: site, of: files.site.siteID, records: options.records)
                if options.keeps { onlooker.keep(site, programs: options.programs) }
            }
            let history = try run.run(with: [.ballastAggregator, .ballastLink])
            return onlooker.judge(history, run.exits, records: options.records)
        } catch is LiveRun.Interruption {
            onlooker.view.say("interrupted; every process has ended")
            return .interrupted
        } catch {
            throw Failure(description: "\(error); see the logs in \(options.records)")
        }
    }
}

/// Looks on at the demonstration, and in the end at what is behind it: the plant and the aggregator.
private final class Onlooker {
    private static let interval = Duration.milliseconds(200)

    let view = DemoView()
    private let signals = SignalInbox()
    private let faultAt: Duration
    private var observation: DemoObservation
    private var seenAt = MonotonicTime(nanoseconds: 0)
    /// Since every unit ran.
    private var began: MonotonicTime?

    init(_ observation: DemoObservation, faultAt: Duration) {
        self.observation = observation
        self.faultAt = faultAt
    }

    /// - Returns: `false` where somebody wants us to end.
    func watch(_ status: SiteStatus?) -> Bool {
        let now = MonotonicTime.now()
        guard now - seenAt >= Self.interval else { return true }
        seenAt = now
        if signals.wait(timeout: .zero) != nil { return false }
        guard let status else { return true }
        observation.see(status)
        if began == nil, observation.allRun { began = now }
        view.show(status, phase: phase(at: now))
        return true
    }

    private func phase(at now: MonotonicTime) -> String {
        guard let began else { return "entering service" }
        if observation.tripped != nil { return "after the trip" }
        return now - began < faultAt ? "measured event" : "one cell overheats"
    }

    func lookBack(at site: HostSite, of id: String, records: String) throws {
        let truth = JSONLine.decode(
            LiveTruth.self, from: Array(try LineClient.ask("truth", at: site.plantSocket).utf8))
        observation.victimTruePower = truth?.units.first { $0.id == observation.victim }.map {
            $0.power_w / 1_000
        }
        let path = "/v1/sites/\(id)/state"
        if let body = PlainHTTP.get(port: site.aggregatorPort, path: path, token: HostSite.readToken),
            let state = JSONLine.decode(StoredState.self, from: Array(body.utf8))
        {
            observation.stored = (state.stored_through, body.contains("cell_overtemperature_discharge"))
        }
        if let page = incident(at: site, of: id) {
            let file = records + "/incident.html"
            try DurableFile.replace(file, with: Array(page.utf8))
            observation.incident = (page, file)
        }
    }

    /// Leaves the person alone with the site until Ctrl-C.
    func keep(_ site: HostSite, programs: String) {
        view.say(
            DemoText.kept(
                site: observation.site, victim: observation.victim, programs: programs,
                socket: site.controlSocket, plant: site.plantSocket, port: site.aggregatorPort,
                token: HostSite.readToken))
        while signals.wait(timeout: .milliseconds(500)) == nil {}
    }

    /// The page of the trip's capture, which is kept ten seconds after it and then goes up.
    private func incident(at site: HostSite, of id: String) -> String? {
        func ask(_ path: String) -> String? {
            PlainHTTP.get(
                port: site.aggregatorPort, path: "/v1/sites/\(id)/" + path, token: HostSite.readToken)
        }
        let end = MonotonicTime.now() + .seconds(30)
        while MonotonicTime.now() < end {
            let list = ask("captures").flatMap { JSONLine.decode(StoredCaptures.self, from: Array($0.utf8)) }
            let trip = list?.captures.first { $0.name.contains("-trip") && $0.stored == $0.bytes }
            if let trip { return ask("incident?name=\(trip.name)") }
            if signals.wait(timeout: .milliseconds(200)) != nil { return nil }
        }
        return nil
    }

    func judge(
        _ history: RunHistory, _ exits: [(name: String, status: CInt)], records: String
    ) -> Demo.Outcome {
        observation.isTripLogged = history.events.contains {
            $0.name == "trip" && $0.unit == observation.victim
                && $0.cause == "cell_overtemperature_discharge"
        }
        observation.exits = exits.map { ($0.name, Int($0.status)) }
        let verdicts = observation.verdicts
        view.say(DemoText.summary(verdicts, records: records))
        return verdicts.allSatisfy(\.isPassed) ? .passed : .failed
    }

    private struct StoredState: Decodable { var stored_through: Int }

    private struct StoredCaptures: Decodable {
        struct One: Decodable {
            var name: String
            var bytes: Int
            var stored: Int
        }

        var captures: [One]
    }
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
