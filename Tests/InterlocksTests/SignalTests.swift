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
        image.inputs.emergencyStop = .good(true, at: now)
        image.inputs.smoke = .good(false, at: now)
        image.inputs.gas = .good(true, at: now)
        image.inputs.door = .good(false, at: now)
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
