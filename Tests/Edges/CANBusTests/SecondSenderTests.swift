import BatteryProfiles
import CANBus
import DeviceCodecs
import LinuxIO
import Plant
import Quantities
import SiteFile
import Testing

/// Two that speak in one battery's name. The bytes are the family's, typed in again.
@Suite struct SecondSenderTests {
    /// 0x351: 56.0 V, charge and discharge limits, 48.0 V.
    static let closed = hex(0x351, "30 02 00 00 00 00 e0 01")
    static let open = hex(0x351, "30 02 d0 07 d0 07 e0 01")
    /// 0x359: an overvoltage alarm, and none.
    static let alarm = hex(0x359, "02 00 00 00 01 50 4e")
    static let calm = hex(0x359, "00 00 00 00 01 50 4e")

    static func hex(_ identifier: UInt32, _ text: String) -> CANFrame {
        frame(identifier, text.split(separator: " ").compactMap { UInt8($0, radix: 16) })
    }

    struct Bus: ~Copyable {
        private let talk: CANConversation
        private let imageStore = TripleBuffer(BatteryImage())
        private let actuationStore = TripleBuffer(Actuation.safe)
        private var images: TripleBufferReader<BatteryImage>
        var now = MonotonicTime(nanoseconds: 100_000_000_000)
        /// As it was published last.
        var image: BatteryImage
        /// Looks between two periods at which the battery's own zero was not the limit.
        var leaks = 0

        /// The built-in battery, each message every 200 ms.
        init() {
            self.init(
                ProfiledBattery(BuiltInBattery.profile(period: .milliseconds(200))), .milliseconds(200))
        }

        init(_ battery: ProfiledBattery, _ period: Duration) {
            images = imageStore.reader()
            image = BatteryImage()
            talk = CANConversation(
                battery: battery, rates: CANBitRates(), period: period,
                images: imageStore.writer(), actuations: actuationStore.reader())
            talk.opened(hasCarrier: true, at: now)
        }

        mutating func period(_ frames: [CANFrame], after gap: Duration = .milliseconds(200)) {
            now = now + gap
            for frame in frames { talk.received(CANArrival(frame, at: now)) }
            talk.publish(at: now)
            images.update()
            image = images.latest.pointee
            if limit != 0 { leaks += 1 }
        }

        var limit: Double? {
            image.dischargeCurrentLimit.fresh(at: now, within: .milliseconds(620))?.value
        }
        var alarms: BatteryAlarms? { image.alarms.fresh(at: now, within: .milliseconds(620)) }
    }

    @Test(arguments: [0, 20, 60, 100])
    func `of two that contradict each other the strictest counts, whoever is last`(
        apart: Int
    ) {
        var bus = Bus()
        for _ in 0..<5 { bus.period([SecondSenderTests.closed, SecondSenderTests.alarm]) }
        #expect(bus.leaks == 0 && !bus.image.hasSecondSender)
        // Who speaks half a period later is an opinion once the battery has contradicted it.
        let late = apart < 80 ? 0 : 1
        for turn in 0..<50 {
            bus.period(
                [SecondSenderTests.closed, SecondSenderTests.alarm], after: .milliseconds(200 - apart))
            bus.period([SecondSenderTests.open, SecondSenderTests.calm], after: .milliseconds(apart))
            #expect(bus.alarms?.isEmpty == false || turn < late)
        }
        #expect(bus.leaks <= late, "not once in ten seconds")
        #expect(bus.image.hasSecondSender)
    }

    @Test func `a battery without values beside somebody who has some has none`() {
        var bus = Bus()
        let blank = SecondSenderTests.hex(0x351, "ff ff ff ff ff ff ff ff")
        for _ in 0..<5 { bus.period([SecondSenderTests.closed]) }
        for _ in 0..<50 {
            bus.period([blank, SecondSenderTests.open])
            #expect(bus.limit == nil || bus.limit == 0)
        }
        for _ in 0..<10 {
            bus.period([SecondSenderTests.open, blank])
            #expect(bus.limit == nil)
        }
        #expect(bus.image.hasSecondSender)
    }

    @Test func `it ends a minute after the other has gone, and until then the strictest limit holds`() {
        var bus = Bus()
        for _ in 0..<10 { bus.period([SecondSenderTests.closed, SecondSenderTests.open]) }
        #expect(bus.image.hasSecondSender && bus.limit == 0)
        // 200 ms each.
        for _ in 0..<280 { bus.period([SecondSenderTests.open]) }
        #expect(bus.image.hasSecondSender && bus.limit == 0)
        for _ in 0..<40 { bus.period([SecondSenderTests.open]) }
        #expect(!bus.image.hasSecondSender && bus.limit == 200)
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
        #expect(!bus.image.hasSecondSender)
        for _ in 0..<5 { bus.period([SecondSenderTests.open]) }
        #expect(bus.limit == 200 && !bus.image.hasSecondSender)
    }

    @Test func `limits that change from one period to the next are the battery's own`() {
        var bus = Bus()
        for index in 0..<40 {
            bus.period([index % 2 == 0 ? SecondSenderTests.open : SecondSenderTests.closed])
            #expect(bus.limit == (index % 2 == 0 ? 200 : 0) && !bus.image.hasSecondSender)
        }
    }

    /// The twin speaks at the same instants, after the battery's own zero.
    @Test(arguments: ["orion", "byd-hvs", "foxbms2", "pylontech-hv", "pylontech-lv"])
    func `batteries by a profile are heard as closely as the built-in one`(name: String) throws {
        let battery = try ProfileTests.battery(name)
        let profile = battery.profile
        var bus = Bus(battery, profile.period)
        var own = ProfileEncoder(profile)
        var closed = BatterySample()
        closed[.cellVoltageMax] = 3.3
        closed[.cellVoltageMin] = 3.2
        closed[.chargeVoltageLimit] = 800
        closed[.dischargeVoltageLimit] = 600
        closed[.dischargeCurrentLimit] = 0
        var open = closed
        open[.dischargeCurrentLimit] = 100
        let tick = Duration.milliseconds(10)
        for _ in 0..<2_000 { bus.period(own.frames(at: bus.now, closed), after: tick) }
        #expect(!bus.image.hasSecondSender)
        var twin = own
        var leaks = 0
        for _ in 0..<6_000 {
            bus.period(own.frames(at: bus.now, closed) + twin.frames(at: bus.now, open), after: tick)
            if let limit = bus.image.dischargeCurrentLimit.fresh(at: bus.now, within: .seconds(60)),
                limit.value > 0
            {
                leaks += 1
            }
        }
        #expect(leaks == 0, "\(name)")
        #expect(bus.image.hasSecondSender)
    }
}
