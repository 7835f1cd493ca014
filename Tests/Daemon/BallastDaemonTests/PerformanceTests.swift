import Control
import FrequencyRecord
import FrequencyResponse
import InterlockSupport
import Interlocks
import LinuxIO
import Plant
import Quantities
import Testing

@testable import BallastDaemon

@Suite struct PerformanceTests {
    private static let begin = MonotonicTime(nanoseconds: 50_000_000_000)
    private static let wall: Int64 = 1_767_225_600_000

    /// Looks every 10 ms at a cycle of 20 ms, with the frequency at that time.
    private static func samples(
        for seconds: Double, _ change: (inout CycleSnapshot, Double) -> Void
    ) throws -> (samples: [FrequencySample], bytes: Int) {
        var sampler = PerformanceSampler(settings: settings, units: [unit, unit])
        let snapshot = UnsafeMutablePointer<CycleSnapshot>.allocate(capacity: 1)
        snapshot.initialize(to: CycleSnapshot())
        defer { snapshot.deallocate() }
        var records: [[UInt8]] = []
        for turn in 0..<Int(seconds * 100) {
            let now = begin + .milliseconds(turn * 10)
            if turn % 2 == 0 {
                snapshot.pointee.decision.cycle += 1
                snapshot.pointee.decision.at = now
                for index in 0..<2 {
                    snapshot.pointee.units[index].inverter.activePower = .good(.kilowatts(10), at: now)
                    snapshot.pointee.units[index].battery.stateOfCharge = .good(.percent(50), at: now)
                    snapshot.pointee.decision.units[index].mode = .running
                }
                change(&snapshot.pointee, Double(turn) / 100)
            }
            if let record = sampler.look(
                snapshot.pointee, at: now, wallMilliseconds: wall + Int64(turn * 10))
            {
                records.append(record)
            }
        }
        if let rest = sampler.end() { records.append(rest) }
        return (
            try records.flatMap { try SampleBatch.samples(json: $0) },
            records.reduce(0) { $0 + $1.count + 20 }
        )
    }

    private static let unit = UnitSettings(
        rating: .kilowatts(100), minStateOfCharge: .percent(10), maxStateOfCharge: .percent(90),
        budget: FreshnessBudget(battery: .milliseconds(320), inverter: .milliseconds(320)),
        currentFloor: Amperes(2))

    private static let settings = SiteSettings(
        interlocks: .lithiumIronPhosphate,
        droop: DroopCurve(
            nominal: Hertz(50), deadbandLowMillihertz: 49_970, deadbandHighMillihertz: 50_030,
            droop: .percent(5)),
        basePoint: .zero, ramp: WattsPerSecond(1e9), frequencyHold: .seconds(1),
        meterBudget: .milliseconds(320),
        enterService: .seconds(3), stopBound: .seconds(10), outputGrace: .milliseconds(100))

    @Test func `a sample a second at rest, ten a second from the first moment outside to ten seconds after`()
        throws
    {
        let (samples, _) = try Self.samples(for: 60) { snapshot, time in
            snapshot.decision.frequency = Hertz((20.5..<30).contains(time) ? 49.9 : 50)
        }
        let times = samples.map { Double($0.milliseconds - Self.wall) / 1_000 }
        #expect(times.filter { $0 < 20.5 }.count == 21, "one a second")
        #expect(times.contains(20.5), "the first moment outside is a sample")
        #expect((93...96).contains(times.filter { (20.5..<30).contains($0) }.count), "ten a second")
        #expect(
            (93...101).contains(times.filter { (30..<40).contains($0) }.count), "and ten seconds after it")
        #expect((18...21).contains(times.filter { $0 >= 40 }.count), "then one a second again")
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 > $0 && $1 - $0 <= 1.02 })
        let outside = try #require(samples.first { $0.isOutside == true })
        // (49.97 − 49.9) ÷ 2.5 of 200 kW.
        #expect((outside.expected.map { ($0 - .kilowatts(5.6)).magnitude } ?? .kilowatts(1)) <= Watts(1))
        #expect(outside.delivered == .kilowatts(20) && outside.stateOfCharge == .percent(50))
        #expect(outside.rated == .kilowatts(200) && outside.inService == .kilowatts(200))
    }

    @Test func `the record costs at most what its documentation says`() throws {
        let rest = try Self.samples(for: 600) { snapshot, _ in snapshot.decision.frequency = Hertz(50.012_345)
        }
        #expect(rest.bytes * 144 < 6_000_000, "\(rest.bytes) bytes in 10 min")
        let event = try Self.samples(for: 600) { snapshot, _ in
            snapshot.decision.frequency = Hertz(49.123_456)
            snapshot.decision.response = .kilowatts(-123.456)
            snapshot.decision.basePoint = .kilowatts(-123.456)
            snapshot.decision.setpoint = .kilowatts(-123.456)
        }
        #expect(event.bytes * 144 < 60_000_000, "\(event.bytes) bytes in 10 min")
    }

    @Test func `a power that is too old, an absent frequency and a unit out of service are written as such`()
        throws
    {
        let (samples, _) = try Self.samples(for: 10) { snapshot, time in
            snapshot.decision.frequency = time < 5 ? Hertz(50) : nil
            let old = snapshot.decision.at - .milliseconds(400)
            if time >= 3 { snapshot.units[1].inverter.activePower = .good(.kilowatts(10), at: old) }
            if time >= 7 { snapshot.decision.units[0].mode = .tripped }
        }
        for sample in samples {
            let time = Double(sample.milliseconds - Self.wall) / 1_000
            #expect((sample.delivered == nil) == (time >= 3), "at \(time) s")
            #expect((sample.frequency == nil) == (time >= 5) && (sample.expected == nil) == (time >= 5))
            #expect(sample.inService == .kilowatts(time >= 7 ? 100 : 200))
        }
    }

    @Test func `a cycle that hangs is a gap`() throws {
        let (samples, _) = try Self.samples(for: 20) { snapshot, time in
            snapshot.decision.frequency = Hertz(50)
            if (5..<15).contains(time) { snapshot.decision.cycle = 1_000 }
            if time >= 15, snapshot.decision.cycle < 2_000 { snapshot.decision.cycle = 2_000 }
        }
        let report = FrequencyReport(samples, rules: FrequencyRules())
        #expect(report.gaps.count == 1 && (report.gaps.first?.milliseconds ?? 0) >= 9_000)
    }

    @Test func `what the state of charge closes stands in the sample`() throws {
        let (samples, _) = try Self.samples(for: 3) { snapshot, time in
            var window = PermitWindow.rating(.kilowatts(100))
            if time >= 1 { window.limitDischarge(to: .zero, .stateOfCharge) }
            if time >= 2 { window.limitCharge(to: .zero, .stateOfCharge) }
            snapshot.decision.units[0].window = window
        }
        #expect(samples.map(\.chargeLimit) == [.none, .discharge, .both])
    }
}
