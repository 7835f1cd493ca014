import Control
import ControlSocket
import Interlocks
import Plant
import Quantities
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
        #expect(trips.map(\.signal) == ["battery silence", "cell voltage max"])
        #expect(log.trips(of: 0, .none, first: nil).isEmpty)
        let again = log.trips(of: 0, InterlockSet(.cellOvervoltage), first: .cellOvervoltage)
        #expect(again.map(\.at) == [nil], "a reset trip's time is not lent to the next")
        #expect(log.trips(of: 1, InterlockSet(.cellOvervoltage), first: nil).map(\.at) == ["later"])
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
