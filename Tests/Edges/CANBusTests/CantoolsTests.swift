import DeviceCodecs
import Foundation
import Plant
import Quantities
import Testing

/// cantools, with a DBC of these frames, decodes the same payloads.
@Suite struct CantoolsTests {
    static let identifiers: [UInt32] = [0x351, 0x355, 0x356, 0x359, 0x35A, 0x35C, 0x35F, 0x373]
    static let time = MonotonicTime(nanoseconds: 1)

    /// Half plain random, half near what a battery sends, so that many frames are taken and many refused.
    static func payload(_ identifier: UInt32, _ generator: inout SystemRandomNumberGenerator) -> CANFrame {
        var frame = CANFrame(identifier)
        let length = Bool.random(using: &generator) ? 8 : Int.random(in: 0...8, using: &generator)
        let isPlausible = Bool.random(using: &generator)
        for index in 0..<4 {
            let word = UInt16.random(
                in: isPlausible ? range(identifier, index) : 0...0xFFFF, using: &generator)
            frame.append(UInt8(truncatingIfNeeded: word))
            frame.append(UInt8(truncatingIfNeeded: word >> 8))
        }
        frame.length = length
        return frame
    }

    static func range(_ identifier: UInt32, _ index: Int) -> ClosedRange<UInt16> {
        switch (identifier, index) {
        case (0x355, 2): 0...10_000
        case (0x355, _): 0...110
        case (0x373, 0), (0x373, 1): 2_500...3_700
        case (0x373, _): 270...310
        case (0x351, 0): 480...560
        case (0x351, 3): 400...500
        default: 0...0xFFFF
        }
    }

    @Test func `cantools reads the same numbers out of two thousand payloads`() throws {
        var generator = SystemRandomNumberGenerator()
        let frames = (0..<4_000).map {
            Self.payload(Self.identifiers[$0 % Self.identifiers.count], &generator)
        }
        let lines = frames.map { frame in
            ([frame.identifier] + bytes(frame).map(UInt32.init)).map { String($0, radix: 16) }
                .joined(separator: " ")
        }
        let answers = try Peer("can_oracle.py").answers(to: lines.joined(separator: "\n") + "\n")
        try #require(answers.count == frames.count)
        var compared = 0
        for (frame, answer) in zip(frames, answers) {
            let object = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: NSNumber]
            let signals = try #require(object).mapValues(\.doubleValue)
            compared += Self.compare(frame, signals)
        }
        #expect(compared > 3_500, "most fields must really have been compared")
    }

    /// Compares every field our decoder takes with the oracle's; returns how many.
    static func compare(_ frame: CANFrame, _ signals: [String: Double]) -> Int {
        var battery = builtIn
        let outcome = battery.accept(frame, at: time)
        let image = battery.image(at: time)
        let why = Comment(rawValue: "\(String(frame.identifier, radix: 16)) \(bytes(frame)) \(outcome)")
        var compared = 0
        for (name, ours) in values(image) {
            guard let ours else { continue }
            let theirs = oracle(name, signals)
            #expect(theirs.map { abs($0 - ours) < 1e-9 * max(1, abs($0)) } == true, "\(name): \(why)")
            compared += 1
        }
        return compared + compareAlarms(image, frame, signals, why)
    }

    /// Our picture in the oracle's names; `nil` where it holds no value.
    static func values(_ image: BatteryImage) -> [(String, Double?)] {
        func number<Unit: Quantity>(_ reading: Reading<Unit>) -> Double? {
            reading.fresh(at: time, within: .zero)?.value
        }
        return [
            ("ChargeVoltageLimit", number(image.chargeVoltageLimit)),
            ("ChargeCurrentLimit", number(image.chargeCurrentLimit)),
            ("DischargeCurrentLimit", number(image.dischargeCurrentLimit)),
            ("DischargeVoltageLimit", number(image.dischargeVoltageLimit)),
            ("StateOfCharge", number(image.stateOfCharge)), ("StateOfHealth", number(image.stateOfHealth)),
            ("PackVoltage", number(image.packVoltage)), ("PackCurrent", number(image.packCurrent)),
            ("CellVoltageMin", number(image.cellVoltageMin)),
            ("CellVoltageMax", number(image.cellVoltageMax)),
            ("CellTemperatureMin", number(image.cellTemperatureMin)),
            ("CellTemperatureMax", number(image.cellTemperatureMax)),
        ]
    }

    /// The oracle's number under our conventions: sign, share, and which of two gauges counts.
    static func oracle(_ name: String, _ signals: [String: Double]) -> Double? {
        guard let number = signals[name] else { return nil }
        switch name {
        case "PackCurrent": return -number
        case "DischargeCurrentLimit": return abs(number)
        case "StateOfHealth": return min(number, 100) / 100
        case "StateOfCharge":
            let coarse = min(number, 100)
            guard let fine = signals["StateOfChargeFine"], fine > 0, fine <= 100,
                abs(fine - coarse) < 1.000_01
            else { return coarse / 100 }
            return fine / 100
        default: return number
        }
    }

    static let alarmNames: [(String, BatteryAlarms)] = [
        ("General", .general), ("VoltageHigh", .voltageHigh), ("VoltageLow", .voltageLow),
        ("TemperatureHigh", .temperatureHigh), ("ChargeTemperatureHigh", .temperatureHigh),
        ("TemperatureLow", .temperatureLow), ("ChargeTemperatureLow", .temperatureLow),
        ("DischargeCurrentHigh", .dischargeCurrentHigh), ("ChargeCurrentHigh", .chargeCurrentHigh),
        ("Contactor", .contactor), ("ShortCircuit", .shortCircuit), ("InternalFault", .internalFault),
        ("Imbalance", .imbalance),
    ]

    static func compareAlarms(
        _ image: BatteryImage, _ frame: CANFrame, _ signals: [String: Double], _ why: Comment
    ) -> Int {
        var compared = 0
        if let ours = image.alarms.fresh(at: time, within: .zero) {
            var theirs = BatteryAlarms()
            for (name, alarm) in alarmNames where signals[name] == 1 { theirs.insert(alarm) }
            let undocumented = signals.contains { $0.key.hasPrefix("Undocumented") && $0.value != 0 }
            if frame.identifier == 0x359 && (undocumented || theirs != []) { theirs.insert(.general) }
            #expect(ours == theirs, why)
            compared += 1
        }
        if let ours = image.permissions.fresh(at: time, within: .zero) {
            #expect(ours.contains(.charge) == (signals["ChargeEnable"] == 1), why)
            #expect(ours.contains(.discharge) == (signals["DischargeEnable"] == 1), why)
            compared += 1
        }
        return compared
    }
}
