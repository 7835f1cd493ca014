import Control
import FrequencyResponse
import Interlocks
import Plant
import Quantities
import Testing

@testable import BallastDaemon

/// What goes through the ring to the black box.
@Suite struct CycleTapTests {
    private static func tap(_ units: Int) -> CycleTap {
        let unit = UnitSettings(
            rating: .kilowatts(100), minStateOfCharge: .percent(10), maxStateOfCharge: .percent(90),
            budget: FreshnessBudget(battery: .milliseconds(320), inverter: .milliseconds(320)),
            currentFloor: Amperes(2))
        let site = SiteSettings(
            interlocks: .lithiumIronPhosphate,
            droop: DroopCurve(
                nominal: Hertz(50), deadbandLowMillihertz: 49_970, deadbandHighMillihertz: 50_030,
                droop: .percent(5)),
            basePoint: .zero, ramp: WattsPerSecond(1e9), frequencyHold: .seconds(1),
            meterBudget: .milliseconds(320), enterService: .seconds(3), stopBound: .seconds(10),
            outputGrace: .milliseconds(100))
        let settings = [UnitSettings](repeating: unit, count: units)
        return CycleTap(
            Controller(settings: site, units: settings.span), unitCount: units, period: .milliseconds(20))
    }

    /// Half of a cycle's events come in one of ten.
    private static func fill(_ decision: inout Decision, _ cycle: UInt64, _ units: Int) {
        decision.cycle = cycle
        decision.at = MonotonicTime(nanoseconds: Int64(cycle) * 20_000_000)
        decision.unitCount = units
        decision.events.removeAll()
        for unit in 0..<units {
            decision.units[unit].setpoint = Watts(Double(cycle) + Double(unit))
            if cycle.isMultiple(of: 10) {
                decision.events.append(
                    Event(unit: unit, kind: .resumed, value: Double(unit), cycle: cycle, at: decision.at))
            }
        }
    }

    @Test(arguments: [1, 8, 64])
    func `a reader that is held for its patience finds every cycle, word by word`(units: Int) {
        let tap = Self.tap(units)
        let images = UnsafeMutablePointer<UnitImage>.allocate(capacity: units)
        images.initialize(repeating: UnitImage(), count: units)
        let staging = UnsafeMutableRawPointer.allocate(byteCount: tap.layout.bytesMax, alignment: 16)
        defer {
            images.deallocate()
            staging.deallocate()
        }
        let held = UInt64(CycleTap.patience.nanoseconds / 20_000_000)
        var decision = Decision()
        var grid = GridImage()
        let reader = CycleStaging(tap.layout)
        for round in 0..<3 {
            let first = UInt64(round) * 1_000 + 1
            for cycle in first..<(first + held) {
                Self.fill(&decision, cycle, units)
                grid.frequency = .good(Hertz(49 + Double(cycle % 7) / 10), at: decision.at)
                images[units - 1].battery.packVoltage = .good(Volts(Double(cycle)), at: decision.at)
                tap.put(grid, images, &decision, wallNanoseconds: Int64(cycle) + 5, staging: staging)
            }
            var next = first
            while tap.take(&reader.snapshot.pointee, staging: reader.bytes) {
                let found = reader.snapshot
                #expect(found.pointee.decision.cycle == next)
                #expect(found.pointee.wallNanoseconds == Int64(next) + 5)
                let setpoint = found.pointee.decision.units[units - 1].setpoint
                #expect(setpoint == Watts(Double(next) + Double(units - 1)))
                let volts = found.pointee.units[units - 1].battery.packVoltage.whole.value
                #expect(volts == Volts(Double(next)))
                #expect(found.pointee.decision.events.count == (next.isMultiple(of: 10) ? units : 0))
                next += 1
            }
            #expect(next == first + held, "round \(round)")
        }
    }

    @Test func `a full ring leaves out whole cycles, and a list that has lost events says so`() {
        let tap = Self.tap(1)
        let images = UnsafeMutablePointer<UnitImage>.allocate(capacity: 1)
        images.initialize(to: UnitImage())
        let staging = UnsafeMutableRawPointer.allocate(byteCount: tap.layout.bytesMax, alignment: 16)
        defer {
            images.deallocate()
            staging.deallocate()
        }
        var decision = Decision()
        let reader = CycleStaging(tap.layout)
        for cycle in UInt64(1)...2_000 {
            Self.fill(&decision, cycle, 1)
            for _ in 0..<(cycle == 1 ? 300 : 0) {
                decision.events.append(Event(unit: nil, kind: .resumed, cycle: cycle, at: decision.at))
            }
            tap.put(GridImage(), images, &decision, wallNanoseconds: 0, staging: staging)
        }
        var last: UInt64 = 0
        while tap.take(&reader.snapshot.pointee, staging: reader.bytes) {
            let cycle = reader.snapshot.pointee.decision.cycle
            #expect(cycle == last + 1)
            if cycle == 1 {
                #expect(reader.snapshot.pointee.decision.events.count == 256)
                #expect(reader.snapshot.pointee.decision.events.lost == 44)
            }
            last = cycle
        }
        #expect(last > 70 && last < 2_000)
    }
}
