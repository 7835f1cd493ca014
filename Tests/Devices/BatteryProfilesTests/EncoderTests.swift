import BatteryProfiles
import DeviceCodecs
import Plant
import Quantities
import SiteConfig
import Testing

/// A simulated battery speaks by its profile alone, and the same profile understands it.
@Suite struct EncoderTests {
    static func sample() -> BatterySample {
        var sample = BatterySample()
        sample[.cellVoltageMax] = 3.41
        sample[.cellVoltageMin] = 3.29
        sample[.cellTemperatureMax] = 31
        sample[.cellTemperatureMin] = 22
        sample[.packVoltage] = 265.6
        sample[.packCurrent] = -37.5
        sample[.stateOfCharge] = 63
        sample[.stateOfHealth] = 97
        sample[.chargeCurrentLimit] = 120
        sample[.dischargeCurrentLimit] = 180
        sample[.chargeVoltageLimit] = 284
        sample[.dischargeVoltageLimit] = 224
        sample[.insulation] = 2_100_000
        sample[.contactors] = 1
        sample[.packTemperature] = 25
        sample.cellVoltages = (0..<80).map { 3.29 + 0.12 * Double($0) / 79 }
        sample.cellTemperatures = (0..<20).map { (22 + 9 * Double($0) / 19).rounded() }
        return sample
    }

    struct Choice: Sendable, CustomStringConvertible {
        var name: String
        var dialects: [String] = []
        var description: String { ([name] + dialects).joined(separator: " ") }
    }

    static let choices: [Choice] =
        Shipped.names.map { Choice(name: $0) } + [
            Choice(name: "pylontech-lv", dialects: ["sma"]),
            Choice(name: "pylontech-lv", dialects: ["decivolt"]),
            Choice(name: "pylontech-lv", dialects: ["luxpower", "decivolt"]),
            Choice(name: "pylontech-lv", dialects: ["discharge_positive", "slow"]),
            Choice(name: "pylontech-lv", dialects: ["extended_keep_alive"]),
            Choice(name: "pylontech-hv", dialects: ["current_swapped"]),
            Choice(name: "byd-hvs", dialects: ["discharge_positive"]),
        ]

    /// Speaks for a minute and a half, ten times a second.
    static func heard(
        _ profile: BatteryProfile, _ sample: BatterySample,
        _ change: (inout ProfileEncoder, Int) -> Void = { _, _ in }
    ) -> (battery: ProfiledBattery, rejected: Int, end: MonotonicTime) {
        var encoder = ProfileEncoder(profile)
        var battery = ProfiledBattery(profile)
        var rejected = 0
        var now = at(1_000)
        for step in 0..<900 {
            change(&encoder, step)
            now = at(Int64(1_000 + 100 * step))
            for frame in encoder.frames(at: now, sample) where battery.accept(frame, at: now) != .used {
                rejected += 1
            }
        }
        return (battery, rejected, now)
    }

    @Test(arguments: choices)
    func `every shipped profile, in every dialect, understands what is said by it`(choice: Choice) throws {
        let profile = try Shipped.profile(choice.name, .init(dialects: choice.dialects))
        let (battery, rejected, now) = Self.heard(profile, Self.sample())
        #expect(rejected == 0)
        let image = battery.image(at: now)
        func expect(_ value: Double?, _ wanted: Double, within step: Double, _ what: Comment) {
            if let value { #expect((value - wanted).magnitude <= step, what) }
        }
        expect(image.packVoltage.number(at: now), 265.6, within: 0.06, "pack voltage")
        expect(image.packCurrent.number(at: now), -37.5, within: 0.06, "+ = discharge in every dialect")
        expect(image.stateOfCharge.number(at: now), 0.63, within: 0.003, "charge")
        expect(image.stateOfHealth.number(at: now), 0.97, within: 0.003, "health")
        expect(image.chargeCurrentLimit.number(at: now), 120, within: 0.5, "charge limit")
        expect(image.dischargeCurrentLimit.number(at: now), 180, within: 0.5, "discharge limit")
        expect(image.chargeVoltageLimit.number(at: now), 284, within: 0.06, "charge voltage limit")
        expect(image.dischargeVoltageLimit.number(at: now), 224, within: 0.06, "discharge voltage limit")
        expect(image.cellVoltageMax.number(at: now), 3.41, within: 0.001, "highest cell")
        expect(image.cellVoltageMin.number(at: now), 3.29, within: 0.001, "lowest cell")
        expect(image.cellTemperatureMax.number(at: now), 31, within: 0.6, "hottest cell")
        expect(image.cellTemperatureMin.number(at: now), 22, within: 0.6, "coldest cell")
        expect(image.insulation.number(at: now), 2_100_000, within: 8_000, "insulation")
        let lacks = Set(profile.lacks.map(\.name))
        let known: [(String, ReadingFault?)] = [
            ("pack_voltage", image.packVoltage.fault(at: now, within: .seconds(10))),
            ("cell_voltage_max", image.cellVoltageMax.fault(at: now, within: .seconds(10))),
            ("cell_temperature_min", image.cellTemperatureMin.fault(at: now, within: .seconds(10))),
            ("charge_current_limit", image.chargeCurrentLimit.fault(at: now, within: .seconds(10))),
            ("insulation", image.insulation.fault(at: now, within: .seconds(10))),
            ("bms_alarm", image.alarms.fault(at: now, within: .seconds(10))),
            ("bms_warning", image.warnings.fault(at: now, within: .seconds(10))),
            ("permissions", image.permissions.fault(at: now, within: .seconds(10))),
        ]
        for (name, fault) in known {
            #expect((fault == nil) != lacks.contains(name), "\(name): \(fault as Any)")
        }
        #expect(image.alarms.fresh(at: now, within: .seconds(10)) == [])
    }

    @Test(arguments: Shipped.names)
    func `an alarm, a warning and what is forbidden come through`(name: String) throws {
        let profile = try Shipped.profile(name)
        var sample = Self.sample()
        sample.alarms = .temperatureHigh
        sample.warnings = profile.hasWarnings ? .voltageLow : []
        sample.permissions = .discharge
        let (battery, _, now) = Self.heard(profile, sample)
        let image = battery.image(at: now)
        let alarms = try #require(image.alarms.fresh(at: now, within: .seconds(10)))
        #expect(alarms.contains(.temperatureHigh) || alarms.contains(.general))
        #expect(!battery.activeTexts(isWarning: false).isEmpty)
        if profile.hasWarnings { #expect(!battery.activeTexts(isWarning: true).isEmpty) }
        if let allowed = image.permissions.fresh(at: now, within: .seconds(10)) {
            #expect(allowed == .discharge)
        }
    }

    @Test(arguments: ["orion", "foxbms2"])
    func `counters that stop freeze the battery, and it comes back with them`(name: String) throws {
        let profile = try Shipped.profile(name)
        let frozen = Self.heard(profile, Self.sample()) { encoder, step in
            encoder.areCountersStopped = step > 800
        }
        #expect(frozen.battery.isFrozen)
        let image = frozen.battery.image(at: frozen.end)
        #expect(image.packVoltage.fault(at: frozen.end, within: .seconds(10)) == .frozen)
        let back = Self.heard(profile, Self.sample()) { encoder, step in
            encoder.areCountersStopped = (300..<800).contains(step)
        }
        #expect(!back.battery.isFrozen)
    }

    @Test func `cells with wrong checksums are rejected and grow old`() throws {
        let profile = try Shipped.profile("orion", .init(cellCount: 12))
        let (battery, rejected, now) = Self.heard(profile, Self.sample()) { encoder, step in
            encoder.spoilsChecksums = step > 400
        }
        #expect(rejected > 40)
        #expect(battery.image(at: now).packVoltage.number(at: now) != nil, "other messages go on")
    }

    @Test func `four hundred cells and temperatures come and go in one profile`() throws {
        let profile = try Shipped.profile("foxbms2", .init(cellCount: 400, temperatureCount: 400))
        var sample = Self.sample()
        sample.cellVoltages = (0..<400).map { 3 + Double($0) / 1_000 }
        sample.cellTemperatures = (0..<400).map { Double($0 / 10) }
        let (battery, rejected, _) = Self.heard(profile, sample)
        #expect(rejected == 0 && profile.cellCount == 400)
        let cells = battery.cellVoltages
        #expect(cells.count == 400)
        for (index, volts) in cells.enumerated() {
            #expect(volts.map { ($0 - 3 - Double(index) / 1_000).magnitude < 1e-9 } == true, "cell \(index)")
        }
    }

    @Test func `a sender that was not asked for long sends each message once`() throws {
        let profile = try Shipped.profile("pylontech-hv")
        var encoder = ProfileEncoder(profile)
        let first = encoder.frames(at: at(0), Self.sample()).count
        #expect(first > 0 && encoder.frames(at: at(1), Self.sample()).isEmpty)
        #expect(encoder.frames(at: at(60_000), Self.sample()).count == first)
        #expect(encoder.next == at(61_000))
    }
}
