import FrequencyResponse
import Quantities
import Testing

/// Droop with a subtracted deadband, against values that were computed in exact fractions elsewhere.
@Suite struct DroopCurveTests {
    struct Row: Sendable {
        var nominal = 50.0
        var low = 49_970
        var high = 50_030
        var percent = 5.0
        var frequency: Double
        /// Change of power on 1000 kW.
        var kilowatts: Double
        var why: Comment
    }

    // swift-format-ignore
    static let rows: [Row] = [
        Row(frequency: 50.000, kilowatts:    0.0,  why: "nominal"),
        Row(frequency: 49.971, kilowatts:    0.0,  why: "1 mHz inside the lower edge"),
        Row(frequency: 49.970, kilowatts:    0.0,  why: "the edge belongs to the inside"),
        Row(frequency: 49.969, kilowatts:    0.4,  why: "1 mHz beyond: 0.4 kW for each MW, no step"),
        Row(frequency: 50.029, kilowatts:    0.0,  why: "1 mHz inside the upper edge"),
        Row(frequency: 50.030, kilowatts:    0.0,  why: "the edge belongs to the inside"),
        Row(frequency: 50.031, kilowatts:   -0.4,  why: "1 mHz beyond"),
        Row(frequency: 49.800, kilowatts:   68.0,  why: "a large loss"),
        Row(frequency: 49.500, kilowatts:  188.0,  why: "middle of the range"),
        Row(frequency: 50.100, kilowatts:  -28.0,  why: "over-frequency absorbs"),
        Row(frequency: 50.200, kilowatts:  -68.0,  why: "over-frequency lowers the power"),
        Row(frequency: 49.000, kilowatts:  388.0,  why: "deep"),
        Row(frequency: 47.470, kilowatts: 1000.0,  why: "full power exactly 2.5 Hz beyond the edge"),
        Row(percent: 6, frequency: 49.700, kilowatts: 90.0, why: "6 %: less than a tenth at 0.3 Hz"),
        Row(percent: 3, frequency: 49.700, kilowatts: 180.0, why: "3 %: twice as steep as 6 %"),
        Row(low: 49_900, high: 50_050, frequency: 50.050, kilowatts:    0.0, why: "an asymmetric band, at its edge"),
        Row(low: 49_900, high: 50_050, frequency: 50.051, kilowatts:   -0.4, why: "no step outside it"),
        Row(low: 49_900, high: 50_050, frequency: 49.900, kilowatts:    0.0, why: "the other edge"),
        Row(low: 49_900, high: 50_050, frequency: 49.899, kilowatts:    0.4, why: "a step would be 40.4 kW"),
        Row(low: 49_900, high: 50_050, frequency: 51.000, kilowatts: -380.0, why: "an asymmetric band, far out"),
        Row(low: 49_985, high: 50_015, frequency: 49.985, kilowatts:    0.0, why: "±15 mHz, at its edge"),
        Row(nominal: 60, low: 59_964, high: 60_036, frequency: 60.000, kilowatts:    0.0,  why: "60 Hz, nominal"),
        Row(nominal: 60, low: 59_964, high: 60_036, frequency: 60.046, kilowatts: -10.0 / 3, why: "1547.1 OF, step m"),
        Row(nominal: 60, low: 59_964, high: 60_036, frequency: 61.200, kilowatts: -388.0,  why: "1547.1 OF, step k"),
        Row(nominal: 60, low: 59_964, high: 60_036, frequency: 58.800, kilowatts:  388.0,  why: "1547.1 UF, step j"),
        Row(nominal: 60, low: 59_964, high: 60_036, frequency: 59.965, kilowatts:    0.0,  why: "inside by 1 mHz"),
        Row(nominal: 60, low: 59_983, high: 60_017, percent: 3, frequency: 60.027, kilowatts: -50.0 / 9,
            why: "Cat II, the steepest setting"),
        Row(nominal: 60, low: 59_983, high: 60_017, percent: 3, frequency: 59.973, kilowatts: 50.0 / 9,
            why: "the same below"),
        Row(nominal: 60, low: 59_983, high: 60_017, percent: 2, frequency: 61.200, kilowatts: -1_183_000.0 / 1_200,
            why: "Cat III, not bounded by the curve itself"),
    ]

    static func curve(_ row: Row) -> DroopCurve {
        DroopCurve(
            nominal: Hertz(row.nominal), deadbandLowMillihertz: row.low, deadbandHighMillihertz: row.high,
            droop: .percent(row.percent))
    }

    @Test(arguments: rows)
    func `the response is the exact one within a millionth of the rating`(row: Row) {
        let power = Self.curve(row).power(at: Hertz(row.frequency), rated: .kilowatts(1_000))
        #expect(abs(power.kilowatts - row.kilowatts) < 1e-3, row.why)
    }

    static let curve = DroopCurve(
        nominal: Hertz(50), deadbandLowMillihertz: 49_970, deadbandHighMillihertz: 50_030, droop: .percent(5))

    // swift-format-ignore
    static let edges: [(frequency: Double, sign: Double, why: Comment)] = [
        (49.97,                   0, "as written in decimal"),
        (49.97 + 1e-9,            0, "10⁻⁶ mHz inside"),
        (49.97 - 0.5e-9,          0, "less than 10⁻⁶ mHz outside is the binary form of the edge"),
        (49.97 - 1e-7,            1, "10⁻⁴ mHz outside responds"),
        (50.03,                   0, "as written in decimal"),
        (50.0 + 0.03,             0, "as a sum"),
        (50.03 - 1e-9,            0, "10⁻⁶ mHz inside"),
        (50.03 + 0.5e-9,          0, "less than 10⁻⁶ mHz outside"),
        (50.03 + 1e-7,           -1, "10⁻⁴ mHz outside responds"),
    ]

    @Test(arguments: edges)
    func `the edge is inside whatever its binary form`(row: (frequency: Double, sign: Double, why: Comment)) {
        let power = Self.curve.power(at: Hertz(row.frequency), rated: .kilowatts(1_000))
        #expect(power.value.sign == .minus || row.sign >= 0, row.why)
        #expect(row.sign == 0 ? power == .zero : power.value * row.sign > 0, row.why)
        #expect(power.magnitude < Watts(0.1), "no step at the edge")
    }

    @Test(arguments: [
        (50.0, 49_970, 50_030), (60.0, 59_964, 60_036), (50.0, 49_900, 50_050), (50.0, 50_000, 50_000),
    ])
    func `over the whole range the response never rises with frequency and never jumps`(
        nominal: Double, low: Int, high: Int
    ) {
        let curve = DroopCurve(
            nominal: Hertz(nominal), deadbandLowMillihertz: low, deadbandHighMillihertz: high,
            droop: .percent(5))
        let step = 0.000_1
        let steepest = Watts(1_000_000 * step / (nominal * 0.05) * 1.000_001 + 0.001)
        var last = curve.power(at: Hertz(nominal - 3), rated: .kilowatts(1_000))
        for index in 1...60_000 {
            let power = curve.power(at: Hertz(nominal - 3 + Double(index) * step), rated: .kilowatts(1_000))
            if power > last || last - power > steepest {
                Issue.record("from \(last) to \(power) at \(nominal - 3 + Double(index) * step) Hz")
                return
            }
            last = power
        }
    }

    @Test func `the slope stands on the rated power`() {
        let frequency = Hertz(49.5)
        let one = Self.curve.power(at: frequency, rated: .kilowatts(1))
        let hundred = Self.curve.power(at: frequency, rated: .kilowatts(100))
        #expect((hundred - one * 100).magnitude < Watts(1e-6))
        #expect(Self.curve.power(at: frequency, rated: .zero) == .zero)
    }
}
