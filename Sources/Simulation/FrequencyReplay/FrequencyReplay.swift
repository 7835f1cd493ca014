import BallastDaemon
import Control
import FrequencyRecord
import FrequencyResponse
import Plant
import Quantities
import Scenario
import SiteConfig

/// Lets a frequency profile act on a site in virtual time: the production controller with the site's own
/// settings, and the simulated plant. Readings have the ages that the configured periods give them; the wires
/// themselves take no time. The same input gives the same numbers.
public struct FrequencyReplay {
    /// Why a replay could not begin.
    public struct StartError: Error, Equatable, CustomStringConvertible {
        public var description: String
    }

    /// One instant of the event.
    public struct Row: Sendable, Equatable {
        /// Of the profile's own clock.
        public var time: Duration
        public var frequency: Hertz
        /// What the curve asks for at the profile's frequency, with the base point, bounded by the nameplate.
        public var expected: Watts
        public var basePoint: Watts
        /// After the comfort ramp.
        public var target: Watts
        /// The sum of the units'.
        public var setpoint: Watts
        /// At each inverter's terminals.
        public var delivered: [Watts]
        public var statesOfCharge: [Fraction]

        public var total: Watts { delivered.reduce(.zero, +) }
    }

    /// Longer without service than the configured time to enter it.
    private static let patience = Duration.seconds(60)
    /// So long power may move to the profile's first frequency.
    private static let settling = Duration.seconds(30)
    /// The plant's physics take no longer steps.
    private static let longestStep = Duration.milliseconds(20)

    public let config: SiteConfig
    private let settings: SiteSettings
    private let profile: FrequencyProfile
    private var plant: SimulatedSite
    private var controller: Controller
    private var decision = Decision()
    /// Of the closed form.
    private var region = DroopCurve.Region.inside
    private var images: [UnitImage]
    private var grid = GridImage()
    private var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private var meterDue: MonotonicTime
    private var batteriesDue: [MonotonicTime]
    private var invertersDue: [MonotonicTime]

    /// - Parameter stateOfCharge: of every unit at the begin.
    public init(
        _ config: SiteConfig, profile: FrequencyProfile, stateOfCharge: Fraction = .percent(60)
    ) throws(StartError) {
        let scenario = Scenario(initialStateOfCharge: stateOfCharge)
        do {
            plant = try SimulatedSite(site: config, scenario: scenario, profile: profile)
        } catch {
            throw StartError(description: "\(error)")
        }
        self.config = config
        self.profile = profile
        settings = ControlSettings.site(config)
        controller = Controller(settings: settings, units: ControlSettings.units(config).span)
        images = Array(repeating: UnitImage(), count: config.units.count)
        meterDue = now
        batteriesDue = Array(repeating: now, count: config.units.count)
        invertersDue = batteriesDue
    }

    private var period: Duration { config.control.period }
    var rated: Watts { config.units.reduce(.zero) { $0 + $1.maxPower } }

    /// Brings the site into service at the profile's first frequency and plays the profile to its end.
    ///
    /// - Parameter interval: time between two rows, a multiple of the period; rounded up to one.
    /// - Throws: where a unit does not enter service in the time that the configuration says, and a minute.
    public mutating func run(every interval: Duration = .milliseconds(100)) throws(StartError) -> [Row] {
        try enterService()
        let step = max(1, (interval.nanoseconds + period.nanoseconds - 1) / period.nanoseconds)
        let cycles = (profile.end.nanoseconds + period.nanoseconds - 1) / period.nanoseconds
        plant.start()
        var rows: [Row] = []
        for cycle in 0...cycles {
            turn()
            if cycle % step == 0 || cycle == cycles { rows.append(row) }
            advance()
        }
        return rows
    }

    /// Brings the site into service and then makes the control step alone, `count` times, with the same
    /// plant: for whoever measures what a step costs. A microsecond of virtual time passes with each.
    public mutating func repeatStep(_ count: Int) throws(StartError) {
        try enterService()
        let images = images
        for _ in 0..<count {
            now = now + .microseconds(1)
            decision.events.removeAll()
            controller.step(grid: grid, units: images.span, at: now, into: &decision)
        }
    }

    private mutating func enterService() throws(StartError) {
        let end = now + config.control.enterService + Self.patience
        var settledBy: MonotonicTime?
        while now < end {
            turn()
            if runs {
                // Where something limits the power, what is asked never comes.
                let latest = settledBy ?? now + Self.settling
                settledBy = latest
                if isSettled || now >= latest { return }
            }
            advance()
        }
        for (index, unit) in config.units.enumerated() {
            let mode = decision.units[index].mode.kind
            if mode != .running { throw StartError(description: "unit \(unit.id) stays \(mode.name)") }
        }
    }

    private var runs: Bool { images.indices.allSatisfy { decision.units[$0].mode.kind == .running } }

    /// What is asked is there.
    private var isSettled: Bool {
        let asked = decision.basePoint + decision.correction + decision.response
        let least = Watts(1e-6)
        return (decision.target - asked.clamped(-rated, rated)).magnitude < least
            && (plant.meterPower - decision.setpoint).magnitude < least
    }

    // MARK: One cycle

    private mutating func turn() {
        sample()
        region = settings.droop.region(at: plant.frequency, after: region)
        decision.events.removeAll()
        let images = images
        controller.step(grid: grid, units: images.span, at: now, into: &decision)
        for index in images.indices {
            plant.units[index].inverter.setpoint.write(decision.units[index].setpoint)
            plant.units[index].inverter.setpoint.enable()
            plant.units[index].drive(controller.actuation(of: index, in: &decision))
        }
    }

    private mutating func sample() {
        for index in 0..<maximumPhasorCount {
            grid.phasors[index].frequency = .good(plant.frequency, at: now)
        }
        grid.breaker = .good(true, at: now)
        grid.servicePermit = .good(true, at: now)
        if now >= meterDue {
            meterDue = now + (config.gridMeter?.modbus.poll ?? period)
            grid.frequency = .good(plant.frequency, at: now)
            grid.activePower = .good(plant.meterPower, at: now)
            grid.voltage = .good(Volts(400), at: now)
        }
        for (index, unit) in config.units.enumerated() {
            images[index].inputs = DigitalInputImage(plant.units[index], at: now)
            if now >= batteriesDue[index] {
                batteriesDue[index] = now + unit.battery.period
                images[index].battery = BatteryImage(plant.units[index], at: now)
            }
            if now >= invertersDue[index] {
                invertersDue[index] = now + unit.inverter.poll
                images[index].inverter = InverterImage(
                    plant.units[index], frequency: plant.frequency, at: now)
            }
        }
    }

    private mutating func advance() {
        var left = period
        while left > .zero {
            let step = min(left, Self.longestStep)
            plant.advance(by: step)
            left -= step
        }
        now = now + period
    }

    private var row: Row {
        let response = settings.droop.power(at: plant.frequency, rated: rated, in: region)
        let base = (decision.basePoint + decision.correction).clamped(-rated, rated)
        return Row(
            time: plant.scenarioTime ?? .zero, frequency: plant.frequency,
            expected: (base + response).clamped(-rated, rated), basePoint: base, target: decision.target,
            setpoint: decision.setpoint, delivered: plant.units.map(\.inverter.activePower),
            statesOfCharge: plant.units.map(\.battery.stateOfCharge))
    }
}
