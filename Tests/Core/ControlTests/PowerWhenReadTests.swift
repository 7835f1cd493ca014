import PowerDispatch
import Quantities
import Testing

@testable import Control

@Suite struct `The units' power when the meter was read` {
    static func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0) + .milliseconds(milliseconds)
    }

    /// 1 W each millisecond, noted each 20 ms for five seconds, which goes round the kept ones.
    static var ramp: PowerWhenRead {
        var past = PowerWhenRead()
        for at in stride(from: 20, through: 5_000, by: 20) {
            past.note(PowerRange(Watts(Double(at))), readAt: time(at))
        }
        return past
    }

    @Test(arguments: [(5_000, 5_000.0), (4_509, 4_500), (4_511, 4_520), (9_000, 5_000), (0, 2_460)])
    func `is that of the moment nearest to the reading`(readAt: Int, own: Double) {
        var past = Self.ramp
        #expect(past.own(beside: Watts(1), readAt: Self.time(readAt))?.least == Watts(own))
    }

    @Test func `counts from when a value came first, for two seconds`() {
        var past = Self.ramp
        #expect(past.own(beside: Watts(1), readAt: Self.time(3_000))?.least == Watts(3_000))
        #expect(past.own(beside: Watts(1), readAt: Self.time(4_980))?.least == Watts(3_000), "repeated")
        #expect(past.own(beside: Watts(1), readAt: Self.time(5_000))?.least == Watts(5_000), "an even power")
        #expect(past.own(beside: Watts(2), readAt: Self.time(4_000))?.least == Watts(4_000), "another value")
    }

    @Test func `of other units nothing of before counts`() {
        var past = Self.ramp
        past.restart()
        #expect(past.own(beside: Watts(1), readAt: Self.time(5_000)) == nil)
        past.note(PowerRange(Watts(7)), readAt: Self.time(5_020))
        #expect(past.own(beside: Watts(2), readAt: Self.time(4_600))?.least == Watts(7))
    }
}
