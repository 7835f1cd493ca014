import ConfigText
import Glibc
import SiteConfig
import SiteFile
import Testing
import YAMLText

/// A small generator whose whole state is its seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Changes a text the way a slipping hand, a bad disk or an attacker would.
struct Mutator {
    static let morsels = [
        "&a ", "*a", "!t ", "---\n", "? ", ": ", "- ", "[", "]", "{", "}", "\t", "\"", "'", "|\n", ">-\n",
        "%YAML 1.9\n",
        "\n", "  ", "1e999", "-0", "0x1F", ".nan", "99999999999999999999", "null", "~", "#", "\u{FEFF}",
        "\u{85}", ",",
    ]
    var generator: SeededGenerator

    /// Mostly a character that people type.
    private mutating func byte() -> UInt8 {
        let isTyped = Int.random(in: 0..<8, using: &generator) > 0
        return isTyped
            ? UInt8.random(in: 0x20...0x7E, using: &generator) : UInt8.random(in: 0...255, using: &generator)
    }

    mutating func change(_ original: [UInt8]) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let place = Int.random(in: 0...bytes.count, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes.insert(byte(), at: place)
            case 1 where place < bytes.count: bytes[place] = byte()
            case 2:
                let end = min(bytes.count, place + Int.random(in: 0...40, using: &generator))
                bytes.removeSubrange(place..<end)
            case 3:
                let end = min(bytes.count, place + Int.random(in: 0...80, using: &generator))
                bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
            default:
                let morsel = Self.morsels.randomElement(using: &generator) ?? ""
                bytes.insert(contentsOf: Array(morsel.utf8), at: place)
            }
        }
        return bytes
    }
}

@Suite struct YAMLFuzzTests {
    static let samples = [
        "mode: simulation\nbess_units:\n  - {id: A, campus_id: B, capacity_kwh: 250, max_power_kw: 100,\n"
            + "     modbus: {host: 127.0.0.1, port: 15021, unit_id: 1}, reversion_s: 10}\n",
        "mode: hil\nsite: {id: x}\ncontrol:\n  period_ms: 20\n  cpu: none\n  base_point_kw: -3.5\n"
            + "grid_integration:\n  droop_settings:\n    deadband_hz: [49.9, 50.05]\n    droop_percent: 5.0\n"
            + "grid_meter:\n  modbus: {device: /dev/ttyS1, baud: 115200, unit_id: 3}\n"
            + "bess_units:\n  - id: A\n    campus_id: B\n    capacity_kwh: 10\n    max_power_kw: 10\n"
            + "    bms: {transport: \"slcan:/dev/ttyS0\"}\n    modbus: {host: h}\n",
        "mode: simulation\n"
            + "bess_units: [{id: A, campus_id: C, capacity_kwh: 9, max_power_kw: 9, modbus: {host: h}}]\n"
            + "campuses:\n  - id: C\n    location: {city: Mumbai, latitude: 19.1136}\n    bess_units: 4\n"
            + "market_participation:\n  enabled: false\n"
            + "  exchanges:\n    - name: IEX\n      api_url: 'https://x'\n",
    ]

    @Test(arguments: samples)
    func `the samples that are mutated are good sites`(sample: String) {
        #expect(throws: Never.self) {
            try SiteConfig.read(
                try YAMLText.parse(Array(sample.utf8), file: "sample.yaml"), file: "sample.yaml")
        }
    }

    @Test func `any bytes give a site or an error, never a crash`() {
        let seed = getenv("BALLAST_FUZZ_SEED").flatMap { UInt64(String(cString: $0)) } ?? 20_190_809
        var mutator = Mutator(generator: SeededGenerator(state: seed))
        var read = 0
        var refused = 0
        for round in 0..<20_000 {
            let sample = Array(Self.samples[round % Self.samples.count].utf8)
            let bytes = mutator.change(sample)
            do throws(ConfigError) {
                let tree = try YAMLText.parse(bytes, file: "fuzz.yaml")
                do throws(ConfigErrors) {
                    _ = try SiteConfig.read(tree, file: "fuzz.yaml")
                    read += 1
                } catch {
                    refused += 1
                    #expect(!error.errors.isEmpty && error.errors.count <= ConfigErrors.limit, "seed \(seed)")
                }
            } catch {
                refused += 1
                #expect(
                    error.position.line >= 1 && error.position.column >= 1, "seed \(seed), round \(round)")
            }
        }
        print("fuzz: seed \(seed) (BALLAST_FUZZ_SEED), \(read) read, \(refused) refused")
        #expect(read > 0 && refused > 0, "seed \(seed): the mutations must reach both sides")
    }
}
