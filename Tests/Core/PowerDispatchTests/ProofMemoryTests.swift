import PowerDispatch
import Quantities
import Testing

/// A meter whose proof is lost again and again.
@Suite struct ProofMemoryTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    /// The times at which the proof is lost, and of a look whether it counts then, s.
    // swift-format-ignore
    static let rows: [(lost: [Double], looks: [(at: Double, isHeld: Bool)], why: Comment)] = [
        ([10],             [(9, false), (10.1, false), (60, false)],      "lost once: as ever"),
        ([10, 14],         [(13, false), (14.1, true), (23.9, true), (24.1, false)], "again: ten seconds"),
        ([10, 14, 30],     [(30.1, true), (49.9, true), (50.1, false)],   "a third time: twenty"),
        ([10, 620.5],      [(621, false), (630, false)],                  "more than ten minutes apart: nothing"),
        ([10, 14, 30, 90, 200, 400, 800, 1_500], [(1_501, true), (2_099, true), (2_101, false)],
                                                                          "never longer than ten minutes"),
        ([10, 14, 660],    [(661, false)],                                "ten minutes and the wait behind it"),
    ]

    @Test(arguments: rows)
    func `each loss soon behind the last one makes the next proof wait longer`(
        row: (lost: [Double], looks: [(at: Double, isHeld: Bool)], why: Comment)
    ) {
        func time(_ seconds: Double) -> MonotonicTime { Self.start + .milliseconds(Int64(seconds * 1_000)) }
        for look in row.looks {
            var memory = ProofMemory()
            memory.look(isProven: true, at: Self.start)
            for lost in row.lost where lost <= look.at {
                memory.look(isProven: false, at: time(lost))
                memory.look(isProven: true, at: time(lost + 0.02))
            }
            #expect(memory.isHeld(at: time(look.at)) == look.isHeld, "\(row.why), at \(look.at) s")
        }
    }

    @Test func `a meter that was never proven has lost nothing`() {
        var memory = ProofMemory()
        for second in 0..<5 { memory.look(isProven: false, at: Self.start + .seconds(second)) }
        #expect(!memory.isHeld(at: Self.start + .seconds(5)))
    }
}
