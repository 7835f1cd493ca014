import GatewayFitness
import Testing

/// What `ballastctl doctor` makes of what it has measured.
@Suite struct MeasurementTests {
    private static func disk(
        free: Int64 = 8 << 30, files: Int64 = 1_000, slowest: Double? = 10
    ) -> Measurements.Disk {
        Measurements.Disk(
            path: "/var", freeBytes: free, totalBytes: 16 << 30, freeFiles: files,
            slowestSyncMilliseconds: slowest)
    }

    // swift-format-ignore
    static let disks: [(disk: Measurements.Disk?, verdict: Finding.Verdict, why: Comment)] = [
        (disk(),                       .good,    "room and speed"),
        (nil,                          .unknown, "no such folder"),
        (disk(free: 327 << 20),        .bad,     "below 2 % of it"),
        (disk(free: 328 << 20),        .good,    "2 % of it"),
        (disk(files: 99),              .bad,     "no more files can be made"),
        (disk(slowest: 251),           .warning, "a slow card"),
        (disk(slowest: 250),           .good,    "at the limit"),
        (disk(slowest: nil),           .unknown, "may not write there"),
    ]

    @Test(arguments: disks)
    func `the disk is judged`(disk: Measurements.Disk?, verdict: Finding.Verdict, why: Comment) throws {
        let examination = Examination(FakeMachine.good, Demands(), Measurements(disk: disk))
        #expect(try ExaminationTests.finding("disk", examination).verdict == verdict, why)
    }

    // swift-format-ignore
    static let latencies: [(p999: Double, overruns: UInt64, isRealTime: Bool, verdict: Finding.Verdict, why: Comment)] = [
        (5_000,  0,  true,  .good,    "a quarter of the period"),
        (5_001,  0,  true,  .warning, "more than a quarter"),
        (10,     1,  true,  .warning, "one period missed"),
        (20_001, 0,  true,  .bad,     "p99.9 beyond the period"),
        (10,     10, true,  .warning, "one in a thousand missed"),
        (10,     11, true,  .bad,     "more than one in a thousand missed"),
        (10,     0,  false, .unknown, "says nothing of real time"),
    ]

    @Test(arguments: latencies)
    func `wake-ups are judged by the period`(
        p999: Double, overruns: UInt64, isRealTime: Bool, verdict: Finding.Verdict, why: Comment
    ) throws {
        let latency = Measurements.Latency(
            count: 10_000, p50Microseconds: 5, p99Microseconds: 8, p999Microseconds: p999,
            maximumMicroseconds: 30_000, overruns: overruns, scheduling: "SCHED_FIFO 50",
            isRealTime: isRealTime)
        let examination = Examination(FakeMachine.good, Demands(), Measurements(latency: latency))
        #expect(try ExaminationTests.finding("wake-up latency", examination).verdict == verdict, why)
    }

    @Test func `a wall clock that nobody disciplines is a warning and no more`() throws {
        let clock = Measurements.Clock(isSynchronised: false, maximumErrorMicroseconds: 16_000_000)
        let examination = Examination(FakeMachine.good, Demands(), Measurements(clock: clock))
        #expect(try ExaminationTests.finding("clock discipline", examination).verdict == .warning)
    }
}
