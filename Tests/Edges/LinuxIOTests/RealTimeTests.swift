import Glibc
import Quantities
import Testing

@testable import LinuxIO

/// What is said where real time is not granted.
@Suite struct RealTimeTests {
    typealias Row = (
        code: CInt, priority: Int, limit: UInt64, mayRaise: Bool, group: Int64?, part: String, why: Comment
    )

    // swift-format-ignore
    static let rows: [Row] = [
        (EPERM,  50, 0,  false, nil,   "RLIMIT_RTPRIO is 0, the priority is 50", "neither right nor limit"),
        (EPERM,  50, 49, false, nil,   "RLIMIT_RTPRIO is 49", "one short"),
        (EPERM,  50, 50, false, 0,     "control group has no real time", "the limit allows it, the group does not"),
        (EPERM,  50, 0,  true,  0,     "control group has no real time", "the right is there, the group has none"),
        (EPERM,  50, 0,  true,  nil,   "may grant no real time", "no file says more"),
        (EINVAL, 100, 0, true,  nil,   "priority 100 is out of range", "more than the kernel has"),
        (ENOSYS, 50, 0,  true,  nil,   "Function not implemented", "as the kernel says it"),
    ]

    @Test(arguments: rows) func `a refusal names what to change`(row: Row) {
        let text = SchedulingRefusal(
            error: SystemError("sched_setscheduler", code: row.code), priority: row.priority,
            limit: row.limit, mayRaise: row.mayRaise, groupRuntime: row.group
        ).text
        #expect(text.contains(row.part), "\(row.why): \(text)")
    }

    @Test func `a grant says what was given and what was not`() {
        var grant = RealTimeGrant(priority: 50, isMemoryLocked: true, cpu: 2, refusals: [])
        #expect(grant.text == "real time: SCHED_FIFO 50, processor 2, memory locked")
        #expect(grant.isSufficient)
        grant.notes = ["throttled to 95 % of each 1000 ms"]
        #expect(grant.text.hasSuffix("memory locked (throttled to 95 % of each 1000 ms)"))
        grant.isMemoryLocked = false
        grant.refusals = ["mlockall: Cannot allocate memory"]
        #expect(grant.text.hasPrefix("no full real time: ") && !grant.isSufficient)
        grant.isMemoryLocked = true
        grant.priority = nil
        #expect(!grant.isSufficient, "locked memory alone is not enough")
    }

    @Test func `a priority that no kernel has is refused in words and leaves the thread as it was`() throws {
        let test = LatencyTest()
        try test.run(
            period: .milliseconds(1), duration: .milliseconds(5), priority: 200, cpu: nil,
            locksMemory: false)
        let grant = try #require(test.grant)
        #expect(grant.priority == nil && !grant.refusals.isEmpty, "\(grant.text)")
        #expect(test.lateness.count > 0, "it runs all the same")
    }

    @Test func `a processor that is not there is refused in words`() throws {
        let test = LatencyTest()
        try test.run(
            period: .milliseconds(1), duration: .milliseconds(2), priority: 1, cpu: 1_000,
            locksMemory: false)
        #expect(test.grant?.refusals.contains("no processor 1000 to bind to") == true)
    }

    @Test func `a histogram counts what is longer than a limit, and its steps hold every record`() {
        let histogram = Histogram()
        for microseconds in 1...1_000 { histogram.record(Int64(microseconds) * 1_000) }
        let above = histogram.count(above: 500_000)
        #expect((460...500).contains(above), "\(above): to the width of a step")
        #expect(histogram.count(above: -5) <= 1_000 && histogram.count(above: Int64.max) == 0)
        #expect(histogram.steps.reduce(0) { $0 + $1.count } == 1_000)
        #expect(histogram.steps.map(\.upTo) == histogram.steps.map(\.upTo).sorted())
    }
}
