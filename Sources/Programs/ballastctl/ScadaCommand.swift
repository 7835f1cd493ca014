import ArgumentParser
import ControlSocket
import LinuxIO

/// `ballastctl scada`: what the control centre's side sees and has asked for.
struct Scada: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the control centre's links, its last commands and the points (ballast-scada).",
        discussion: """
            ballast-scada writes them each second into the file that its status_file names. It can be read by everybody who \
            may read that file; ballastd is not asked.
            """)

    @Option(help: "The file.") var file = "/run/ballast-scada/status.json"
    @Flag(help: "As JSON.") var json = false

    func run() throws {
        let bytes: [UInt8]?
        do throws(SystemError) { bytes = try DurableFile.read(file, limit: 1 << 24) } catch {
            throw ValidationError("\(file): \(error)")
        }
        guard let bytes, let status = JSONLine.decode(ScadaStatus.self, from: bytes) else {
            throw ValidationError("\(file): no status of ballast-scada: does it run, with status_file?")
        }
        if json { return print(String(decoding: bytes, as: UTF8.self), terminator: "") }
        for line in Self.lines(status) { print(line) }
    }

    private static func lines(_ status: ScadaStatus) -> [String] {
        let accepted = status.agc_accepted_kw.map { ", accepted \($0) kW" } ?? ""
        var lines = [
            "station \(status.common_address) at \(status.at); controller \(status.controller_heard ? "heard" : "NOT HEARD");"
                + " setpoints \(status.agc_enabled ? "enabled" : "not enabled")\(accepted)"
        ]
        lines += status.links.map {
            "link \($0.number) \($0.address) group \($0.group)\($0.started ? " started" : "")"
        }
        if status.links.isEmpty { lines.append("no link") }
        lines += status.commands.map { command in
            "\(command.at) \(command.from) originator \(command.originator) command \(command.address): \(command.text): "
                + (command.refusal.map { "refused: \($0)" } ?? "done")
        }
        lines += status.points.map { point in
            let value = point.value.map { "\($0)" } ?? point.on.map { $0 ? "on" : "off" } ?? "unknown"
            return "point \(point.address) \(point.signal)\(point.unit.map { " \($0)" } ?? ""): \(value)"
        }
        return lines
    }
}
