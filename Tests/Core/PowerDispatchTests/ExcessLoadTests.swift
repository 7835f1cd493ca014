import Quantities
import Testing

@testable import PowerDispatch

@Suite struct `A meter that shows again and again more than can be drawn` {
    /// How often it is called so in a minute, where it shows that for 40 ms each `period`.
    private static func calls(each period: Int) -> (count: Int, isHeldAtTheEnd: Bool) {
        var (excess, count) = (ExcessLoad(), 0)
        for at in stride(from: 0, to: 60_000, by: 20) {
            let now = MonotonicTime(nanoseconds: 0) + .milliseconds(at)
            if excess.look(at % period < 40, at: now) { count += 1 }
        }
        return (count, excess.isHeld)
    }

    @Test(arguments: [
        (200, 4, true, "a swing of the units: twice at once, and then behind 10 and 20 s"),
        (2_000, 3, true, "a slow one"),
        (5_000, 0, false, "a load that comes and goes"),
        (60_000, 0, false, "once"),
    ]) func `is called so, and less and less often`(
        period: Int, count: Int, isHeld: Bool, why: Comment
    ) {
        let calls = Self.calls(each: period)
        #expect(calls.count == count && calls.isHeldAtTheEnd == isHeld, why)
    }
}
