import ArgumentParser
import FrequencyReplay
import LinuxIO
import Quantities
import Scenario
import SiteConfig
import SiteFile
import YAMLText

struct CycleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cycle",
        abstract:
            "Make the control step of a site of so many units again and again, and print what one costs.",
        discussion: """
            The production controller with all units in service. The difference of two runs under valgrind \
            --tool=callgrind, divided by the difference of their counts, is the number of instructions of one step.
            """)

    @Option(help: "Units of the site, 1 … 64.") var units = 1
    @Option(help: "How often, 0 … 10000000.") var count = 10_000

    func validate() throws {
        guard (1...64).contains(units) else { throw ValidationError("--units is 1 … 64") }
        guard (0...10_000_000).contains(count) else { throw ValidationError("--count is 0 … 10000000") }
    }

    func run() throws {
        let site = try SiteConfig.read(YAMLText.parse(Array(text.utf8), file: "cycle"), file: "cycle")
        let profile = FrequencyProfile(constant: Hertz(49.9))
        var replay = try FrequencyReplay(site, profile: profile)
        try replay.repeatStep(0)
        let begun = MonotonicTime.now()
        try replay.repeatStep(count)
        let each = Double((MonotonicTime.now() - begun).nanoseconds) / Double(max(1, count))
        print("{\"units\": \(units), \"count\": \(count), \"ns_per_step\": \(each.rounded())}")
    }

    private var text: String {
        let units = (1...units).map { unit in
            """
              - id: BESS_\(unit)
                campus_id: CAMPUS
                capacity_kwh: 250
                max_power_kw: 100
                bms: {transport: "cannelloni:127.0.0.1:\(20_000 + unit)", period_ms: 200}
                modbus: {host: 127.0.0.1, port: \(15_000 + unit)}
                poll_ms: 100
            """
        }
        return """
            mode: simulation
            control: {period_ms: 20}
            grid_integration: {frequency_source: meter}
            grid_meter: {modbus: {host: 127.0.0.1, port: 14999}, poll_ms: 20}
            bess_units:
            \(units.joined(separator: "\n"))
            """
    }
}
