import Control
import Quantities
import Testing

@testable import BallastDaemon

@Suite struct SleepWatchTests {
    // swift-format-ignore
    static let rows: [(monotonic: Int64, boot: Int64, expected: Bool, why: Comment)] = [
        (1_020,  1_020, false, "a cycle on both clocks"),
        (9_000,  9_000, false, "a process that stood still has its ages"),
        (1_020,  1_119, false, "just below"),
        (1_020,  1_120, true,  "a tenth of a second of sleep"),
        (1_020, 61_020, true,  "a minute"),
        (1_020,    900, false, "a boot clock that is behind tells nothing"),
    ]

    @Test(arguments: rows)
    func `a machine that slept is noticed by the first cycle behind it, once`(
        monotonic: Int64, boot: Int64, expected: Bool, why: Comment
    ) {
        func time(_ milliseconds: Int64) -> MonotonicTime {
            MonotonicTime(nanoseconds: milliseconds * 1_000_000)
        }
        var watch = SleepWatch()
        let looks = [(1_000, 1_000), (monotonic, boot), (monotonic + 20, boot + 20)].map { looked in
            watch.hasSlept(monotonic: time(looked.0), boot: .milliseconds(looked.1))
        }
        #expect(looks == [false, expected, false], why)
    }

    @Test func `short sleeps add up`() {
        var watch = SleepWatch()
        let found = (0..<20).filter { count -> Bool in
            let now = MonotonicTime(nanoseconds: Int64(count) * 20_000_000)
            return watch.hasSlept(monotonic: now, boot: .milliseconds(Int64(count) * 50))
        }
        #expect(found == [4, 8, 12, 16], "30 ms each: 120 ms in all is a suspension")
    }

    @Test func `behind it every unit enters service anew, and not before ten seconds`() {
        let unit = { (index: Int, seconds: Int64) in
            Controller.Command.reenter(unit: index, for: .seconds(seconds))
        }
        #expect(SleepWatch.reentry(units: 2, enterService: .seconds(2)) == [unit(0, 10), unit(1, 10)])
        #expect(SleepWatch.reentry(units: 1, enterService: .seconds(300)) == [unit(0, 300)])
    }
}
