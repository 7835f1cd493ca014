import BatteryProfiles
import ConfigText
import DeviceCodecs
import Plant
import Quantities
import SiteConfig
import Testing
import YAMLText

/// Whatever comes, nothing traps and no reading is more than a number with its time.
@Suite struct AnyInputTests {
    /// Frames of every kind and length, with the battery's identifiers and others.
    static func frame(_ profile: BatteryProfile, _ chance: inout Random) -> CANFrame {
        let message = profile.database.messages.randomElement(using: &chance)
        let isKnown = Int.random(in: 0..<10, using: &chance) > 0
        var frame = CANFrame(
            isKnown ? message?.identifier ?? 0 : UInt32.random(in: 0...0x1FFF_FFFF, using: &chance),
            isExtended: isKnown ? message?.isExtended ?? false : Bool.random(using: &chance))
        for _ in 0..<8 { frame.append(UInt8.random(in: 0...255, using: &chance)) }
        frame.length = Int.random(in: 0..<4, using: &chance) > 0 ? 8 : Int.random(in: -1...9, using: &chance)
        if Int.random(in: 0..<20, using: &chance) == 0 { frame.kind = .remote }
        if Int.random(in: 0..<20, using: &chance) == 0 { frame.kind = .error }
        return frame
    }

    @Test(arguments: Shipped.names)
    func `a shipped profile takes any frame`(name: String) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var chance = Random(state: seed | 1)
        let profile = try Shipped.profile(name)
        var battery = ProfiledBattery(profile)
        var used = 0
        for step in 0..<5_000 {
            if battery.accept(Self.frame(profile, &chance), at: at(Int64(step))) == .used { used += 1 }
            if step % 50 > 0 { continue }
            let image = battery.image(at: at(Int64(step)))
            let readings = [
                image.packVoltage.age(at: at(Int64(step))), image.cellVoltageMax.age(at: at(Int64(step))),
                image.stateOfCharge.age(at: at(Int64(step))), image.alarms.age(at: at(Int64(step))),
            ]
            #expect(readings.allSatisfy { ($0 ?? .zero) >= .zero }, "seed \(seed), step \(step)")
        }
        #expect(used > 100, "seed \(seed)")
    }

    @Test(arguments: Shipped.names)
    func `a profile that is changed anywhere is read or refused`(name: String) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var chance = Random(state: seed | 1)
        let good = try YAMLText.bytes(of: "\(Shipped.folder)/\(name).yaml")
        // The largest one would take a minute.
        for _ in 0..<(name == "foxbms2" ? 5 : 100) {
            var bytes = good
            for _ in 0..<3 {
                let place = Int.random(in: 0..<bytes.count, using: &chance)
                switch Int.random(in: 0..<3, using: &chance) {
                case 0: bytes[place] = UInt8.random(in: 32...126, using: &chance)
                case 1: bytes.remove(at: place)
                default: bytes.removeSubrange(place..<min(bytes.count, place + 20))
                }
            }
            guard let tree = try? YAMLText.parse(bytes, file: "seed \(seed)"),
                let profile = try? BatteryProfile.read(
                    tree, file: "seed \(seed)",
                    dbc: { (file) throws(ConfigError) in try YAMLText.bytes(of: "\(Shipped.folder)/\(file)") }
                )
            else { continue }
            var battery = ProfiledBattery(profile)
            for step in 0..<50 { _ = battery.accept(Self.frame(profile, &chance), at: at(Int64(step))) }
            _ = battery.image(at: at(50))
            #expect(!profile.text.isEmpty)
        }
    }

    @Test func `what a profile lacks is said`() throws {
        let names = { (profile: BatteryProfile) in profile.lacks.map { ($0.isRequired ? "!" : "") + $0.name }
        }
        #expect(
            names(try Shipped.profile("byd-hvs")) == [
                "!cell_voltage_max", "!cell_voltage_min", "insulation", "bms_warning", "permissions", "alive",
            ])
        #expect(names(try Shipped.profile("pylontech-lv")) == ["insulation", "alive"])
        #expect(names(try Shipped.profile("foxbms2")) == ["permissions"])
        #expect(names(try Shipped.profile("orion")) == [])
    }
}
