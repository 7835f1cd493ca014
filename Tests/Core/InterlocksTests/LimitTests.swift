import Interlocks
import Plant
import Quantities
import Testing

/// The limits of the shipped LFP table, written here a second time and not read from it.
@Suite struct LimitTests {
    struct Row: Sendable {
        var signal: Signal
        var value: Double
        var current = Amperes(0)
        var warns = false
        var charge = 1.0
        var discharge = 1.0
        var trips: InterlockID?
        var why: Comment
    }

    // swift-format-ignore
    static let cellVoltageRows: [Row] = [
        Row(signal: .cellVoltageMax, value: 3.549, why: "1 mV below the warning"),
        Row(signal: .cellVoltageMax, value: 3.551, warns: true, why: "1 mV above the warning"),
        Row(signal: .cellVoltageMax, value: 3.579, warns: true, why: "1 mV before derating"),
        Row(signal: .cellVoltageMax, value: 3.581, warns: true, charge: 0.975, why: "1 mV into derating"),
        Row(signal: .cellVoltageMax, value: 3.600, warns: true, charge: 0.5, why: "half way"),
        Row(signal: .cellVoltageMax, value: 3.619, warns: true, charge: 0.025, why: "1 mV before the end"),
        Row(signal: .cellVoltageMax, value: 3.621, warns: true, charge: 0, why: "1 mV past the end"),
        Row(signal: .cellVoltageMax, value: 3.649, warns: true, charge: 0, why: "1 mV below the trip"),
        Row(signal: .cellVoltageMax, value: 3.651, warns: true, charge: 0, trips: .cellOvervoltage, why: "1 mV above"),
        Row(signal: .cellVoltageMin, value: 2.901, why: "1 mV above the warning"),
        Row(signal: .cellVoltageMin, value: 2.899, warns: true, why: "1 mV below the warning"),
        Row(signal: .cellVoltageMin, value: 2.801, warns: true, why: "1 mV before derating"),
        Row(signal: .cellVoltageMin, value: 2.799, warns: true, discharge: 0.995, why: "1 mV into derating"),
        Row(signal: .cellVoltageMin, value: 2.601, warns: true, discharge: 0.005, why: "1 mV before the end"),
        Row(signal: .cellVoltageMin, value: 2.599, warns: true, discharge: 0, why: "1 mV past the end"),
        Row(signal: .cellVoltageMin, value: 2.501, warns: true, discharge: 0, why: "1 mV above the trip"),
        Row(signal: .cellVoltageMin, value: 2.499, warns: true, discharge: 0, trips: .cellUndervoltage, why: "below"),
    ]

    // swift-format-ignore
    static let temperatureRows: [Row] = [
        Row(signal: .cellTemperatureMax, value: 39.9, why: "0.1 K below the warning for charging"),
        Row(signal: .cellTemperatureMax, value: 40.1, warns: true, charge: 0.99, why: "0.1 K into derating of charge"),
        Row(signal: .cellTemperatureMax, value: 44.9, warns: true, charge: 0.51, why: "discharge still whole"),
        Row(signal: .cellTemperatureMax, value: 45.1, warns: true, charge: 0.49, discharge: 0.99, why: "both derate"),
        Row(signal: .cellTemperatureMax, value: 49.9, warns: true, charge: 0.01, discharge: 0.51, why: "0.1 K left"),
        Row(signal: .cellTemperatureMax, value: 50.1, warns: true, charge: 0, discharge: 0.49, why: "no charge"),
        Row(signal: .cellTemperatureMax, value: 54.9, current: Amperes(-50), warns: true, charge: 0, discharge: 0.01,
            why: "charging, 0.1 K below its trip"),
        Row(signal: .cellTemperatureMax, value: 55.1, current: Amperes(-50), warns: true, charge: 0, discharge: 0,
            trips: .cellOvertemperatureCharge, why: "charging, 0.1 K above"),
        Row(signal: .cellTemperatureMax, value: 55.1, current: Amperes(50), warns: true, charge: 0, discharge: 0,
            why: "the same while discharging is only the end of derating"),
        Row(signal: .cellTemperatureMax, value: 55.1, current: Amperes(-1.9), warns: true, charge: 0, discharge: 0,
            why: "less than the current floor does not charge"),
        Row(signal: .cellTemperatureMax, value: 55.1, current: Amperes(-2.1), warns: true, charge: 0, discharge: 0,
            trips: .cellOvertemperatureCharge, why: "more than the floor does"),
        Row(signal: .cellTemperatureMax, value: 59.9, warns: true, charge: 0, discharge: 0, why: "0.1 K below"),
        Row(signal: .cellTemperatureMax, value: 60.1, warns: true, charge: 0, discharge: 0,
            trips: .cellOvertemperatureDischarge, why: "at rest too"),
        Row(signal: .cellTemperatureMin, value: 5.1, why: "0.1 K above the warning for charging"),
        Row(signal: .cellTemperatureMin, value: 4.9, warns: true, charge: 0.98, why: "0.1 K into derating"),
        Row(signal: .cellTemperatureMin, value: 0.1, warns: true, charge: 0.02, why: "0.1 K before the end"),
        Row(signal: .cellTemperatureMin, value: -0.1, warns: true, charge: 0, why: "no charging below 0 °C"),
        Row(signal: .cellTemperatureMin, value: -4.9, current: Amperes(-50), warns: true, charge: 0, why: "not yet"),
        Row(signal: .cellTemperatureMin, value: -5.1, current: Amperes(-50), warns: true, charge: 0,
            trips: .cellUndertemperatureCharge, why: "charging below -5 °C plates lithium"),
        Row(signal: .cellTemperatureMin, value: -5.1, current: Amperes(50), warns: true, charge: 0, why: "not charging"),
        Row(signal: .cellTemperatureMin, value: -10.1, warns: true, charge: 0, discharge: 0.99, why: "derates"),
        Row(signal: .cellTemperatureMin, value: -19.9, warns: true, charge: 0, discharge: 0.01, why: "0.1 K left"),
        Row(signal: .cellTemperatureMin, value: -20.1, warns: true, charge: 0, discharge: 0, why: "the end"),
        Row(signal: .cellTemperatureMin, value: -24.9, current: Amperes(50), warns: true, charge: 0, discharge: 0,
            why: "0.1 K above the trip"),
        Row(signal: .cellTemperatureMin, value: -25.1, current: Amperes(50), warns: true, charge: 0, discharge: 0,
            trips: .cellUndertemperatureDischarge, why: "discharging, 0.1 K below"),
    ]

    // swift-format-ignore
    static let deviceRows: [Row] = [
        Row(signal: .chargeCurrentRatio, value: 1.049, why: "below the warning"),
        Row(signal: .chargeCurrentRatio, value: 1.051, warns: true, why: "above the warning"),
        Row(signal: .chargeCurrentRatio, value: 1.099, warns: true, why: "below the trip"),
        Row(signal: .chargeCurrentRatio, value: 1.101, warns: true, trips: .overcurrentCharge, why: "above the trip"),
        Row(signal: .dischargeCurrentRatio, value: 1.049, why: "below the warning"),
        Row(signal: .dischargeCurrentRatio, value: 1.051, warns: true, why: "above the warning"),
        Row(signal: .dischargeCurrentRatio, value: 1.099, warns: true, why: "below the trip"),
        Row(signal: .dischargeCurrentRatio, value: 1.101, warns: true, trips: .overcurrentDischarge, why: "above"),
        Row(signal: .batteryAlarm, value: 0, why: "no alarm"),
        Row(signal: .batteryAlarm, value: 1, trips: .batteryAlarm, why: "any alarm"),
        Row(signal: .batterySilence, value: 1.999, why: "silent, not yet lost"),
        Row(signal: .batterySilence, value: 2.001, trips: .lostBattery, why: "lost"),
        Row(signal: .inverterSilence, value: 1.999, why: "silent, not yet lost"),
        Row(signal: .inverterSilence, value: 2.001, trips: .lostInverter, why: "lost"),
        Row(signal: .inverterFault, value: 0, why: "no fault"),
        Row(signal: .inverterFault, value: 1, trips: .inverterFault, why: "a fault"),
        Row(signal: .actuationError, value: 0.049, why: "a little off"),
        Row(signal: .actuationError, value: 0.099, warns: true, why: "more than a setpoint's accuracy"),
        Row(signal: .actuationError, value: 0.101, warns: true, trips: .notFollowing, why: "it does not do what it is told"),
        Row(signal: .batteryWarning, value: 0, why: "no warning"),
        Row(signal: .batteryWarning, value: 1, warns: true, why: "any warning, and nothing but a warning"),
        Row(signal: .inverterEvent, value: 0, why: "no event"),
        Row(signal: .inverterEvent, value: 1, warns: true, why: "any event, and nothing but a warning"),
        Row(signal: .insulation, value: 501, why: "above the warning"),
        Row(signal: .insulation, value: 499, warns: true, why: "below the warning"),
        Row(signal: .insulation, value: 101, warns: true, why: "above the trip"),
        Row(signal: .insulation, value: 99, warns: true, trips: .insulation, why: "below the trip"),
        Row(signal: .temperatureRise, value: 0.099, why: "slow"),
        Row(signal: .temperatureRise, value: 0.101, warns: true, why: "a rise alone only warns"),
        Row(signal: .temperatureRiseFast, value: 0.99, why: "below"),
        Row(signal: .temperatureRiseFast, value: 1.01, warns: true, why: "a fast one alone too"),
        Row(signal: .thermalRunaway, value: 0, why: "no sign of it"),
        Row(signal: .thermalRunaway, value: 1, trips: .thermalRunaway, why: "all signs of it"),
    ]

    // swift-format-ignore
    static let packRows: [Row] = [
        Row(signal: .cellVoltageSpread, value: 0.099, why: "1 mV below the warning"),
        Row(signal: .cellVoltageSpread, value: 0.101, warns: true, why: "1 mV above the warning"),
        Row(signal: .cellVoltageSpread, value: 0.199, warns: true, why: "1 mV before derating"),
        Row(signal: .cellVoltageSpread, value: 0.201, warns: true, charge: 0.995, discharge: 0.995, why: "both"),
        Row(signal: .chargeVoltageRatio, value: 0.999, why: "below the BMS's limit"),
        Row(signal: .chargeVoltageRatio, value: 1.005, charge: 0.75, why: "a quarter into derating"),
        Row(signal: .chargeVoltageRatio, value: 1.011, warns: true, charge: 0.45, why: "warns"),
        Row(signal: .chargeVoltageRatio, value: 1.029, warns: true, charge: 0, why: "below the trip"),
        Row(signal: .chargeVoltageRatio, value: 1.031, warns: true, charge: 0, trips: .packOvervoltage, why: "above"),
        Row(signal: .dischargeVoltageRatio, value: 1.001, why: "above the BMS's limit"),
        Row(signal: .dischargeVoltageRatio, value: 0.995, discharge: 0.75, why: "a quarter into derating"),
        Row(signal: .dischargeVoltageRatio, value: 0.971, warns: true, discharge: 0, why: "above the trip"),
        Row(signal: .dischargeVoltageRatio, value: 0.969, warns: true, discharge: 0, trips: .packUndervoltage,
            why: "below"),
    ]

    // swift-format-ignore
    static let wireRows: [Row] = [
        Row(signal: .emergencyStopInput, value: 0, why: "not pressed"),
        Row(signal: .emergencyStopInput, value: 1, trips: .emergencyStop, why: "pressed, or its wire is open"),
        Row(signal: .smokeInput, value: 0, why: "no smoke"),
        Row(signal: .smokeInput, value: 1, trips: .smoke, why: "smoke"),
        Row(signal: .gasInput, value: 0, why: "no gas"),
        Row(signal: .gasInput, value: 1, trips: .gas, why: "gas"),
        Row(signal: .contactorFeedback, value: 0, why: "the contactors obey, or nobody drives them"),
        Row(signal: .contactorFeedback, value: 1, trips: .contactorFeedback, why: "they do not"),
        Row(signal: .dcVoltageError, value: 0.049, why: "a little off"),
        Row(signal: .dcVoltageError, value: 0.051, warns: true, why: "above the warning"),
        Row(signal: .dcVoltageError, value: 0.149, warns: true, why: "below the trip"),
        Row(signal: .dcVoltageError, value: 0.151, warns: true, trips: .contactorVoltage, why: "the contacts do not carry"),
        Row(signal: .inputsSilence, value: 1.999, why: "silent, not yet lost"),
        Row(signal: .inputsSilence, value: 2.001, trips: .lostInputs, why: "lost"),
    ]

    @Test(arguments: cellVoltageRows + temperatureRows + deviceRows + packRows + wireRows)
    func `each shipped limit acts on its side and not one step before`(row: Row) {
        var bench = Bench()
        let verdict = bench.step(row.signal, row.value, current: row.current)
        #expect(abs(verdict.charge.share - row.charge) < 1e-9, row.why)
        #expect(abs(verdict.discharge.share - row.discharge) < 1e-9, row.why)
        #expect(bench.bank.warnings.isEmpty == !row.warns, row.why)
        _ = bench.hold(row.signal, row.value, current: row.current, for: .seconds(11))
        #expect(bench.bank.latched == row.trips.map { InterlockSet($0) } ?? .none, row.why)
        #expect(bench.bank.firstOut == row.trips, row.why)
    }

    @Test
    func `a row whose derating has no width is all or nothing and never lets an undefined share through`() {
        var bench = Bench()
        bench.table = InterlockTable()
        bench.table.add(
            InterlockRow(
                .cellOvervoltage, .cellVoltageMax, .high, .charge, derate: .init(from: 3.6, to: 3.6),
                trip: nil,
                for: .zero))
        let atTheWall = bench.step(.cellVoltageMax, 3.6)
        #expect(atTheWall.charge.share == 0)
    }

    static let unreadable: [(fault: ReadingFault, why: Comment)] = [
        (.neverSeen, "nothing has come yet"), (.implausible, "a broken sensor"),
        (.stale, "marked by the bus"),
        (.deviceFault, "the BMS says so"), (.frozen, "the same for too long"),
        (.disagrees, "two sources differ"),
        (.notImplemented, "the device has none"),
    ]

    @Test(arguments: unreadable)
    func `a cell voltage that cannot be read closes the direction it guards, and its spread both`(
        row: (fault: ReadingFault, why: Comment)
    ) {
        var bench = Bench()
        let noMaximum = bench.step { $0.battery.cellVoltageMax = .bad(row.fault, since: $1) }
        #expect(noMaximum.charge.share == 0 && noMaximum.charge.cause == .reading(.cellVoltageMax), row.why)
        #expect(noMaximum.discharge.cause == .reading(.cellVoltageSpread), row.why)
        let noMinimum = bench.step { $0.battery.cellVoltageMin = .bad(row.fault, since: $1) }
        #expect(
            noMinimum.discharge.share == 0 && noMinimum.discharge.cause == .reading(.cellVoltageMin), row.why)
        #expect(noMinimum.charge.cause == .reading(.cellVoltageSpread), row.why)
    }

    @Test(arguments: [(320, 1.0), (321, 0.0), (-1, 0.0)])
    func `a reading counts up to its budget, and neither later nor from the future`(age: Int, share: Double) {
        var bench = Bench()
        let verdict = bench.step {
            $0.battery.cellVoltageMax = .good(Volts(3.3), at: $1 - .milliseconds(age))
            $0.battery.cellVoltageMin = .good(Volts(3.3), at: $1 - .milliseconds(age))
        }
        #expect(verdict.charge.share == share && verdict.discharge.share == share)
    }

    @Test func `a missing temperature, current, limit, alarm word, state or silence closes both directions`()
    {
        var bench = Bench()
        let spoil: [(Spoil, Comment)] = [
            ({ $0.battery.cellTemperatureMax = .neverSeen }, "no hottest cell"),
            ({ $0.battery.cellTemperatureMin = .neverSeen }, "no coldest cell"),
            ({ $0.battery.packCurrent = .neverSeen }, "no current"),
            ({ $0.battery.alarms = .neverSeen }, "no alarm word"),
            ({ $0.inverter.state = .neverSeen }, "no inverter state"),
        ]
        for (change, why) in spoil {
            let verdict = bench.step { image, _ in change(&image) }
            #expect(verdict.charge.share == 0 && verdict.discharge.share == 0, why)
        }
        bench.batterySilence = nil
        let unseen = bench.step()
        #expect(unseen.charge.share == 0 && unseen.discharge.share == 0)
        #expect(bench.bank.latched.isEmpty, "what has never been seen is not lost")
    }

    @Test func `a missing current limit closes its own direction`() {
        var bench = Bench()
        let verdict = bench.step { image, _ in image.battery.chargeCurrentLimit = .neverSeen }
        #expect(verdict.charge.share == 0 && verdict.discharge.share == 1)
    }
}

typealias Spoil = @Sendable (inout UnitImage) -> Void
