import Control
import FrequencyResponse
import InterlockSupport
import Interlocks
import Plant
import PowerDispatch
import Quantities

/// What one simulated unit says of itself; healthy until a test changes it.
struct Feed {
    var cellVoltageMax = 3.32
    var cellVoltageMin = 3.30
    var cellTemperatureMax = 26.0
    var cellTemperatureMin = 24.0
    var packVoltage = 800.0
    /// `nil` = what the inverter delivers.
    var packCurrent: Double?
    var stateOfCharge = 0.5
    var chargeCurrentLimit = 1_000.0
    var dischargeCurrentLimit = 1_000.0
    var permissions: BatteryPermissions?
    var alarms = BatteryAlarms.none
    var state = InverterState.running
    /// `nil` = the inverter delivers what it was told in the cycle before.
    var activePower: Double?
    /// A silent device sends nothing new: its last readings grow old.
    var isBatterySilent = false
    /// It speaks, and says of everything that it has no value, or why else there is none.
    var batteryFault: ReadingFault?
    var isInverterSilent = false
    /// The wires of the unit; only those it has are read.
    var emergencyStop = false
    var smoke = false
    var isInputSilent = false
    /// On the inverter's side; `nil` = the contacts decide.
    var dcVoltage: Double?
    /// What the auxiliary contact says; `nil` = what was commanded in the cycle before.
    var mainFeedback: Bool?
    var prechargeFeedback: Bool?

    func write(_ image: inout UnitImage, at now: MonotonicTime, told last: UnitDecision) {
        let current = packCurrent ?? (activePower ?? last.setpoint.value) / max(1, packVoltage)
        if let batteryFault {
            Self.refuse(&image.battery, batteryFault, at: now)
        } else if !isBatterySilent {
            write(&image.battery, current, at: now)
        }
        if !isInputSilent { write(&image.inputs, at: now, last) }
        if isInverterSilent { return }
        image.inverter.activePower = .good(activePower.map { Watts($0) } ?? last.setpoint, at: now)
        image.inverter.state = .good(state, at: now)
        let isLive = last.closesMainContactor || last.closesPrechargeContactor
        image.inverter.dcVoltage = .good(Volts(dcVoltage ?? (isLive ? packVoltage : 0)), at: now)
    }

    private static func refuse(_ battery: inout BatteryImage, _ fault: ReadingFault, at now: MonotonicTime) {
        battery.cellVoltageMax = .bad(fault, since: now)
        battery.cellVoltageMin = .bad(fault, since: now)
        battery.cellTemperatureMax = .bad(fault, since: now)
        battery.cellTemperatureMin = .bad(fault, since: now)
        battery.packVoltage = .bad(fault, since: now)
        battery.packCurrent = .bad(fault, since: now)
        battery.stateOfCharge = .bad(fault, since: now)
        battery.chargeCurrentLimit = .bad(fault, since: now)
        battery.dischargeCurrentLimit = .bad(fault, since: now)
        battery.alarms = .bad(fault, since: now)
    }

    private func write(_ inputs: inout DigitalInputImage, at now: MonotonicTime, _ last: UnitDecision) {
        inputs[.emergencyStop] = .good(emergencyStop, at: now)
        inputs[.smoke] = .good(smoke, at: now)
        inputs[.mainContactor] = .good(mainFeedback ?? last.closesMainContactor, at: now)
        inputs[.prechargeContactor] = .good(
            prechargeFeedback ?? last.closesPrechargeContactor, at: now)
    }

    private func write(_ battery: inout BatteryImage, _ current: Double, at now: MonotonicTime) {
        battery.cellVoltageMax = .good(Volts(cellVoltageMax), at: now)
        battery.cellVoltageMin = .good(Volts(cellVoltageMin), at: now)
        battery.cellTemperatureMax = .good(Celsius(cellTemperatureMax), at: now)
        battery.cellTemperatureMin = .good(Celsius(cellTemperatureMin), at: now)
        battery.packVoltage = .good(Volts(packVoltage), at: now)
        battery.packCurrent = .good(Amperes(current), at: now)
        battery.stateOfCharge = .good(Fraction(stateOfCharge), at: now)
        battery.chargeCurrentLimit = .good(Amperes(chargeCurrentLimit), at: now)
        battery.dischargeCurrentLimit = .good(Amperes(dischargeCurrentLimit), at: now)
        battery.alarms = .good(alarms, at: now)
        if let permissions { battery.permissions = .good(permissions, at: now) }
    }
}

/// A whole controller on virtual time: 500 kW for each unit, 20 ms periods, budgets of 320 ms, 3 s to enter
/// service.
struct Site {
    static let period = Duration.milliseconds(20)
    static let budget = Duration.milliseconds(320)
    static let rating = Watts.kilowatts(500)

    var controller: Controller
    var decision = Decision()
    var feeds: [Feed]
    var images: [UnitImage]
    var frequency: Double? = 50
    var grid = GridImage()
    /// What the meter reads; `nil` = it says nothing new.
    var meter: Double?
    var now = MonotonicTime(nanoseconds: 100_000_000_000)
    var happened: [Event] = []

    init(
        units: Int = 2, basePoint: Watts = .zero, ramp: WattsPerSecond = WattsPerSecond(1e9),
        interlocks: InterlockTable = .lithiumIronPhosphate, limits: SiteLimits = SiteLimits(),
        frozenSamples: Int = 0, isFrozenUnderLoadOnly: Bool = false, inputs: DigitalInputSet = .none,
        contactors: ContactorSettings = .ofBattery, grid: GridSettings? = nil,
        service: ServiceSettings = ServiceSettings(), inverterResponse: Duration? = nil,
        shortGap: Duration = .zero
    ) {
        var settings = SiteSettings(
            interlocks: interlocks,
            droop: DroopCurve(
                nominal: Hertz(50), deadbandLowMillihertz: 49_970, deadbandHighMillihertz: 50_030,
                droop: .percent(5)),
            basePoint: basePoint, ramp: ramp, frequencyHold: .seconds(1), meterBudget: Self.budget,
            enterService: .seconds(3), stopBound: .seconds(10), outputGrace: .milliseconds(100),
            limits: limits, service: service, grid: grid)
        settings.shortGap = shortGap
        var unit = UnitSettings(
            rating: Self.rating, minStateOfCharge: .percent(10), maxStateOfCharge: .percent(90),
            budget: FreshnessBudget(
                battery: Self.budget, inverter: Self.budget, inputs: .milliseconds(160)),
            currentFloor: Amperes(2), frozenSamples: frozenSamples, inputs: inputs, contactors: contactors)
        unit.isFrozenUnderLoadOnly = isFrozenUnderLoadOnly
        if let inverterResponse { unit.inverterResponse = inverterResponse }
        let all = [UnitSettings](repeating: unit, count: units)
        controller = Controller(settings: settings, units: all.span)
        feeds = [Feed](repeating: Feed(), count: units)
        images = [UnitImage](repeating: UnitImage(), count: units)
    }

    /// One cycle, one period after the last.
    mutating func cycle() {
        now = now + Self.period
        for index in feeds.indices {
            feeds[index].write(&images[index], at: now, told: decision.units[index])
        }
        if let meter { grid.activePower = .good(.kilowatts(meter), at: now) }
        if let frequency { grid.frequency = .good(Hertz(frequency), at: now) }
        step()
    }

    /// The control step alone, with the images as they stand.
    mutating func step() {
        decision.events.removeAll()
        let images = images
        controller.step(grid: grid, units: images.span, at: now, into: &decision)
        collect()
    }

    mutating func run(for duration: Duration) {
        for _ in 0..<(duration.nanoseconds / Self.period.nanoseconds) { cycle() }
    }

    /// Until everything runs.
    mutating func enterService() { run(for: .milliseconds(3_020)) }

    mutating func order(_ command: Controller.Command) -> Event.Kind? {
        decision.events.removeAll()
        controller.handle(command, at: now, into: &decision)
        let before = happened.count
        collect()
        return happened.count > before ? happened[before].kind : nil
    }

    private mutating func collect() {
        var events: [Event] = []
        decision.events.forEach { events.append($0) }
        happened += events
    }

    func mode(_ unit: Int) -> UnitMode.State.Kind { decision.units[unit].mode.kind }
    func kilowatts(_ unit: Int) -> Double { decision.units[unit].setpoint.kilowatts }
}
