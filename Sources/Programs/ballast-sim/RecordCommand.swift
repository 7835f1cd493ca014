import ArgumentParser
import BallastSimulator
import BatteryProfiles
import ConfigText
import Quantities
import Scenario
import SiteConfig
import YAMLText

struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Write what a battery would say as a candump recording, in virtual time.",
        discussion: """
            Any battery by its profile: its frames are made from the DBC file and the mapping. The same arguments give the \
            same recording. A fault comes by AT:NAME[:key=value…] and goes by --clear AT:NAME, with AT in seconds; names as \
            'ask' has them.

            EXAMPLE
              $ ballast-sim record orion.yaml --seconds 5 --fault 2:bms_alarm > orion-alarm.log
              $ ballastctl can decode --profile orion.yaml --table < orion-alarm.log
            """)

    @Argument(help: "The battery's profile (YAML).") var profile: String
    @Option(help: "A dialect of the profile; may be given several times.") var dialect: [String] = []
    @Option(help: "How many cells there are.") var cells: Int?
    @Option(help: "How many temperatures there are.") var temperatures: Int?
    @Option(help: "How long, 1 … 86400.") var seconds = 10.0
    @Option(help: "Discharge power, -100 … 100.") var powerKw = 20.0
    @Option(help: "Of all random numbers.") var seed: UInt64 = 1
    @Option(help: "AT:NAME[:key=value…]; may be given several times.") var fault: [String] = []
    @Option(help: "AT:NAME; may be given several times.") var clear: [String] = []

    func validate() throws {
        guard (1...86_400).contains(seconds) else { throw ValidationError("--seconds is 1 … 86400") }
        guard (-100...100).contains(powerKw) else { throw ValidationError("--power-kw is -100 … 100") }
        _ = try changes()
    }

    func run() throws {
        let profile = try BatteryProfile.load(
            path: self.profile,
            options: .init(dialects: dialect, cellCount: cells, temperatureCount: temperatures),
            bytes: { (path) throws(ConfigError) in try YAMLText.bytes(of: path) },
            parse: { (bytes, file) throws(ConfigError) in try YAMLText.parse(bytes, file: file) })
        var recording = BMSRecording(
            profile, power: .kilowatts(powerKw), seed: seed, changes: try changes())
        while recording.length.seconds < seconds { for line in recording.advance() { print(line) } }
    }

    private func changes() throws -> [BMSRecording.Change] {
        try fault.map { try change($0, isCleared: false) } + clear.map { try change($0, isCleared: true) }
    }

    private func change(_ text: String, isCleared: Bool) throws -> BMSRecording.Change {
        let words = text.split(separator: ":").map(String.init)
        guard words.count >= 2, let at = Double(words[0]), (0...86_400).contains(at) else {
            throw ValidationError("'\(text)' is not AT:NAME with AT in 0 … 86400")
        }
        var parameters: [Fault.Parameter] = []
        for word in words.dropFirst(2) {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw ValidationError("'\(word)' is not key=value") }
            parameters.append(Fault.Parameter(key: parts[0], value: parts[1]))
        }
        do throws(Fault.ParseError) {
            let fault = try Fault(name: words[1], parameters: parameters)
            return BMSRecording.Change(
                at: .milliseconds(Int64(at * 1_000)), fault: fault, isCleared: isCleared)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}
