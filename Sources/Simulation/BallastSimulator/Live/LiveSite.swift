import ControlSocket
import Glibc
import LinuxIO
import Quantities
import Scenario

/// A site whose programs really run, and who starts and ends them.
protocol LiveSite: AnyObject {
    var plantSocket: String { get }
    var controlSocket: String { get }
    /// The simulated plant with the scenario, and the programs besides the controller that it needs.
    func startAround(_ programs: [Scenario.Program]) throws
    func perform(_ action: Scenario.DaemonAction, _ program: Scenario.Program) throws
    func isRunning(_ program: Scenario.Program) -> Bool
    /// The words behind `ballastctl`.
    ///
    /// - Returns: why they were refused; `nil` where they were carried out.
    func operate(_ arguments: [String]) throws -> String?
    func shell(_ line: String) throws
    /// What the controller has told since the run began, in the order of time; times on the wall clock.
    func told() throws -> [LoggedEvent]
    /// - Returns: how each program ended.
    @discardableResult func end() -> [(name: String, status: CInt)]
}

/// Why a run could not be made.
public struct LiveFailure: Error, CustomStringConvertible {
    public var description: String
}

/// The programs of a folder, on this machine.
final class HostSite: LiveSite {
    private let folder: SiteFolder
    private let programs: String
    private let scenarioPath: String?
    private var children: [Scenario.Program: ChildProcess] = [:]
    private var plant: ChildProcess?
    private var starts = 0
    private var logs: [String] = []
    private let siteID: String

    var aggregatorPort: UInt16 { folder.aggregatorPort }
    var plantSocket: String { folder.plantSocket }
    var controlSocket: String { folder.controlSocket }

    /// - Parameters:
    ///   - programs: folder with ballastd, ballastctl and ballast-sim, and where a scenario needs them with
    ///     ballast-link and ballast-aggregator.
    ///   - scenario: absolute path of the scenario's file; `nil` = nominal frequency and no faults.
    ///   - site: its identifier.
    init(_ folder: SiteFolder, programs: String, scenario: String?, site: String) throws {
        self.folder = folder
        self.programs = programs
        scenarioPath = scenario
        siteID = site
    }

    deinit { end() }

    private func child(_ name: String, _ arguments: [String]) throws -> ChildProcess {
        starts += 1
        let log = "\(folder.path)/\(name)-\(starts).log"
        var line = [programs + "/" + name] + arguments
        if name == "ballastd" {
            logs.append(log)
            // As systemd gives it: without the copy of the latches in it no site starts again by itself.
            let runtime = folder.path + "/runtime"
            try DurableFile.createDirectories(runtime)
            line = ["/usr/bin/env", "RUNTIME_DIRECTORY=" + runtime] + line
        }
        do throws(SystemError) {
            return try ChildProcess(name, line, output: log, folder: folder.path)
        } catch {
            throw LiveFailure(description: "\(programs)/\(name) cannot be started: \(error)")
        }
    }

    private func startPlant() throws {
        var arguments = ["plant", "--site", folder.site, "--control", "run/sim.sock"]
        if let scenarioPath { arguments += ["--scenario", scenarioPath] }
        plant = try child("ballast-sim", arguments)
        try wait(for: plantSocket, of: "ballast-sim") { plant?.exitStatus() }
    }

    func startAround(_ programs: [Scenario.Program]) throws {
        try startPlant()
        for program in programs where program != .ballastd { try start(program) }
    }

    private func start(_ program: Scenario.Program) throws {
        let arguments: [String]
        switch program {
        case .ballastd: arguments = ["--config", folder.site]
        case .ballastLink: arguments = ["--config", try linkFile()]
        case .ballastAggregator: arguments = ["--config", try aggregatorFile()]
        }
        let started = try child(program.rawValue, arguments)
        children[program] = started
        if program == .ballastd {
            try wait(for: controlSocket, of: "ballastd") { started.exitStatus() }
        }
    }

    private func wait(for path: String, of name: String, _ status: () -> CInt?) throws {
        let deadline = MonotonicTime.now() + .seconds(30)
        while access(path, F_OK) != 0 {
            if let status = status() { throw LiveFailure(description: "\(name) ended with \(status)") }
            guard MonotonicTime.now() < deadline else {
                throw LiveFailure(description: "\(path) did not appear within 30 s")
            }
            (MonotonicTime.now() + .milliseconds(5)).sleep()
        }
    }

    func perform(_ action: Scenario.DaemonAction, _ program: Scenario.Program) throws {
        switch action {
        case .kill: finish(program, SIGKILL)
        case .trap: finish(program, SIGILL)
        case .stop: children[program]?.send(SIGSTOP)
        case .continue: children[program]?.send(SIGCONT)
        // It may take its whole way to zero; nobody waits for it here.
        case .terminate: children[program]?.send(SIGTERM)
        case .restart:
            finish(program, SIGKILL)
            try start(program)
        }
    }

    /// What it leaves behind must not pass for a new one.
    private func finish(_ program: Scenario.Program, _ signal: CInt) {
        children[program]?.send(signal)
        _ = children[program]?.wait(within: .seconds(5))
        if program == .ballastd { unlink(controlSocket) }
    }

    func isRunning(_ program: Scenario.Program) -> Bool { children[program]?.isRunning ?? false }

    func operate(_ arguments: [String]) throws -> String? {
        let tool = try child("ballastctl", arguments + ["--socket", controlSocket])
        guard let status = tool.wait(within: .seconds(20)) else {
            throw LiveFailure(description: "ballastctl \(arguments.joined(separator: " ")) does not end")
        }
        return status == 0 ? nil : try text("ballastctl-\(starts).log")
    }

    private func text(_ name: String) throws -> String {
        let bytes = try DurableFile.read(folder.path + "/" + name, limit: 1 << 20) ?? []
        return String(decoding: bytes, as: UTF8.self)
    }

    func shell(_ line: String) throws {
        throw LiveFailure(description: "a step 'run' is for the rig alone")
    }

    func told() throws -> [LoggedEvent] {
        try logs.flatMap { path in
            let bytes = try DurableFile.read(path, limit: 64 << 20) ?? []
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap(LoggedEvent.init)
        }
    }

    /// The controller first, so that its last zero reaches the plant. No file of it stays that would pass for
    /// the next one.
    @discardableResult func end() -> [(name: String, status: CInt)] {
        var exits: [(name: String, status: CInt)] = []
        for program in [Scenario.Program.ballastd, .ballastLink, .ballastAggregator] {
            guard let child = children[program] else { continue }
            child.send(SIGCONT)
            exits.append((program.rawValue, child.end(within: .seconds(20))))
        }
        unlink(controlSocket)
        children = [:]
        if let plant { exits.append((plant.name, plant.end(within: .seconds(5)))) }
        plant = nil
        return exits
    }

    // MARK: The way up

    // printf %s scenario | sha256sum
    private static let digest = "ee26f4137f88e2408f3f2e85b7d753592ca4b8034392d2bbd17247956c849c0a"

    /// What reads at the aggregator: printf %s scenario-reader | sha256sum.
    static let readToken = "scenario-reader"
    private static let readDigest = "e98a21557ebd61584594201605aaa3a6e1206c94c52865355760cb387d6d6fa5"

    private func aggregatorFile() throws -> String {
        let text = """
            listen: {host: 127.0.0.1, port: \(folder.aggregatorPort)}
            database: aggregator.sqlite
            sites: [{id: \(siteID), token_sha256: \(Self.digest)}]
            read_token_sha256: \(Self.readDigest)

            """
        return try write("aggregator.yaml", text)
    }

    private func linkFile() throws -> String {
        let text = """
            spool: ./run/state/spool
            site: \(siteID)
            aggregator: {url: "http://127.0.0.1:\(folder.aggregatorPort)", token: scenario}
            captures: ./run/state/captures

            """
        return try write("link.yaml", text)
    }

    private func write(_ name: String, _ text: String) throws -> String {
        try DurableFile.replace(folder.path + "/" + name, with: Array(text.utf8))
        return name
    }
}
