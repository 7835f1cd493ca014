import BatteryProfiles
import ControlSocket
import LinuxIO
import Quantities
import Testing

@testable import BallastDaemon

/// Of links and single cells: what is told, and when.
@Suite struct CellTellerTests {
    private static func at(_ seconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000_000 + seconds * 1_000_000_000)
    }

    @Test func `what no cell has said yet is not told, and a battery without cells never`() {
        let store = TripleBuffer(CellImage())
        var teller = CellTeller(unit: "A", images: store.reader())
        for second in 0..<2_000 {
            let record = teller.look(at: Self.at(Int64(second)), "")
            #expect(record == nil)
        }
    }

    // swift-format-ignore
    static let ages: [(second: Int64, counters: [String: UInt64], age: Double?, why: Comment)] = [
        (0, ["frames": 0, "transactions": 0], nil, "never heard"),
        (1, ["frames": 7, "ignored_frames": 7], nil, "frames of nobody that is known"),
        (2, ["frames": 8, "ignored_frames": 7], 0, "the first of the battery"),
        (5, ["frames": 20, "ignored_frames": 19], 3, "others go on, the battery does not"),
        (6, ["frames": 21, "ignored_frames": 19, "bus_errors": 1], 4, "an error frame is the adapter's word"),
        (7, ["frames": 22, "ignored_frames": 19, "bus_errors": 1], 0, "heard again"),
    ]
    @Test func `a link's age is that of what was heard on it`() {
        var ages = LinkAges()
        for row in Self.ages {
            let seen = ages.look([LinkStatus(name: "can", counters: row.counters)], at: Self.at(row.second))
            #expect(seen[0].heard_s == row.age, row.why)
        }
    }
}
