import Foundation
import Glibc
import LinuxIO
import ProgramSupport
import Quantities
import Testing

@testable import BallastDaemon

/// The clocks of one daemon, which the test shifts and holds.
private final class ShiftedClocks {
    private let file: String
    private let shim: String

    init(in scratch: ScratchFolder) throws {
        file = scratch.path + "/clocks"
        shim = scratch.path + "/clock_shim.so"
        let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appending(path: "Peers/clock_shim.c").path
        let compilers: [String] = ["/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang"]
        let found = compilers.first { name in access(name, X_OK) == 0 }
        let compiler = try #require(found, "no C compiler")
        let run = try Program(
            compiler, ["-shared", "-fPIC", "-O1", "-o", shim, source],
            environment: ["PATH=/usr/bin:/bin"], name: "cc", in: scratch)
        let status = try run.exitStatus()
        try #require(status == 0, "\(run.log)")
        _ = try scratch.write("clocks", String(repeating: "\0", count: 24))
    }

    var environment: [String] { ["LD_PRELOAD=\(shim)", "CLOCK_SHIM=\(file)"] }

    func set(_ index: Int, to nanoseconds: Int64) throws {
        let descriptor = open(file, O_WRONLY | O_CLOEXEC)
        if descriptor < 0 { throw SystemError.last("open") }
        defer { close(descriptor) }
        var value = nanoseconds
        if pwrite(descriptor, &value, 8, 8 * index) != 8 { throw SystemError.last("pwrite") }
    }
}

extension BallastDaemonTests {
    @Suite struct ClockTests {
        @Test func `steps of the wall clock by an hour, and a leap smear, change nothing in control`() throws
        {
            let site = try RunningSite.small()
            let clocks = try ShiftedClocks(in: site.scratch)
            try site.startPlant()
            try site.startDaemon(environment: clocks.environment)
            try site.waitForMode("running")
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8])
            let before = try site.status()

            let hour: Int64 = 3_600_000_000_000
            try clocks.set(0, to: hour)
            try site.daemon.waitForLog("the wall clock was set by 3600.0 s")
            try clocks.set(0, to: 0)
            try site.daemon.waitForLog(
                "the wall clock was set by 3600.0 s", "the wall clock was set by -3600.0 s")
            // In all less than what counts as a step, however seldom anybody looks.
            for step in 1...100 { try clocks.set(0, to: Int64(step) * 4_000_000) }

            let after = try site.status()
            try site.waitForStatus("the cycle goes on") { $0.cycle >= after.cycle + 50 }
            try site.waitForSetpoints([18.8])
            #expect(after.units[0].mode == "running" && after.cycle >= before.cycle)
            let log = try site.daemon.log
            #expect(!log.contains("running →") && !log.contains("TRIP") && !log.contains("stands still"))
            #expect(log.matches(of: /the wall clock was set/).count == 2, "a smear is no step")
            #expect(try site.truth().units[0].zero_since_ms == nil)
        }

        @Test func `a suspension of the machine is noticed, and every unit enters service anew`() throws {
            let site = try RunningSite.small()
            let clocks = try ShiftedClocks(in: site.scratch)
            try site.startPlant()
            try site.startDaemon(environment: clocks.environment)
            try site.waitForMode("running")
            try clocks.set(1, to: 60_000_000_000)
            try site.daemon.waitForLog(
                "the machine was suspended for 60.0 s", "BESS_01: running → stopping", "→ standby",
                "standby → running")
            try site.waitForMode("running")
        }

        @Test func `a monotonic clock that stands still at the start is refused`() throws {
            let site = try RunningSite.small()
            let clocks = try ShiftedClocks(in: site.scratch)
            try clocks.set(2, to: 1_000_000_000)
            try site.startDaemon(environment: clocks.environment)
            #expect(try site.daemon.exitStatus() == 1)
            try site.daemon.waitForLog("not started: the monotonic clock does not advance")
        }
    }
}

@Suite struct ClockWatchTests {
    private static func reading(_ milliseconds: Int64, boot: Int64? = nil, wall: Int64? = nil)
        -> ClockWatch.Reading
    {
        ClockWatch.Reading(
            monotonic: MonotonicTime(nanoseconds: milliseconds * 1_000_000),
            boot: .milliseconds(boot ?? milliseconds), wallMilliseconds: wall ?? milliseconds)
    }

    // swift-format-ignore
    static let rows: [(boot: Int64, wall: Int64, expected: [ClockWatch.Finding], why: Comment)] = [
        (   1_010,     1_010, [],                                      "ten milliseconds on all clocks"),
        (   1_010,     1_509, [],                                      "just below a step"),
        (   1_010,     1_510, [.wallStepped(by: .milliseconds(500))],   "a step"),
        (   1_010,       510, [.wallStepped(by: .milliseconds(-500))],  "and back"),
        (   1_109,     1_109, [],                                      "just below a suspension"),
        (   1_110,     1_110, [.suspended(for: .milliseconds(100))],    "a suspension moves the wall clock too"),
        (  61_010,    61_010, [.suspended(for: .seconds(60))],          "a minute of sleep is no step"),
        (   1_000,     1_010, [],                                      "a boot clock behind is no suspension"),
    ]

    @Test(arguments: rows)
    func `a step and a suspension are told apart`(
        boot: Int64, wall: Int64, expected: [ClockWatch.Finding], why: Comment
    ) {
        var watch = ClockWatch()
        #expect(watch.look(Self.reading(1_000)).isEmpty)
        #expect(watch.look(Self.reading(1_010, boot: boot, wall: wall)) == expected, why)
    }

    @Test func `a leap smear of a second in ten is no step`() {
        var watch = ClockWatch()
        for look in Int64(0)..<1_000 {
            #expect(watch.look(Self.reading(look * 10, wall: look * 11)).isEmpty)
        }
    }

    @Test func `a clock that stands still is told once, after 300 looks`() {
        var watch = ClockWatch()
        var found: [ClockWatch.Finding] = []
        for _ in 0..<300 { found += watch.look(Self.reading(1_000)) }
        #expect(found.isEmpty)
        for _ in 0..<300 { found += watch.look(Self.reading(1_000)) }
        #expect(found == [.standsStill])
    }

    @Test func `a cycle that stands still is told once its outputs have expired, and again in 10 s at most`()
    {
        var watch = StallWatch(grace: .milliseconds(100))
        func look(_ cycles: UInt64, _ milliseconds: Int64) -> String? {
            watch.look(cycles, at: MonotonicTime(nanoseconds: milliseconds * 1_000_000))?.text
        }
        #expect(look(0, 0) == nil)
        #expect(look(0, 5_000) == nil, "before the first cycle nothing can expire")
        #expect(look(1, 5_010) == nil)
        #expect(look(1, 5_110) == nil, "the grace has not passed")
        #expect(look(1, 5_111)?.contains("stands still for more than 100 ms") == true)
        #expect(look(1, 5_500) == nil, "told once")
        #expect(look(2, 5_510) == "the cycle turns again after 500 ms")
        #expect(look(2, 6_000) == nil, "not again so soon")
        #expect(look(2, 15_200)?.contains("stands still") == true)
    }
}
