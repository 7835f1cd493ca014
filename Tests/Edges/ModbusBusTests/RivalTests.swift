import Quantities
import Testing

@testable import ModbusBus

/// What read-backs say of another master; each row is what a device shows, one look after the other.
@Suite struct RivalTests {
    enum Shown { case ours, another }

    // swift-format-ignore
    static let rows: [(shown: [Shown], isRival: [Bool], why: Comment)] = [
        ([.ours, .another, .ours, .another],    [true, true],         "ours stood, and somebody wrote again"),
        ([.another, .another, .another],        [false, false, false], "it never shows ours: it may ignore us"),
        ([.ours, .another, .another, .another], [true, false, false], "once it may have been written; then it ignores us"),
    ]

    @Test(arguments: rows) func `who has shown our value and shows another was written to by somebody`(
        row: (shown: [Shown], isRival: [Bool], why: Comment)
    ) {
        var rival = ModbusRival()
        var found: [Bool] = []
        for (second, shown) in row.shown.enumerated() {
            let now = MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000)
            switch shown {
            case .ours: rival.stands(at: now)
            case .another: found.append(rival.isFound(at: now))
            }
        }
        #expect(found == row.isRival, row.why)
    }

    @Test func `a device with a rival is looked at five times a second, for ten seconds`() {
        var rival = ModbusRival()
        func pause(_ seconds: Int64) -> Duration {
            rival.pause(at: MonotonicTime(nanoseconds: seconds * 1_000_000_000))
        }
        #expect(pause(0) == .seconds(1))
        _ = rival.isFound(at: MonotonicTime(nanoseconds: 0))
        #expect(pause(1) == .milliseconds(200) && pause(10) == .milliseconds(200) && pause(11) == .seconds(1))
    }
}
