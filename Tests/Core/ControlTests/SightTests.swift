import FrequencyResponse
import Plant
import Quantities
import Testing

@testable import Control

/// Who sees the grid, and what follows when nobody does.
@Suite struct SightTests {
    typealias Bench = GridWatchTests.Bench

    /// In service, with a meter and two inverters that see 50 Hz.
    private static func entered(_ change: (inout GridSettings) -> Void = { _ in }) -> Bench {
        var settings = GridWatchTests.supervised()
        change(&settings)
        var bench = Bench(settings, inverters: 2)
        for _ in 0..<150 { _ = look(&bench, [50, 50]) }
        #expect(bench.decision.grid.state == .inService)
        return bench
    }

    /// One look; `nil` = the inverter tells no frequency.
    private static func look(
        _ bench: inout Bench, _ inverters: [Double?], state: InverterState = .running
    ) -> [Event.Kind] {
        for (unit, hertz) in inverters.enumerated() {
            let next = bench.now + .milliseconds(20)
            bench.images[unit].inverter.state = .good(state, at: next)
            if let hertz { bench.images[unit].inverter.frequency = .good(Hertz(hertz), at: next) }
        }
        return bench.look().map(\.kind)
    }

    private static func looks(
        _ bench: inout Bench, _ inverters: [Double?], state: InverterState = .running, for seconds: Double
    ) -> [Event.Kind] {
        var kinds: [Event.Kind] = []
        for _ in 0..<Int(seconds * 50) { kinds += look(&bench, inverters, state: state) }
        return kinds
    }

    @Test func `a blind meter beside inverters that see is told, and no trip`() {
        var bench = Self.entered {
            $0.nominalVoltage = nil; $0.supervision?.isVoltageSupervised = false
        }
        bench.frequency = nil
        #expect(Self.looks(&bench, [50, 50], for: 4) == [.gridSourceBlind(.meter, isFrozen: false)])
        #expect(bench.decision.grid.state == .inService && bench.decision.grid.share == Fraction(1))
        bench.frequency = 50
        #expect(Self.looks(&bench, [50, 50], for: 1) == [.gridSourceSees(.meter)])
    }

    @Test(arguments: [0, 1]) func `any source outside counts, whatever the others see`(unit: Int) {
        var bench = Self.entered()
        var seen: [Double?] = [50, 50]
        seen[unit] = 49.4
        #expect(Self.looks(&bench, seen, for: 0.1) == [.gridLost(.underFrequency)])
        #expect(bench.decision.grid.outage == .underFrequency)
    }

    @Test func `with nobody to see power goes on the ramp, and comes back on it without the delay`() {
        var bench = Self.entered()
        bench.frequency = nil
        let gone = Self.looks(&bench, [nil, nil], for: 1)
        #expect(gone.first == .gridUnseen && bench.decision.frequency == nil)
        #expect(bench.decision.grid.isBlind && bench.decision.grid.outage == nil)
        // From the 40 % that flowed, 20 % in a second.
        #expect(bench.decision.grid.share < Fraction(0.4) && bench.decision.grid.share > Fraction(0.2))
        _ = Self.looks(&bench, [nil, nil], for: 2)
        #expect(bench.decision.grid.share == .zero)
        bench.frequency = 50
        #expect(Self.looks(&bench, [nil, nil], for: 0.1).contains(.gridSeen))
        #expect(bench.decision.grid.state == .inService && bench.decision.grid.share < Fraction(0.05))
        _ = Self.looks(&bench, [nil, nil], for: 5.2)
        #expect(bench.decision.grid.share == Fraction(1))
    }

    @Test func `an inverter that left the grid meanwhile makes it enter anew`() {
        var bench = Self.entered()
        bench.frequency = nil
        _ = Self.looks(&bench, [nil, nil], for: 1)
        #expect(Self.looks(&bench, [nil, nil], state: .standby, for: 0.1).contains(.gridLost(.unseen)))
        bench.frequency = 50
        #expect(Self.looks(&bench, [nil, nil], for: 0.5).contains(.gridGood))
        #expect(bench.decision.grid.share == .zero, "the delay runs")
    }

    @Test func `an excursion seen as sight comes back is an excursion`() {
        var bench = Self.entered()
        bench.frequency = nil
        _ = Self.looks(&bench, [nil, nil], for: 1)
        bench.frequency = 49.4
        #expect(Self.looks(&bench, [nil, nil], for: 0.1).contains(.gridLost(.underFrequency)))
    }

    @Test func `a meter that repeats itself while others move away is frozen, and one that is slower is not`()
    {
        var bench = Self.entered()
        _ = Self.looks(&bench, [49.8, 49.8], for: 0.5)
        bench.frequency = 49.8
        #expect(Self.looks(&bench, [49.8, 49.8], for: 3).isEmpty, "half a second behind")
        let kinds = Self.looks(&bench, [50.1, 50.1], for: 3)
        // The inverters here tell no voltage, which is supervised too.
        #expect(kinds == [.gridSourceBlind(.meter, isFrozen: true), .gridUnseen])
        #expect(bench.decision.frequency == nil, "nobody answers to what is old")
    }

    // swift-format-ignore
    static let stands: [(resolution: Double?, seconds: Double, isFrozen: Bool, why: Comment)] = [
        (nil,    600, false, "nobody knows how coarse it is, and the grid may be calm"),
        (0.001,   29, false, "in its time"),
        (0.001,   31, true,  "noise alone moves a millihertz"),
        (0.01,   299, false, "in its time"),
        (0.01,   301, true,  "five minutes inside 10 mHz"),
        (0.1,    600, false, "too coarse to tell"),
    ]

    @Test(arguments: stands) func `how long a value may stand still follows from the declared resolution`(
        row: (resolution: Double?, seconds: Double, isFrozen: Bool, why: Comment)
    ) {
        var bench = Self.entered { $0.meterResolution = row.resolution.map { Hertz($0) } }
        // Another source beside it, which stands as still: no evidence of its own. 3 s have passed.
        let kinds = Self.looks(&bench, [50, 50], for: row.seconds - 3)
        #expect(kinds.contains(.gridSourceBlind(.meter, isFrozen: true)) == row.isFrozen, row.why)
        #expect(bench.decision.grid.outage == nil)
    }

    @Test func `a hundred sites lose a stream from far away, or repeat a coarse value: none leaves`() {
        for site in 0..<100 {
            var settings = GridWatchTests.supervised()
            settings = GridSettings(nominalFrequency: Hertz(50))
            settings.add(FrequencySource(.phasor(0), budget: .milliseconds(100)))
            settings.add(FrequencySource(.meter, budget: .milliseconds(300)))
            settings.supervision = SupervisionCode.vde4105.preset.settings
            settings.supervision?.enter.delay = .milliseconds(200)
            settings.supervision?.enter.ramp = .zero
            settings.supervision?.rateOfChangeMax = HertzPerSecond(2)
            var bench = Bench(settings, inverters: 2)
            let calm = 50 + Double(site % 10 - 5) * 0.01
            let coarse = site % 2 == 0 ? 0.1 : 0.01
            bench.frequency = (calm / coarse).rounded() * coarse
            var left = 0
            for cycle in 0..<1_000 {
                if cycle < 200 + site {
                    bench.grid.phasors[0].frequency = .good(Hertz(calm), at: bench.now + .milliseconds(20))
                }
                let fine = calm + Double((cycle / 5 * 7 + site) % 11 - 5) * 0.001
                _ = Self.look(&bench, [fine, fine])
                if cycle > 50, bench.decision.grid.state != .inService { left += 1 }
            }
            #expect(left == 0, "site \(site)")
        }
    }

    /// Found by somebody who let every source on site stand still at 50 Hz: two units entered into 46 Hz.
    @Test(arguments: [nil, 0.1, 0.01])
    func `nobody enters service on the word of sources that stand still`(resolution: Double?) {
        var settings = GridWatchTests.supervised()
        settings.meterResolution = resolution.map { Hertz($0) }
        var bench = Bench(settings, inverters: 2)
        bench.isAlive = false
        _ = Self.looks(&bench, [50, 50], for: 20)
        let isDeclared = resolution == 0.01
        #expect((bench.decision.grid.state == .inService) == isDeclared, "a step of 10 mHz may stand so long")
        guard !isDeclared else { return }
        #expect(bench.decision.grid.outage == .unseen, "and why is told")
        bench.isAlive = true
        _ = Self.looks(&bench, [50, 50], for: 3)
        #expect(bench.decision.grid.state == .inService, "as soon as any of them moves")
    }

    /// Played by somebody: 40 kW into 47.45 Hz.
    @Test(arguments: [false, true])
    func
        `what a source saw that goes blind counts beside others that stand still, not beside those that move`(
            isMoving: Bool
        )
    {
        var bench = Self.entered {
            var slow = GridSupervisor.Settings(enter: GridWatchTests.enter)
            slow.add(ProtectionElement(.underFrequency(millihertz: 49_500), after: .milliseconds(100)))
            slow.isVoltageSupervised = true
            $0.supervision = slow
        }
        bench.frequency = 49.45
        _ = Self.looks(&bench, [50, 50], for: 0.06)
        bench.frequency = nil
        bench.grid.frequency = .bad(.notImplemented, since: bench.now)
        var kinds: [Event.Kind] = []
        for step in 0..<25 {
            kinds += Self.looks(&bench, [isMoving ? 50 + Double(step) * 1e-3 : 50, 50], for: 0.02)
        }
        #expect(kinds.contains(.gridLost(.underFrequency)) == !isMoving)
    }
}
