import Control
import Interlocks
import Plant
import PowerDispatch
import Quantities
import Testing

/// What must hold whatever the plant says: drawn images, in every state that a reading can have.
@Suite struct PropertyTests {
    static let imagesPerSeed = 1_000

    /// A reading of any kind: good and fresh, good at the edge of its budget, old, from the future, or bad.
    static func reading<Value: Sendable & BitwiseCopyable>(
        _ value: Value, at now: MonotonicTime, _ random: inout SeededNumbers
    ) -> Reading<Value> {
        switch Int.random(in: 0..<40, using: &random) {
        case 0: .good(value, at: now - Site.budget)
        case 1: .good(value, at: now - Site.budget - .nanoseconds(1))
        case 2: .good(value, at: now - .seconds(3_600))
        case 3: .good(value, at: now + .nanoseconds(1))
        case 4: .good(value, at: MonotonicTime(nanoseconds: .min))
        case 5: .bad(ReadingFault(rawValue: UInt8.random(in: 0...7, using: &random)) ?? .stale, since: now)
        case 6: .neverSeen
        default: .good(value, at: now - .nanoseconds(Int64.random(in: 0...300_000_000, using: &random)))
        }
    }

    /// Mostly the usual range, sometimes far outside what any decoder lets through.
    static func number(_ usual: ClosedRange<Double>, _ random: inout SeededNumbers) -> Double {
        switch Int.random(in: 0..<30, using: &random) {
        case 0: 0
        case 1: -usual.upperBound
        case 2: Double.random(in: -1e6...1e6, using: &random)
        case 3: 1e150
        case 4: -1e150
        default: Double.random(in: usual, using: &random)
        }
    }

    static func image(at now: MonotonicTime, _ random: inout SeededNumbers) -> UnitImage {
        var image = UnitImage()
        image.battery.cellVoltageMax = reading(Volts(number(3.2...3.6, &random)), at: now, &random)
        image.battery.cellVoltageMin = reading(Volts(number(2.7...3.3, &random)), at: now, &random)
        image.battery.cellTemperatureMax = reading(Celsius(number(20...54, &random)), at: now, &random)
        image.battery.cellTemperatureMin = reading(Celsius(number(-4...25, &random)), at: now, &random)
        image.battery.packVoltage = reading(Volts(number(600...900, &random)), at: now, &random)
        image.battery.packCurrent = reading(Amperes(number(-400...400, &random)), at: now, &random)
        image.battery.stateOfCharge = reading(Fraction(number(0...1, &random)), at: now, &random)
        image.battery.chargeCurrentLimit = reading(Amperes(number(0...800, &random)), at: now, &random)
        image.battery.dischargeCurrentLimit = reading(Amperes(number(0...800, &random)), at: now, &random)
        let allowed = BatteryPermissions(rawValue: UInt8.random(in: 0...3, using: &random))
        image.battery.permissions = reading(allowed, at: now, &random)
        let alarms = BatteryAlarms(rawValue: Int.random(in: 0..<200, using: &random) == 0 ? 4 : 0)
        image.battery.alarms = reading(alarms, at: now, &random)
        image.inverter.activePower = reading(Watts(number(-5e5...5e5, &random)), at: now, &random)
        let state = InverterState(rawValue: UInt8.random(in: 0...7, using: &random)) ?? .off
        image.inverter.state = reading(state, at: now, &random)
        return image
    }

    /// Puts drawn images into a site; a healthy one now and then, so that units get into service at all.
    static func draw(_ site: inout Site, _ random: inout SeededNumbers) {
        site.now = site.now + .milliseconds(Int.random(in: 1...40, using: &random))
        for index in site.images.indices {
            site.images[index] = UnitImage()
            if Int.random(in: 0..<4, using: &random) > 0 {
                site.feeds[index].write(
                    &site.images[index], at: site.now, told: site.decision.units[index])
            } else {
                site.images[index] = image(at: site.now, &random)
            }
        }
        site.grid.frequency = reading(Hertz(number(49...51, &random)), at: site.now, &random)
    }

    static func expectSafe(
        _ decision: Decision, _ why: Comment, limits: (lowest: Watts, highest: Watts)? = nil
    ) {
        var sum = Watts.zero
        for index in 0..<decision.unitCount {
            let unit = decision.units[index]
            #expect(unit.setpoint.value.isFinite, why)
            #expect(unit.window.charge <= unit.setpoint && unit.setpoint <= unit.window.discharge, why)
            #expect(-Site.rating <= unit.window.charge && unit.window.discharge <= Site.rating, why)
            if unit.mode != .running { #expect(unit.setpoint == .zero, why) }
            if !unit.latched.isEmpty { #expect(unit.mode == .tripped && unit.setpoint == .zero, why) }
            #expect((unit.firstOut == nil) == unit.latched.isEmpty, why)
            #expect(!unit.isContactorPermitted || unit.latched.isEmpty, why)
            sum += unit.setpoint
        }
        #expect(sum == decision.setpoint, why)
        if let limits {
            #expect(decision.setpoint <= limits.highest + Watts(1e-3), why)
            #expect(decision.setpoint >= limits.lowest - Watts(1e-3), why)
        }
    }

    @Test(arguments: Array(UInt64(1)...10))
    func `whatever the readings say, the setpoint is finite, inside the window and zero out of service`(
        seed: UInt64
    ) {
        var random = SeededNumbers(seed: seed)
        var site = Site(units: 2, basePoint: .kilowatts(seed % 2 == 0 ? 700 : -700))
        site.enterService()
        for index in 0..<Self.imagesPerSeed {
            Self.draw(&site, &random)
            site.step()
            Self.expectSafe(site.decision, "seed \(seed), image \(index)")
            if index % 50 == 0 {
                for unit in 0..<2 { _ = site.order(.reset(unit: unit)) }
                for feed in site.feeds.indices { site.feeds[feed] = Feed() }
                for unit in 0..<2 { _ = site.order(.resumeUnit(unit)) }
                site.enterService()
            }
        }
    }

    @Test(arguments: Array(UInt64(1)...4))
    func `whatever the readings and commands, a site whose meter is silent stays inside its limits`(
        seed: UInt64
    ) {
        var random = SeededNumbers(seed: seed)
        let limits = SiteLimits(
            imports: .kilowatts(200), exports: .kilowatts(150), loadMax: .kilowatts(50))
        var site = Site(units: 3, limits: limits)
        site.enterService()
        for index in 0..<Self.imagesPerSeed {
            Self.draw(&site, &random)
            let source = BasePointSource(rawValue: UInt8.random(in: 0...4, using: &random)) ?? .agc
            let power = Watts(Self.number(-2e6...2e6, &random))
            switch Int.random(in: 0..<30, using: &random) {
            case 0: _ = site.order(.setBasePoint(source, power, for: .seconds(1)))
            case 1: _ = site.order(.revokeBasePoint(source))
            case 2: _ = site.order(.lock(unit: index % 3, .maintenance, for: .milliseconds(200)))
            case 3: _ = site.order(.unlock(unit: index % 3))
            case 4: _ = site.order(.reset(unit: index % 3, role: .service))
            case 5: _ = site.order(.resumeUnit(index % 3))
            default: break
            }
            site.step()
            Self.expectSafe(
                site.decision, "seed \(seed), image \(index)",
                limits: (lowest: .kilowatts(-150), highest: .kilowatts(100)))
        }
    }

    /// Everything that is written to a device, bit by bit.
    static func bits(_ decision: Decision) -> [UInt64] {
        var bits = [decision.wanted.value.bitPattern, decision.setpoint.value.bitPattern]
        for index in 0..<decision.unitCount {
            let unit = decision.units[index]
            bits += [
                unit.setpoint.value.bitPattern, unit.window.charge.value.bitPattern,
                unit.window.discharge.value.bitPattern, unit.latched.rawValue,
                UInt64(unit.mode.kind.rawValue),
            ]
        }
        return bits
    }

    @Test(arguments: Array(UInt64(1)...5))
    func `the same images at the same instants give the same decisions, bit by bit`(seed: UInt64) {
        func run() -> [[UInt64]] {
            var random = SeededNumbers(seed: seed)
            var site = Site(units: 3, basePoint: .kilowatts(333), ramp: WattsPerSecond(250_000))
            site.enterService()
            return (0..<200).map { _ in
                Self.draw(&site, &random)
                site.step()
                return Self.bits(site.decision)
            }
        }
        let first = run()
        #expect(first == run())
        #expect(Set(first).count > 100, "the images do change the decisions")
    }

    @Test func `sixty-four units share one target and lose one without losing power`() {
        var site = Site(units: 64, basePoint: .kilowatts(6_400))
        site.enterService()
        for unit in 0..<64 { #expect(abs(site.kilowatts(unit) - 100) < 1e-6) }
        site.feeds[63].alarms = .general
        site.cycle()
        #expect(site.kilowatts(63) == 0)
        #expect(abs(site.decision.setpoint.kilowatts - 6_400) < 1e-6)
        Self.expectSafe(site.decision, "64 units")
    }
}
