import ControlSocket
import Glibc
import LinuxIO
import Quantities
import Scenario

/// The installed service of this machine, under systemd, with the simulated plant as a unit of its own beside
/// it; the wires are there already.
///
/// `daemon: kill` and its like go to the service; its manager starts it again as the units say.
final class ServiceSite: LiveSite {
    private static let plantUnit = "ballast-sim"

    let plantSocket = "/run/ballast-sim.sock"
    let controlSocket = "/run/ballast/control.sock"
    private let plant: [String]
    private let folder: String
    private let since: String
    private var count = 0

    /// - Parameters:
    ///   - site: the service's own configuration.
    ///   - scenario: absolute path of the scenario's file.
    ///   - canPeers: `can0=can1`: where the simulated batteries stand.
    ///   - folder: takes the output of what is called; must exist.
    init(site: String, scenario: String, canPeers: [String], folder: String) {
        self.folder = folder
        plant =
            ["ballast-sim", "plant", "--site", site, "--scenario", scenario, "--control", plantSocket]
            + canPeers.flatMap { ["--can-peer", $0] }
        since = "@\(WallClock.nowMilliseconds() / 1_000 - 1)"
    }

    func startAround(_ programs: [Scenario.Program]) throws {
        // One that runs plays another scenario.
        _ = try call("/usr/bin/systemctl", ["stop", Self.plantUnit])
        unlink(plantSocket)
        let unit = ["--quiet", "--unit=\(Self.plantUnit)", "--collect"]
        let status = try call("/usr/bin/systemd-run", unit + plant)
        guard status == 0 else { throw LiveFailure(description: "systemd-run ended with \(status)") }
        let deadline = MonotonicTime.now() + .seconds(30)
        while access(plantSocket, F_OK) != 0 {
            guard MonotonicTime.now() < deadline else {
                throw LiveFailure(description: "the simulated plant does not come up")
            }
            (MonotonicTime.now() + .milliseconds(20)).sleep()
        }
        for program in programs { try systemctl(["start", program.rawValue]) }
    }

    func perform(_ action: Scenario.DaemonAction, _ program: Scenario.Program) throws {
        switch action {
        case .kill: try systemctl(["kill", "--signal=KILL", program.rawValue])
        case .trap: try systemctl(["kill", "--signal=ILL", program.rawValue])
        case .stop: try systemctl(["kill", "--signal=STOP", program.rawValue])
        case .continue: try systemctl(["kill", "--signal=CONT", program.rawValue])
        case .restart:
            try systemctl(["reset-failed", program.rawValue])
            try systemctl(["restart", program.rawValue])
        case .terminate: try systemctl(["stop", "--no-block", program.rawValue])
        }
    }

    func isRunning(_ program: Scenario.Program) -> Bool {
        // Where systemctl cannot be asked, nobody says that it runs.
        (try? call("/usr/bin/systemctl", ["is-active", "--quiet", program.rawValue])) == 0
    }

    func operate(_ arguments: [String]) throws -> String? {
        let output = folder + "/ballastctl.log"
        let status = try call(
            "/usr/bin/ballastctl", arguments + ["--socket", controlSocket], output: output)
        if status == 0 { return nil }
        return String(decoding: try DurableFile.read(output, limit: 1 << 20) ?? [], as: UTF8.self)
    }

    func shell(_ line: String) throws {
        let status = try call("/bin/sh", ["-c", line])
        guard status == 0 else { throw LiveFailure(description: "'\(line)' ended with \(status)") }
    }

    /// The journal's entries of the service that carry an event.
    func told() throws -> [LoggedEvent] {
        let output = folder + "/journal.json"
        let arguments = ["--unit=ballastd", "--since=\(since)", "--output=json", "--no-pager", "--quiet"]
        let status = try call("/usr/bin/journalctl", arguments, output: output)
        guard status == 0 else { throw LiveFailure(description: "journalctl ended with \(status)") }
        let bytes = try DurableFile.read(output, limit: 64 << 20) ?? []
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            JSONLine.decode(JournalEntry.self, from: Array(line))?.event
        }
    }

    /// The service goes on: it is the machine's, not ours.
    @discardableResult func end() -> [(name: String, status: CInt)] { [] }

    private func systemctl(_ arguments: [String]) throws {
        let status = try call("/usr/bin/systemctl", arguments)
        guard status == 0 || arguments[0] == "reset-failed" else {
            throw LiveFailure(
                description: "systemctl \(arguments.joined(separator: " ")) ended with \(status)")
        }
    }

    private func call(_ program: String, _ arguments: [String], output: String? = nil) throws -> CInt {
        count += 1
        let log = output ?? "\(folder)/call-\(count % 100).log"
        let child = try ChildProcess(program, [program] + arguments, output: log, folder: folder)
        guard let status = child.wait(within: .seconds(120)) else {
            throw LiveFailure(description: "\(program) \(arguments.joined(separator: " ")) does not end")
        }
        return status
    }

    private struct JournalEntry: Decodable {
        var __REALTIME_TIMESTAMP: String
        var MESSAGE: String?
        var BALLAST_EVENT: String?
        var BALLAST_UNIT: String?
        var BALLAST_CAUSE: String?
        var BALLAST_INTERLOCK: String?

        var event: LoggedEvent? {
            guard let name = BALLAST_EVENT, let time = Int64(__REALTIME_TIMESTAMP) else { return nil }
            return LoggedEvent(
                timeOfDay: time / 1_000 % 86_400_000, name: name, unit: BALLAST_UNIT,
                cause: BALLAST_CAUSE ?? BALLAST_INTERLOCK, text: MESSAGE ?? "")
        }
    }
}
