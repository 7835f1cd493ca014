import Control
import Interlocks
import Plant
import Quantities
import Testing

/// Entering and leaving service, stopping, tripping and resetting, on the whole controller.
@Suite struct ServiceTests {
    @Test func `a site that has seen nothing is offline, at zero and lets no contactor close`() {
        var site = Site(basePoint: .kilowatts(100))
        for _ in 0..<1_000 {
            site.now = site.now + Site.period
            site.step()
            for unit in 0..<2 {
                #expect(site.mode(unit) == .offline && site.kilowatts(unit) == 0)
                #expect(!site.decision.units[unit].isContactorPermitted)
            }
        }
        #expect(site.decision.units[0].latched.isEmpty, "what was never there is not lost")
    }

    @Test func `a unit runs after three seconds of continuous good and not one cycle before`() {
        var site = Site(basePoint: .kilowatts(100))
        site.cycle()
        #expect(site.mode(0) == .standby)
        for _ in 0..<149 {
            site.cycle()
            #expect(site.mode(0) == .standby && site.decision.setpoint == .zero)
        }
        site.cycle()
        #expect(site.mode(0) == .running)
    }

    @Test func `one bad cycle starts the time to enter service again`() {
        var site = Site(basePoint: .kilowatts(100))
        site.run(for: .seconds(2))
        site.images[0].battery.alarms = .bad(.implausible, since: site.now)
        site.step()
        #expect(site.mode(0) == .offline && site.mode(1) == .standby)
        site.run(for: .seconds(3))
        #expect(site.mode(0) == .standby && site.mode(1) == .running)
        site.cycle()
        #expect(site.mode(0) == .running)
    }

    @Test func `a unit that enters service takes up its power on the ramp and not in one step`() {
        var site = Site(units: 1, basePoint: .kilowatts(400), ramp: WattsPerSecond(100_000))
        site.enterService()
        #expect(site.mode(0) == .running)
        #expect(abs(site.kilowatts(0)) <= 2.001, "100 kW/s for one cycle")
        site.run(for: .seconds(1))
        #expect(abs(site.kilowatts(0) - 102) < 2.1)
        site.run(for: .seconds(4))
        #expect(abs(site.kilowatts(0) - 400) < 1e-9)
    }

    @Test func `a silent battery is closed in the cycle its budget runs out and lost at twice the budget`() {
        var site = Site(basePoint: .kilowatts(100))
        site.enterService()
        #expect(abs(site.kilowatts(0) - 50) < 1e-9)
        site.feeds[0].isBatterySilent = true
        // The last readings are from this instant; 320 ms are 16 cycles.
        for cycle in 1...16 {
            site.cycle()
            #expect(site.mode(0) == .running && site.kilowatts(0) > 49, "cycle \(cycle): still in its budget")
        }
        site.cycle()
        #expect(site.mode(0) == .offline && site.kilowatts(0) == 0, "cycle 17: older than 320 ms")
        #expect(site.decision.units[0].window == .closed(.mode))
        #expect(abs(site.kilowatts(1) - 100) < 1e-9, "the other unit has its part in the same cycle")
        for cycle in 18...31 {
            site.cycle()
            #expect(site.decision.units[0].latched.isEmpty, "cycle \(cycle): silent, not yet lost")
        }
        site.cycle()
        #expect(site.mode(0) == .tripped, "cycle 32: 640 ms")
        #expect(site.decision.units[0].firstOut == .lostBattery)
        #expect(site.mode(1) == .running)
    }

    @Test func `a silent inverter is lost at twice its budget`() {
        var site = Site(basePoint: .kilowatts(100))
        site.enterService()
        site.feeds[1].isInverterSilent = true
        site.run(for: .milliseconds(620))
        #expect(site.mode(1) == .offline && site.kilowatts(1) == 0)
        site.cycle()
        #expect(site.mode(1) == .tripped && site.decision.units[1].firstOut == .lostInverter)
    }

    @Test func `a gateway that stood still holds no device for lost, and trusts none of the old readings`() {
        var site = Site(basePoint: .kilowatts(100))
        site.enterService()
        site.now = site.now + .seconds(10)
        site.step()
        #expect(site.mode(0) == .offline && site.kilowatts(0) == 0, "10 s old")
        #expect(site.decision.units[0].latched.isEmpty, "nobody has looked for 10 s: nobody was seen silent")
        site.cycle()
        #expect(site.mode(0) == .standby, "the devices speak: enter service anew")
    }

    @Test func `evidence after a standstill is confirmed for its debounce as ever`() {
        var site = Site(basePoint: .kilowatts(100))
        site.enterService()
        site.feeds[0].cellTemperatureMax = 90
        site.now = site.now + .seconds(10)
        site.cycle()
        #expect(site.decision.units[0].latched.isEmpty, "seen once")
        site.run(for: .seconds(2))
        #expect(site.mode(0) == .tripped)
    }

    @Test func `a trip takes its unit to zero and moves its share in the very same cycle`() {
        var site = Site(basePoint: .kilowatts(300))
        site.enterService()
        #expect(abs(site.kilowatts(0) - 150) < 1e-9 && abs(site.kilowatts(1) - 150) < 1e-9)
        site.feeds[1].alarms = .temperatureHigh
        site.cycle()
        #expect(site.mode(1) == .tripped && site.kilowatts(1) == 0)
        #expect(site.decision.units[1].window == .closed(.interlock(.batteryAlarm)))
        #expect(!site.decision.units[1].isContactorPermitted)
        #expect(abs(site.kilowatts(0) - 300) < 1e-9)
        #expect(site.happened.contains { $0.unit == 1 && $0.kind == .tripped(.batteryAlarm) })
        let actuation = site.controller.actuation(of: 1, in: &site.decision)
        #expect(actuation.setpoint == .zero && !actuation.isContactorPermitted)
        #expect(actuation.expires == site.now + .milliseconds(100))
    }

    @Test
    func `a trip stays when its cause goes; a reset, a resume and a whole enter service bring power back`() {
        var site = Site(units: 1, basePoint: .kilowatts(100))
        site.enterService()
        site.feeds[0].cellVoltageMax = 3.7
        site.run(for: .milliseconds(300))
        #expect(site.mode(0) == .tripped && site.decision.units[0].firstOut == .cellOvervoltage)
        #expect(site.order(.reset(unit: 0)) == .resetRefused)
        site.feeds[0].cellVoltageMax = 3.3
        site.run(for: .seconds(60))
        #expect(site.mode(0) == .tripped && site.kilowatts(0) == 0)
        #expect(site.order(.reset(unit: 0)) == .resetDone)
        site.cycle()
        #expect(site.mode(0) == .standby && site.kilowatts(0) == 0)
        site.run(for: .seconds(600))
        #expect(site.mode(0) == .standby && site.kilowatts(0) == 0, "a reset starts nothing")
        #expect(site.order(.resumeUnit(0)) == .holdEnded)
        site.run(for: .milliseconds(2_980))
        #expect(site.mode(0) == .standby && site.kilowatts(0) == 0)
        site.run(for: .milliseconds(40))
        #expect(site.mode(0) == .running && abs(site.kilowatts(0) - 100) < 1e-9)
    }

    @Test(arguments: [-1, 2, 64, Int.max, Int.min])
    func `a reset of a unit that does not exist does nothing`(unit: Int) {
        var site = Site()
        site.cycle()
        #expect(site.order(.reset(unit: unit)) == nil)
    }

    @Test func `a restart is not a reset`() {
        var site = Site(basePoint: .kilowatts(100))
        let trips = InterlockSet(.cellOvervoltage).union(InterlockSet(.batteryAlarm))
        site.controller.restore(trips, firstOut: .batteryAlarm, unit: 0)
        #expect(site.order(.reset(unit: 0)) == .resetRefused, "nothing has been seen yet")
        site.run(for: .seconds(30))
        #expect(site.mode(0) == .tripped && site.kilowatts(0) == 0)
        #expect(site.decision.units[0].latched == trips && site.decision.units[0].firstOut == .batteryAlarm)
        #expect(site.mode(1) == .running && abs(site.kilowatts(1) - 100) < 1e-9)
        #expect(site.order(.reset(unit: 0)) == .resetDone)
        _ = site.order(.resumeUnit(0))
        site.enterService()
        #expect(site.mode(0) == .running)
    }

    @Test func `stop takes every unit to zero and resume lets them enter service anew`() {
        var site = Site(basePoint: .kilowatts(300))
        site.enterService()
        for index in 0..<2 { site.feeds[index].activePower = 150_000 }
        #expect(site.order(.stop) == .stopRequested)
        site.cycle()
        #expect(site.mode(0) == .stopping && site.decision.setpoint == .zero, "asked for zero at once")
        site.run(for: .seconds(1))
        #expect(site.mode(0) == .stopping, "the inverter still measures power")
        for index in 0..<2 { site.feeds[index].activePower = 9_000 }
        site.cycle()
        #expect(site.mode(0) == .standby && site.mode(1) == .standby, "less than 2 % of the rating")
        site.run(for: .seconds(30))
        #expect(site.mode(0) == .standby && site.decision.setpoint == .zero)
        #expect(site.order(.resume()) == .resumed)
        site.run(for: .seconds(2))
        #expect(site.mode(0) == .standby, "enter service begins when the stop is lifted")
        site.run(for: .seconds(2))
        #expect(site.mode(0) == .running)
    }

    @Test func `a unit that never reaches zero trips and tells what was asked of it and what it gives`() {
        var site = Site(units: 1, basePoint: .kilowatts(300))
        site.enterService()
        site.feeds[0].activePower = 30_000
        _ = site.order(.stop)
        for _ in 0..<250 {
            site.cycle()
            #expect(site.kilowatts(0) == 0)
        }
        #expect(site.mode(0) == .tripped && site.decision.units[0].firstOut == .notFollowing)
        let trip = site.happened.first { $0.kind == .tripped(.notFollowing) }
        #expect(trip?.asked == .zero && trip?.delivered == .kilowatts(30))
        #expect(!site.happened.contains { $0.kind == .stoppedWithPower })
    }

    @Test func `one whose inverter may take longer counts as stopped after ten seconds, at zero setpoint`() {
        var site = Site(
            units: 1, basePoint: .kilowatts(300), inverterResponse: .seconds(12))
        site.enterService()
        site.feeds[0].activePower = 30_000
        _ = site.order(.stop)
        site.cycle()
        for _ in 0..<499 {
            site.cycle()
            #expect(site.mode(0) == .stopping && site.kilowatts(0) == 0)
        }
        #expect(!site.happened.contains { $0.kind == .stoppedWithPower })
        site.cycle()
        #expect(site.mode(0) == .standby)
        let told = site.happened.filter { $0.kind == .stoppedWithPower }
        #expect(told.count == 1 && told[0].value == 30_000 && told[0].limit == 10_000)
    }

    @Test func `a trip while stopping is a trip`() {
        var site = Site(units: 1, basePoint: .kilowatts(300))
        site.enterService()
        site.feeds[0].activePower = 150_000
        _ = site.order(.stop)
        site.cycle()
        site.feeds[0].alarms = .shortCircuit
        site.cycle()
        #expect(site.mode(0) == .tripped)
    }

    @Test func `when everything happens in one cycle on sixty-four units no trip is lost from the events`() {
        var site = Site(units: 64, basePoint: .kilowatts(1_000))
        site.enterService()
        for index in site.feeds.indices { site.feeds[index].alarms = .general }
        site.happened = []
        site.cycle()
        for unit in 0..<64 {
            #expect(
                site.happened.contains { $0.unit == unit && $0.kind == .tripped(.batteryAlarm) },
                "unit \(unit)")
        }
        #expect(site.decision.events.lost == 0)
    }
}
