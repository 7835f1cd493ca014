import DeviceCodecs
import Quantities
import Testing

@Suite struct CANBusTimeTests {
    static func frame(
        _ length: Int, isExtended: Bool = false, kind: CANFrame.Kind = .data, isFlexible: Bool = false,
        rate: Bool = false
    ) -> CANFrame {
        var frame = CANFrame(1, isExtended: isExtended, kind: kind, isFlexible: isFlexible)
        frame.hasRateSwitch = rate
        for _ in 0..<length { frame.append(0) }
        return frame
    }

    // swift-format-ignore
    static let rows: [(frame: CANFrame, bits: UInt64, why: Comment)] = [
        (frame(8),                     135, "the well-known worst case of 11 bits"),
        (frame(8, isExtended: true),   160, "and of 29 bits"),
        (frame(0),                      55, "an empty frame"),
        (frame(1),                      65, "one byte: ten bits more"),
        (frame(0, isExtended: true),    80, "an empty frame of 29 bits"),
        (frame(0, kind: .remote),       55, "a remote frame carries no data"),
        (frame(0, kind: .error),         0, "nobody tells how long an error frame was"),
    ]

    @Test(arguments: rows)
    func `a classic frame takes as many bits as it can at the worst`(
        row: (frame: CANFrame, bits: UInt64, why: Comment)
    ) {
        #expect(CANBitRates(nominal: 500_000).nanoseconds(of: row.frame) == row.bits * 2_000, row.why)
        #expect(CANBitRates(nominal: 250_000).nanoseconds(of: row.frame) == row.bits * 4_000, row.why)
    }

    @Test func `the data of CAN FD goes at its own rate where the frame says so`() {
        let rates = CANBitRates(nominal: 500_000, data: 2_000_000)
        let slow = rates.nanoseconds(of: Self.frame(64, isFlexible: true))
        let fast = rates.nanoseconds(of: Self.frame(64, isFlexible: true, rate: true))
        // 17 + 4 + 13 bits at 500 kbit/s, and 517 + 129 + 32 of data, checksum and stuffing.
        #expect(slow == 34 * 2_000 + 678 * 2_000)
        #expect(fast == 34 * 2_000 + 678 * 500)
        #expect(CANBitRates(nominal: 0).nominal == 1, "no rate divides by zero")
    }

    @Test func `a stamp of the kernel dates a frame, and a step of the wall clock makes none younger`() {
        let second: Int64 = 1_000_000_000
        let clock = CANArrivalClock(emptied: MonotonicTime(nanoseconds: 100 * second))
        let now = MonotonicTime(nanoseconds: 101 * second)
        func time(_ age: Int64) -> Int64 {
            clock.time(ofStamp: 5_000 * second - age, wall: 5_000 * second, now: now).nanoseconds
        }
        #expect(time(0) == 101 * second, "just now")
        #expect(time(second / 2) == 101 * second - second / 2, "half a second ago")
        #expect(time(second) == 100 * second, "as long ago as it can be")
        #expect(time(second + 1) == 100 * second, "the clock was set forward: not before the queue was empty")
        #expect(time(-1) == 100 * second, "the clock was set back: as old as it can be, never younger")
        let absurd = clock.time(ofStamp: Int64.min, wall: Int64.max, now: now)
        #expect(absurd.nanoseconds == 100 * second)
    }

    @Test func `without stamps a thread that was away dates what waits by when it went`() {
        var clock = CANArrivalClock(emptied: MonotonicTime(nanoseconds: 0))
        clock.noteEmpty(at: MonotonicTime(nanoseconds: 1_000))
        clock.noteEmpty(at: MonotonicTime(nanoseconds: 500))
        #expect(clock.emptied.nanoseconds == 1_000, "it does not go back")
        let soon = MonotonicTime(nanoseconds: 1_100)
        #expect(clock.time(now: soon, limit: .nanoseconds(100)) == soon)
        let late = MonotonicTime(nanoseconds: 1_101)
        #expect(clock.time(now: late, limit: .nanoseconds(100)).nanoseconds == 1_000)
    }

    @Test func `periods and jitter come out of the arrivals`() throws {
        var traffic = CANTraffic()
        for millisecond: Int64 in [0, 100, 210, 300] {
            traffic.add(CANArrival(CANFrame(0x351), at: MonotonicTime(nanoseconds: millisecond * 1_000_000)))
        }
        traffic.add(CANArrival(CANFrame(0x351, isExtended: true), at: MonotonicTime(nanoseconds: 0)))
        traffic.add(CANArrival(CANFrame(0x351, kind: .remote), at: MonotonicTime(nanoseconds: 0)))
        #expect(traffic.rows.map(\.count) == [4, 1, 1], "11 bits, 29 bits and a request are three")
        let row = try #require(traffic.rows.first)
        #expect(row.period.map { ($0 * 1_000).rounded() } == 100 && row.longest == .milliseconds(110))
        #expect(row.jitter.map { ($0 * 1_000).rounded() } == 10)
        #expect(traffic.rows[1].period == nil && traffic.rows[1].jitter == nil)
    }

    @Test func `a bus full of noise fills no memory`() {
        var traffic = CANTraffic()
        for number in 0..<UInt32(10_000) {
            traffic.add(CANArrival(CANFrame(number, isExtended: true), at: MonotonicTime(nanoseconds: 0)))
        }
        #expect(traffic.rows.count == CANTraffic.rowLimit)
        #expect(traffic.otherFrames == 10_000 - UInt64(CANTraffic.rowLimit) && traffic.frames == 10_000)
    }
}
