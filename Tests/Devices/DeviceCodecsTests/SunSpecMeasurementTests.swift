import DeviceCodecs
import Plant
import Quantities
import Testing

private let now = MonotonicTime(nanoseconds: 1_000_000_000)

@Suite struct `SunSpec measurements` {
    /// A block of a kind with every register zero but the given ones.
    static func block(_ kind: SunSpecMeasurement, _ values: [Int: UInt16]) -> [UInt16] {
        var registers = [UInt16](repeating: 0, count: kind.registerCount)
        for (offset, value) in values { registers[offset] = value }
        return registers
    }

    static func inverter(_ kind: SunSpecMeasurement, _ values: [Int: UInt16]) -> InverterImage {
        var image = InverterImage()
        block(kind, values).withUnsafeBufferPointer {
            kind.decode(SunSpecBlock($0, length: 200), at: now, into: &image)
        }
        return image
    }

    @Test func `701: signs, scale factors, state from zero`() {
        let image = Self.inverter(
            .der,
            [
                4: 3, 7: 5, 10: UInt16(bitPattern: -250), 116: 2, 12: 7, 119: 1, 17: 0, 18: 49985,
                115: UInt16(bitPattern: -3),
            ])
        #expect(image.activePower.fresh(at: now, within: .zero) == Watts(-25_000), "negative = absorbing")
        #expect(image.reactivePower.fresh(at: now, within: .zero) == VoltAmperesReactive(70))
        #expect(image.frequency.fresh(at: now, within: .zero) == Hertz(49.985))
        #expect(image.state.fresh(at: now, within: .zero) == .running)
        #expect(image.events.fresh(at: now, within: .zero) == 5)
        #expect(image.dcVoltage.fault(at: now, within: .zero) == .notImplemented, "701 has none")
        #expect(image.ratedPower.fault(at: now, within: .zero) == .neverSeen, "left alone")
    }

    // swift-format-ignore
    static let states: [(kind: SunSpecMeasurement, offset: Int, raw: UInt16, state: InverterState?, why: Comment)] = [
        (.der,           4,  0, .off,          "701 counts from 0"),
        (.der,           4,  3, .running,      "RUNNING"),
        (.der,           4,  7, .standby,      "last of 701"),
        (.der,           4,  8, nil,           "one beyond"),
        (.inverter,     38,  0, nil,           "101 to 103 count from 1"),
        (.inverter,     38,  1, .off,          "OFF"),
        (.inverter,     38,  4, .running,      "MPPT"),
        (.inverter,     38,  7, .fault,        "FAULT"),
        (.inverter,     38,  8, .standby,      "last of 103"),
        (.inverter,     38,  9, nil,           "one beyond"),
        (.inverterFloat, 48, 5, .throttled,    "the same list in 113"),
        (.inverterFloat, 48, 300, nil,         "does not fit a byte"),
    ]

    @Test(arguments: states)
    func `the operating state`(
        kind: SunSpecMeasurement, offset: Int, raw: UInt16, state: InverterState?, why: Comment
    ) {
        let image = Self.inverter(kind, [offset: raw])
        #expect(image.state.fresh(at: now, within: .zero) == state, why)
        if state == nil { #expect(image.state.fault(at: now, within: .zero) == .implausible, why) }
    }

    @Test func `a state that is not implemented is bad, not off`() {
        let image = Self.inverter(.der, [4: 0xFFFF])
        #expect(image.state.fault(at: now, within: .zero) == .notImplemented)
    }

    // swift-format-ignore
    static let frequencies: [(hundredths: UInt16, scale: UInt16, fault: ReadingFault?, why: Comment)] = [
        (5000, UInt16(bitPattern: -2), nil,             "nominal"),
        (1000, UInt16(bitPattern: -2), nil,             "10 Hz belongs to the range"),
        (999,  UInt16(bitPattern: -2), .implausible,    "just below"),
        (0,    UInt16(bitPattern: -2), .implausible,    "a stopped inverter says 0"),
        (10001, UInt16(bitPattern: -2), .implausible,   "just above 100 Hz"),
        (0xFFFF, UInt16(bitPattern: -2), .notImplemented, "the mark"),
        (5000, 0x8000,                 .implausible,    "a missing scale factor is not 0"),
    ]

    @Test(arguments: frequencies)
    func `frequency is good only where it can be one`(
        hundredths: UInt16, scale: UInt16, fault: ReadingFault?, why: Comment
    ) {
        let image = Self.inverter(.inverter, [16: hundredths, 17: scale])
        #expect(image.frequency.fault(at: now, within: .zero) == fault, why)
    }

    // swift-format-ignore
    static let signs: [(kind: SunSpecMeasurement, offset: Int, sign: SunSpecMeterSign, expected: Double, why: Comment)] = [
        (.meter,    18, .load,       -12, "positive draws from the grid: turned"),
        (.meter,    18, .generation,  12, "positive injects: as it is"),
        (.der,      10, .load,        12, "701 says its sign itself"),
        (.inverter, 14, .load,        12, "so does 103"),
    ]

    @Test(arguments: signs)
    func `a meter's sign is the installation's`(
        kind: SunSpecMeasurement, offset: Int, sign: SunSpecMeterSign, expected: Double, why: Comment
    ) {
        var image = GridImage()
        Self.block(kind, [offset: 12]).withUnsafeBufferPointer {
            kind.decode(SunSpecBlock($0, length: 200), sign: sign, at: now, into: &image)
        }
        #expect(image.activePower.fresh(at: now, within: .zero) == Watts(expected), why)
    }

    @Test func `a float meter's NaN is bad`() {
        var image = GridImage()
        Self.block(.meterFloat, [28: 0x7FC0, 26: 0x4248]).withUnsafeBufferPointer {
            SunSpecMeasurement.meterFloat.decode(
                SunSpecBlock($0, length: 124), sign: .load, at: now, into: &image)
        }
        #expect(image.activePower.fault(at: now, within: .zero) == .notImplemented)
        #expect(image.frequency.fresh(at: now, within: .zero) == Hertz(50))
    }

    @Test func `any registers of any length decode without a trap`() {
        var seed: UInt64 = 0x5EED
        for round in 0..<2_000 {
            let count = round % 126
            var registers: [UInt16] = []
            for _ in 0..<count {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                registers.append(UInt16(truncatingIfNeeded: seed >> 48))
            }
            registers.withUnsafeBufferPointer {
                let block = SunSpecBlock($0, firstOffset: round % 7, length: UInt16(truncatingIfNeeded: seed))
                var inverter = InverterImage()
                var grid = GridImage()
                for kind in SunSpecMeasurement.allCases {
                    kind.decode(block, at: now, into: &inverter)
                    kind.decode(block, sign: .load, at: now, into: &grid)
                }
                for kind in SunSpecRating.allCases { _ = kind.decode(block, at: now) }
                for model in SunSpecModel.catalogue {
                    for point in model.points {
                        _ = (block.value(point), block.bits(point), block.text(point))
                    }
                }
            }
        }
    }

    @Test func `the registers read hold every point used and its scale factor`() {
        let used: [(SunSpecMeasurement, [SunSpecPoint])] = [
            (.inverter, SunSpecInverter.points), (.inverterFloat, SunSpecInverterFloat.points),
        ]
        for (kind, points) in used {
            for point in points {
                #expect(point.offset + point.type.size <= kind.registerCount, "\(point.name)")
                #expect(point.scale.map { $0 < kind.registerCount } ?? true, "\(point.name)")
            }
        }
        for kind in SunSpecMeasurement.allCases { #expect(kind.registerCount <= 124, "room for one more") }
    }
}
