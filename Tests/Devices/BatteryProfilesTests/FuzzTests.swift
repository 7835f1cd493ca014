import BatteryProfiles
import ConfigText
import DBC
import DeviceCodecs
import Plant
import Quantities
import SiteConfig
import Testing
import YAMLText

/// DBC text, mapping and frames that somebody has changed: read or refused, and nothing traps. `hil/fuzz` asks
/// the same with libFuzzer's guidance.
@Suite struct FuzzTests {
    /// Small, so that many changes of it are tried: every construct of a DBC file and of a mapping once.
    static let dbc = """
        VERSION "x"
        BU_: BMS X
        BO_ 256 A: 8 BMS
         SG_ Switch M : 0|8@1+ (1,0) [0|0] "" X
         SG_ V m0 : 8|16@1+ (0.1,0) [0|0] "V" X
         SG_ I m1 : 23|16@0- (0.1,-5) [0|0] "A" X
         SG_ Sub m2M : 8|4@1+ (1,0) [0|0] "" X
         SG_ Deep m3 : 16|32@1- (1,0) [0|0] "" X
        BO_ 2147483905 B: 8 BMS
         SG_ Crc : 0|8@1+ (1,0) [0|0] "" X
         SG_ Counter : 8|4@1+ (1,0) [0|0] "" X
         SG_ Pair : 12|2@1+ (1,0) [0|0] "" X
         SG_ Cell : 16|8@1+ (1,0) [0|0] "" X
         SG_ Volts : 31|16@0+ (0.001,0) [0|0] "V" X
        BO_ 512 C: 8 X
         SG_ Power : 0|16@1- (0.1,0) [0|0] "kW" X
        VAL_ 256 Switch 0 "a" 1 "b" ;
        SG_MUL_VAL_ 256 V Switch 0-0;
        SG_MUL_VAL_ 256 I Switch 1-1;
        SG_MUL_VAL_ 256 Sub Switch 2-2;
        SG_MUL_VAL_ 256 Deep Sub 3-3, 5-9;
        SIG_VALTYPE_ 256 Deep : 1;
        BA_DEF_ BO_ "GenMsgCycleTime" INT 0 9999;
        BA_ "GenMsgCycleTime" BO_ 256 100;
        CM_ SG_ 256 V "text; more";

        """
    static let mapping = """
        name: fuzz
        dbc: x.dbc
        period_ms: 100
        periods: {A: 50}
        frozen_samples: 9
        readings:
          pack_voltage: {signal: A.V, scale: 2, min: 1, max: 999, invalid: [65535]}
          pack_current: {signal: A.I, sign: negative}
        cell_voltages: {index: B.Cell, value: B.Volts, first: 1, count: 9, period_ms: 900}
        alarms:
          a: {severity: alarm, kind: edge, clear_after_zeros: 3, items: [{signal: B.Pair, alarm: general, text: x}]}
          w: {severity: warning, kind: absent}
        permissions:
          charge: {signal: B.Pair, allowed: [1]}
          discharge: {signal: B.Pair, forbidden: [2]}
        alive: {signal: B.Counter, stuck_after: 5}
        protected:
          - checksum: {signal: B.Crc, algorithm: e2e_p01, data_id: "0x12"}
            counter: {signal: B.Counter, modulo: 15}
        send:
          - {message: C, period_ms: 100, signals: [{signal: Power, from: setpoint_kw}]}
        dialects:
          d: {readings: {pack_voltage: ~}}

        """

    static func change(_ text: inout [UInt8], _ chance: inout Random) {
        for _ in 0...Int.random(in: 0..<3, using: &chance) {
            guard !text.isEmpty else { return }
            let place = Int.random(in: 0..<text.count, using: &chance)
            switch Int.random(in: 0..<5, using: &chance) {
            case 0: text[place] = UInt8.random(in: 0...255, using: &chance)
            case 1: text.remove(at: place)
            case 2: text.insert(Array("-9|;\"@M0:,[]{}".utf8).randomElement(using: &chance) ?? 0, at: place)
            case 3: text.removeSubrange(place..<min(text.count, place + 30))
            default:
                let end = min(text.count, place + 40)
                text.insert(
                    contentsOf: Array(text[place..<end]), at: Int.random(in: 0...text.count, using: &chance))
            }
        }
    }

    @Test func `a hundred thousand frames through changed files trap nothing and are counted`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var chance = Random(state: seed | 1)
        var (cases, good) = (0, 0)
        while cases < 100_000 {
            var (dbc, yaml) = (Array(Self.dbc.utf8), Array(Self.mapping.utf8))
            if Bool.random(using: &chance) { Self.change(&dbc, &chance) } else { Self.change(&yaml, &chance) }
            cases += 1
            guard let tree = try? YAMLText.parse(yaml, file: "seed \(seed)"),
                let profile = try? BatteryProfile.read(
                    tree, file: "seed \(seed)", dbc: { (_) throws(ConfigError) in dbc })
            else { continue }
            good += 1
            cases += Self.feed(profile, &chance, frames: 400)
        }
        #expect(good > 100, "seed \(seed): many must still be profiles")
    }

    /// Frames of every kind and length, what the profile itself would say, and what it sends.
    static func feed(_ profile: BatteryProfile, _ chance: inout Random, frames: Int) -> Int {
        var battery = ProfiledBattery(profile)
        var encoder = ProfileEncoder(profile)
        for step in 0..<frames {
            let now = at(Int64(step) * 40)
            _ = battery.accept(AnyInputTests.frame(profile, &chance), at: now)
            guard step % 20 == 0 else { continue }
            var sample = BatterySample()
            sample[.packVoltage] = Double.random(in: -1e12...1e12, using: &chance)
            for frame in encoder.frames(at: now, sample) { _ = battery.accept(frame, at: now) }
            _ = battery.image(at: now)
            for send in profile.sends {
                _ = send.frame(
                    .safe, at: now, wallSeconds: Int64.random(in: .min ... .max, using: &chance), count: .max)
            }
        }
        return frames
    }

    /// Lines that no editor shows, in a file and in a recording.
    @Test func `lines of 300 kB are read or refused without harm`() throws {
        let long = String(repeating: "x", count: 300_000)
        for yaml in [
            "name: \(long)\n", "\(long): 1\n", "name: [\(long)\n", Self.mapping + "guesses: [\(long)]\n",
        ] {
            guard let tree = try? YAMLText.parse(Array(yaml.utf8), file: "f") else { continue }
            #expect(throws: ConfigErrors.self) {
                try BatteryProfile.read(tree, file: "f") { (_) throws(ConfigError) in Array(Self.dbc.utf8) }
            }
        }
        var decoding = LogDecoding(try Shipped.profile("orion"))
        for line in [long, "(1.0) can0 \(long)#00", "(1.0) can0 100#\(long)", "(\(long)) can0 100#00"] {
            #expect(decoding.take(line[...]) == nil)
        }
    }
}
