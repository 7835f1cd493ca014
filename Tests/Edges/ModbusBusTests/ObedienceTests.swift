import Quantities
import Testing

@testable import ModbusBus

@Suite struct `An inverter that goes on after zero` {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private struct Run {
        var obedience = ModbusObedience(
            response: .seconds(1), nearZero: Watts(2_000), provenReversion: nil)

        mutating func at(
            _ seconds: Int64, _ power: Double?, zero: Bool = true, reversion: Duration? = .seconds(5)
        ) -> ModbusObedience.Order {
            obedience.order(
                standsAtZero: zero, power: power.map { Watts($0) }, reversion: reversion,
                at: start + .seconds(seconds))
        }
    }

    @Test func `is left alone after its time, so that its own timer ends it, and told again much later`() {
        var run = Run()
        #expect(run.at(0, 30_000) == .tell)
        #expect(run.at(3, 30_000) == .tell, "it may still be on its way")
        #expect(run.at(4, 30_000) == .leaveAlone)
        #expect(run.at(9, 30_000) == .leaveAlone)
        #expect(run.at(10, 0) == .leaveAlone, "its timer has ended it")
        #expect(run.at(100, 500) == .leaveAlone, "told again, it might go on")
        #expect(run.at(609, 0) == .leaveAlone)
        #expect(run.at(610, 0) == .over, "not for ever")
        #expect(run.at(611, 0) == .tell)
    }

    @Test func `is told again where its own timer does not end it, and left alone once more`() {
        var run = Run()
        _ = run.at(0, -9_000)
        #expect(run.at(4, -9_000) == .leaveAlone)
        #expect(run.at(11, -9_000) == .leaveAlone)
        #expect(run.at(12, -9_000) == .over, "its timer and its way to zero are over")
        #expect(run.at(60, -9_000) == .tell)
        #expect(run.at(72, -9_000) == .tell)
        #expect(run.at(76, -9_000) == .leaveAlone)
    }

    // swift-format-ignore
    static let ends: [(power: Double?, zero: Bool, reversion: Duration?, why: Comment)] = [
        (30_000,  false, .seconds(5), "another setpoint, or what a stranger wrote"),
        (nil,     true,  .seconds(5), "nobody sees what it does"),
        (32_001,  true,  .seconds(5), "more than when it began"),
        (-33_000, true,  .seconds(5), "in the other direction as well"),
        (30_000,  true,  nil,         "it has no timer that leads to zero"),
    ]

    @Test(arguments: ends)
    func `is told at once`(power: Double?, zero: Bool, reversion: Duration?, why: Comment) {
        var run = Run()
        _ = run.at(0, 30_000)
        #expect(run.at(4, 30_000) == .leaveAlone)
        #expect(run.at(5, power, zero: zero, reversion: reversion) == .over, why)
    }

    @Test func `is told at once when its power comes back`() {
        var run = Run()
        _ = run.at(0, 30_000)
        #expect(run.at(4, 30_000) == .leaveAlone)
        #expect(run.at(6, 0) == .leaveAlone)
        #expect(run.at(7, 2_001) == .over)
        #expect(run.at(8, 2_001) == .tell)
        #expect(run.at(12, 2_001) == .leaveAlone)
    }

    @Test func `is looked at as power begins to flow though zero stands, once in a second`() {
        var run = Run()
        _ = run.at(0, 0)
        #expect(run.at(20, 50_000) == .readBack, "another master has started it; the refresh is far")
        #expect(run.at(21, 50_000) == .tell)
        #expect(run.at(22, 0) == .tell)
        #expect(run.at(22, 50_000) == .readBack)
        _ = run.at(22, 0)
        #expect(run.at(22, 50_000) == .tell, "power that lies about what counts as none")
    }

    @Test func `that draws what zero means, or has no timer, is told as ever`() {
        var run = Run()
        for second in 0..<100 {
            #expect(run.at(Int64(second), second % 2 == 0 ? 2_000 : -2_000) == .tell)
        }
        for second in 100..<200 { #expect(run.at(Int64(second), 30_000, reversion: nil) == .tell) }
    }
}
