import Plant
import Quantities
import Testing

@testable import Interlocks

/// Conditions that stand together: every combination of them, so that none can be left out or turned round.
@Suite struct GuardTests {
    static let now = MonotonicTime(nanoseconds: 100_000_000_000)

    @Test func `a sample repeats the one before only if all of it can be read and it is new`() {
        for bits in 0..<32 {
            func isSet(_ bit: Int) -> Bool { bits & (1 << bit) != 0 }
            var watch = FrozenWatch(limit: 1)
            var image = Bench.healthy(at: Self.now).battery
            let first = watch.isFrozen(image, at: Self.now, within: .seconds(1))
            #expect(!first)
            let next = Self.now + .milliseconds(100)
            image = Bench.healthy(at: isSet(4) ? next : Self.now).battery
            if !isSet(0) { image.packCurrent = .bad(.stale, since: next) }
            if !isSet(1) { image.packVoltage = .bad(.stale, since: next) }
            if !isSet(2) { image.cellVoltageMax = .bad(.stale, since: next) }
            if !isSet(3) { image.cellVoltageMin = .bad(.stale, since: next) }
            let isFrozen = watch.isFrozen(image, at: next, within: .seconds(1))
            #expect(isFrozen == (bits == 31), "\(bits)")
        }
    }

    @Test func `one difference in any value is no repetition`() {
        for place in 0..<4 {
            var watch = FrozenWatch(limit: 1)
            var image = Bench.healthy(at: Self.now).battery
            _ = watch.isFrozen(image, at: Self.now, within: .seconds(1))
            let next = Self.now + .milliseconds(100)
            image = Bench.healthy(at: next).battery
            switch place {
            case 0: image.packCurrent = .good(Amperes(0.1), at: next)
            case 1: image.packVoltage = .good(Volts(800.1), at: next)
            case 2: image.cellVoltageMax = .good(Volts(3.321), at: next)
            default: image.cellVoltageMin = .good(Volts(3.301), at: next)
            }
            let isFrozen = watch.isFrozen(image, at: next, within: .seconds(1))
            #expect(!isFrozen, "\(place)")
        }
    }

    // swift-format-ignore
    static let boards: [(current: @Sendable (Int) -> Double, moves: Bool, isFrozen: Bool, why: Comment)] = [
        ({ $0 < 5 ? 0 : 60 },               false, true,  "60 A came, and no cell has moved"),
        ({ $0 < 5 ? 60 : -20 },             false, true,  "from discharge to charge"),
        ({ $0 < 5 ? 0 : 60 },               true,  false, "they move"),
        ({ $0 < 5 ? 0 : 30 },               false, false, "less than they would show"),
        ({ 60 + Double($0 % 7) * 0.1 },     false, false, "a steady current, and flat cells"),
    ]

    @Test(arguments: 0..<boards.count)
    func `a board of cells that stands still beside a live current is found`(index: Int) {
        let row = Self.boards[index]
        var watch = FrozenWatch(limit: 120)
        var isFrozen = false
        for sample in 0..<20 {
            let now = Self.now + .milliseconds(200 * sample)
            var image = Bench.healthy(at: now).battery
            image.packCurrent = .good(Amperes(row.current(sample)), at: now)
            image.packVoltage = .good(Volts(800 + Double(sample % 3) * 0.1), at: now)
            if row.moves { image.cellVoltageMin = .good(Volts(3.3 - Double(sample % 2) * 0.001), at: now) }
            isFrozen = watch.isFrozen(image, at: now, within: .seconds(1), full: Amperes(125))
        }
        #expect(isFrozen == row.isFrozen, row.why)
    }

    @Test func `a load needs a rating and a pack voltage`() {
        for (rating, voltage) in [(0, 0), (0, 800), (80_000, 0), (80_000, 800)] as [(Double, Double)] {
            var image = Bench.healthy(at: Self.now)
            image.battery.packVoltage = .good(Volts(voltage), at: Self.now)
            image.battery.packCurrent = .good(Amperes(50), at: Self.now)
            let signals = UnitSignals(
                image: image, now: Self.now, budget: Bench.budget, batterySilence: 0, inverterSilence: 0,
                currentFloor: Amperes(2), rating: Watts(rating))
            let isKnown = rating > 0 && voltage > 0
            #expect(signals.read(.dischargeLoad) == (isKnown ? .value(0.5) : .missing(.implausible)))
            #expect(signals.read(.chargeLoad) == (isKnown ? .value(-0.5) : .missing(.implausible)))
        }
    }

    @Test func `a precharge ends by what is seen of current, DC side and pack, each known or not`() {
        for current in [nil, 20, -20, 20.1, -20.1] as [Double?] {
            for voltage in [nil, 759.9, 760] as [Double?] {
                for pack in [nil, 0, 800] as [Double?] {
                    var rig = ContactorSequencePlantTests.Rig()
                    rig.step()
                    rig.step { $0.isClosingWanted = true }
                    rig.step {
                        $0.current = current.map { Amperes($0) }
                        $0.dcVoltage = voltage.map { Volts($0) }
                        $0.packVoltage = pack.map { Volts($0) }
                    }
                    let isCalm = current.map { $0.magnitude <= 20 } ?? false
                    let isCharged = voltage == 760 && pack == 800
                    let name = rig.sequence.state.name.description
                    let expected = isCalm ? (isCharged ? "closed" : "precharging") : "pausing"
                    #expect(name == expected, "\(String(describing: (current, voltage, pack)))")
                }
            }
        }
    }

    @Test func `contacts open without load only if the current is known and small`() {
        for (current, state) in [
            (nil, "opening"), (2.1, "opening"), (-2.1, "opening"), (2, "checking"), (-2, "checking"),
        ]
            as [(Double?, String)]
        {
            var rig = ContactorSequencePlantTests.Rig()
            rig.close()
            rig.step {
                $0.isClosingWanted = false
                $0.current = current.map { Amperes($0) }
            }
            #expect(rig.sequence.state.name.description == state, "\(String(describing: current))")
        }
    }

    @Test func `a start and an opening are proved by a DC side that is known and low`() {
        for (voltage, isOpen) in [(nil, false), (60.1, false), (60, true)] as [(Double?, Bool)] {
            var rig = ContactorSequencePlantTests.Rig()
            rig.step { $0.dcVoltage = voltage.map { Volts($0) } }
            #expect((rig.sequence.state == .open) == isOpen)
            rig = ContactorSequencePlantTests.Rig()
            rig.close()
            rig.step { $0.isClosingWanted = false }
            rig.step { $0.dcVoltage = voltage.map { Volts($0) } }
            #expect((rig.sequence.state == .open) == isOpen)
        }
    }

    @Test func `a bound of the contactors counts from the instant it is reached`() {
        for (cycles, isOver) in [(49, false), (50, true)] {
            var rig = ContactorSequencePlantTests.Rig()
            rig.close()
            rig.seen.current = Amperes(50)
            rig.seen.isClosingWanted = false
            rig.step()
            var saidSo = false
            for _ in 0..<cycles {
                rig.step()
                saidSo = saidSo || rig.output.opensUnderLoad
            }
            #expect(saidSo == isOver && rig.output.closesMain != isOver, "one second under load")
        }
    }

    @Test func `a missing signal closes power if it is required or was seen, and its row guards anything`() {
        for bits in 0..<16 {
            func isSet(_ bit: Int) -> Bool { bits & (1 << bit) != 0 }
            let row = InterlockRow(
                .insulation, .insulation, .low, .both, warn: 100,
                derate: isSet(2) ? .init(from: 50, to: 20) : nil, trip: isSet(3) ? 10 : nil, for: .seconds(1),
                presence: isSet(0) ? .required : .ifSeen)
            var bench = Bench()
            bench.table = InterlockTable()
            bench.table.add(row)
            if isSet(1) { _ = bench.step(.insulation, 500) }
            let verdict = bench.step()
            let isClosed = (isSet(0) || isSet(1)) && (isSet(2) || isSet(3))
            #expect(verdict.charge.share == (isClosed ? 0 : 1), "\(bits)")
            #expect(verdict.discharge.share == (isClosed ? 0 : 1), "\(bits)")
        }
    }

    // swift-format-ignore
    static let flows: [(condition: InterlockRow.Condition, current: Double?, counts: Bool)] = [
        (.always, nil, true), (.always, 0, true), (.always, -5, true), (.always, 5, true),
        (.charging, nil, true), (.charging, 0, false), (.charging, -2, false), (.charging, -2.1, true), (.charging, 5, false),
        (.discharging, nil, true), (.discharging, 0, false), (.discharging, 2, false), (.discharging, 2.1, true), (.discharging, -5, false),
    ]

    @Test(arguments: flows)
    func
        `a trip needs its limit passed and its current flowing or unknown; what is passed is present at once`(
            row: (condition: InterlockRow.Condition, current: Double?, counts: Bool)
        )
    {
        for (value, isPassed) in [(3.699, false), (3.7, true)] {
            var bench = Bench()
            bench.table = InterlockTable()
            bench.table.add(
                InterlockRow(
                    .cellOvervoltage, .cellVoltageMax, .high, .charge, trip: 3.7, while: row.condition,
                    for: .zero))
            let verdict = bench.step(.cellVoltageMax, value, current: row.current.map { Amperes($0) })
            #expect(verdict.tripped.contains(.cellOvervoltage) == (isPassed && row.counts))
            #expect(bench.bank.present.contains(.cellOvervoltage) == isPassed)
        }
    }

    // swift-format-ignore
    static let warnings: [(before: Double, now: Double, isWarned: Bool, why: Comment)] = [
        (3.4, 3.5,   true,  "passed"),
        (3.6, 3.5,   true,  "passed, and held as well"),
        (3.6, 3.401, true,  "held"),
        (3.6, 3.399, false, "came back by the hysteresis"),
        (3.4, 3.499, false, "not passed, and nothing to hold"),
    ]

    @Test(arguments: warnings) func `a warning stands if it is passed, or held after it was passed`(
        row: (before: Double, now: Double, isWarned: Bool, why: Comment)
    ) {
        var bench = Bench()
        bench.table = InterlockTable()
        bench.table.add(
            InterlockRow(
                .cellOvervoltage, .cellVoltageMax, .high, .charge, warn: 3.5, trip: nil, for: .zero,
                hysteresis: 0.1))
        _ = bench.step(.cellVoltageMax, row.before)
        _ = bench.step(.cellVoltageMax, row.now)
        #expect(bench.bank.warnings.contains(.cellOvervoltage) == row.isWarned, row.why)
    }

    // swift-format-ignore
    static let runaways: [(hot: Double, before: Double?, now: Double?, isFast: Bool, is: Bool, why: Comment)] = [
        (59.9, 3.3, 3.3, true,  false, "neither hot nor fallen"),
        (59.9, 3.3, 2.4, true,  true,  "fallen, and fast"),
        (59.9, 3.3, 2.4, false, false, "fallen, and slow"),
        (59.9, 3.3, 2.5, true,  false, "not fallen by a quarter"),
        (59.9, 3.3, nil, true,  true,  "an unknown voltage counts as fallen"),
        (59.9, nil, 2.4, true,  true,  "nobody knows from where it fell: unknown is never healthy"),
        (59.9, nil, 2.4, false, false, "and it does not warm fast"),
        (60.0, 3.3, 3.3, true,  true,  "hot, and fast"),
        (60.0, 3.3, 3.3, false, false, "hot, and slow"),
        (60.0, 3.3, 2.4, true,  true,  "hot, fallen and fast"),
        (65.0, 3.3, 3.3, false, true,  "so hot that nothing else counts"),
    ]

    @Test(arguments: runaways) func `a runaway is a hot or a fallen cell that warms fast, or a very hot one`(
        row: (hot: Double, before: Double?, now: Double?, isFast: Bool, is: Bool, why: Comment)
    ) {
        var watch = ThermalWatch(resolution: Celsius(0.1), heat: ThermalWatch.Heat(suspect: Celsius(60)))
        for second in 0...12 {
            let rise = row.isFast ? 1.1 : 0.2
            watch.add(
                Celsius(40 + rise * Double(second)), row.before.map { Volts($0) },
                at: Self.now + .seconds(second))
        }
        #expect(watch.isRunaway(Celsius(row.hot), row.now.map { Volts($0) }) == row.is, row.why)
    }
}
