import Control
import Interlocks
import Plant
import Quantities
import Recorder

/// What is counted of each unit over restarts: limits that were passed anew and short gaps that were bridged,
/// for as long as a window may be, and openings beyond what the contacts are made for, for good.
struct UnitCounts {
    private let units: [String]
    private(set) var passings: [LatchRecord.Passing]
    private(set) var wear: [LatchRecord.Wear]
    private(set) var exposures: [LatchRecord.Exposure]
    private static let window = Int64(InterlockBank.longestWindow.seconds)
    /// Of one row of one unit; it is latched long before.
    private static let most = 5

    init(_ record: LatchRecord, units: [String], seconds: Int64) {
        self.units = units
        // A clock that is wrong at the start forgets nothing that it puts into the future.
        passings = record.passings.filter {
            units.contains($0.unit) && seconds - $0.at <= Self.window
        }
        wear = record.wear.filter { units.contains($0.unit) }
        exposures = record.exposures.filter { units.contains($0.unit) }
    }

    mutating func saw(_ event: Event, seconds: Int64) {
        guard let unit = event.unit else { return }
        switch event.kind {
        case .countedAnew(let id): pass(id.rawValue, units[unit], seconds)
        case .shortGap: pass(LatchRecord.Passing.shortGap, units[unit], seconds)
        case .exposed(let id): expose(id.rawValue, units[unit], Int(event.value ?? 0), seconds)
        // What comes after its reset is counted anew.
        case .tripped(let id):
            passings.removeAll { $0.unit == units[unit] && $0.interlock == id.rawValue }
            exposures.removeAll { $0.unit == units[unit] && $0.interlock == id.rawValue }
        case .openedUnderLoad: open(event, units[unit])
        case _: break
        }
    }

    private mutating func pass(_ id: UInt8, _ unit: String, _ seconds: Int64) {
        passings.removeAll { seconds - $0.at > Self.window }
        let isSame = { (passing: LatchRecord.Passing) in
            passing.unit == unit && passing.interlock == id
        }
        if passings.count(where: isSame) >= Self.most, let oldest = passings.firstIndex(where: isSame) {
            passings.remove(at: oldest)
        }
        passings.append(LatchRecord.Passing(unit: unit, interlock: id, at: seconds))
    }

    private mutating func expose(_ id: UInt8, _ unit: String, _ quarters: Int, _ seconds: Int64) {
        exposures.removeAll { $0.unit == unit && $0.interlock == id }
        guard (1...3).contains(quarters) else { return }
        exposures.append(
            LatchRecord.Exposure(unit: unit, interlock: id, quarters: UInt8(quarters), at: seconds))
    }

    /// A current that nobody knew counts as one too many.
    private mutating func open(_ event: Event, _ unit: String) {
        guard let limit = event.limit, event.value.map({ $0 > limit }) ?? true else { return }
        if let index = wear.firstIndex(where: { $0.unit == unit }) {
            wear[index].openings += 1
        } else {
            wear.append(LatchRecord.Wear(unit: unit, openings: 1))
        }
    }

    /// Gives the controller what a former run has counted. Before the first step.
    func restore(_ controller: inout Controller, seconds: Int64) {
        for passing in passings {
            guard let unit = units.firstIndex(of: passing.unit) else { continue }
            if passing.interlock == LatchRecord.Passing.shortGap {
                controller.restoreGap(unit: unit)
                continue
            }
            guard let id = InterlockID(rawValue: passing.interlock) else { continue }
            let age = Duration.seconds(max(0, seconds - passing.at))
            controller.restore(counted: id, age: age, unit: unit)
        }
        for exposure in exposures {
            guard let unit = units.firstIndex(of: exposure.unit),
                let id = InterlockID(rawValue: exposure.interlock)
            else { continue }
            let age = Duration.seconds(max(0, seconds - exposure.at))
            controller.restore(exposed: id, quarters: Int(exposure.quarters), age: age, unit: unit)
        }
    }

    /// How often the unit's contacts have parted more than they are made for; `nil` = never.
    func openings(of unit: String) -> Int? {
        wear.first { $0.unit == unit }.map { Int($0.openings) }
    }
}
