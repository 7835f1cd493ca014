import PowerDispatch
import Plant
import Quantities
import Testing

@testable import Control

@Suite struct DecisionTests {
    /// Something else in every field.
    private static func other() -> Decision {
        var other = Decision()
        (other.cycle, other.at) = (7, MonotonicTime(nanoseconds: 8))
        other.frequency = Hertz(49.9)
        other.grid.isBlind = true
        other.basePoint = Watts(1)
        other.basePointSource = .agc
        other.correction = Watts(2)
        other.eventShift = Watts(3)
        other.response = Watts(4)
        other.wanted = Watts(5)
        other.target = Watts(6)
        other.setpoint = Watts(7)
        other.isSiteLimited = true
        other.unitCount = 2
        other.units[0].setpoint = Watts(8)
        other.units[1].isEntering = true
        for unit in 0..<3 { other.events.append(Event(unit: unit, kind: .resumed, cycle: 7, at: other.at)) }
        return other
    }

    @Test func `what is taken over is the same in every field`() {
        var (mine, other) = (Decision(), Self.other())
        // More than the other has, from the cycle before.
        for _ in 0..<9 { mine.events.append(Event(unit: 9, kind: .stopRequested, cycle: 6, at: mine.at)) }
        mine.take(&other)
        let fresh = Dictionary(
            uniqueKeysWithValues: Mirror(reflecting: Decision()).children.map {
                ($0.label ?? "", "\($0.value)")
            })
        let (taken, given) = (Mirror(reflecting: mine).children, Mirror(reflecting: other).children)
        for (mine, other) in zip(taken, given) {
            let name = other.label ?? ""
            // A new field is to be in both: in `take`, and set to something else here.
            #expect("\(other.value)" != fresh[name] || name == "units" || name == "events", "\(name)")
            #expect("\(mine.value)" == "\(other.value)" || name == "events", "\(name)")
        }
        #expect(mine.units[0].setpoint == Watts(8) && mine.units[1].isEntering)
        var units: [Int?] = []
        mine.events.forEach { units.append($0.unit) }
        #expect(units == [0, 1, 2] && mine.events.lost == 0)
    }

    @Test func `an emptier decision leaves nothing of the one before that anybody sees`() {
        var (mine, other) = (Self.other(), Decision())
        other.unitCount = 2
        mine.take(&other)
        #expect(mine.events.count == 0 && mine.units[0].setpoint == .zero && mine.frequency == nil)
    }
}
