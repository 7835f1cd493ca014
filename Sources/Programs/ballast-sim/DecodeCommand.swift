import ArgumentParser
import BatteryProfiles
import ConfigText
import DBC
import DeviceCodecs
import Glibc
import LinuxIO
import Quantities
import SiteConfig
import YAMLText

struct DecodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract:
            "Decode a candump recording again and again by a battery's profile, and print how fast that was.",
        discussion: """
            Prints one line of JSON: frames per second of the DBC decoder alone and of the whole battery (decoder, mapping, \
            an image every 8 frames), and what the profile and its state take of memory.
            """)

    @Argument(help: "The battery's profile (YAML).") var profile: String
    @Argument(help: "The recording.") var log: String
    @Option(help: "How many cells there are, at most 400.") var cells: Int?
    @Option(help: "How many temperatures there are, at most 400.") var temperatures: Int?
    @Option(help: "How many frames are measured, 1 … 1000000000.") var count = 2_000_000

    func validate() throws {
        guard (1...1_000_000_000).contains(count) else { throw ValidationError("--count is 1 … 1000000000") }
    }

    func run() throws {
        let frames = try frames()
        let before = Self.residentKilobytes
        let profile = try BatteryProfile.load(
            path: self.profile, options: .init(cellCount: cells, temperatureCount: temperatures),
            bytes: { (path) throws(ConfigError) in try YAMLText.bytes(of: path) },
            parse: { (bytes, file) throws(ConfigError) in try YAMLText.parse(bytes, file: file) })
        var battery = ProfiledBattery(profile)
        let memory = Self.residentKilobytes - before
        var decoder = DBCDecoder(try DecodePlan(profile.database))
        var sum = 0.0
        let alone = rate {
            for index in 0..<count {
                let frame = frames[index % frames.count]
                let key = DBCMessage.key(frame.identifier, isExtended: frame.isExtended)
                _ = decoder.decode(key, frame.data.span.extracting(first: frame.length))
            }
        }
        sum += decoder.samples.last?.value ?? 0
        let start = MonotonicTime.now()
        let whole = rate {
            for index in 0..<count {
                let time = start + .nanoseconds(Int64(index))
                _ = battery.accept(frames[index % frames.count], at: time)
                if index % 8 == 0 { sum += battery.image(at: time).packVoltage.age(at: time)?.seconds ?? 0 }
            }
        }
        print(
            """
            {"frames": \(count), "decoder_per_s": \(alone), "battery_per_s": \(whole), "memory_kb": \(memory), \
            "check": \(sum.isFinite ? 1 : 0)}
            """)
    }

    private func rate(_ body: () -> Void) -> Double {
        let begun = MonotonicTime.now()
        body()
        return (Double(count) / max(1e-9, (MonotonicTime.now() - begun).seconds)).rounded()
    }

    private func frames() throws -> [CANFrame] {
        var reader = CANLogReader()
        var frames: [CANFrame] = []
        let text = String(decoding: try YAMLText.bytes(of: log), as: UTF8.self)
        for line in text.split(whereSeparator: \.isNewline) {
            if case .frame(let frame, _) = reader.read(line) { frames.append(frame) }
        }
        guard !frames.isEmpty else { throw ValidationError("\(log) has no frames") }
        return frames
    }

    private static var residentKilobytes: Int {
        // Without the figure the speed is still worth telling.
        guard let text = try? YAMLText.bytes(of: "/proc/self/statm") else { return 0 }
        let words = String(decoding: text, as: UTF8.self).split(separator: " ")
        return words.count > 1 ? (Int(words[1]) ?? 0) * Int(getpagesize()) / 1_024 : 0
    }
}
