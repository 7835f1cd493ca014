import BatteryProfiles
import DeviceCodecs
import Plant
import Quantities
import Testing

/// The low-voltage profile says of every frame what the decoder written by hand says.
@Suite struct PylontechTests {
    static let identifiers: [UInt32] = [0x351, 0x355, 0x356, 0x359, 0x35A, 0x35C, 0x373, 0x305]

    struct Variant: Sendable, CustomTestStringConvertible {
        var dialects: [String]
        var byHand: PylontechLowVoltage.Dialect
        var testDescription: String { dialects.joined(separator: " ") }
    }

    static let variants = [
        Variant(dialects: [], byHand: .init()),
        Variant(dialects: ["decivolt"], byHand: .init(packVoltageResolution: .decivolt)),
        Variant(dialects: ["sma"], byHand: .init(alarmPairs: .sma)),
        Variant(
            dialects: ["sma", "decivolt"],
            byHand: .init(packVoltageResolution: .decivolt, alarmPairs: .sma)),
    ]

    /// Half random, half near what a battery sends, cut at random, sometimes of another kind.
    static func frame(_ chance: inout some RandomNumberGenerator) -> CANFrame {
        let identifier = identifiers.randomElement(using: &chance) ?? 0
        var frame = CANFrame(identifier, isExtended: Int.random(in: 0..<50, using: &chance) == 0)
        if Int.random(in: 0..<50, using: &chance) == 0 { frame.kind = .remote }
        let isPlausible = Int.random(in: 0..<4, using: &chance) > 0
        for index in 0..<4 {
            var word = UInt16.random(in: isPlausible ? range(identifier, index) : 0...0xFFFF, using: &chance)
            // The check of the scale has limits at 0.05, 0.2 and 5, where the last bit of a double decides: these
            // words never meet there.
            if identifier == 0x351 && index == 0 { word = word & ~3 | 1 }
            if identifier == 0x356 && index == 0 { word |= 3 }
            if Int.random(in: 0..<20, using: &chance) == 0 {
                word = [0, 0x8000, 0xFFFF].randomElement(using: &chance) ?? 0
            }
            frame.append(UInt8(truncatingIfNeeded: word))
            frame.append(UInt8(truncatingIfNeeded: word >> 8))
        }
        if Int.random(in: 0..<4, using: &chance) == 0 {
            frame.length = Int.random(in: 0...8, using: &chance)
        }
        return frame
    }

    static func range(_ identifier: UInt32, _ index: Int) -> ClosedRange<UInt16> {
        switch (identifier, index) {
        case (0x355, 2): 0...10_000
        case (0x355, _): 90...110
        case (0x373, 0), (0x373, 1): 2_500...5_100
        case (0x373, _): 200...480
        case (0x351, 0): 480...560
        case (0x351, 3): 400...500
        case (0x356, 0): 400...6_000
        case (0x359, _): 0...1
        case (0x35A, _): 0...2
        default: 0...0xFFFF
        }
    }

    @Test(arguments: variants)
    func `the profile equals the decoder written by hand on random frames`(variant: Variant) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var chance = Random(state: seed | 1)
        var compared = 0
        let profile = try Shipped.profile("pylontech-lv", .init(dialects: variant.dialects))
        for round in 0..<40 {
            var ours = ProfiledBattery(profile)
            var byHand = PylontechLowVoltage(dialect: variant.byHand)
            for step in 0..<100 {
                let frame = Self.frame(&chance)
                let time = at(Int64(round * 1_000 + step + 1))
                compared += 1
                // Alarms of which every bit is set: by hand they are unknown at once, by a profile they grow old.
                if frame.isBlank && [0x359, 0x35A].contains(frame.identifier) { continue }
                let outcome = ours.accept(frame, at: time)
                let expected = byHand.accept(frame, at: time)
                let place = "seed \(seed), round \(round), step \(step), \(frame.identifier)"
                #expect(Self.isSame(outcome, expected), "\(place): \(outcome) instead of \(expected)")
                let (one, other) = (ours.image(at: time), byHand.image)
                guard Self.isEqual(one, other, at: time) else {
                    Issue.record("\(place): \(one) instead of \(other)")
                    return
                }
            }
        }
        #expect(compared == 4_000)
    }

    /// Which of several wrong fields a frame is rejected for is nobody's concern.
    static func isSame(_ one: BatteryFrameOutcome, _ other: BatteryFrameOutcome) -> Bool {
        if case .rejected = one, case .rejected = other { return true }
        return one == other
    }

    static func isEqual(_ one: BatteryImage, _ other: BatteryImage, at time: MonotonicTime) -> Bool {
        isEqual(one.cellVoltageMax, other.cellVoltageMax, time)
            && isEqual(one.cellVoltageMin, other.cellVoltageMin, time)
            && isEqual(one.cellTemperatureMax, other.cellTemperatureMax, time)
            && isEqual(one.cellTemperatureMin, other.cellTemperatureMin, time)
            && isEqual(one.packVoltage, other.packVoltage, time)
            && isEqual(one.packCurrent, other.packCurrent, time)
            && isEqual(one.stateOfCharge, other.stateOfCharge, time)
            && isEqual(one.stateOfHealth, other.stateOfHealth, time)
            && isEqual(one.chargeCurrentLimit, other.chargeCurrentLimit, time)
            && isEqual(one.dischargeCurrentLimit, other.dischargeCurrentLimit, time)
            && isEqual(one.chargeVoltageLimit, other.chargeVoltageLimit, time)
            && isEqual(one.dischargeVoltageLimit, other.dischargeVoltageLimit, time)
            && isSame(one.permissions, other.permissions, time) && isSame(one.alarms, other.alarms, time)
            && isSame(one.warnings, other.warnings, time)
    }

    static func isEqual<Unit: Quantity>(
        _ one: Reading<Unit>, _ other: Reading<Unit>, _ time: MonotonicTime
    ) -> Bool {
        guard let a = one.fresh(at: time, within: .seconds(1_000)),
            let b = other.fresh(at: time, within: .seconds(1_000))
        else {
            return one.fault(at: time, within: .seconds(1_000))
                == other.fault(at: time, within: .seconds(1_000))
        }
        return (a - b).magnitude.value <= 1e-9 * max(1, b.value.magnitude)
            && one.age(at: time) == other.age(at: time)
    }

    static func isSame<Value: Equatable>(
        _ one: Reading<Value>, _ other: Reading<Value>, _ time: MonotonicTime
    ) -> Bool {
        one.fresh(at: time, within: .seconds(1_000)) == other.fresh(at: time, within: .seconds(1_000))
            && one.fault(at: time, within: .seconds(1_000)) == other.fault(at: time, within: .seconds(1_000))
            && one.age(at: time) == other.age(at: time)
    }
}

struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
