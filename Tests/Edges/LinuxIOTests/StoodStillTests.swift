import LinuxIO
import Quantities
import Testing

/// A thread that goes round each 200 ms, on a clock of its own.
@Suite struct StoodStillTests {
    // swift-format-ignore
    static let rows: [(pause: Int, after: Int, isBehind: Bool, why: Comment)] = [
        (200,    0,   false, "as ever"),
        (1_000,  0,   false, "a busy machine"),
        (1_001,  0,   true,  "asked by somebody who may have gone"),
        (11_000, 0,   true,  "a program that was stopped"),
        (11_000, 499, true,  "who waited at the door is heard now"),
        (11_000, 500, false, "asked since"),
    ]

    @Test(arguments: rows) func `what was asked while the program stood still is from before`(
        row: (pause: Int, after: Int, isBehind: Bool, why: Comment)
    ) {
        let start = MonotonicTime(nanoseconds: 100_000_000_000)
        var still = StoodStill(at: start)
        let back = start + .milliseconds(row.pause)
        still.turn(at: back)
        var now = back
        while now - back < .milliseconds(row.after) {
            now = min(now + .milliseconds(200), back + .milliseconds(row.after))
            still.turn(at: now)
        }
        #expect(still.isBehind(at: now) == row.isBehind, row.why)
        var first = StoodStill(at: start)
        if row.after == 0 { #expect(first.isBehind(at: back) == row.isBehind, "heard before the next round") }
    }
}
