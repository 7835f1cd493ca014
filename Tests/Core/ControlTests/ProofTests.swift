import Control
import Interlocks
import Plant
import Quantities
import Testing

/// That the plant does what it is told, and that what it says can be.
@Suite struct ProofTests {
    @Test
    func `an inverter that delivers nothing of what it is told trips after its response and two seconds`() {
        var site = Site(units: 1, basePoint: .kilowatts(300))
        site.enterService()
        site.feeds[0].activePower = 0
        site.run(for: .milliseconds(3_900))
        #expect(site.mode(0) == .running)
        site.run(for: .milliseconds(600))
        #expect(site.mode(0) == .tripped && site.decision.units[0].firstOut == .notFollowing)
    }

    @Test func `a tripped unit whose inverter keeps pushing power gets this trip too, and keeps it`() {
        var site = Site(units: 1, basePoint: .kilowatts(300))
        site.enterService()
        site.feeds[0].activePower = 300_000
        site.feeds[0].alarms = .general
        site.cycle()
        #expect(site.decision.units[0].latched == InterlockSet(.batteryAlarm))
        site.run(for: .milliseconds(4_500))
        #expect(site.decision.units[0].latched.contains(.notFollowing))
        #expect(site.decision.units[0].firstOut == .batteryAlarm)
        site.feeds[0].alarms = .none
        site.cycle()
        #expect(site.order(.reset(unit: 0)) == .resetRefused)
        #expect(site.decision.units[0].latched.contains(.notFollowing))
    }

    @Test func `an inverter that pushes power in standby is found out before it is ever used`() {
        var site = Site(units: 1)
        site.feeds[0].activePower = -60_000
        _ = site.order(.stop)
        site.run(for: .seconds(5))
        #expect(site.mode(0) == .tripped && site.decision.units[0].firstOut == .notFollowing)
    }

    @Test func `a runaway trips the unit and needs service`() {
        var site = Site(units: 1)
        site.enterService()
        for second in 0..<28 {
            site.feeds[0].cellTemperatureMax = 24 + 1.5 * Double(second)
            site.run(for: .seconds(1))
        }
        let latched = site.decision.units[0].latched
        #expect(latched.contains(.thermalRunaway) && site.mode(0) == .tripped)
        site.feeds[0].cellTemperatureMax = 26
        site.run(for: .seconds(40))
        #expect(site.order(.reset(unit: 0)) == .resetNeedsService)
        #expect(site.order(.reset(unit: 0, role: .service)) == .resetDone)
    }

    @Test func `a battery that only repeats itself counts as silent, and one that moves does not`() {
        var site = Site(units: 1, frozenSamples: 250)
        for cycle in 0..<1_000 {
            site.feeds[0].packCurrent = Double(cycle % 2)
            site.cycle()
        }
        #expect(site.mode(0) == .running)
        site.run(for: .seconds(4.98))
        #expect(site.mode(0) == .running)
        site.run(for: .milliseconds(60))
        #expect(site.mode(0) == .offline && site.kilowatts(0) == 0)
        site.feeds[0].packCurrent = 7
        site.cycle()
        #expect(site.mode(0) == .standby, "it moves again")
        site.run(for: .seconds(10))
        #expect(site.mode(0) == .tripped && site.decision.units[0].firstOut == .lostBattery)
    }

    @Test func `at rest a battery may repeat itself; while power flows it may not`() {
        var site = Site(units: 1, frozenSamples: 250, isFrozenUnderLoadOnly: true)
        site.run(for: .seconds(20))
        #expect(site.mode(0) == .running, "many a battery at rest says the same for hours")
        site.feeds[0].packCurrent = 3
        site.run(for: .seconds(4.98))
        #expect(site.mode(0) == .running)
        site.run(for: .milliseconds(60))
        #expect(site.mode(0) == .offline, "its own current flows")
        var loaded = Site(
            units: 1, basePoint: .kilowatts(50), frozenSamples: 250, isFrozenUnderLoadOnly: true)
        loaded.feeds[0].packCurrent = 0
        loaded.run(for: .seconds(7.9))
        #expect(loaded.mode(0) == .running && loaded.kilowatts(0) == 50)
        loaded.run(for: .milliseconds(300))
        #expect(loaded.mode(0) == .offline, "the inverter's power flows, and the battery says zero")
        var mute = Site(units: 1, frozenSamples: 250, isFrozenUnderLoadOnly: true)
        mute.feeds[0].isInverterSilent = true
        mute.run(for: .seconds(20))
        #expect(mute.decision.units[0].firstOut != .lostBattery, "without the inverter its current decides")
    }

    @Test func `a sample that is looked at again is not a repetition`() {
        var site = Site(units: 1, frozenSamples: 2)
        site.cycle()
        for _ in 0..<10 {
            site.step()
            #expect(site.mode(0) == .standby)
        }
    }

    typealias Spoil = @Sendable (inout Feed) -> Void

    // swift-format-ignore
    static let absurd: [(spoil: Spoil, isUsed: Bool, why: Comment)] = [
        ({ $0.stateOfCharge = -0.001 },                                     false, "less than empty"),
        ({ $0.stateOfCharge = 1.049 },                                      true,  "a BMS that counts a little high"),
        ({ $0.stateOfCharge = 1.051 },                                      false, "more than full"),
        ({ $0.cellVoltageMin = 0.49 },                                      false, "a broken wire"),
        ({ $0.cellVoltageMax = 6.1 },                                       false, "no cell has that"),
        ({ $0.cellVoltageMin = 3.33 },                                      false, "lowest above highest"),
        ({ $0.cellTemperatureMin = -61 },                                   false, "an open sensor"),
        ({ $0.cellTemperatureMax = 401 },                                   false, "beyond what burns"),
        ({ $0.cellTemperatureMin = 26.1 },                                  false, "coldest above hottest"),
        ({ $0.cellTemperatureMin = 26 },                                    true,  "one sensor only"),
        ({ $0.packVoltage = 0.9 },                                          false, "no pack"),
        ({ $0.packVoltage = 2_001 },                                        false, "no pack has that"),
        ({ $0.packCurrent = -10_001 },                                      false, "no shunt measures that"),
        ({ $0.packCurrent = 10_001 },                                       false, "no shunt measures that"),
    ]

    @Test(arguments: absurd)
    func `a reading that cannot be is none, and a required one takes its unit out`(
        row: (spoil: Spoil, isUsed: Bool, why: Comment)
    ) {
        var site = Site(units: 1)
        site.enterService()
        row.spoil(&site.feeds[0])
        site.cycle()
        #expect((site.mode(0) == .running) == row.isUsed, row.why)
        if !row.isUsed { #expect(site.mode(0) == .offline, row.why) }
    }
}
