import BatteryProfiles
import ConfigText
import DeviceCodecs
import Plant
import Quantities
import Testing
import YAMLText

@Suite struct PylontechAlarmTests {
    static let time = MonotonicTime(nanoseconds: 5_000_000_000)

    // swift-format-ignore
    static let rows: [(id: UInt32, bytes: String, alarms: BatteryAlarms?, warnings: BatteryAlarms?, why: Comment)] = [
        (0x359, "00 00 00 00 06 50 4E", [], [],                                "golden: no alarm"),
        (0x359, "02 00 00 00",          [.general, .voltageHigh], [],          "protection"),
        (0x359, "04 00 00 00",          [.general, .voltageLow], [],           ""),
        (0x359, "08 00 00 00",          [.general, .temperatureHigh], [],      ""),
        (0x359, "10 00 00 00",          [.general, .temperatureLow], [],       ""),
        (0x359, "80 00 00 00",          [.general, .dischargeCurrentHigh], [], ""),
        (0x359, "00 01 00 00",          [.general, .chargeCurrentHigh], [],    ""),
        (0x359, "00 08 00 00",          [.general, .internalFault], [],        "system error"),
        (0x359, "00 80 00 00",          [.general], [],                        "a bit that no document knows"),
        (0x359, "01 00 00 00",          [.general], [],                        "another"),
        (0x359, "00 00 02 08",          [], [.general, .voltageHigh, .internalFault], "warnings only"),
        (0x359, "02 00",                [.general, .voltageHigh], nil,         "no warnings in a short frame"),
        (0x359, "02",                   nil, nil,                              "half a field"),
        (0x35A, "00 00 00 00 00 00 00 00", [], [],                             "golden, Pylontech 1.3: zeros mean nothing to report"),
        (0x35A, "AA AA AA AA AA AA AA AA", [], [],                             "all cleared"),
        (0x35A, "01 00 00 00 00 00 00 00", [.general], [],                     "1 = active"),
        (0x35A, "02 00 00 00 00 00 00 00", [], [],                             "2 = cleared"),
        (0x35A, "03 00 00 00 00 00 00 00", [], [],                             "3 says nothing"),
        (0x35A, "04 01 01 01 00 00 00 00", [.voltageHigh, .temperatureLow, .chargeCurrentHigh, .imbalance], [], ""),
        (0x35A, "10 04 04 00 00 00 00 00", [.voltageLow, .temperatureHigh, .contactor], [], "hot while charging is hot"),
        (0x35A, "40 10 10 00 00 00 00 00", [.temperatureHigh, .temperatureLow, .shortCircuit], [], ""),
        (0x35A, "00 40 40 00 00 00 00 00", [.dischargeCurrentHigh, .internalFault], [], ""),
        (0x35A, "00 00 00 54 00 00 00 54", [], [],                             "reserved: Victron's on-line flag is no warning"),
        (0x35A, "00 00 00 00 55 55 55 01", [],
            [.general, .voltageHigh, .voltageLow, .temperatureHigh, .temperatureLow, .dischargeCurrentHigh,
             .chargeCurrentHigh, .contactor, .shortCircuit, .internalFault, .imbalance],           "every warning"),
        (0x35A, "01 00 00 00",             [.general], nil,                    "no warnings in a short frame"),
        (0x35A, "01 00 00",                nil, nil,                           "too short for either half"),
    ]

    @Test(arguments: rows)
    func `alarms and warnings are told apart`(
        row: (id: UInt32, bytes: String, alarms: BatteryAlarms?, warnings: BatteryAlarms?, why: Comment)
    ) throws {
        var battery = try Pylontech()
        let outcome = battery.accept(try frame(row.id, row.bytes), at: Self.time)
        #expect(outcome == (row.alarms == nil ? .rejected(.tooShort) : .used), row.why)
        #expect(battery.image.alarms.fresh(at: Self.time, within: .zero) == row.alarms, row.why)
        #expect(battery.image.warnings.fresh(at: Self.time, within: .zero) == row.warnings, row.why)
        if row.alarms == nil {
            #expect(battery.image.alarms.fault(at: Self.time, within: .zero) == .neverSeen)
        }
    }

    /// Alarms after each of a row of 0x35A frames whose first byte is given; `nil` = unknown.
    static func alarms(_ bytes: [UInt8], _ dialects: [String], zerosToClear: Int?) throws -> [BatteryAlarms?]
    {
        let text = String(
            decoding: try YAMLText.bytes(of: "\(Shipped.folder)/pylontech-lv.yaml"), as: UTF8.self)
        let changed = zerosToClear.map {
            text.replacing("clear_after_zeros: 10", with: "clear_after_zeros: \($0)")
        }
        let profile = try BatteryProfile.read(
            try YAMLText.parse(Array((changed ?? text).utf8), file: "pylontech-lv.yaml"),
            file: "pylontech-lv.yaml", options: .init(dialects: dialects)
        ) { (file) throws(ConfigError) in try YAMLText.bytes(of: "\(Shipped.folder)/\(file)") }
        var battery = Pylontech(profile)
        return bytes.map { byte in
            var frame = CANFrame(0x35A)
            frame.append(byte)
            frame.length = 8
            _ = battery.accept(frame, at: time)
            return battery.image.alarms.fresh(at: time, within: .zero)
        }
    }

    enum Rule {
        /// An active item clears after more than so many zeros.
        case zeros(Int)
        /// Zero says nothing, ever.
        case sma
    }

    // swift-format-ignore
    static let sequences: [(rule: Rule, bytes: [UInt8], alarms: [BatteryAlarms?], why: Comment)] = [
        (.zeros(2), [1, 0, 0, 0],       [.general, .general, .general, []], "clears after more than two zeros"),
        (.zeros(2), [1, 0, 0, 1, 0, 0], [.general, .general, .general, .general, .general, .general],
                                                                                              "a new raise starts the count again"),
        (.zeros(2), [1, 2],             [.general, []],                     "cleared at once"),
        (.zeros(2), [1, 3, 3, 3, 3],    [.general, .general, .general, .general, .general], "3 never clears"),
        (.sma, [0, 0],          [nil, nil],               "nothing is known before the first word"),
        (.sma, [3, 0],          [nil, nil],               "3 is no word"),
        (.sma, [2, 0],          [[], []],                 "a cleared item is a word"),
        (.sma, [1, 0, 0, 0, 0], [.general, .general, .general, .general, .general], "zero never clears"),
        (.sma, [1, 0, 2, 0],    [.general, .general, [], []], "only 2 clears"),
        (.sma, [1, 4, 8],       [.general, [.general, .voltageHigh], .general], "items are kept apart"),
    ]

    @Test(arguments: sequences)
    func `an alarm stands until the sender's own rule clears it`(
        row: (rule: Rule, bytes: [UInt8], alarms: [BatteryAlarms?], why: Comment)
    ) throws {
        let alarms =
            switch row.rule {
            case .zeros(let count): try Self.alarms(row.bytes, [], zerosToClear: count)
            case .sma: try Self.alarms(row.bytes, ["sma"], zerosToClear: nil)
            }
        #expect(alarms == row.alarms, row.why)
    }

    @Test func `a pack that sends both frames is as fresh as 0x359 and as bad as either`() throws {
        var battery = try Pylontech()
        let later = Self.time + .seconds(2)
        _ = battery.accept(try frame(0x359, "02 00 00 00"), at: Self.time)
        _ = battery.accept(try frame(0x35A, "00 00 00 00 00 00 00 00"), at: later)
        #expect(battery.image.alarms.fresh(at: later, within: .seconds(2)) == [.general, .voltageHigh])
        #expect(battery.image.alarms.fresh(at: later, within: .seconds(1)) == nil, "zeros refresh nothing")
        _ = battery.accept(try frame(0x35A, "40 00 00 00 00 00 00 00"), at: later)
        _ = battery.accept(try frame(0x359, "00 00 00 00"), at: later)
        #expect(battery.image.alarms.fresh(at: later, within: .zero) == .temperatureHigh)
    }
}
