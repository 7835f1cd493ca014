import Control
import ControlSocket
import InterlockSupport
import Interlocks
import Plant
import Quantities
import Recorder
import Testing

@testable import BallastDaemon

@Suite struct TripLogTests {
    static func event(_ id: InterlockID, unit: Int = 0, value: Double? = nil, limit: Double? = nil) -> Event {
        Event(
            unit: unit, kind: .tripped(id), value: value, limit: limit, cycle: 1,
            at: MonotonicTime(nanoseconds: 1))
    }

    @Test func `a trip keeps its time and value until it is reset`() {
        var log = TripLog(units: ["A", "B"], table: .lithiumIronPhosphate)
        let both = InterlockSet(.cellOvervoltage).union(InterlockSet(.lostBattery))
        log.saw(Self.event(.cellOvervoltage, value: 3.7, limit: 3.65), at: "noon")
        log.saw(Self.event(.cellOvervoltage, unit: 1), at: "later")
        let trips = log.trips(of: 0, both, first: .lostBattery)
        #expect(trips.map(\.interlock) == ["lost_bms", "cell_overvoltage"])
        #expect(trips.map(\.first_out) == [true, false])
        #expect(trips.map(\.at) == [nil, "noon"], "what a former run latched has no time")
        #expect(trips.map(\.value) == [nil, 3.7])
        #expect(trips.map(\.signal) == ["battery silent for", "highest cell voltage"])
        #expect(trips.map(\.symbol) == ["s", "V"])
        #expect(log.trips(of: 0, .none, first: nil).isEmpty)
        let again = log.trips(of: 0, InterlockSet(.cellOvervoltage), first: .cellOvervoltage)
        #expect(again.map(\.at) == [nil], "a reset trip's time is not lent to the next")
        #expect(log.trips(of: 1, InterlockSet(.cellOvervoltage), first: nil).map(\.at) == ["later"])
    }

    @Test func `what endangers people stands first, and who came first is a mark`() {
        var log = TripLog(units: ["A"], table: .lithiumIronPhosphate)
        let all = InterlockSet(.lostBattery).union(InterlockSet(.cellOvervoltage)).union(InterlockSet(.smoke))
        for id in [InterlockID.lostBattery, .cellOvervoltage, .smoke] { log.saw(Self.event(id), at: "noon") }
        let trips = log.trips(of: 0, all, first: .lostBattery)
        #expect(trips.map(\.interlock) == ["smoke", "lost_bms", "cell_overvoltage"])
        #expect(trips.map(\.first_out) == [false, true, false])
        #expect(trips.map(\.endangers_people) == [true, nil, nil])
        #expect(Names.list(all, first: .lostBattery).first == "smoke")
    }

    @Test func `whose input has stopped the site is the first of the cycle, and no other cycle's`() {
        var log = TripLog(units: ["A", "B", "C"], table: .lithiumIronPhosphate)
        func trip(_ unit: Int, _ id: InterlockID, _ cycle: UInt64) {
            log.saw(
                Event(unit: unit, kind: .tripped(id), cycle: cycle, at: MonotonicTime(nanoseconds: 1)),
                at: "noon")
        }
        func begun(_ unit: Int, _ id: InterlockID) -> String? {
            log.trips(of: unit, InterlockSet(id), first: id).first?.begun_by
        }
        trip(1, .emergencyStop, 7)
        trip(0, .emergencyStop, 7)
        trip(2, .cellOvervoltage, 7)
        #expect(begun(1, .emergencyStop) == "emergency_stop of B")
        #expect(begun(0, .emergencyStop) == "emergency_stop of B")
        #expect(begun(2, .cellOvervoltage) == nil, "its own matter")
        trip(2, .siteStop, 9)
        #expect(begun(2, .siteStop) == nil, "nobody was seen to begin it")
    }

    @Test func `later trips stand in the order in which they came, and a restart keeps all that is known`() {
        var log = TripLog(units: ["A"], table: .lithiumIronPhosphate)
        let all = InterlockSet(.cellOvervoltage).union(InterlockSet(.lostBattery))
            .union(InterlockSet(.batteryAlarm)).union(InterlockSet(.lostInverter))
        let alarms = BatteryAlarms.voltageHigh.union(.contactor)
        log.saw(Self.event(.lostInverter, value: 0.7, limit: 0.64), at: "1")
        log.saw(Self.event(.batteryAlarm, value: Double(alarms.rawValue)), at: "2")
        log.saw(Self.event(.cellOvervoltage, value: 3.7, limit: 3.65), at: "3")
        let expected = ["lost_inverter", "lost_bms", "bms_alarm", "cell_overvoltage"]
        let trips = log.trips(of: 0, all, first: .lostInverter)
        #expect(trips.map(\.interlock) == expected, "of the second nobody has noted the time: it is older")
        #expect(trips.map(\.bits) == [nil, nil, "voltage high, contactor", nil])
        #expect(trips.map(\.value) == [0.7, nil, nil, 3.7])

        let record = LatchRecord(bytes: LatchRecord(entries: [], details: log.records).bytes)
        var again = TripLog(
            units: ["A"], table: .lithiumIronPhosphate, former: record?.details ?? [])
        #expect(again.trips(of: 0, all, first: .lostInverter) == trips)
        var other = TripLog(units: ["B"], table: .lithiumIronPhosphate, former: record?.details ?? [])
        #expect(other.trips(of: 0, all, first: nil).allSatisfy { $0.at == nil }, "another unit's")
    }

    // swift-format-ignore
    static let told: [(id: InterlockID, value: Double?, limit: Double?, text: String)] = [
        (.lostBattery,     0.66,   0.64, "battery silent for 0.66 s, limit 0.64 s"),
        (.overcurrentFastCharge, 152, 150, "charge power 152.0 kW, limit 150.0 kW"),
        (.overcurrentCharge, 112, 110,   "charge current 112.0 A, limit 110.0 A"),
        (.batteryAlarm,    256,    nil,  "BMS alarms: short circuit"),
        (.batteryAlarm,    4097,   nil,  "BMS alarms: general, bits 0x1000"),
        (.inverterEvent,   64,     nil,  "inverter event bits: 0x40"),
        (.emergencyStop,   nil,    nil,  ""),
        (.latchRecord,     1,      1,    ""),
    ]

    @Test(arguments: told)
    func `an operator reads a measurement in its own unit`(
        row: (id: InterlockID, value: Double?, limit: Double?, text: String)
    ) {
        let event = Self.event(row.id, value: row.value, limit: row.limit)
        #expect(Names.value(event, of: row.id, in: .lithiumIronPhosphate) == row.text)
    }

    @Test func `a trip without a row is reset by service only`() {
        var log = TripLog(units: ["A"], table: .lithiumIronPhosphate)
        let trips = log.trips(of: 0, InterlockSet(.latchRecord), first: .latchRecord)
        #expect(trips.map(\.reset) == ["service"])
    }

    @Test func `every interlock says what to check`() {
        let ids = (UInt8(0)...63).compactMap(InterlockID.init(rawValue:))
        #expect(ids.count > 30)
        for id in ids { #expect(Names.check(id).count > 10, "\(id.name)") }
    }

    // swift-format-ignore
    static let askers: [(user: UInt32?, groups: [UInt32], isSimulation: Bool, role: AccessRole?, why: Comment)] = [
        (nil,   [901], true,  nil,       "who is not known may nothing"),
        (500,   [500], true,  .service,  "a simulation belongs to whoever started it"),
        (500,   [500], false, .viewer,   "elsewhere the daemon's user looks on"),
        (500,   [901], false, .operator, "and has what its groups give"),
        (1_000, [900], true,  .viewer,   "others have what their groups give, also in a simulation"),
        (0,     [],    false, .service,  "root"),
    ]

    @Test(arguments: askers)
    func `who asks is known by user and groups`(
        row: (user: UInt32?, groups: [UInt32], isSimulation: Bool, role: AccessRole?, why: Comment)
    ) {
        let access = ControlAccess(isSimulation: row.isSimulation, isCommissioned: true)
        let known = RoleGroups(viewer: 900, operator: 901, service: 902)
        let asker = access.asker(userID: row.user, groups: row.groups, known: known, ownUserID: 500)
        #expect(asker.role == row.role, row.why)
    }
}
