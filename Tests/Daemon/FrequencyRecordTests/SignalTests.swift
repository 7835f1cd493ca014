import FrequencyRecord
import Foundation
import Testing

/// How a signal was followed, on signals whose answer is known.
@Suite struct SignalTests {
    private static let origin: Int64 = 1_767_225_600_000

    /// A slow wave of 40 kW on a site of 100 kW; what was given is `gain` of it, `late` seconds later.
    private static func quarter(
        late: Int, gain: Double = 1, size: Double = 40, seconds: Range<Int> = 0..<900,
        missing: (Int) -> Bool = { _ in false }
    ) -> SignalQuarter {
        var following = SignalFollowing(at: origin + 12_345, rating: 100)
        func signal(_ second: Int) -> Double {
            size * sin(Double(second) / 37) + 5 * sin(Double(second) / 11)
        }
        for second in seconds {
            following.take(
                asked: size == 0 ? 20 : signal(second),
                given: missing(second) ? nil : gain * (size == 0 ? 20 : signal(second - late)),
                at: origin + Int64(second) * 1_000 + 400)
        }
        return following.quarter
    }

    // swift-format-ignore
    static let rows: [(late: Int, gain: Double, why: Comment)] = [
        (0, 1, "at once"), (1, 1, "a second late"), (17, 1, "17 s late"), (17, 0.5, "late and half"), (250, 1, "very late"),
    ]

    @Test(arguments: rows)
    func `the delay is found and what comes late is as like as what comes at once`(
        row: (late: Int, gain: Double, why: Comment)
    ) throws {
        let quarter = Self.quarter(late: row.late, gain: row.gain)
        #expect(quarter.delay == row.late, row.why)
        #expect(try #require(quarter.correlation) > 0.999_999, row.why)
        #expect(quarter.askedSeconds == 900 && quarter.measuredSeconds == 900)
        if row.late == 0 { #expect(abs(try #require(quarter.precision) - row.gain) < 1e-9) }
    }

    @Test func `half of what is asked for is half as precise`() throws {
        #expect(abs(try #require(Self.quarter(late: 0, gain: 0.5).precision) - 0.5) < 1e-9)
        #expect(Self.quarter(late: 0, gain: -1).precision == 0, "the wrong way")
    }

    @Test func `what cannot be judged is not`() {
        let still = Self.quarter(late: 0, gain: 1, size: 0)
        #expect(still.correlation == nil && still.delay == nil && still.precision == 1, "it stands still")
        let short = Self.quarter(late: 0, seconds: 0..<59)
        #expect(short.precision == nil && short.askedSeconds == 59, "a second too short")
        #expect(Self.quarter(late: 0, seconds: 0..<60).precision != nil)
        let silent = Self.quarter(late: 0) { $0 >= 50 }
        #expect(silent.measuredSeconds == 50 && silent.askedSeconds == 900 && silent.precision == nil)
        let other = Self.quarter(late: 0, seconds: -20..<(-1))
        #expect(other.askedSeconds == 0, "seconds of another quarter")
    }

    @Test func `told and read again it is the same`() {
        let quarter = Self.quarter(late: 17, gain: 0.5)
        var told = ToldSignal(.agc)
        told.take(Array("{\"source\":\"agc\",\(quarter.members)}".utf8))
        #expect(told.quarters == 1 && told.delaySeconds == 17)
        #expect(abs((told.precision ?? 0) - (quarter.precision ?? 1)) < 1e-6)
        let lies = [
            "{\"source\":\"operator\",\(quarter.members)}", "{\"source\":\"agc\"}", "[", "{\"source\":1}",
            "{\"source\":\"agc\",\"asked_s\":900,\"measured_s\":901}",
            "{\"source\":\"agc\",\"asked_s\":1e300,\"measured_s\":1}",
        ]
        for lie in lies { told.take(Array(lie.utf8)) }
        #expect(told.quarters == 1)
    }
}
