import FrequencyResponse
import Plant
import Quantities
import Testing

@Suite struct GridSupervisorTests {
    /// One look in the middle of the region, one just inside; in hertz or as a share of voltage.
    struct Element: Sendable {
        var code: SupervisionCode
        var frequency: (outside: Double, inside: Double)?
        var voltage: (outside: Double, inside: Double)?
        var milliseconds: Int
        var cause: GridCause
    }

    private static func frequency(
        _ code: SupervisionCode, _ outside: Double, _ inside: Double, _ milliseconds: Int
    ) -> Element {
        Element(
            code: code, frequency: (outside, inside), milliseconds: milliseconds,
            cause: outside > inside ? .overFrequency : .underFrequency)
    }

    private static func voltage(
        _ code: SupervisionCode, _ outside: Double, _ inside: Double, _ milliseconds: Int
    ) -> Element {
        Element(
            code: code, voltage: (outside, inside), milliseconds: milliseconds,
            cause: outside > inside ? .overvoltage : .undervoltage)
    }

    /// IEEE 1547-2018 as the facts have it, typed in again: limit and time, one step each side of the limit.
    static let elements: [Element] = {
        var rows: [Element] = []
        for code in [
            SupervisionCode.ieee1547CategoryI, .ieee1547CategoryII, .ieee1547CategoryIII,
        ] {
            rows.append(frequency(code, 62.001, 61.2, 160))
            rows.append(frequency(code, 61.201, 61.2, 300_000))
            rows.append(frequency(code, 58.499, 58.5, 300_000))
            rows.append(frequency(code, 56.499, 58.5, 160))
            rows.append(voltage(code, 1.201, 1.1, 160))
        }
        rows.append(voltage(.ieee1547CategoryI, 1.101, 1.1, 2_000))
        rows.append(voltage(.ieee1547CategoryII, 1.101, 1.1, 2_000))
        rows.append(voltage(.ieee1547CategoryIII, 1.101, 1.1, 13_000))
        rows.append(voltage(.ieee1547CategoryI, 0.699, 0.7, 2_000))
        rows.append(voltage(.ieee1547CategoryII, 0.699, 0.7, 10_000))
        rows.append(voltage(.ieee1547CategoryIII, 0.879, 0.88, 21_000))
        rows.append(voltage(.ieee1547CategoryI, 0.449, 0.7, 160))
        rows.append(voltage(.ieee1547CategoryIII, 0.499, 0.88, 2_000))
        rows.append(frequency(.g99, 52.001, 52, 500))
        rows.append(frequency(.g99, 47.499, 47.5, 20_000))
        rows.append(frequency(.g99, 46.999, 47.5, 500))
        rows.append(voltage(.g99, 0.799, 0.8, 2_500))
        rows.append(frequency(.vde4105, 51.501, 51.5, 100))
        rows.append(frequency(.as4777, 46.999, 47, 2_000))
        rows.append(frequency(.indiaCEA, 47.499, 47.5, 200))
        rows.append(frequency(.indiaCEA, 52.001, 52, 200))
        return rows
    }()

    struct Bench {
        var supervisor: GridSupervisor
        let nominal: Double

        init(_ settings: GridSupervisor.Settings, nominal: Double, inService: Bool = true) {
            supervisor = GridSupervisor(settings: settings)
            self.nominal = nominal
            if inService {
                supervisor.beginInService(
                    GridSupervisor.Input(frequency: Hertz(nominal), voltage: Fraction(1)))
            }
        }

        mutating func look(
            _ frequency: Double?, _ voltage: Double? = 1, rate: Double? = nil, breaker: Bool? = nil,
            permit: Bool? = nil, for time: Duration = .zero, period: Duration = .milliseconds(20)
        ) {
            var left = time
            repeat {
                let step = min(period, left)
                supervisor.step(
                    GridSupervisor.Input(
                        frequency: frequency.map { Hertz($0) }, voltage: voltage.map { Fraction($0) },
                        rateOfChange: rate.map { HertzPerSecond($0) }, isBreakerClosed: breaker,
                        isPermitted: permit), after: step)
                left -= step
            } while left > .zero
        }
    }

    private static func bench(_ code: SupervisionCode, inService: Bool = true) -> Bench {
        Bench(code.preset.settings, nominal: code.preset.nominal.value, inService: inService)
    }

    @Test(arguments: elements)
    func `each window trips at its time, not a step before it, and not at its edge`(row: Element) {
        let nominal = row.code.preset.nominal.value
        let outside = (row.frequency?.outside ?? nominal, row.voltage?.outside ?? 1)
        let inside = (row.frequency?.inside ?? nominal, row.voltage?.inside ?? 1)
        let time = Duration.milliseconds(row.milliseconds)
        let step = Duration.milliseconds(1)

        var edge = Self.bench(row.code)
        edge.look(inside.0, inside.1, for: .seconds(400))
        #expect(edge.supervisor.state == .inService, "the edge belongs to the inside")

        var ride = Self.bench(row.code)
        ride.look(outside.0, outside.1)
        ride.look(outside.0, outside.1, for: time - step)
        #expect(ride.supervisor.state == .inService, "one step short")
        // What is inside here may still be a wider region's outside: nominal ends all.
        ride.look(nominal, 1, for: step)
        ride.look(outside.0, outside.1)
        ride.look(outside.0, outside.1, for: time - step)
        #expect(ride.supervisor.state == .inService, "the timer begins anew once the region is left")
        ride.look(outside.0, outside.1, for: step)
        #expect(ride.supervisor.state == .out(row.cause), "at its time")
    }

    @Test func `what is not known neither starts a timer nor stops one`() {
        var bench = Self.bench(.ieee1547CategoryIII)
        bench.look(nil, nil, for: .milliseconds(100))
        #expect(bench.supervisor.state == .inService, "a short silence is no trip")
        var blind = bench
        blind.look(nil, nil, for: .seconds(1_000))
        if case .blind = blind.supervisor.state {} else { Issue.record("a long one is no service") }
        bench.look(62.5)
        bench.look(nil, nil, for: .milliseconds(159))
        #expect(bench.supervisor.state == .inService)
        bench.look(nil, nil, for: .milliseconds(1))
        #expect(bench.supervisor.state == .out(.overFrequency), "it was seen outside and never back")
    }

    // swift-format-ignore
    static let entries: [(frequency: Double?, voltage: Double?, enters: Bool, why: Comment)] = [
        (60.000, 1.000, true,  "nominal"),
        (59.500, 1.000, true,  "the lowest frequency"),
        (59.499, 1.000, false, "one step below"),
        (60.100, 1.000, true,  "the highest frequency"),
        (60.101, 1.000, false, "one step above"),
        (60.000, 0.917, true,  "the lowest voltage"),
        (60.000, 0.916, false, "one step below"),
        (60.000, 1.050, true,  "the highest voltage"),
        (60.000, 1.051, false, "one step above"),
        (nil,    1.000, false, "a frequency that is not known is not good"),
    ]

    @Test(arguments: entries)
    func `power flows only after everything was seen good for the delay`(
        row: (frequency: Double?, voltage: Double?, enters: Bool, why: Comment)
    ) {
        var bench = Self.bench(.ieee1547CategoryIII, inService: false)
        #expect(bench.supervisor.outage == .notEntered)
        bench.look(row.frequency, row.voltage)
        bench.look(row.frequency, row.voltage, for: .milliseconds(299_999))
        #expect(bench.supervisor.outage == .notEntered, "not before the delay is over")
        bench.look(row.frequency, row.voltage, for: .milliseconds(1))
        #expect((bench.supervisor.outage == nil) == row.enters, row.why)
        #expect(bench.supervisor.share == .zero, "the ramp begins at nothing")
        bench.look(row.frequency, row.voltage, for: .seconds(150))
        #expect(bench.supervisor.share == (row.enters ? Fraction(0.5) : .zero), "half of the ramp")
        bench.look(row.frequency, row.voltage, for: .seconds(150))
        #expect((bench.supervisor.state == .inService) == row.enters)
    }

    @Test func `an excursion of one look lets the delay begin anew`() {
        var bench = Self.bench(.ieee1547CategoryIII, inService: false)
        bench.look(60)
        bench.look(60, for: .seconds(299))
        bench.look(59.4)
        bench.look(60)
        bench.look(60, for: .seconds(299))
        #expect(bench.supervisor.share == .zero && bench.supervisor.outage != nil)
        bench.look(60, for: .seconds(1))
        #expect(bench.supervisor.outage == nil)
    }

    @Test func `a supervised voltage that nobody measures keeps the site out`() {
        var settings = SupervisionCode.g99.preset.settings
        settings.isVoltageSupervised = true
        var bench = Bench(settings, nominal: 50, inService: false)
        bench.look(50, nil, for: .seconds(100))
        #expect(bench.supervisor.outage != nil)
        bench.look(50, 1)
        bench.look(50, 1, for: .seconds(20))
        #expect(bench.supervisor.outage == nil)
        bench.look(50, nil, for: .seconds(100))
        #expect(bench.supervisor.outage == nil, "in service it neither starts nor stops a timer")
    }

    @Test func `breaker and permit end service at the next look, and it is entered anew`() {
        // swift-format-ignore
        let rows: [(breaker: Bool?, permit: Bool?, needs: Bool, cause: GridCause?, why: Comment)] = [
            (true,  true,  true,  nil,      "both are well"),
            (false, true,  true,  .breaker, "open"),
            (nil,   true,  true,  .breaker, "nobody can tell, and somebody must"),
            (true,  false, true,  .permit,  "withdrawn"),
            (true,  nil,   true,  .permit,  "nobody can tell, and somebody must"),
            (nil,   nil,   false, nil,      "nobody has to tell"),
            (false, nil,   false, .breaker, "who says no is heard"),
            (nil,   false, false, .permit,  "who says no is heard"),
        ]
        for row in rows {
            var settings = SupervisionCode.g99.preset.settings
            settings.needsBreaker = row.needs
            settings.needsPermit = row.needs
            var bench = Bench(settings, nominal: 50, inService: false)
            bench.look(50, breaker: true, permit: true)
            bench.look(50, breaker: true, permit: true, for: .seconds(20))
            #expect(bench.supervisor.state == .inService)
            bench.look(50, breaker: row.breaker, permit: row.permit)
            #expect(bench.supervisor.outage == row.cause, row.why)
            guard row.cause != nil else { continue }
            bench.look(50, breaker: true, permit: true)
            bench.look(50, breaker: true, permit: true, for: .milliseconds(19_999))
            #expect(bench.supervisor.outage == row.cause, "enter service again, with its delay")
            bench.look(50, breaker: true, permit: true, for: .milliseconds(1))
            #expect(bench.supervisor.outage == nil)
        }
    }

    @Test func `a rate of change is ridden through up to its limit and its time`() {
        var bench = Self.bench(.g99)
        bench.look(50, rate: 1, for: .seconds(60))
        #expect(bench.supervisor.state == .inService, "the limit belongs to the inside")
        bench.look(50, rate: -1.01)
        bench.look(50, rate: -1.01, for: .milliseconds(499))
        bench.look(50, rate: 0.9, for: .milliseconds(20))
        bench.look(50, rate: 1.01)
        bench.look(50, rate: 1.01, for: .milliseconds(499))
        #expect(bench.supervisor.state == .inService)
        bench.look(50, rate: 1.01, for: .milliseconds(1))
        #expect(bench.supervisor.state == .out(.rateOfChange))
        bench.look(50, rate: 1.01, for: .seconds(30))
        #expect(bench.supervisor.outage == .rateOfChange, "no entry while it lasts")

        var american = Self.bench(.ieee1547CategoryI)
        american.look(60, rate: 20, for: .seconds(60))
        #expect(american.supervisor.state == .inService, "IEEE 1547 has no such trip")
    }

    @Test func `every preset rides through its own continuous region and enters service inside it`() {
        for raw in 0..<SupervisionCode.count {
            guard let code = SupervisionCode(rawValue: raw) else {
                Issue.record("\(raw) is no code")
                continue
            }
            let preset = code.preset
            let enter = preset.settings.enter
            #expect(enter.millihertzLow < enter.millihertzHigh && enter.voltageLow < enter.voltageHigh)
            for index in 0..<preset.settings.elementCount {
                let element = preset.settings.elements[index]
                switch element.region {
                case .underFrequency(let limit): #expect(limit <= enter.millihertzLow, "\(preset.name)")
                case .overFrequency(let limit): #expect(limit >= enter.millihertzHigh, "\(preset.name)")
                case .undervoltage(let limit): #expect(limit <= enter.voltageLow, "\(preset.name)")
                case .overvoltage(let limit): #expect(limit >= enter.voltageHigh, "\(preset.name)")
                }
            }
            if let limit = preset.settings.rateOfChangeMax, let ride = preset.rideThrough {
                #expect(limit >= ride, "\(preset.name) trips where it must ride through")
            }
            #expect(preset.legal.delaySeconds.contains(enter.delay.seconds), "\(preset.name)")
            #expect(preset.legal.rampSeconds.contains(enter.ramp.seconds), "\(preset.name)")
            #expect(preset.legal.lowMillihertz.contains(enter.millihertzLow), "\(preset.name)")
            #expect(preset.legal.highMillihertz.contains(enter.millihertzHigh), "\(preset.name)")
            #expect(preset.legal.voltageLow.contains(enter.voltageLow.value), "\(preset.name)")
            #expect(preset.legal.voltageHigh.contains(enter.voltageHigh.value), "\(preset.name)")
        }
    }

    @Test func `on a grid of another nominal frequency every limit keeps its distance`() {
        let moved = SupervisionCode.ieee1547CategoryIII.preset.settings(nominal: Hertz(50))
        #expect(
            moved.elements[0]
                == ProtectionElement(.overFrequency(millihertz: 52_000), after: .milliseconds(160)))
        #expect(moved.enter.millihertzLow == 49_500 && moved.enter.millihertzHigh == 50_100)
        #expect(moved.elementCount == 8)
    }
}
