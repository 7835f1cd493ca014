import Quantities
import Testing

@testable import Scenario

/// The judge of a hiccup: it was silent about all of them once, since the hiccup itself kept it from being
/// alone.
@Suite struct HiccupJudgeTests {
    private static func judged(
        _ fault: Fault.Kind, seconds: Double = 0.2, mode: String, _ change: (Double, inout RunSample) -> Void
    ) -> Judgement {
        let history = MadeUpRun.history(seconds: 20) { time, sample in
            if time > 7.95, time < 7.95 + seconds { sample.units[0].faults = [fault] }
            if time > 8.05 { sample.units[0].mode = mode }
            change(time, &sample)
        }
        return Invariant.hiccupIsNoLoss.judged(on: history)
    }

    @Test(arguments: [Fault.Kind.inverterSilence, .bmsSilence, .inverterNotAvailable, .bmsNotAvailable])
    func `a unit that is not back after a hiccup is found, one that is is not`(fault: Fault.Kind) {
        #expect(Self.judged(fault, mode: "standby") { _, _ in }.isFailed)
        #expect(Self.judged(fault, mode: "running") { _, _ in } == .passed)
    }

    // swift-format-ignore
    static let others: [(change: @Sendable (Double, inout RunSample) -> Void, why: Comment)] = [
        ({ time, sample in if time < 5 { sample.units[0].mode = "standby" } }, "it was not in service"),
        ({ time, sample in if time == 10 { sample.units[0].faults = [.door] } }, "something else goes wrong"),
        ({ time, sample in if time == 5 { sample.hasSiteFault = true } },       "the meter, just before"),
        ({ time, sample in if time == 10 { sample.isDaemonRunning = false } },  "the program ends"),
    ]

    @Test(arguments: others)
    func `what is not alone is no hiccup`(
        change: @Sendable (Double, inout RunSample) -> Void, why: Comment
    ) {
        guard case .notJudged = Self.judged(.bmsSilence, mode: "standby", change) else {
            Issue.record(why)
            return
        }
    }

    @Test func `half a second is no hiccup`() {
        guard case .notJudged = Self.judged(.bmsSilence, seconds: 0.5, mode: "standby", { _, _ in }) else {
            Issue.record("half a second is judged as a hiccup")
            return
        }
    }
}
