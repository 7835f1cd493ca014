import Control
import CycleRecord
import LinuxIO
import Plant
import ProgramSupport
import Quantities
import Testing

@testable import BallastDaemon
@testable import Incident

/// Recordings that nobody hopes for, as they are shown.
@Suite struct TraceEdgeTests {
    /// A cycle at this clock, wall clock and frequency; `nil` = nobody measures one.
    struct Moment {
        var seconds: Double
        var wall: Int64
        var frequency: Double?

        init(_ seconds: Double, _ wall: Int64, _ frequency: Double? = 50) {
            (self.seconds, self.wall, self.frequency) = (seconds, wall, frequency)
        }
    }

    private static func trace(_ moments: [Moment], units: Int = 1, setpoint: Double = 0) -> Trace {
        var recorder = CycleRecorder(unitCount: units, about: "a test", files: [("site.yaml", [1])])
        recorder.checkpoint(
            RecordedCheckpoint(
                wallSeconds: 0, now: MonotonicTime(nanoseconds: 0), program: "this one", words: [1]))
        for (index, moment) in moments.enumerated() {
            let now = MonotonicTime(nanoseconds: Int64(moment.seconds * 1e9))
            var (grid, decision) = (GridImage(), Decision())
            if let frequency = moment.frequency { grid.frequency = .good(Hertz(frequency), at: now) }
            decision.frequency = moment.frequency.map { Hertz($0) }
            decision.cycle = UInt64(index + 1)
            for unit in 0..<units { decision.units[unit].setpoint = Watts(setpoint * Double(unit + 1)) }
            let images = [UnitImage](repeating: UnitImage(), count: units)
            recorder.cycle(
                grid: grid, units: images.span, wallSeconds: moment.wall, at: now, &decision, eventDigest: 0)
        }
        recorder.end()
        return Trace(recorder.bytes, site: "a-site", units: (0..<units).map { "UNIT_\($0 + 1)" })
    }

    static let even = (0..<50).map { Moment(Double($0) / 10, 1_760_000_000 + Int64($0 / 10)) }

    // swift-format-ignore
    static let odd: [(moments: [Moment], units: Int, why: Comment)] = [
        ([even[0]],                                                                1, "one cycle"),
        (even,                                                                    64, "as many units as there can be"),
        (even.map { Moment($0.seconds, $0.wall, nil) },                            2, "no grid reading at all"),
        ([even[0], Moment(1, 1_760_000_001), Moment(7_200, 1_760_007_200)],        1, "longer than 32 bits of µs"),
        (even.map { Moment($0.seconds, $0.wall - ($0.seconds > 2 ? 31_536_000 : 0)) }, 1, "set back a year"),
        (even.map { Moment($0.seconds, $0.seconds > 2 ? 1_792_000_000 : 0) },      1, "set for the first time"),
        (even.map { Moment($0.seconds.truncatingRemainder(dividingBy: 2), $0.wall) }, 1, "two restarts of the machine"),
        ((0..<50).map { Moment(Double($0 % 2), $0 % 2 == 0 ? (1 << 37) - 1 : 0) }, 1, "clocks that nobody has"),
    ]

    /// Judged by the COMTRADE library of PyPI and an XML parser.
    @Test(arguments: odd.indices)
    func `what is odd is shown, and other people's tools read it`(row: Int) throws {
        let (moments, units, why) = Self.odd[row]
        let scratch = try ScratchFolder()
        let trace = Self.trace(moments, units: units, setpoint: 1_234.5)
        #expect(trace.fault == nil && trace.times.count == moments.count, why)
        #expect(zip(trace.times, trace.times.dropFirst()).allSatisfy { $0 <= $1 }, why)
        let place = scratch.path
        var kinds: [TraceFiles.Kind] = [
            .csv(place + "/values.csv"), .json(place + "/incident.json"), .page(place + "/index.html"),
        ]
        for form in Comtrade.Form.allCases { kinds.append(.comtrade("\(place)/\(form.rawValue)", form)) }
        for kind in kinds { _ = try TraceFiles.write(trace, of: "none", nominal: 50, as: kind) }
        let judge = try startPeer("incident_judge.py", [place], name: "judge", in: scratch)
        #expect(try judge.exitStatus() == 0, "\(why): \(judge.output)")
        #expect(!trace.scenario(sitePath: "s", profilePath: "p").isEmpty, why)
    }

    @Test func `a recording without a grid's frequency makes a scenario of an even one`() {
        let trace = Self.trace(Self.odd[2].moments, units: 2)
        #expect(trace.frequencyProfile == "t_s,f_hz\n0,50\n")
    }

    // swift-format-ignore
    static let windows: [(from: Double, to: Double, first: Double?, count: Int, why: Comment)] = [
        (0, .infinity, 0, 50, "all"), (1, 1, 1, 1, "one cycle"), (1.05, 1.06, nil, 0, "between two"),
        (3, 2, nil, 0, "turned about"), (-5, 0, 0, 1, "before the begin"), (99, 100, nil, 0, "behind it"),
        (4.85, .infinity, 4.9, 1, "the last one"),
    ]

    @Test(arguments: windows)
    func `a window holds what lies in it`(from: Double, to: Double, first: Double?, count: Int, why: Comment)
        throws
    {
        let part = Self.trace(Self.even).window(from: from, to: to)
        #expect(part.times.count == count, why)
        let whole = try #require(Self.trace(Self.even).times.first)
        if let first {
            let begin = Self.trace(Self.even).beginMicroseconds + Int64((first * 1e6).rounded())
            #expect(part.beginMicroseconds == begin && part.times.first == whole, why)
            #expect(part.csv.split(separator: "\r\n").count == count + 1, why)
        }
    }

    /// Numbers at the end of what a float can say: no file of them, and no crash, by any crafted recording.
    @Test func `numbers beyond all sense end nothing`() {
        for setpoint in [1e308, -1e308, Double.leastNonzeroMagnitude] {
            let trace = Self.trace(Self.even, setpoint: setpoint)
            for form in Comtrade.Form.allCases { #expect(!Comtrade(trace, as: form).data.isEmpty) }
            #expect(trace.page.hasSuffix("</html>\n") && !trace.csv.isEmpty && !trace.json.isEmpty)
        }
    }
}
