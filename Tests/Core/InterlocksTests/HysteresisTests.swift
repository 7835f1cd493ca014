import Interlocks
import Plant
import Quantities
import Testing

/// What lets go later than it takes hold.
@Suite struct HysteresisTests {
    /// Hottest cell, cycle by cycle, and the share of charge and the warnings of the shipped table.
    // swift-format-ignore
    static let days: [(path: [Double], charge: Double, warns: Bool, why: Comment)] = [
        ([49.9],                   0.01, true,  "0.1 K before the end"),
        ([50.0],                   0,    true,  "the end"),
        ([50.0, 49.9],             0,    true,  "a little cooler: blocked"),
        ([50.0, 47.0],             0,    true,  "3 K cooler: still blocked"),
        ([50.0, 46.9],             0.31, true,  "more than 3 K cooler: what derating leaves there"),
        ([50.0, 46.9, 49.9],       0.01, true,  "not blocked again before the end"),
        ([39.9],                   1,    false, "0.1 K below the warning"),
        ([40.0, 37.0],             1,    true,  "3 K below: it still warns"),
        ([40.0, 36.9],             1,    false, "more than 3 K below"),
        ([40.0, 36.9, 39.9],       1,    false, "it does not warn again before its limit"),
    ]

    @Test(arguments: days)
    func `a blocked direction and a warning let go 3 K later`(
        row: (path: [Double], charge: Double, warns: Bool, why: Comment)
    ) {
        var bench = Bench()
        var share = 1.0
        for celsius in row.path { share = bench.step(.cellTemperatureMax, celsius).charge.share }
        #expect(abs(share - row.charge) < 1e-9, row.why)
        #expect(bench.bank.warnings.contains(.cellOvertemperatureCharge) == row.warns, row.why)
    }

    // swift-format-ignore
    static let cold: [(path: [Double], charge: Double, why: Comment)] = [
        ([0.1],        0.02, "0.1 K before the end"),
        ([0, 3],       0,    "3 K warmer: still blocked"),
        ([0, 3.1],     0.62, "more than 3 K warmer"),
    ]

    @Test(arguments: cold)
    func `on the low side it is the other way round`(row: (path: [Double], charge: Double, why: Comment)) {
        var bench = Bench()
        var share = 1.0
        for celsius in row.path { share = bench.step(.cellTemperatureMin, celsius).charge.share }
        #expect(abs(share - row.charge) < 1e-9, row.why)
    }

    @Test func `a voltage lets go at once`() {
        var bench = Bench()
        _ = bench.step(.cellVoltageMax, 3.62)
        #expect(abs(bench.step(.cellVoltageMax, 3.619).charge.share - 0.025) < 1e-9)
    }

    @Test func `a gap in the readings does not let go`() {
        var bench = Bench()
        _ = bench.step(.cellTemperatureMax, 50)
        _ = bench.step { $0.battery.cellTemperatureMax = .bad(.stale, since: $1) }
        #expect(bench.step(.cellTemperatureMax, 49).charge.share == 0)
    }

    @Test func `a warning ends when its signal is seen good, and not when nobody can see it`() {
        var bench = Bench()
        _ = bench.step(.cellVoltageMax, 3.56)
        #expect(bench.bank.warnings.contains(.cellOvervoltage))
        _ = bench.step { $0.battery.cellVoltageMax = .bad(.implausible, since: $1) }
        #expect(bench.bank.warnings.contains(.cellOvervoltage))
        _ = bench.step(.cellVoltageMax, 3.54)
        #expect(!bench.bank.warnings.contains(.cellOvervoltage))
        _ = bench.step { $0.battery.cellVoltageMax = .bad(.implausible, since: $1) }
        #expect(!bench.bank.warnings.contains(.cellOvervoltage), "nobody has seen a new one")
    }

    @Test func `a warning whose signal cannot be judged, or is gone with its wires, ends only with those`() {
        var bench = Bench()
        _ = bench.step(.temperatureRise, 0.2)
        _ = bench.step(.dcVoltageError, 0.06)
        bench.history.temperatureRise = .undecided
        bench.history.dcVoltageError = .notWired
        _ = bench.step()
        #expect(bench.bank.warnings == InterlockSet(.temperatureRise), "open contacts have nothing to judge")
        bench.history.dcVoltageError = .missing(.stale)
        _ = bench.step()
        #expect(bench.bank.warnings == InterlockSet(.temperatureRise), "and it is forgotten")
    }

    @Test(arguments: [SignalReading.missing(.stale), .undecided])
    func `a leg of a composite that nobody sees neither heals its debounce nor adds to it`(
        gap: SignalReading
    ) {
        var bench = Bench()
        _ = bench.hold(.thermalRunaway, 1, for: .seconds(2))
        bench.history.thermalRunaway = gap
        for _ in 0..<500 { _ = bench.step() }
        #expect(bench.bank.latched.isEmpty)
        let early = bench.hold(.thermalRunaway, 1, for: .milliseconds(980))
        #expect(!early)
        #expect(bench.step(.thermalRunaway, 1).tripped == InterlockSet(.thermalRunaway))
    }

    @Test func `a row may have its own`() {
        var bench = Bench()
        bench.table = InterlockTable()
        bench.table.add(
            InterlockRow(
                .cellOvervoltage, .cellVoltageMax, .high, .charge, warn: 3.5,
                derate: .init(from: 3.6, to: 3.7), trip: nil, for: .zero, hysteresis: 0.05))
        _ = bench.step(.cellVoltageMax, 3.7)
        #expect(bench.step(.cellVoltageMax, 3.651).charge.share == 0)
        #expect(abs(bench.step(.cellVoltageMax, 3.649).charge.share - 0.51) < 1e-9)
        _ = bench.step(.cellVoltageMax, 3.451)
        #expect(bench.bank.warnings.contains(.cellOvervoltage))
        _ = bench.step(.cellVoltageMax, 3.449)
        #expect(bench.bank.warnings.isEmpty)
    }
}
