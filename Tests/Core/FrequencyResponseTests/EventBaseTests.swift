import FrequencyResponse
import Quantities
import Testing

/// The base of an event, the way back of the state of charge, and the presets.
@Suite struct EventBaseTests {
    // swift-format-ignore
    static let latch: [(scheduled: Double, delivered: Double, isLimited: Bool, isEvent: Bool, goal: Double, why: Comment)] = [
        (500, 300, true,  false, 500, "no event: the schedule"),
        (500, 300, true,  true,  300, "latched at what was delivered"),
        (500, 500, false, true,  300, "the limit is gone: not latched again"),
        (600, 300, false, true,  400, "a change of the schedule is added"),
        (600, 250, true,  true,  400, "a new limit changes nothing"),
        (600, 400, false, false, 600, "the event is over"),
        (600, 400, false, true,  600, "a new event on a ramp that is on its way: it goes on"),
        (700, 500, false, true,  700, "with the change"),
    ]

    @Test func `P_pre is latched once, and changes of the schedule are added`() {
        var base = PreEventPower()
        for row in Self.latch {
            let goal = base.goal(
                scheduled: .kilowatts(row.scheduled), delivered: .kilowatts(row.delivered),
                isLimited: row.isLimited, isEvent: row.isEvent)
            #expect(goal == .kilowatts(row.goal), row.why)
        }
    }

    // swift-format-ignore
    static let energy: [(s: Int, charge: Double?, isResting: Bool, isAllowed: Bool, kilowatts: Double, why: Comment)] = [
        (10, 0.54, false, true,    0, "inside the band"),
        (30, 0.56, false, true,   25, "outside: 50 kW in 60 s"),
        (60, 0.56, false, true,   50, "there"),
        (30, 0.60, true,  true,   50, "an event: it rests"),
        (30, 0.51, false, true,   50, "on to the target, not to the band"),
        (30, 0.50, false, true,   25, "at the target: back to nothing"),
        (60, 0.50, false, true,    0, "nothing"),
        (60, 0.44, false, true,  -50, "the other way: charging"),
        (30, 0.44, false, false, -25, "somebody asks for a power: given back"),
        (60, 0.44, true,  false,   0, "also in an event"),
        (60, 0.44, false, true,  -50, "again"),
        (60, nil,  false, true,    0, "an unknown charge moves nothing"),
    ]

    @Test func `the state of charge is brought back slowly and rests in an event`() {
        var management = EnergyManagement(
            settings: .init(target: Fraction(0.5), band: Fraction(0.05), power: Fraction(0.05)))
        for row in Self.energy {
            let power = management.correction(
                charge: row.charge.map { Fraction($0) }, rated: .kilowatts(1_000), isResting: row.isResting,
                isAllowed: row.isAllowed, after: .seconds(row.s))
            #expect(abs(power.kilowatts - row.kilowatts) < 1e-9, row.why)
        }
    }

    static let codes: [GridCode] = (0..<GridCode.count).compactMap { GridCode(rawValue: $0) }

    @Test func `every preset has its own name, a source, a date and numbers inside its own range`() {
        var names: Set<String> = []
        for code in Self.codes {
            let preset = code.preset
            #expect(names.insert("\(preset.name)").inserted, "\(preset.name)")
            #expect(preset.source.utf8CodeUnitCount > 4 && preset.title.utf8CodeUnitCount > 4)
            #expect(preset.effective.utf8CodeUnitCount == 10, "a date")
            let center = Int(preset.curve.nominal.value * 1_000)
            for side in [preset.curve.under, preset.curve.over].compactMap(\.self) {
                let distance = (side.edgeMillihertz - center).magnitude
                #expect(preset.legal.edgeMillihertz?.contains(Int(distance)) == true, "\(preset.name)")
                #expect(preset.legal.droopPercent?.contains(side.droop.percent) == true, "\(preset.name)")
            }
            let dynamics = preset.dynamics
            #expect(preset.legal.openLoopSeconds.contains(dynamics.openLoopTime.seconds))
            #expect(preset.legal.activationSeconds.contains(dynamics.fullActivation.seconds))
            #expect(dynamics.initiationDelay == .zero && dynamics.hold == .zero)
        }
        #expect(names.count == 15)
    }

    @Test func `the operating band is a metric beside India's deadband and never its edges`() {
        let preset = GridCode.iegc.preset
        #expect(preset.operatingBand == 49_900...50_050)
        #expect(preset.curve.under?.edgeMillihertz == 49_970 && preset.curve.over?.edgeMillihertz == 50_030)
        #expect(preset.mark == .recalled, "nobody here has read the gazette's text")
    }
}
