import Interlocks
import Plant
import Quantities
import Testing

/// Debounce, latch, first-out, reset and restart.
@Suite struct LatchTests {
    // swift-format-ignore
    static let debounces: [(signal: Signal, value: Double, current: Amperes, cycles: Int, why: Comment)] = [
        (.cellVoltageMax,        3.70, Amperes(0),   15, "0.3 s"),
        (.cellVoltageMin,        2.40, Amperes(0),   15, "0.3 s"),
        (.cellTemperatureMax,    56.0, Amperes(-50), 50, "1 s while charging"),
        (.cellTemperatureMax,    61.0, Amperes(50),  50, "1 s"),
        (.cellTemperatureMin,    -6.0, Amperes(-50), 50, "1 s while charging"),
        (.cellTemperatureMin,   -26.0, Amperes(50),  50, "1 s while discharging"),
        (.chargeCurrentRatio,    1.20, Amperes(0),  500, "10 s"),
        (.dischargeCurrentRatio, 1.20, Amperes(0),  500, "10 s"),
        (.batteryAlarm,          1,    Amperes(0),    1, "at once"),
        (.batterySilence,        2.5,  Amperes(0),    1, "at once"),
        (.inverterSilence,       2.5,  Amperes(0),    1, "at once"),
        (.inverterFault,         1,    Amperes(0),   10, "0.2 s"),
        (.actuationError,        0.2,  Amperes(0),  100, "2 s"),
        (.chargeLoad,            1.51, Amperes(0),   25, "0.5 s, though the BMS's own limit has 10 s"),
        (.dischargeLoad,         1.51, Amperes(0),   25, "0.5 s, though the BMS's own limit has 10 s"),
        (.thermalRunaway,        1,    Amperes(0),  150, "3 s"),
        (.insulation,            90,   Amperes(0),  250, "5 s"),
    ]

    @Test(arguments: debounces)
    func `a trip comes in the cycle in which its debounce is reached`(
        row: (signal: Signal, value: Double, current: Amperes, cycles: Int, why: Comment)
    ) {
        var bench = Bench()
        for cycle in 1...row.cycles {
            let verdict = bench.step(row.signal, row.value, current: row.current)
            #expect(verdict.tripped.isEmpty == (cycle < row.cycles), row.why)
        }
        let next = bench.step(row.signal, row.value, current: row.current)
        #expect(next.tripped.isEmpty, "a trip is told once")
    }

    @Test func `the debounce runs on measured time and not on a count of cycles`() {
        var bench = Bench()
        let short = bench.step(after: .milliseconds(299)) {
            $0.battery.cellVoltageMax = .good(Volts(3.7), at: $1)
        }
        #expect(short.tripped.isEmpty)
        let reached = bench.step(after: .milliseconds(1)) {
            $0.battery.cellVoltageMax = .good(Volts(3.7), at: $1)
        }
        #expect(reached.tripped == InterlockSet(.cellOvervoltage))
    }

    @Test func `a value that flickers over the limit half of the time still trips`() {
        var bench = Bench()
        var cycles = 0
        while bench.bank.latched.isEmpty && cycles < 200 {
            _ = bench.step(.cellVoltageMax, cycles % 2 == 0 ? 3.7 : 3.3)
            cycles += 1
        }
        #expect(bench.bank.firstOut == .cellOvervoltage)
        #expect(cycles > 15, "but later than a steady one")
    }

    @Test func `spikes that are short and rare never trip`() {
        var bench = Bench()
        for cycle in 0..<5_000 { _ = bench.step(.cellVoltageMax, cycle % 10 == 0 ? 3.7 : 3.3) }
        #expect(bench.bank.latched.isEmpty)
    }

    @Test func `a long trip is no grudge: healed and reset, one spike does not trip again`() {
        var bench = Bench()
        let hasTripped = bench.hold(.cellVoltageMax, 3.7, for: .seconds(60))
        #expect(hasTripped)
        _ = bench.hold(.cellVoltageMax, 3.3, for: .seconds(1))
        let isDone = bench.bank.reset(by: .service) == .done
        #expect(isDone)
        let spike = bench.step(.cellVoltageMax, 3.7)
        #expect(spike.tripped.isEmpty)
    }

    @Test func `an unknown current counts as flowing`() {
        var bench = Bench()
        let hasTripped = bench.hold(.cellTemperatureMin, -6, current: nil, for: .seconds(1))
        #expect(hasTripped)
        #expect(bench.bank.firstOut == .cellUndertemperatureCharge)
    }

    @Test func `the first trip keeps its name through the cascade that follows`() {
        var bench = Bench()
        _ = bench.hold(.cellTemperatureMax, 61, for: .seconds(1))
        _ = bench.step(.batteryAlarm, 1)
        _ = bench.step(.batterySilence, 3)
        #expect(bench.bank.firstOut == .cellOvertemperatureDischarge)
        #expect(bench.bank.latched.contains(.batteryAlarm) && bench.bank.latched.contains(.lostBattery))
    }

    @Test func `a reset is refused while the cause is present and done once it is gone`() {
        var bench = Bench()
        _ = bench.hold(.cellVoltageMax, 3.7, for: .milliseconds(300))
        let refused = bench.bank.reset() == .causePresent
        #expect(refused && bench.bank.firstOut == .cellOvervoltage)
        _ = bench.step()
        #expect(bench.bank.latched.contains(.cellOvervoltage), "gone is not reset")
        let isDone = bench.bank.reset(by: .service) == .done
        #expect(isDone && bench.bank.latched.isEmpty && bench.bank.firstOut == nil)
    }

    @Test func `a reset clears what is gone and keeps what is still present`() {
        var bench = Bench()
        _ = bench.hold(.cellVoltageMax, 3.7, for: .milliseconds(300))
        _ = bench.step(.batteryAlarm, 1)
        let isDone = bench.bank.reset(by: .service) == .done
        #expect(!isDone && bench.bank.latched == InterlockSet(.batteryAlarm))
        #expect(bench.bank.firstOut == .batteryAlarm)
    }

    @Test func `a reset is refused while nobody can see whether the cause is gone`() {
        var bench = Bench()
        _ = bench.hold(.cellVoltageMax, 3.7, for: .milliseconds(300))
        _ = bench.step { $0.battery.cellVoltageMax = .bad(.implausible, since: $1) }
        let isDone = bench.bank.reset(by: .service) == .done
        #expect(!isDone && bench.bank.latched == InterlockSet(.cellOvervoltage))
    }

    @Test
    func
        `a reset is refused while a cell is too hot to charge, though the trip itself has ended the charging`()
    {
        var bench = Bench()
        _ = bench.hold(.cellTemperatureMax, 56, current: Amperes(-50), for: .seconds(1))
        #expect(bench.bank.firstOut == .cellOvertemperatureCharge)
        _ = bench.step(.cellTemperatureMax, 56, current: Amperes(0))
        let isRefused = bench.bank.reset() == .causePresent
        #expect(isRefused)
        _ = bench.step(.cellTemperatureMax, 54, current: Amperes(0))
        let isDone = bench.bank.reset(by: .service) == .done
        #expect(isDone)
    }

    @Test func `trips of a former run stand until somebody resets them with the cause seen to be gone`() {
        var bench = Bench()
        let trips = InterlockSet(.cellOvervoltage).union(InterlockSet(.batteryAlarm))
        bench.bank.restore(trips, firstOut: .batteryAlarm)
        #expect(bench.bank.latched == trips && bench.bank.firstOut == .batteryAlarm)
        let blind = bench.bank.reset(by: .service) == .done
        #expect(!blind && bench.bank.latched == trips, "before the first look nothing is known")
        _ = bench.step()
        #expect(bench.bank.latched == trips)
        let isDone = bench.bank.reset(by: .service) == .done
        #expect(isDone)
    }

    @Test func `an unreadable record counts as a trip of its own, which service can reset`() {
        var bench = Bench()
        bench.bank.restore(InterlockSet(.latchRecord), firstOut: nil)
        #expect(bench.bank.firstOut == .latchRecord)
        _ = bench.step()
        let isDone = bench.bank.reset(by: .service) == .done
        #expect(isDone)
    }

    @Test func `a record that names a first trip which does not stand is not believed`() {
        var bench = Bench()
        bench.bank.restore(InterlockSet(.lostBattery), firstOut: .cellOvervoltage)
        #expect(bench.bank.firstOut == .lostBattery)
        var empty = InterlockBank()
        empty.restore(.none, firstOut: .cellOvervoltage)
        #expect(empty.firstOut == nil)
    }

    @Test func `what is restored adds to what stands, and the first of all stays the first`() {
        var bank = InterlockBank()
        bank.restore(InterlockSet(.smoke), firstOut: .smoke)
        bank.restore(InterlockSet(.batteryAlarm), firstOut: .batteryAlarm)
        #expect(bank.firstOut == .smoke)
        #expect(bank.latched.contains(.smoke) && bank.latched.contains(.batteryAlarm))
    }
}
