import FrequencyResponse
import Quantities
import Testing

@Suite struct RateOfChangeFilterTests {
    static func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 7_000_000_000 + Int64(milliseconds) * 1_000_000)
    }

    @Test(arguments: [-3.0, -0.5, 0, 0.01, 1, 6], [5, 20, 100])
    func `a straight line has its slope, whatever the period of its samples`(slope: Double, period: Int) {
        var filter = RateOfChangeFilter(window: .milliseconds(500))
        for step in stride(from: 0, through: 2_000, by: period) {
            filter.add(Hertz(50 + slope * Double(step) / 1_000), at: Self.time(step))
        }
        let found = filter.slope(at: Self.time(2_000))
        #expect(found.map { ($0 - HertzPerSecond(slope)).magnitude < HertzPerSecond(1e-6) } == true)
    }

    @Test func `there is no slope before the window is nearly full, and none of old samples`() {
        var filter = RateOfChangeFilter(window: .milliseconds(500))
        for step in stride(from: 0, through: 380, by: 20) { filter.add(Hertz(50), at: Self.time(step)) }
        #expect(filter.slope(at: Self.time(380)) == nil)
        filter.add(Hertz(50), at: Self.time(400))
        #expect(filter.slope(at: Self.time(400)) == .zero)
        #expect(filter.slope(at: Self.time(900)) == .zero)
        #expect(filter.slope(at: Self.time(901)) == nil, "nothing new for longer than the window")
    }

    @Test func `noise of 10 mHz on a quiet grid stays below 0.1 Hz per second`() {
        var filter = RateOfChangeFilter(window: .milliseconds(500))
        for step in 0..<500 {
            let noise = step % 2 == 0 ? 0.01 : -0.01
            filter.add(Hertz(50 + noise), at: Self.time(step * 20))
            if let slope = filter.slope(at: Self.time(step * 20)) {
                #expect(slope.magnitude < HertzPerSecond(0.1), "step \(step)")
            }
        }
    }

    @Test func `a sample that comes twice, or from before, changes nothing`() {
        var (clean, dirty) = (
            RateOfChangeFilter(window: .milliseconds(500)), RateOfChangeFilter(window: .milliseconds(500))
        )
        for step in 0...40 {
            let value = Hertz(50 + Double(step) * 0.02)
            clean.add(value, at: Self.time(step * 20))
            dirty.add(value, at: Self.time(step * 20))
            dirty.add(Hertz(40), at: Self.time(step * 20))
            dirty.add(Hertz(60), at: Self.time(step * 20 - 10))
        }
        #expect(dirty.slope(at: Self.time(800)) == clean.slope(at: Self.time(800)))
        #expect(
            clean.slope(at: Self.time(800)).map { ($0 - HertzPerSecond(1)).magnitude < HertzPerSecond(1e-6) }
                == true)
    }

    @Test func `a gap, or another meter, begins anew`() {
        var filter = RateOfChangeFilter(window: .milliseconds(500))
        for step in 0...50 { filter.add(Hertz(50), at: Self.time(step * 20)) }
        filter.add(Hertz(49), at: Self.time(1_600))
        #expect(filter.slope(at: Self.time(1_600)) == nil)
        for step in 0...50 { filter.add(Hertz(50), at: Self.time(1_620 + step * 20)) }
        #expect(filter.slope(at: Self.time(2_620)) != nil)
        filter.restart()
        #expect(filter.slope(at: Self.time(2_620)) == nil)
    }
}
