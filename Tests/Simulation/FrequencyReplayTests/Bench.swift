import Foundation
import FrequencyReplay
import Quantities
import Scenario
import SiteConfig
import SiteFile
import Testing
import YAMLText

/// One unit of 1 MW that sees the frequency in every cycle of 20 ms.
struct Bench {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    var basePoint = 0
    /// Whether the site drives the contactors.
    var hasContactors = false

    var site: SiteConfig {
        get throws {
            let text = """
                mode: simulation
                site: {id: bench}
                control: {base_point_kw: \(basePoint), ramp_kw_per_s: 10000}
                grid_integration: {frequency_source: meter}
                grid_meter: {modbus: {host: 127.0.0.1}, poll_ms: 20}
                bess_units:
                  - id: BESS_01
                    campus_id: BENCH
                    capacity_kwh: 2000
                    max_power_kw: 1000
                    bms: {transport: "cannelloni:127.0.0.1:20001", period_ms: 200}
                    modbus: {host: 127.0.0.1, port: 15021}
                \(hasContactors ? Self.contactors : "")
                """
            return try SiteConfig.read(
                YAMLText.parse(Array(text.utf8), file: "bench.yaml"), file: "bench.yaml")
        }
    }

    private static let contactors = """
            contactor_open_ms: 80
            contactors: {drive: own, precharge_current_max_a: 1000, discharged_v: 50}
            io_module:
              modbus: {host: 127.0.0.1, port: 15023}
              watchdog_ms: 12000
              inputs:
                - {number: 1, name: emergency_stop}
                - {number: 2, name: main_contactor}
                - {number: 3, name: precharge_contactor}
              coils:
                - {number: 1, drives: main_contactor}
                - {number: 2, drives: precharge_contactor}
        """

    func rows(_ csv: String, every interval: Duration = .milliseconds(100)) throws -> [FrequencyReplay.Row] {
        var replay = try FrequencyReplay(try site, profile: FrequencyProfile(csv: csv))
        return try replay.run(every: interval)
    }

    static func measured(_ name: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent("hil/profiles/\(name).csv"), encoding: .utf8)
    }

    struct ClosedForm: Decodable {
        var peak_kw: Double
        var injected_kwh: Double
        var absorbed_kwh: Double
    }

    /// The answer of an independent script in exact fractions.
    func closedForm(_ csv: String) throws -> ClosedForm {
        let interpreter = try #require(ProcessInfo.processInfo.environment["BALLAST_PYTHON"])
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".csv")
        try csv.write(to: file, atomically: true, encoding: .utf8)
        defer { unlink(file.path) }
        let script = Self.root.appendingPathComponent("Tests/Peers/frequency_closed_form.py").path
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: interpreter)
        process.arguments = [script, file.path, "50", "49.97", "50.03", "0.05", "1000", "\(basePoint)"]
        process.standardOutput = output
        try process.run()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return try JSONDecoder().decode(ClosedForm.self, from: answer)
    }
}
