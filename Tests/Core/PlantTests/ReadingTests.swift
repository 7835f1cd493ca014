import Plant
import Quantities
import Testing

@Suite struct ReadingTests {
    static let taken = MonotonicTime(nanoseconds: 1_000_000_000)
    static let limit = Duration.milliseconds(300)

    // swift-format-ignore
    static let rows: [(reading: Reading<Volts>, after: Duration, value: Volts?, fault: ReadingFault?, why: Comment)] = [
        (.good(Volts(3.3), at: taken), .zero,              Volts(3.3), nil,             "just taken"),
        (.good(Volts(3.3), at: taken), .milliseconds(300), Volts(3.3), nil,             "exactly at the limit"),
        (.good(Volts(3.3), at: taken), .nanoseconds(300_000_001), nil, .stale,          "one nanosecond too old"),
        (.good(Volts(3.3), at: taken), .nanoseconds(-1),   nil,        .fromTheFuture,  "sampled later than now"),
        (.bad(.implausible, since: taken), .zero,          nil,        .implausible,    "no value at all"),
        (.neverSeen,                   .zero,              nil,        .neverSeen,      "nothing has arrived yet"),
    ]

    @Test(arguments: rows)
    func `a value can be had only while it is fresh`(
        row: (reading: Reading<Volts>, after: Duration, value: Volts?, fault: ReadingFault?, why: Comment)
    ) {
        let now = Self.taken + row.after
        #expect(row.reading.fresh(at: now, within: Self.limit) == row.value, row.why)
        #expect(row.reading.fault(at: now, within: Self.limit) == row.fault, row.why)
    }

    @Test func `a mapped reading keeps its sample time and refuses what the mapping refuses`() {
        let reading = Reading.good(Volts(3.3), at: Self.taken)
        #expect(reading.map { Celsius($0.value) }.age(at: Self.taken + .seconds(1)) == .seconds(1))
        let refused: Reading<Celsius> = reading.map { _ in nil }
        #expect(refused.fault(at: Self.taken, within: Self.limit) == .implausible)
    }

    @Test func `a window can only be narrowed and remembers what narrowed it`() {
        var window = PermitWindow.rating(.kilowatts(100))
        window.limitCharge(to: .kilowatts(40), .batteryCurrentLimit)
        window.limitCharge(to: .kilowatts(60), .stateOfCharge)
        window.limitDischarge(to: .kilowatts(-1), .batteryPermission)
        #expect(window.charge == .kilowatts(-40) && window.chargeCause == .batteryCurrentLimit)
        #expect(window.discharge == .zero && window.dischargeCause == .batteryPermission)
        #expect(window.clamp(.kilowatts(-70)) == .kilowatts(-40))
    }

    @Test func `an expired actuation asks for nothing`() {
        let actuation = Actuation(
            setpoint: .kilowatts(50), expires: Self.taken, isContactorPermitted: true,
            closesMainContactor: true, closesPrechargeContactor: true, cycle: 1)
        #expect(actuation.setpoint(at: Self.taken) == .kilowatts(50))
        #expect(actuation.setpoint(at: Self.taken + .nanoseconds(1)) == .zero)
        #expect(!actuation.isContactorPermitted(at: Self.taken + .nanoseconds(1)))
        #expect(actuation.closesMainContactor(at: Self.taken))
        #expect(actuation.closesPrechargeContactor(at: Self.taken))
        #expect(!actuation.closesMainContactor(at: Self.taken + .nanoseconds(1)))
        #expect(!actuation.closesPrechargeContactor(at: Self.taken + .nanoseconds(1)))
        #expect(!Actuation.safe.closesMainContactor && !Actuation.safe.closesPrechargeContactor)
        #expect(Actuation.safe.setpoint(at: Self.taken) == .zero)
    }
}

@Suite struct BatteryImageTests {
    /// Every reading there is, so that a new one cannot be forgotten.
    @Test func `after a bus was off nothing that was sampled before counts`() {
        let taken = MonotonicTime(nanoseconds: 1_000_000_000)
        var image = BatteryImage()
        image.cellVoltageMax = .good(Volts(3.3), at: taken)
        image.cellVoltageMin = .good(Volts(3.3), at: taken)
        image.cellTemperatureMax = .good(Celsius(20), at: taken)
        image.cellTemperatureMin = .good(Celsius(20), at: taken)
        image.packVoltage = .good(Volts(800), at: taken)
        image.packCurrent = .good(Amperes(10), at: taken)
        image.stateOfCharge = .good(Fraction(0.5), at: taken)
        image.stateOfHealth = .good(Fraction(1), at: taken)
        image.chargeCurrentLimit = .good(Amperes(10), at: taken)
        image.dischargeCurrentLimit = .good(Amperes(10), at: taken)
        image.chargeVoltageLimit = .good(Volts(900), at: taken)
        image.dischargeVoltageLimit = .good(Volts(700), at: taken)
        image.permissions = .good(.none, at: taken)
        image.alarms = .good(.none, at: taken)
        image.warnings = .good(.none, at: taken)
        image.insulation = .good(Ohms(1e6), at: taken)
        image.contactors = .good(Fraction(1), at: taken)
        for child in Mirror(reflecting: image).children where child.label != "hasSecondSender" {
            #expect("\(child.value)".contains("good"), "\(child.label ?? "") is not filled here")
        }
        let withheld = image.withheld(.busOff, before: taken + .nanoseconds(1))
        for child in Mirror(reflecting: withheld).children where child.label != "hasSecondSender" {
            #expect("\(child.value)".contains("busOff"), "\(child.label ?? "")")
        }
        #expect(image.withheld(.busOff, before: taken).contactors.age(at: taken) == .zero, "sampled since")
    }
}
