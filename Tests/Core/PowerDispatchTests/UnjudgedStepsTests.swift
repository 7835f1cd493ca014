import Quantities
import Testing

@testable import PowerDispatch

/// A step over a gap: two units, of which one or the meter is not heard for a while.
@Suite struct UnjudgedStepsTests {
    // swift-format-ignore
    static let rows: [(before: [Double?], after: [Double?], meter: (Double, Double), isHidden: Bool, why: Comment)] = [
        ([10, 10],  [100, 90], (20, 190),   false, "shown whole"),
        ([10, 10],  [100, 90], (-20, -190), true,  "turned"),
        ([10, 10],  [100, 90], (20, 20),    true,  "frozen"),
        ([10, 10],  [100, nil], (20, 110),  false, "the one that is heard"),
        ([10, 10],  [100, nil], (-20, -110), true, "the same, turned"),
        ([10, nil], [10, 90],  (20, -60),   false, "the one that joins counts from its first word on"),
        ([10, 10],  [12, 11],  (20, -190),  false, "no step: the load may have gone"),
        ([50, 50],  [10, 10],  (100, 20),   false, "down"),
        ([50, 50],  [10, 10],  (-100, -20), true,  "down, turned"),
    ]

    @Test(arguments: rows) func `a step that the meter did not show is told, whoever was missing`(
        row: (before: [Double?], after: [Double?], meter: (Double, Double), isHidden: Bool, why: Comment)
    ) {
        var steps = UnjudgedSteps()
        steps.rest(group(row.before), meter: .kilowatts(row.meter.0))
        var hidden: [Int] = []
        for step in 0..<200 {
            let now = MonotonicTime(nanoseconds: Int64(step) * 20_000_000)
            let finding = steps.look(
                group(row.after), meter: .kilowatts(row.meter.1), step: .kilowatts(10), settling: .seconds(2),
                at: now)
            if finding == .hidden { hidden.append(step) }
        }
        #expect(hidden == (row.isHidden ? [100] : []), row.why)
    }

    @Test func `a meter that is not heard hides nothing until it is`() {
        var steps = UnjudgedSteps()
        steps.rest(group([10]), meter: .kilowatts(10))
        func isHidden(_ meter: Double?, at seconds: Int64) -> Bool {
            steps.look(
                group([80]), meter: meter.map { .kilowatts($0) }, step: .kilowatts(10), settling: .seconds(2),
                at: MonotonicTime(nanoseconds: seconds * 1_000_000_000)) == .hidden
        }
        #expect(!isHidden(nil, at: 0) && !isHidden(nil, at: 9) && isHidden(10, at: 10))
    }

    private func group(_ powers: [Double?]) -> UnjudgedSteps.Group {
        var group = UnjudgedSteps.Group()
        for (unit, power) in powers.enumerated() {
            if let power { group.add(unit, .kilowatts(power)) }
        }
        return group
    }
}
