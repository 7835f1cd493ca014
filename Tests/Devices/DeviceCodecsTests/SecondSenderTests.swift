import DeviceCodecs
import Plant
import Quantities
import Testing

/// Two that speak in one battery's name. The bytes are the family's, typed in again.
@Suite struct SecondSenderTests {
    /// 0x351: 56.0 V, charge and discharge limits, 48.0 V.
    static let closed = frame(0x351, "30 02 00 00 00 00 e0 01")
    static let open = frame(0x351, "30 02 d0 07 d0 07 e0 01")
    /// 0x359: an overvoltage alarm, and none.
    static let alarm = frame(0x359, "02 00 00 00 01 50 4e")
    static let calm = frame(0x359, "00 00 00 00 01 50 4e")

    struct Bus {
        var battery = PylontechLowVoltage(period: .milliseconds(200))
        var now = MonotonicTime(nanoseconds: 100_000_000_000)
        /// Looks between two periods at which the battery's own zero was not the limit.
        var leaks = 0

        mutating func period(_ frames: [CANFrame], after gap: Duration = .milliseconds(200)) {
            now = now + gap
            for frame in frames { _ = battery.accept(frame, at: now) }
            if limit != 0 { leaks += 1 }
        }

        var limit: Double? {
            battery.image.dischargeCurrentLimit.fresh(at: now, within: .milliseconds(620))?.value
        }
        var alarms: BatteryAlarms? { battery.image.alarms.fresh(at: now, within: .milliseconds(620)) }
    }

    @Test(arguments: [0, 20, 60])
    func `of two that contradict each other the strictest counts, whoever is last`(
        apart: Int
    ) {
        var bus = Bus()
        for _ in 0..<5 { bus.period([SecondSenderTests.closed, SecondSenderTests.alarm]) }
        #expect(bus.leaks == 0 && !bus.battery.image.hasSecondSender)
        for _ in 0..<50 {
            bus.period(
                [SecondSenderTests.closed, SecondSenderTests.alarm], after: .milliseconds(200 - apart))
            bus.period([SecondSenderTests.open, SecondSenderTests.calm], after: .milliseconds(apart))
            #expect(bus.alarms?.isEmpty == false)
        }
        #expect(bus.leaks == 0, "not once in ten seconds")
        #expect(bus.battery.image.hasSecondSender)
    }

    @Test func `a battery without values beside somebody who has some has none`() {
        var bus = Bus()
        let blank = frame(0x351, "ff ff ff ff ff ff ff ff")
        for _ in 0..<5 { bus.period([SecondSenderTests.closed]) }
        for _ in 0..<50 {
            bus.period([blank, SecondSenderTests.open])
            #expect(bus.limit == nil || bus.limit == 0)
        }
        for _ in 0..<10 {
            bus.period([SecondSenderTests.open, blank])
            #expect(bus.limit == nil)
        }
        #expect(bus.battery.image.hasSecondSender)
    }

    @Test func `it ends a minute after the other has gone, and until then the strictest limit holds`() {
        var bus = Bus()
        for _ in 0..<10 { bus.period([SecondSenderTests.closed, SecondSenderTests.open]) }
        #expect(bus.battery.image.hasSecondSender && bus.limit == 0)
        // 200 ms each.
        for _ in 0..<280 { bus.period([SecondSenderTests.open]) }
        #expect(bus.battery.image.hasSecondSender && bus.limit == 0)
        for _ in 0..<40 { bus.period([SecondSenderTests.open]) }
        #expect(!bus.battery.image.hasSecondSender && bus.limit == 200)
    }

    @Test
    func `a burst after a stall of the wire is no second sender, and costs three periods of the strictest`() {
        var bus = Bus()
        for _ in 0..<10 { bus.period([SecondSenderTests.open]) }
        bus.period(
            [
                SecondSenderTests.open, SecondSenderTests.closed, SecondSenderTests.open,
                SecondSenderTests.open,
            ],
            after: .milliseconds(800))
        #expect(!bus.battery.image.hasSecondSender)
        for _ in 0..<5 { bus.period([SecondSenderTests.open]) }
        #expect(bus.limit == 200 && !bus.battery.image.hasSecondSender)
    }

    @Test func `limits that change from one period to the next are the battery's own`() {
        var bus = Bus()
        for index in 0..<40 {
            bus.period([index % 2 == 0 ? SecondSenderTests.open : SecondSenderTests.closed])
            #expect(bus.limit == (index % 2 == 0 ? 200 : 0) && !bus.battery.image.hasSecondSender)
        }
    }
}
