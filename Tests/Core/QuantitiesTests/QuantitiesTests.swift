import Quantities
import Testing

@Suite struct QuantitiesTests {
    @Test func `numbers that are not finite do not become quantities`() {
        #expect(Watts(decoded: .nan) == nil)
        #expect(Volts(decoded: .infinity) == nil)
        #expect(Celsius(decoded: -3.5) == Celsius(-3.5))
    }

    @Test func `volts times amperes are watts and power times time is energy`() {
        #expect(Volts(800) * Amperes(125) == .kilowatts(100))
        #expect(Watts.kilowatts(90) * Duration.seconds(40) == .kilowattHours(1))
    }

    @Test func `time differences keep their sign and their nanoseconds`() {
        let start = MonotonicTime(nanoseconds: 5_000_000_000)
        #expect(start + .milliseconds(20) - start == .milliseconds(20))
        #expect(start - (start + .nanoseconds(7)) == .nanoseconds(-7))
    }

    @Test func `clamped gives the nearest value inside`() {
        #expect(Watts(5).clamped(Watts(-1), Watts(3)) == Watts(3))
        #expect(Watts(-5).clamped(Watts(-1), Watts(3)) == Watts(-1))
        #expect(Watts(2).clamped(Watts(-1), Watts(3)) == Watts(2))
    }
}
