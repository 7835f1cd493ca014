import Control
import InterlockSupport
import Interlocks
import Plant
import Quantities
import Testing

/// One unit stops the whole site, and who brings it back.
@Suite struct EmergencyTests {
    /// The shipped rows, with the BMS's alarm word as the site's emergency stop.
    static var table: InterlockTable {
        let shipped = InterlockTable.lithiumIronPhosphate
        var table = InterlockTable()
        for index in 0..<shipped.count {
            var row = shipped.rows[index]
            if row.id == .batteryAlarm {
                row.action = .emergencyStop
                row.reset = .service
            }
            table.add(row)
        }
        return table
    }

    @Test(arguments: [0, 1, 2])
    func `an emergency stop trips every unit in the same cycle, whatever their order`(origin: Int) {
        var site = Site(units: 3, basePoint: .kilowatts(300), interlocks: Self.table)
        site.enterService()
        #expect(site.decision.setpoint.kilowatts > 299)
        site.feeds[origin].alarms = .shortCircuit
        site.cycle()
        #expect(site.decision.setpoint == .zero)
        for unit in 0..<3 {
            let name: InterlockID = unit == origin ? .batteryAlarm : .siteStop
            let decision = site.decision.units[unit]
            #expect(site.mode(unit) == .tripped && decision.setpoint == .zero)
            #expect(decision.firstOut == name && decision.latched == InterlockSet(name))
            #expect(decision.window == .closed(.interlock(name)) && !decision.isContactorPermitted)
            #expect(site.happened.filter { $0.unit == unit && $0.kind == .tripped(name) }.count == 1)
        }
        site.run(for: .seconds(1))
        #expect(site.happened.filter { $0.kind == .tripped(.siteStop) }.count == 2, "told once")
    }

    @Test func `nobody resets any unit while the cause is present, and an operator not even then`() {
        var site = Site(units: 2, basePoint: .kilowatts(300), interlocks: Self.table)
        site.enterService()
        site.feeds[0].alarms = .shortCircuit
        site.cycle()
        #expect(site.order(.reset(unit: 1, role: .service)) == .resetRefused)
        site.feeds[0].alarms = .none
        site.cycle()
        #expect(site.order(.reset(unit: 1)) == .resetNeedsService)
        #expect(site.order(.reset(unit: 0)) == .resetNeedsService)
        #expect(site.order(.reset(unit: 1, role: .service)) == .resetDone)
        #expect(site.order(.reset(unit: 0, role: .service)) == .resetDone)
        site.cycle()
        #expect(site.mode(0) == .standby && site.mode(1) == .standby && site.decision.setpoint == .zero)
        site.run(for: .seconds(60))
        for unit in 0...1 {
            let decision = site.decision.units[unit]
            #expect(site.mode(unit) == .standby && decision.hold == .afterReset, "every unit that it tripped")
            #expect(!decision.isContactorPermitted)
        }
        #expect(site.order(.resumeUnit(1)) == .holdEnded)
        site.enterService()
        #expect(site.mode(0) == .standby && site.mode(1) == .running, "one by one")
        #expect(site.order(.resumeUnit(0)) == .holdEnded)
        site.enterService()
        #expect(site.mode(0) == .running && site.mode(1) == .running)
    }
}
