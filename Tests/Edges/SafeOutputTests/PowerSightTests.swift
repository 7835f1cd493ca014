import ModbusBus
import Quantities
import Testing

@testable import SafeOutput

@Suite struct PowerSightTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private static var coils: WirePlan.Write {
        var coils = WirePlanTests.coils(9)
        coils.wait = .seconds(11)
        return coils
    }
    private static let plan = WirePlan(links: [
        WirePlan.Link(
            WirePlanTests.network, writes: [coils, WirePlanTests.power(1)], looks: WirePlanTests.looks)
    ])

    private static func at(_ milliseconds: Int64) -> MonotonicTime { start + .milliseconds(milliseconds) }

    /// One look at each side every 100 ms, `until` then; zero written at 10 ms.
    private func sight(
        acknowledged: Bool = true, ac: @escaping (Int64) -> Watts?, dc: @escaping (Int64) -> Watts?,
        until end: Int64
    ) -> (PowerSight, PowerSight.Evidence?) {
        let sight = PowerSight(Self.plan, start: Self.start)
        sight.wrote("BESS_01", isAcknowledged: acknowledged, at: Self.at(10))
        sight.isThrough("BESS_01")
        for time in stride(from: 100, through: end, by: 100) {
            sight.saw(WirePlanTests.looks[0], ac(time), at: Self.at(time))
            sight.saw(WirePlanTests.looks[1], dc(time), at: Self.at(time))
        }
        return (sight, sight.evidence(for: Self.coils, at: Self.at(end)))
    }

    private static let none: @Sendable (Int64) -> Watts? = { _ in Watts(0) }
    /// 9 kW when it is first looked at, and none from then on.
    private static let falls: @Sendable (Int64) -> Watts? = { Watts($0 <= 100 ? 9_000 : 0) }

    // swift-format-ignore
    @Test func `coils open when the reversion is over, whatever the inverter shows`() {
        let flows: (Int64) -> Watts? = { _ in Watts(-50_000) }
        let over = Self.at(11_010)
        let (well, early) = sight(ac: Self.falls, dc: Self.none, until: 11_000)
        #expect(early == nil, "one that follows a lie to zero had 370 A parted")
        #expect(well.evidence(for: Self.coils, at: Self.at(11_009)) == nil)
        #expect(well.evidence(for: Self.coils, at: over) == .seen)
        #expect(sight(ac: { _ in Watts(-2_001) }, dc: Self.none, until: 11_000).0.evidence(for: Self.coils, at: over) == .reversion, "beyond what zero means")
        #expect(sight(ac: Self.none, dc: flows, until: 11_000).0.evidence(for: Self.coils, at: over) == .reversion)
        #expect(sight(ac: { _ in nil }, dc: Self.none, until: 11_000).0.evidence(for: Self.coils, at: over) == .reversion, "unknown is not zero")
        #expect(sight(ac: { $0 == 10_800 ? nil : Self.falls($0) }, dc: Self.none, until: 11_000).0.evidence(for: Self.coils, at: over) == .reversion, "a look that failed begins it anew")
        #expect(sight(acknowledged: false, ac: Self.none, dc: Self.none, until: 11_000).0.evidence(for: Self.coils, at: over) == .reversion, "it may be told otherwise still")
        let (old, _) = sight(ac: Self.falls, dc: Self.none, until: 10_000)
        #expect(old.evidence(for: Self.coils, at: over) == .reversion, "seen too long ago")
    }

    @Test func `a side that does not exist does not count, and AC power must be told`() {
        let sight = PowerSight(Self.plan, start: Self.start)
        sight.wrote("BESS_01", isAcknowledged: true, at: Self.at(10))
        for time in stride(from: 10_500, through: 11_000, by: 100) {
            sight.hasNone(WirePlanTests.looks[1])
            sight.saw(WirePlanTests.looks[0], Watts(100), at: Self.at(Int64(time)))
        }
        #expect(sight.evidence(for: Self.coils, at: Self.at(11_010)) == nil, "another link still writes")
        sight.isThrough("BESS_01")
        #expect(sight.evidence(for: Self.coils, at: Self.at(11_010)) == .seen)
        sight.hasNone(WirePlanTests.looks[0])
        #expect(sight.evidence(for: Self.coils, at: Self.at(11_010)) == .seen, "AC power stays asked for")
        #expect(sight.isAwaited("BESS_01"))
        sight.isOff("BESS_01")
        #expect(!sight.isAwaited("BESS_01"))
    }

    // swift-format-ignore
    static let values: [(place: ModbusValuePlace, first: UInt16, second: UInt16, scale: UInt16?, value: ModbusValuePlace.Value, why: Comment)] = [
        (ModbusValuePlace(.holding, 1, .int16, scaleAddress: 2), 0xFF38, 0, 2, .number(-20_000), "charging, in hundreds of watts"),
        (ModbusValuePlace(.holding, 1, .int16, scaleAddress: 2), 0xFF38, 0, 0xFFFF, .number(-20), "in tenths"),
        (ModbusValuePlace(.holding, 1, .int16, scaleAddress: 2), 0, 0, 0x8000, .unusable, "zero without a scale is not zero"),
        (ModbusValuePlace(.holding, 1, .int16, scaleAddress: 2), 0, 0, nil, .unusable, "nor one whose scale did not come"),
        (ModbusValuePlace(.holding, 1, .int16), 0x8000, 0, nil, .absent, "not implemented"),
        (ModbusValuePlace(.holding, 1, .uint16), 0xFFFF, 0, nil, .absent, "not implemented"),
        (ModbusValuePlace(.input, 1, .int32, isLowWordFirst: true, factor: -1), 0x7530, 0, nil, .number(-30_000), "low word first"),
        (ModbusValuePlace(.input, 1, .int32), 0x8000, 0, nil, .absent, "not implemented"),
        (ModbusValuePlace(.input, 1, .uint32), 0xFFFF, 0xFFFF, nil, .absent, "not implemented"),
        (ModbusValuePlace(.holding, 1, .float32), 0x7FC0, 0, nil, .absent, "not a number"),
        (ModbusValuePlace(.holding, 1, .float32), 0x7F80, 0, nil, .unusable, "infinite"),
        (ModbusValuePlace(.holding, 1, .float32), 0x42C8, 0, nil, .number(100), "100.0"),
    ]

    @Test(arguments: values)
    func `a number is read as the device means it`(
        place: ModbusValuePlace, first: UInt16, second: UInt16, scale: UInt16?,
        value: ModbusValuePlace.Value, why: Comment
    ) {
        #expect(place.value(first, second, scale: scale) == value, why)
    }
}
