import Control
import Interlocks
import Plant
import Recorder

/// What of a cycle's decision must outlive the process, small enough to go to those who keep it each cycle.
struct LatchImage: Sendable, BitwiseCopyable {
    struct Unit: Sendable, BitwiseCopyable, Equatable {
        var latched = InterlockSet.none
        var firstOut: InterlockID?
        var hold = UnitHold.none
        var resetBy: Person?
    }

    /// 0 before the first one.
    var cycle: UInt64 = 0
    var unitCount = 0
    var units: InlineArray<64, Unit> = InlineArray(repeating: Unit())

    init() {}

    init(_ decision: Decision) {
        self.init()
        var decision = decision
        fill(from: &decision)
    }

    mutating func fill(from decision: inout Decision) {
        cycle = decision.cycle
        unitCount = decision.unitCount
        for index in 0..<unitCount {
            units[index].latched = decision.units[index].latched
            units[index].firstOut = decision.units[index].firstOut
            units[index].hold = decision.units[index].hold
            units[index].resetBy = decision.units[index].resetBy
        }
    }

    /// Whether the same trips and holds stand.
    func saysTheSame(as other: LatchImage) -> Bool {
        guard unitCount == other.unitCount else { return false }
        for index in 0..<unitCount where units[index] != other.units[index] { return false }
        return true
    }

    /// The record with the units' trips and holds as they are in this image.
    ///
    /// - Parameter record: its first entries are of the units of the site, in their order.
    func applied(to record: LatchRecord) -> LatchRecord {
        var record = record
        for index in 0..<min(unitCount, record.entries.count) {
            record.entries[index].trips = units[index].latched.rawValue
            record.entries[index].firstOut = units[index].firstOut?.rawValue
            record.entries[index].hold = units[index].hold.rawValue
            record.entries[index].resetBy = units[index].resetBy?.userID
        }
        return record
    }
}
