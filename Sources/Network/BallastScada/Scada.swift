import ConfigText
import Glibc
import IEC104
import LinuxIO
import Quantities
import YAMLText

/// The whole program: the control centre's side of a site.
public enum Scada {
    /// The program cannot do its work, which was said in the log; starting again will not help.
    public struct UnusableConfiguration: Error {}

    /// Serves masters until SIGTERM or SIGINT; SIGHUP reads the certificates anew.
    public static func run(configPath: String) throws {
        let signals = SignalInbox(reloads: true)
        let config = try load(configPath)
        let controller = try Controller(path: config.controlSocket, validity: config.validity)
        let security = try secure(config)
        var server: ScadaServer
        do throws(NetworkError) {
            server = try ScadaServer(config, security, controller, log: log)
        } catch {
            log("not started: \(config.address):\(config.port): \(error)")
            throw UnusableConfiguration()
        }
        let threads = [
            try SystemThread(name: "commands") { controller.bring() },
            try SystemThread(name: "status") { controller.watch() },
        ]
        let kind = security == nil ? "" : " (TLS)"
        log("station \(config.table.commonAddress)\(kind) is listening on \(config.address):\(server.port)")
        server.run(until: signals)
        controller.end()
        let limit = MonotonicTime.now() + .seconds(6)
        for thread in threads { _ = thread.join(until: limit) }
        log("ended")
    }

    /// What a file says, in words, and what is worth a second look; throws what is wrong with it.
    public static func check(configPath path: String) throws -> [String] {
        let config = try ScadaConfig(try YAMLText.load(path: path), file: path)
        _ = try config.tls.map { try LinkSecurity($0) }
        let table = config.table
        let groups = config.groups.map { group in
            "group \(group.name): \(group.masters.joined(separator: ", "))"
                + (group.mayCommand ? ", may command" : "")
        }
        return [
            "station \(table.commonAddress) on \(config.address):\(config.port):"
                + " \(table.points.count) points, \(table.commands.count) commands"
        ] + groups + remarks(config).map { "remark: " + $0 }
    }

    /// The signal list for the control centre.
    public static func signalList(configPath path: String) throws -> String {
        try ScadaConfig(try YAMLText.load(path: path), file: path).table.csv
    }

    private static func remarks(_ config: ScadaConfig) -> [String] {
        var remarks: [String] = []
        if config.tls == nil {
            remarks.append("links are not encrypted: who may reach the port is for the network to say")
        } else if config.groups.contains(where: { $0.fingerprints.count < $0.masters.count }) {
            remarks.append(
                "a master without fingerprint may come with any certificate of master_ca from its address")
        }
        if config.table.commands.contains(where: { $0.action == .setpoint && !$0.needsSelect })
            && !config.rules.wantsTimedCommands
        {
            remarks.append("setpoints without a time are taken: a delayed one counts as new")
        }
        if !config.table.commands.isEmpty
            && !config.table.points.contains(where: { $0.source == .acceptedSetpoint })
        {
            remarks.append(
                "no point shows agc_accepted_kw: the control centre does not see what was accepted")
        }
        if access(config.controlSocket, F_OK) != 0 {
            remarks.append("\(config.controlSocket) is not there: does ballastd run?")
        }
        return remarks
    }

    private static func secure(_ config: ScadaConfig) throws -> LinkSecurity? {
        do { return try config.tls.map { try LinkSecurity($0) } } catch {
            log("not started: tls: \(error)")
            throw UnusableConfiguration()
        }
    }

    private static func load(_ path: String) throws -> ScadaConfig {
        do {
            return try ScadaConfig(try YAMLText.load(path: path), file: path)
        } catch {
            log("not started: \(error)")
            throw UnusableConfiguration()
        }
    }

    private static func log(_ line: String) {
        let bytes = Array("ballast-scada: \(line)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
