import FrequencyResponse
import Quantities
import Testing

/// Every convention of a curve, beside the subtracted one that `DroopCurveTests` holds.
@Suite struct CurveShapeTests {
    static func curve(
        _ nominal: Double = 50, low: Int? = 49_970, high: Int? = 50_030, under: Double = 5, over: Double = 5,
        shape: DroopCurve.Shape = .subtracted
    ) -> DroopCurve? {
        DroopCurve(
            nominal: Hertz(nominal),
            under: low.map { DroopCurve.Side(edgeMillihertz: $0, droop: .percent(under)) },
            over: high.map { DroopCurve.Side(edgeMillihertz: $0, droop: .percent(over)) }, shape: shape)
    }

    static let stepped = DroopCurve.Shape.stepped(hysteresisMillihertz: 10)
    static let dc = DroopCurve(
        nominal: Hertz(50), points: .symmetric(edge: 15, knee: (deviation: 200, share: 0.05), full: 500))

    struct Row: Sendable {
        var curve: DroopCurve?
        var hertz: Double
        var kilowatts: Double
        var why: Comment

        init(_ curve: DroopCurve?, _ hertz: Double, _ kilowatts: Double, _ why: Comment) {
            self.curve = curve
            self.hertz = hertz
            self.kilowatts = kilowatts
            self.why = why
        }
    }

    // swift-format-ignore
    static let rows: [Row] = [
        Row(curve(low: 49_900, high: 50_050, shape: stepped), 49.900,     0,     "stepped: the edge is inside"),
        Row(curve(low: 49_900, high: 50_050, shape: stepped), 49.899,    40.4,   "the whole deviation at once"),
        Row(curve(low: 49_900, high: 50_050, shape: stepped), 50.051,   -20.4,   "and above"),
        Row(curve(low: 49_900, high: 50_050, shape: .renormalised), 52.5, -1000, "full one droop from nominal"),
        Row(curve(low: 49_900, high: 50_050, shape: .renormalised), 50.050, 0,   "no step"),
        Row(curve(60, low: 59_983, high: 60_017, shape: .renormalised), 59.95, 33_000.0 / 2_983, "ERCOT"),
        Row(curve(under: 3, over: 6), 49.870,  100.0 / 1.5,               "another droop below"),
        Row(curve(under: 3, over: 6), 50.130, -100.0 / 3,                 "than above"),
        Row(curve(low: nil, high: 50_200), 49.000,    0,                  "LFSM-O does nothing below"),
        Row(curve(low: nil, high: 50_200), 51.200, -400,                  "and less above"),
        Row(curve(low: 49_800, high: nil), 49.000,  320,                  "LFSM-U gives more below"),
        Row(curve(low: 49_800, high: nil), 51.000,    0,                  "and nothing above"),
        Row(dc, 49.985,      0,                                           "a service's edge is inside"),
        Row(dc, 49.800,     50,                                           "its knee"),
        Row(dc, 49.700, 1100.0 / 3,                                       "beyond the knee"),
        Row(dc, 50.500,  -1000,                                           "full"),
        Row(dc, 53.000,  -1000,                                           "held beyond its last point"),
    ]

    @Test(arguments: rows)
    func `the response is the exact one within a millionth of the rating`(row: Row) throws {
        let power = try #require(row.curve).power(at: Hertz(row.hertz), rated: .kilowatts(1_000))
        #expect(abs(power.kilowatts - row.kilowatts) < 1e-3, row.why)
    }

    // swift-format-ignore
    static let chatter: [(hertz: Double, kilowatts: Double, why: Comment)] = [
        (49.9000,  0,    "inside"),
        (49.8999, 40.04, "out"),
        (49.9001, 39.96, "back over the edge: the response stays"),
        (49.9099, 36.04, "just short of the hysteresis"),
        (49.9100,  0,    "10 mHz inside the edge it ends"),
        (49.9001,  0,    "and does not begin again before the edge"),
        (49.8999, 40.04, "but there"),
        (50.0600, -24,   "straight to the other side"),
        (50.0401, -16.04, "its own hysteresis"),
        (50.0400,  0,    "ends"),
    ]

    @Test func `a stepped response cannot chatter at its edge`() throws {
        let curve = try #require(Self.curve(low: 49_900, high: 50_050, shape: Self.stepped))
        var region = DroopCurve.Region.inside
        for row in Self.chatter {
            region = curve.region(at: Hertz(row.hertz), after: region)
            let power = curve.power(at: Hertz(row.hertz), rated: .kilowatts(1_000), in: region)
            #expect(abs(power.kilowatts - row.kilowatts) < 1e-6, row.why)
        }
    }

    // swift-format-ignore
    static let refused: [(curve: DroopCurve?, why: Comment)] = [
        (curve(low: 50_001),                              "the lower edge above nominal"),
        (curve(high: 49_999),                             "the upper edge below nominal"),
        (curve(under: 0),                                 "no droop at all"),
        (curve(over: -5),                                 "a droop that drives frequency away"),
        (curve(shape: .stepped(hysteresisMillihertz: 31)),       "a hysteresis wider than half the band"),
        (curve(shape: .stepped(hysteresisMillihertz: -1)),       "a negative hysteresis"),
        (curve(low: 47_500, shape: .renormalised),               "renormalised droop that ends at its edge"),
    ]

    @Test(arguments: refused.indices)
    func `what is no curve cannot be made`(index: Int) {
        #expect(Self.refused[index].curve == nil, Self.refused[index].why)
    }

    @Test func `points out of order, rising or too many are refused`() {
        var points = ResponsePoints()
        let isFirstTaken = points.append(deviation: -100, share: 1)
        let isSecondTaken = points.append(deviation: 0, share: 0.5)
        #expect(isFirstTaken && isSecondTaken)
        var isTaken = points.append(deviation: 0, share: 0.5)
        #expect(!isTaken, "the same deviation")
        isTaken = points.append(deviation: 10, share: 0.6)
        #expect(!isTaken, "rising")
        isTaken = points.append(deviation: 10, share: -.infinity)
        #expect(!isTaken, "not finite")
        for index in 1...6 {
            isTaken = points.append(deviation: index, share: 0)
            #expect(isTaken)
        }
        isTaken = points.append(deviation: 7, share: 0)
        #expect(!isTaken, "no room")
        #expect(points == points && points != ResponsePoints())
    }

    /// All curves with a slope, and the steepest change for one step of frequency on 1 MW.
    static let continuous: [DroopCurve?] = [
        curve(), curve(60, low: 59_983, high: 60_017, shape: .renormalised), curve(low: 49_900, high: 50_050),
        curve(low: nil, high: 50_200), curve(under: 2, over: 12), dc, GridCode.continentalFCR.preset.curve,
        GridCode.dynamicModeration.preset.curve, GridCode.dynamicRegulation.preset.curve,
    ]

    @Test(arguments: continuous.indices)
    func `no response rises with frequency, and none but the stepped one jumps`(index: Int) throws {
        let curve = try #require(Self.continuous[index])
        let step = 0.000_1
        var last = curve.power(at: curve.nominal - Hertz(3), rated: .kilowatts(1_000))
        for index in 1...60_000 {
            let frequency = curve.nominal + Hertz(Double(index) * step - 3)
            let power = curve.power(at: frequency, rated: .kilowatts(1_000))
            // 950 kW over 100 mHz is the steepest of them.
            if power > last + Watts(1e-6) || last - power > Watts(951) {
                Issue.record("from \(last) to \(power) at \(frequency)")
                return
            }
            last = power
        }
    }

    @Test func `the stepped response does not rise with frequency either`() throws {
        let curve = try #require(Self.curve(low: 49_900, high: 50_050, shape: Self.stepped))
        var last = curve.power(at: Hertz(47), rated: .kilowatts(1_000))
        for index in 1...60_000 {
            let power = curve.power(at: Hertz(47 + Double(index) * 1e-4), rated: .kilowatts(1_000))
            if power > last { Issue.record("rises at \(47 + Double(index) * 1e-4)") }
            last = power
        }
    }
}
