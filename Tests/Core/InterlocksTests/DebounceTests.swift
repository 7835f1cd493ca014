import Interlocks
import Plant
import Quantities
import Testing

/// How long each shipped limit must be passed, written here a second time and not read from the table.
@Suite struct DebounceTests {
    struct Row: Sendable {
        var signal: Signal
        var value: Double
        var current = Amperes(0)
        var debounce: Duration
        var trips: InterlockID
    }

    // swift-format-ignore
    static let rows: [Row] = [
        Row(signal: .cellVoltageMax, value: 3.66, debounce: .milliseconds(300), trips: .cellOvervoltage),
        Row(signal: .cellVoltageMin, value: 2.49, debounce: .milliseconds(300), trips: .cellUndervoltage),
        Row(signal: .cellTemperatureMax, value: 55.5, current: Amperes(-50), debounce: .seconds(1),
            trips: .cellOvertemperatureCharge),
        Row(signal: .cellTemperatureMax, value: 60.5, debounce: .seconds(1), trips: .cellOvertemperatureDischarge),
        Row(signal: .cellTemperatureMin, value: -5.5, current: Amperes(-50), debounce: .seconds(1),
            trips: .cellUndertemperatureCharge),
        Row(signal: .cellTemperatureMin, value: -25.5, current: Amperes(50), debounce: .seconds(1),
            trips: .cellUndertemperatureDischarge),
        Row(signal: .cellVoltageSpread, value: 0.41, debounce: .seconds(10), trips: .cellSpread),
        Row(signal: .chargeCurrentRatio, value: 1.11, debounce: .seconds(10), trips: .overcurrentCharge),
        Row(signal: .dischargeCurrentRatio, value: 1.11, debounce: .seconds(10), trips: .overcurrentDischarge),
        Row(signal: .chargeLoad, value: 1.51, debounce: .milliseconds(500), trips: .overcurrentFastCharge),
        Row(signal: .dischargeLoad, value: 1.51, debounce: .milliseconds(500), trips: .overcurrentFastDischarge),
        Row(signal: .chargeVoltageRatio, value: 1.04, debounce: .seconds(10), trips: .packOvervoltage),
        Row(signal: .dischargeVoltageRatio, value: 0.96, debounce: .seconds(10), trips: .packUndervoltage),
        Row(signal: .inverterFault, value: 1, debounce: .milliseconds(200), trips: .inverterFault),
        Row(signal: .actuationError, value: 0.11, debounce: .seconds(2), trips: .notFollowing),
        Row(signal: .insulation, value: 99, debounce: .seconds(5), trips: .insulation),
        Row(signal: .thermalRunaway, value: 1, debounce: .seconds(3), trips: .thermalRunaway),
        Row(signal: .smokeInput, value: 1, debounce: .seconds(1), trips: .smoke),
        Row(signal: .gasInput, value: 1, debounce: .seconds(1), trips: .gas),
        Row(signal: .dcVoltageError, value: 0.16, debounce: .seconds(10), trips: .contactorVoltage),
    ]

    @Test(arguments: rows)
    func `each shipped row trips when its time is over and not one period before`(row: Row) {
        var bench = Bench()
        let isEarly = bench.hold(
            row.signal, row.value, current: row.current, for: row.debounce - Bench.period)
        let isInTime = bench.hold(row.signal, row.value, current: row.current, for: Bench.period * 2)
        #expect(!isEarly && isInTime)
        #expect(bench.bank.latched == InterlockSet(row.trips))
    }

    @Test func `contacts whose voltage nobody can read close both directions`() {
        var bench = Bench()
        bench.history.dcVoltageError = .missing(.stale)
        let verdict = bench.step()
        #expect(verdict.charge.share == 0 && verdict.discharge.share == 0)
        #expect(verdict.charge.cause == .reading(.dcVoltageError))
    }
}
