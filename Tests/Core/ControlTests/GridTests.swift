import Control
import FrequencyResponse
import Plant
import Quantities
import Testing

/// The site's eye on the grid, on virtual time: a PMU before the meter, and the grid's state as a permissive.
@Suite struct GridTests {
    private static func grid(supervised: Bool = false) -> GridSettings {
        var settings = GridSettings(nominalFrequency: Hertz(50))
        settings.add(FrequencySource(.phasor(0), budget: .milliseconds(100)))
        settings.add(FrequencySource(.meter, budget: Site.budget))
        if supervised {
            settings.supervision = SupervisionCode.g99.preset.settings
            settings.supervision?.needsBreaker = true
            settings.localPhasors = 1
        }
        return settings
    }

    private static func site(supervised: Bool = false) -> Site {
        var site = Site(
            basePoint: .kilowatts(100), ramp: WattsPerSecond(100_000), grid: grid(supervised: supervised))
        site.frequency = nil
        return site
    }

    /// One cycle with what the PMU and the meter see; `nil` = nothing new.
    private static func cycle(_ site: inout Site, pmu: Double?, meter: Double?, for time: Duration) -> Watts {
        var largest = Watts.zero
        for _ in 0..<(time.nanoseconds / Site.period.nanoseconds) {
            let next = site.now + Site.period
            if let pmu { site.grid.phasors[0].frequency = .good(Hertz(pmu), at: next) }
            // Its last digit moves, as that of all that lives.
            let digit = Double(next.nanoseconds / 20_000_000 % 2) * 1e-6
            site.grid.phasors[0].voltage = .good(Volts(230 + digit), at: next)
            site.frequency = meter
            let before = site.decision.setpoint
            site.cycle()
            let change = (site.decision.setpoint - before).magnitude
            if change > largest { largest = change }
        }
        return largest
    }

    @Test
    func
        `hand-over from PMU to meter moves power no faster than its rate, and without both the base point stays`()
    {
        var site = Self.site()
        _ = Self.cycle(&site, pmu: 49.5, meter: 49.52, for: .seconds(10))
        #expect(site.decision.grid.source == .phasor(0))
        #expect((site.decision.setpoint - .kilowatts(288)).magnitude < Watts(1))

        // 0.05 Hz/s on a slope of 1 MW in 2.5 Hz: 400 W in a period.
        let largest = Self.cycle(&site, pmu: nil, meter: 49.52, for: .seconds(5))
        #expect(site.decision.grid.source == .meter)
        #expect(largest <= Watts(401))
        #expect((site.decision.setpoint - .kilowatts(280)).magnitude < Watts(1))
        #expect(site.happened.contains { $0.kind == .frequencyHandedOver(to: .meter) })

        let falling = Self.cycle(&site, pmu: nil, meter: nil, for: .milliseconds(4_800))
        #expect(falling <= Watts(2_001), "held, then 100 kW/s")
        #expect((site.decision.setpoint - .kilowatts(100)).magnitude < Watts(1), "the base point stays")
        #expect(!site.decision.grid.isFrequencyMissing)
        _ = Self.cycle(&site, pmu: nil, meter: nil, for: .milliseconds(800))
        #expect(site.decision.grid.isFrequencyMissing)
        #expect(site.happened.count { $0.kind == .frequencyMissing } == 1)

        let rising = Self.cycle(&site, pmu: 49.5, meter: nil, for: .seconds(3))
        #expect(rising <= Watts(2_001))
        #expect((site.decision.setpoint - .kilowatts(288)).magnitude < Watts(1))
    }

    @Test func `two sources that disagree give no frequency, and the response goes`() {
        var site = Self.site()
        _ = Self.cycle(&site, pmu: 49.5, meter: 49.5, for: .seconds(10))
        let largest = Self.cycle(&site, pmu: 47, meter: 49.5, for: .seconds(5))
        #expect(site.decision.frequency == nil && site.decision.grid.isDisputed)
        #expect(largest <= Watts(2_001))
        #expect((site.decision.setpoint - .kilowatts(100)).magnitude < Watts(1))
        #expect(site.happened.count { $0.kind == .frequencyDisputed } == 1)
    }

    @Test func `the grid's state closes every window with its cause, and service is entered anew`() {
        var site = Self.site(supervised: true)
        func cycle(_ frequency: Double, breaker: Bool, for time: Duration) {
            for _ in 0..<(time.nanoseconds / Site.period.nanoseconds) {
                site.grid.breaker = .good(breaker, at: site.now + Site.period)
                _ = Self.cycle(&site, pmu: frequency, meter: nil, for: Site.period)
            }
        }
        cycle(50, breaker: true, for: .seconds(19))
        #expect(site.decision.setpoint == .zero)
        #expect(site.decision.units[0].limitedBy == .grid(.notEntered))
        cycle(50, breaker: true, for: .seconds(3))
        #expect((site.decision.setpoint - .kilowatts(100)).magnitude < Watts(1))

        cycle(50, breaker: false, for: Site.period)
        #expect(site.decision.setpoint == .zero, "in the same cycle")
        #expect(site.decision.units[1].window.chargeCause == .grid(.breaker))
        #expect(site.happened.contains { $0.kind == .gridLost(.breaker) })
        cycle(50, breaker: true, for: .seconds(19))
        #expect(site.decision.setpoint == .zero, "not before the delay")
        cycle(50, breaker: true, for: .seconds(3))
        #expect((site.decision.setpoint - .kilowatts(100)).magnitude < Watts(1))

        cycle(52.1, breaker: true, for: .milliseconds(480))
        #expect(site.decision.grid.outage == nil)
        cycle(52.1, breaker: true, for: .milliseconds(60))
        #expect(site.decision.grid.outage == .overFrequency && site.decision.setpoint == .zero)
    }
}
