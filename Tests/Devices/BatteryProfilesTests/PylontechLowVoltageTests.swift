import BatteryProfiles
import DeviceCodecs
import Plant
import Quantities
import Testing

/// A low-voltage battery of the Pylontech family by its profile, looked at when its last frame came.
struct Pylontech {
    private var battery: ProfiledBattery
    private var now = MonotonicTime(nanoseconds: 0)

    init(_ dialects: [String] = []) throws {
        battery = ProfiledBattery(try Shipped.profile("pylontech-lv", .init(dialects: dialects)))
    }

    init(_ profile: BatteryProfile) { battery = ProfiledBattery(profile) }

    var image: BatteryImage { battery.image(at: now) }

    mutating func accept(_ frame: CANFrame, at time: MonotonicTime) -> BatteryFrameOutcome {
        now = time
        return battery.accept(frame, at: time)
    }
}

/// The bytes are those of vendor documents and public captures (can-bms facts), typed in.
@Suite struct PylontechLowVoltageTests {
    static let time = MonotonicTime(nanoseconds: 5_000_000_000)
    static let later = time + .seconds(2)

    static func frame(_ identifier: UInt32, _ hex: String, isExtended: Bool = false) -> CANFrame {
        let bytes = hex.split(separator: " ").compactMap { UInt8($0, radix: 16) }
        return CANFrame(identifier, isExtended: isExtended, bytes: bytes) ?? CANFrame(identifier)
    }

    /// Text of a reading at its own sample time: the value, or why there is none.
    static func value<Unit: Quantity>(_ reading: Reading<Unit>, _ now: MonotonicTime = time) -> String {
        if let value = reading.fresh(at: now, within: .zero)?.value {
            return String((value * 10_000).rounded() / 10_000)
        }
        return reading.fault(at: now, within: .zero).map { "\($0)" } ?? "?"
    }

    static func name(_ outcome: BatteryFrameOutcome) -> String {
        switch outcome {
        case .used: "used"
        case .ignored(let why): "ignored(\(why))"
        case .rejected(let why): "rejected(\(why))"
        }
    }

    /// What `frame` does to a battery that has seen nothing: the outcome and the readings that moved.
    static func result(_ frames: [CANFrame], _ dialects: [String] = []) throws -> String {
        var battery = try Pylontech(dialects)
        var outcome = BatteryFrameOutcome.used
        for frame in frames { outcome = battery.accept(frame, at: time) }
        let image = battery.image
        let readings = [
            ("cvl", value(image.chargeVoltageLimit)), ("ccl", value(image.chargeCurrentLimit)),
            ("dcl", value(image.dischargeCurrentLimit)), ("dvl", value(image.dischargeVoltageLimit)),
            ("soc", value(image.stateOfCharge)), ("soh", value(image.stateOfHealth)),
            ("u", value(image.packVoltage)), ("i", value(image.packCurrent)),
            ("umin", value(image.cellVoltageMin)), ("umax", value(image.cellVoltageMax)),
            ("tmin", value(image.cellTemperatureMin)), ("tmax", value(image.cellTemperatureMax)),
        ]
        let seen = readings.filter { $0.1 != "neverSeen" }.map { "\($0.0)=\($0.1)" }
        return ([name(outcome)] + seen).joined(separator: " ")
    }

    // swift-format-ignore
    static let rows: [(id: UInt32, bytes: String, result: String, why: Comment)] = [
        (0x351, "14 02 C0 12 C0 12 C2 01", "used cvl=53.2 ccl=480.0 dcl=480.0 dvl=45.0", "golden, Pylontech 1.2"),
        (0x351, "10 02 C0 12 C0 12 C2 01", "used cvl=52.8 ccl=480.0 dcl=480.0 dvl=45.0", "golden, Pylontech 1.3"),
        (0x351, "14 02 64 00 9C FF C2 01", "used cvl=53.2 ccl=10.0 dcl=10.0 dvl=45.0",   "a discharge limit's sign is not believed"),
        (0x351, "14 02 9C FF 9C FF C2 01", "rejected(outOfRange) cvl=53.2 ccl=implausible dcl=10.0 dvl=45.0",
                                                                                         "a negative charge limit forbids charging"),
        (0x351, "14 02 C0 12",             "used cvl=53.2 ccl=480.0 dcl=notImplemented dvl=notImplemented",
                                                                                         "golden, truncated: never read past the end"),
        (0x351, "14 02 C0 12 C0",          "used cvl=53.2 ccl=480.0 dcl=notImplemented dvl=notImplemented", "half a field is none"),
        (0x351, "14 02 C0 12 C0 12",       "used cvl=53.2 ccl=480.0 dcl=480.0 dvl=notImplemented", "six bytes, Pylontech 1.2"),
        (0x351, "14 02 00 00 00 00 00 00", "used cvl=53.2 ccl=0.0 dcl=0.0 dvl=notImplemented", "zero amperes is a limit, zero volts is none"),
        (0x351, "00 00 C0 12 C0 12 00 00", "rejected(outOfRange) cvl=implausible ccl=480.0 dcl=480.0 dvl=notImplemented",
                                                                                         "a charge voltage limit of zero is an error"),
        (0x351, "C2 01 C0 12 C0 12 14 02", "rejected(contradictory) cvl=implausible ccl=480.0 dcl=480.0 dvl=implausible",
                                                                                         "charge limit below discharge limit"),
        (0x351, "FF FF FF FF 00 80 FF FF", "used cvl=notImplemented ccl=notImplemented dcl=notImplemented dvl=notImplemented",
                                                                                         "markers"),
        (0x351, "",                        "rejected(tooShort) cvl=notImplemented ccl=notImplemented dcl=notImplemented dvl=notImplemented",
                                                                                         "an empty frame"),
        (0x355, "58 00 5E 00",             "used soc=0.88 soh=0.94",                     "golden, Pylontech 1.2"),
        (0x355, "54 00 60 00 00 00",       "used soc=0.84 soh=0.96",                     "golden, Pylontech 1.3: fine state of charge of zero"),
        (0x355, "54 00 60 00 F8 20",       "used soc=0.844 soh=0.96",                    "fine value that agrees"),
        (0x355, "54 00 60 00 34 21",       "used soc=0.85 soh=0.96",                     "exactly one percent away"),
        (0x355, "54 00 60 00 35 21",       "used soc=0.84 soh=0.96",                     "just more: another maker's cell voltage"),
        (0x355, "64 00 64 00",             "used soc=1.0 soh=1.0",                       "full"),
        (0x355, "69 00 65 00",             "used soc=1.0 soh=1.0",                       "gauges run a little past full"),
        (0x355, "6A 00 64 00",             "rejected(outOfRange) soc=implausible soh=1.0", "106 % is nonsense"),
        (0x355, "FF FF FF FF",             "used soc=notImplemented soh=notImplemented", "markers"),
        (0x355, "58",                      "rejected(tooShort) soc=notImplemented soh=notImplemented", "one byte"),
        (0x356, "7A 13 F2 FE 6B 01",       "used u=49.86 i=27.0",                 "golden, Pylontech 1.2: discharging is positive here"),
        (0x356, "7B 13 E9 FE 6B 01",       "used u=49.87 i=27.9",                 "golden, Pylontech 1.3"),
        (0x356, "7A 13 0A 00 6B 01",       "used u=49.86 i=-1.0",                 "charging"),
        (0x356, "7A 13 FF FF 9C FF",       "used u=49.86 i=0.1",                 "0xFFFF is a current of -0.1 A, not a marker"),
        (0x356, "FF FF FF FF FF FF",       "used u=notImplemented i=notImplemented", "all bits of all bytes: no value at all"),
        (0x356, "FF FF 00 80 00 80",       "used u=notImplemented i=notImplemented", "markers"),
        (0x356, "00 90 00 00 D1 07",       "rejected(outOfRange) u=implausible i=0.0", "negative voltage, 200.1 °C"),
        (0x356, "7A 13",                   "used u=49.86 i=notImplemented", "voltage only"),
        (0x373, "80 0C 1C 0D 26 01 2B 01", "used umin=3.2 umax=3.356 tmin=21.0 tmax=26.0", "millivolts and kelvins"),
        (0x373, "1C 0D 80 0C 2B 01 26 01", "rejected(contradictory) umin=implausible umax=implausible tmin=implausible tmax=implausible",
                                                                                         "minimum above maximum"),
        (0x373, "80 0C 88 13 D5 00 D9 01", "used umin=3.2 umax=5.0 tmin=-60.0 tmax=200.0", "the ends of the ranges"),
        (0x373, "00 00 89 13 D4 00 DA 01", "rejected(outOfRange) umin=implausible umax=implausible tmin=implausible tmax=implausible",
                                                                                         "one step outside each"),
        (0x373, "80 0C 1C 0D FF FF FF FF", "used umin=3.2 umax=3.356 tmin=notImplemented tmax=notImplemented", "markers"),
        (0x373, "80 0C 1C 0D 26 01 2B",    "used umin=3.2 umax=3.356 tmin=21.0 tmax=notImplemented", "seven bytes"),
        (0x360, "FF",                      "ignored(unknownIdentifier)",                 "somebody else's"),
    ]

    @Test(arguments: rows)
    func `a frame gives exactly what it says`(
        row: (id: UInt32, bytes: String, result: String, why: Comment)
    ) throws {
        #expect(try Self.result([Self.frame(row.id, row.bytes)]) == row.result, row.why)
    }

    @Test func `a tenth of a volt per bit is the dialect's choice and a wrong choice is noticed`() throws {
        let tenths = ["decivolt"]
        let limits = Self.frame(0x351, "14 02")
        func result(_ bytes: String, _ dialects: [String] = [], isLimited: Bool = true) throws -> String {
            try Self.result((isLimited ? [limits] : []) + [Self.frame(0x356, bytes)], dialects)
        }
        #expect(try result("F2 01", tenths, isLimited: false).hasPrefix("used u=49.8 "))
        #expect(try result("7A 13").hasPrefix("used cvl=53.2 "))
        let high = try result("7A 13", tenths)
        #expect(high.hasPrefix("rejected(voltageScale)") && high.contains("u=implausible"))
        let low = try result("F2 01")
        #expect(low.hasPrefix("rejected(voltageScale)") && low.contains("u=implausible"))
        #expect(try result("00 00").hasPrefix("used "), "contactors open: 0 V is true")
    }

    @Test func `only 11-bit data frames are decoded`() throws {
        let bytes = "14 02 C0 12 C0 12 C2 01"
        var remote = Self.frame(0x351, bytes)
        remote.kind = .remote
        var error = Self.frame(0x351, bytes)
        error.kind = .error
        let extended = Self.frame(0x351, bytes, isExtended: true)
        #expect(try Self.result([extended]) == "ignored(extendedIdentifier)")
        #expect(try Self.result([remote]) == "ignored(remote)")
        #expect(try Self.result([error]) == "ignored(errorFrame)")
    }

    @Test func `a short frame leaves what came earlier to age by its own time`() throws {
        var battery = try Pylontech()
        _ = battery.accept(Self.frame(0x351, "14 02 C0 12 C0 12 C2 01"), at: Self.time)
        #expect(battery.accept(Self.frame(0x351, "10 02 BF 12"), at: Self.later) == .used)
        let image = battery.image
        #expect(Self.value(image.chargeVoltageLimit, Self.later) == "52.8")
        #expect(image.dischargeCurrentLimit.fresh(at: Self.later, within: .seconds(1)) == nil)
        #expect(image.dischargeCurrentLimit.age(at: Self.later) == .seconds(2))
        #expect(image.dischargeCurrentLimit.fresh(at: Self.later, within: .seconds(2)) == Amperes(480))
    }

    @Test func `a length that lies is not believed`() throws {
        for length in [9, Int.max, -1, Int.min] {
            var long = Self.frame(0x351, "14 02 C0 12 C0 12 C2 01")
            long.length = length
            var battery = try Pylontech()
            let outcome = battery.accept(long, at: Self.time)
            #expect(outcome == (length > 0 ? .used : .rejected(.tooShort)), "\(length)")
        }
    }

    @Test func `permissions are what the BMS says and nothing before it has spoken`() throws {
        var battery = try Pylontech()
        #expect(battery.image.permissions.fault(at: Self.time, within: .zero) == .neverSeen)
        #expect(battery.accept(Self.frame(0x35C, ""), at: Self.time) == .rejected(.tooShort))
        #expect(battery.image.permissions.fault(at: Self.time, within: .zero) == .neverSeen)
        for (bits, expected) in [
            ("C0 00", [.charge, .discharge]), ("80", .charge), ("40", .discharge), ("28", []),
        ] as [(String, BatteryPermissions)] {
            #expect(battery.accept(Self.frame(0x35C, bits), at: Self.time) == .used)
            #expect(battery.image.permissions.fresh(at: Self.time, within: .zero) == expected)
        }
    }

    @Test func `who makes it and what it is are no readings, and no strangers`() throws {
        var battery = try Pylontech()
        #expect(battery.accept(Self.frame(0x35E, "50 59 4C 4F 4E 20 20 20"), at: Self.time) == .used)
        #expect(battery.accept(Self.frame(0x35F, "4C 49 01 03 3C 02 AA 00"), at: Self.time) == .used)
    }

    @Test func `the keep-alive is eight zero bytes`() throws {
        let send = try #require(try Shipped.profile("pylontech-lv").sends.first)
        #expect(send.frame.identifier == 0x305 && !send.frame.isExtended && send.frame.length == 8)
        #expect((0..<8).allSatisfy { send.frame.data[$0] == 0 })
    }

    @Test(arguments: [UInt32(0x359), 0x35A])
    func `a frame of nothing but ones is no alarm, and no word that there is none`(identifier: UInt32) throws
    {
        var battery = try Pylontech()
        let blank = try #require(CANFrame(identifier, bytes: [UInt8](repeating: 0xFF, count: 8)))
        #expect(battery.accept(blank, at: Self.time) == .used)
        #expect(battery.image.alarms.fresh(at: Self.time, within: .seconds(1)) == nil)
        let well = try #require(CANFrame(0x359, bytes: [0, 0, 0, 0, 1, 0x50, 0x4E]))
        _ = battery.accept(well, at: Self.time)
        #expect(battery.image.alarms.fresh(at: Self.time, within: .seconds(1)) == [])
    }

    @Test func `no frame traps it`() throws {
        var generator = Random(state: UInt64.random(in: 1...UInt64.max))
        let seed = generator.state
        print("seed \(seed)")
        let identifiers: [UInt32] = [0x351, 0x355, 0x356, 0x359, 0x35A, 0x35C, 0x35E, 0x35F, 0x373, 0x123]
        var battery = try Pylontech()
        var used = 0
        for round in 0..<200_000 {
            var frame = CANFrame(identifiers[round % identifiers.count])
            for _ in 0..<Int.random(in: 0...8, using: &generator) {
                frame.append(UInt8.random(in: 0...255, using: &generator))
            }
            if battery.accept(frame, at: Self.time) == .used { used += 1 }
        }
        #expect(used > 10_000, "seed \(seed)")
    }
}
