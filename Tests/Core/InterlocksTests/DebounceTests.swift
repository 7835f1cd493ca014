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

    /// Rounds of a second in which a cell is beyond its limit for 0.2 s, until it trips, and each quarter told.
    private static func flicker(_ bench: inout Bench) -> (rounds: Int, quarters: [Int]) {
        var quarters: [Int] = []
        var table = InterlockTable()
        var place = 0
        for index in 0..<bench.table.count {
            var row = bench.table.rows[index]
            if row.id == .cellOvervoltage { (row.exposure, place) = (.seconds(3), index) }
            table.add(row)
        }
        bench.table = table
        for round in 1...60 {
            for period in 0..<50 {
                let verdict = bench.step(.cellVoltageMax, period < 10 ? 3.75 : 3.3)
                if verdict.exposed.contains(.cellOvervoltage) {
                    quarters.append(bench.bank.quarters(ofRow: place))
                }
                if verdict.tripped.contains(.cellOvervoltage) { return (round, quarters) }
            }
        }
        return (0, quarters)
    }

    @Test func `a sum of short excursions is told by quarters, and a restart goes on from there`() {
        var bench = Bench()
        let whole = Self.flicker(&bench)
        #expect(whole.rounds > 15 && whole.quarters == [1, 2, 3], "3 s in all, which leak at a twentieth")
        for (quarters, age) in [(3, 0), (2, 0), (3, 20)] {
            var again = Bench()
            again.table = bench.table
            again.bank.restore(
                exposed: .cellOvervoltage, quarters: quarters, age: .seconds(age),
                again.table.rows.span.extracting(first: again.table.count))
            let rest = Self.flicker(&again)
            // Of 3 s a quarter is 0.75 s; 20 s let 1 s of it leak away.
            let left = 3 - 0.75 * Double(quarters) + Double(age) / 20
            let wanted = Double(whole.rounds) * left / 3
            #expect(abs(Double(rest.rounds) - wanted) <= 2, "\(quarters) quarters, \(age) s ago: \(rest)")
        }
    }
}
