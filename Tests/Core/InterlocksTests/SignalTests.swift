import Interlocks
import Plant
import Quantities
import Testing

/// What the rows see of a unit's readings.
@Suite struct SignalTests {
    static let now = MonotonicTime(nanoseconds: 9_000_000_000)

    /// A unit of 100 kW that says everything there is, all of it well.
    static func image() -> UnitImage {
        var image = UnitImage()
        image.battery.cellVoltageMax = .good(Volts(3.4), at: now)
        image.battery.cellVoltageMin = .good(Volts(3.25), at: now)
        image.battery.cellTemperatureMax = .good(Celsius(31), at: now)
        image.battery.cellTemperatureMin = .good(Celsius(19), at: now)
        image.battery.packVoltage = .good(Volts(800), at: now)
        image.battery.packCurrent = .good(Amperes(50), at: now)
        image.battery.stateOfCharge = .good(Fraction(0.5), at: now)
        image.battery.chargeCurrentLimit = .good(Amperes(200), at: now)
        image.battery.dischargeCurrentLimit = .good(Amperes(100), at: now)
        image.battery.chargeVoltageLimit = .good(Volts(1_000), at: now)
        image.battery.dischargeVoltageLimit = .good(Volts(640), at: now)
        image.battery.permissions = .good([.charge, .discharge], at: now)
        image.battery.alarms = .good(.temperatureHigh, at: now)
        image.battery.warnings = .good(.temperatureHigh, at: now)
        image.battery.insulation = .good(Ohms(400_000), at: now)
        image.inverter.activePower = .good(Watts(40_000), at: now)
        image.inverter.dcVoltage = .good(Volts(790), at: now)
        image.inverter.acVoltage = .good(Volts(398), at: now)
        image.inverter.state = .good(.fault, at: now)
        image.inverter.events = .good(5, at: now)
        image.inputs[.emergencyStop] = .good(true, at: now)
        image.inputs[.smoke] = .good(false, at: now)
        image.inputs[.gas] = .good(true, at: now)
        image.inputs[.door] = .good(false, at: now)
        return image
    }

    static func signals(_ image: UnitImage, floor: Amperes = Amperes(2), rating: Watts = .kilowatts(100))
        -> UnitSignals
    {
        let budget = FreshnessBudget(battery: .seconds(1), inverter: .seconds(1), inputs: .seconds(1))
        return UnitSignals(
            image: image, now: now, budget: budget, batterySilence: image.battery.silence,
            inverterSilence: image.battery.silence, inputsSilence: image.battery.silence,
            wired: [.emergencyStop, .smoke, .gas, .door], currentFloor: floor, rating: rating)
    }

    // swift-format-ignore
    static let values: [(signal: Signal, value: Double)] = [
        (.cellVoltageMax, 3.4), (.cellVoltageMin, 3.25), (.cellTemperatureMax, 31), (.cellTemperatureMin, 19),
        (.packVoltage, 800), (.stateOfCharge, 0.5),
        (.chargeCurrentRatio, -0.25), (.dischargeCurrentRatio, 0.5),
        (.currentLimits, 100), (.permissions, 3), (.batteryAlarm, 1), (.batteryWarning, 1),
        (.batterySilence, 0), (.inverterSilence, 0), (.inverterFault, 1), (.inverterEvent, 1),
        (.cellVoltageSpread, 3.4 - 3.25), (.chargeLoad, -0.4), (.dischargeLoad, 0.4),
        (.chargeVoltageRatio, 0.8), (.dischargeVoltageRatio, 1.25), (.insulation, 500),
        (.dcVoltage, 790), (.acVoltage, 398),
        (.emergencyStopInput, 1), (.smokeInput, 0), (.gasInput, 1), (.doorInput, 0), (.inputsSilence, 0),
    ]

    @Test(arguments: values) func `a signal is a number while its readings are fresh`(
        row: (signal: Signal, value: Double)
    ) {
        #expect(Self.signals(Self.image()).read(row.signal) == .value(row.value))
    }

    @Test(arguments: values.map(\.signal)) func `a signal that nobody ever sent is missing`(signal: Signal) {
        #expect(Self.signals(UnitImage()).read(signal) == .missing(.neverSeen))
    }

    // swift-format-ignore
    static let shown: [(signal: Signal, limit: Double, value: Double?, shownLimit: Double?, symbol: String)] = [
        (.cellVoltageMax,        3.65, 3.4,   3.65, "V"),
        (.cellTemperatureMax,    60,   31,    60,   "°C"),
        (.cellVoltageSpread,     0.4,  0.15,  0.4,  "V"),
        (.insulation,            100,  500,   100,  "Ω/V"),
        (.stateOfCharge,         0.05, 50,    5,    "%"),
        (.chargeCurrentRatio,    1.1,  -50,   220,  "A"),
        (.dischargeCurrentRatio, 1.1,  50,    110,  "A"),
        (.chargeLoad,            1.5,  -40,   150,  "kW"),
        (.dischargeLoad,         1.5,  40,    150,  "kW"),
        (.actuationError,        0.1,  20,    10,   "kW"),
        (.batterySilence,        2,    5,     4,    "s"),
        (.inverterSilence,       2,    0.75,  1,    "s"),
        (.inputsSilence,         2,    0.25,  1.0,  "s"),
        (.chargeVoltageRatio,    1.03, 800,   1030, "V"),
        (.dischargeVoltageRatio, 0.97, 800,   620.8, "V"),
        (.dcVoltageError,        0.15, 40,    120,  "V"),
        (.temperatureRise,       0.1,  0.25,  0.1,  "K/s"),
        (.batteryAlarm,          1,    8,     nil,  ""),
        (.batteryWarning,        1,    8,     nil,  ""),
        (.inverterEvent,         1,    5,     nil,  ""),
        (.inverterFault,         1,    nil,   nil,  ""),
        (.emergencyStopInput,    1,    nil,   nil,  ""),
    ]

    @Test(arguments: shown) func `an operator reads a signal and its limit in a unit that can be measured`(
        row: (signal: Signal, limit: Double, value: Double?, shownLimit: Double?, symbol: String)
    ) {
        var signals = Self.signals(Self.image())
        signals.budget = FreshnessBudget(
            battery: .seconds(2), inverter: .milliseconds(500), inputs: .milliseconds(250))
        (signals.batterySilence, signals.inverterSilence, signals.inputsSilence) = (2.5, 1.5, 1)
        signals.history.actuationError = .value(0.2)
        signals.history.dcVoltageError = .value(0.05)
        signals.history.temperatureRise = .value(0.25)
        let shown = signals.shown(row.signal, limit: row.limit)
        func isClose(_ one: Double?, _ other: Double?) -> Bool {
            guard let one, let other else { return one == nil && other == nil }
            return abs(one - other) < 1e-9
        }
        #expect(isClose(shown.value, row.value) && isClose(shown.limit, row.shownLimit), "\(row.signal.name)")
        #expect("\(row.signal.shownSymbol)" == row.symbol)
        #expect("\(row.signal.quantity)".count > 2)
    }

    @Test func `what cannot be read shows no number`() {
        let signals = Self.signals(UnitImage())
        for row in Self.shown { #expect(signals.shown(row.signal, limit: 1) == UnitSignals.Shown()) }
        var image = Self.image()
        image.battery.chargeCurrentLimit = .good(Amperes(0), at: Self.now)
        #expect(Self.signals(image).shown(.chargeCurrentRatio, limit: 1.1).limit == 2.2, "the floor counts")
    }

    // swift-format-ignore
    static let stale: [(signal: Signal, why: Comment)] = [
        (.chargeCurrentRatio, "the current is old"),
        (.packVoltage,        "as plain as it is"),
        (.dischargeLoad,      "of two readings one is enough"),
        (.currentLimits,      "a limit that may have fallen since"),
        (.inverterFault,      "a state that may have changed since"),
        (.inverterEvent,      "events that may have come since"),
        (.permissions,        "a permission that may be gone"),
        (.smokeInput,         "smoke that may have come since"),
    ]

    @Test(arguments: stale) func `a signal is missing once a reading of it is old`(
        row: (signal: Signal, why: Comment)
    ) {
        var signals = Self.signals(Self.image())
        signals.now = Self.now + .seconds(1)
        #expect(signals.read(row.signal) != .missing(.stale), "just fresh: \(row.why)")
        signals.now = Self.now + .nanoseconds(1_000_000_001)
        #expect(signals.read(row.signal) == .missing(.stale), row.why)
    }

    @Test func `of two current limits the missing one counts`() {
        var image = Self.image()
        image.battery.chargeCurrentLimit = .bad(.implausible, since: Self.now)
        #expect(Self.signals(image).read(.currentLimits) == .missing(.implausible))
        image = Self.image()
        image.battery.dischargeCurrentLimit = .bad(.frozen, since: Self.now)
        #expect(Self.signals(image).read(.currentLimits) == .missing(.frozen))
    }

    @Test func `what cannot be divided by is implausible and never a number`() {
        var image = Self.image()
        #expect(Self.signals(image, rating: .zero).read(.chargeLoad) == .missing(.implausible))
        image.battery.packVoltage = .good(.zero, at: Self.now)
        #expect(Self.signals(image).read(.chargeLoad) == .missing(.implausible))
        #expect(Self.signals(image).read(.insulation) == .missing(.implausible))
        image.battery.chargeVoltageLimit = .good(.zero, at: Self.now)
        #expect(Self.signals(image).read(.chargeVoltageRatio) == .missing(.notImplemented))
        image.battery.chargeCurrentLimit = .good(.zero, at: Self.now)
        #expect(Self.signals(image, floor: .zero).read(.chargeCurrentRatio) == .missing(.implausible))
        #expect(Self.signals(image, floor: Amperes(2)).read(.chargeCurrentRatio) == .value(-25))
    }

    @Test func `a reading may be three of its periods and one of ours old`() {
        let budget = FreshnessBudget.budget(
            nominalPeriod: .milliseconds(100), controlPeriod: .milliseconds(20))
        #expect(budget == .milliseconds(320))
    }

    // swift-format-ignore
    static let modes: [(state: UnitMode.State, name: String)] = [
        (.offline, "offline"), (.standby(since: now), "standby"), (.precharge(since: now), "precharge"),
        (.running, "running"),
        (.stopping(since: now), "stopping"), (.tripped, "tripped"), (.maintenance(since: now), "maintenance"),
    ]

    @Test(arguments: modes) func `a mode has one name, whatever its instant`(
        row: (state: UnitMode.State, name: String)
    ) {
        #expect("\(row.state.kind.name)" == row.name)
    }
}

extension BatteryImage {
    /// 0 for a battery that speaks, nothing for one that never did.
    fileprivate var silence: Double? {
        packVoltage.age(at: SignalTests.now) == nil ? nil : 0
    }
}
