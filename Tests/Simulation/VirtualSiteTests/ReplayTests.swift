import BallastDaemon
import Testing

@testable import VirtualSite

/// What was recorded in virtual time, run again by the same controller.
@Suite struct ReplayTests {
    static let scenario = project + "/hil/scenarios/010-battery-silent.yaml"

    static let recording: [UInt8] = {
        var bytes: [UInt8] = []
        _ = ScenarioRunner.run(path: scenario) { bytes = $0 }
        return bytes
    }()

    @Test func `a run is replayed bit by bit`() {
        let replay = Replay(Self.recording)
        #expect(replay.isIdentical, "\(replay.text)")
        #expect(replay.isEnded && replay.cycles > 100 && replay.starts == 1)
    }

    /// A few of them here, and only their replay is judged; `ballast-sim random --replay --seeds 1000` runs
    /// over all sites.
    @Test(arguments: [("mixed", 1), ("supervised-grid", 2), ("capped", 1)] as [(String, UInt64)])
    func `random runs with kills and restarts are replayed bit by bit`(site: String, seed: UInt64) {
        let path = project + "/hil/scenarios/sites/\(site).yaml"
        let problem = RandomRunner.run(seed: seed, sitePath: path, .init(replays: true))?.outcome.problem
        #expect(problem == nil)
    }

    /// Where an inverter is exchanged for another one: who it is, is an input too.
    @Test func `an exchanged inverter is replayed bit by bit`() {
        var bytes: [UInt8] = []
        let path = project + "/hil/scenarios/192-exchanged-in-a-short-gap.yaml"
        _ = ScenarioRunner.run(path: path) { bytes = $0 }
        #expect(Replay(bytes).text.hasPrefix("identical, "))
    }

    @Test func `what is cut off is identical up to there`() {
        let bytes = Array(Self.recording[..<(Self.recording.count * 2 / 3)])
        let replay = Replay(bytes)
        #expect(replay.difference == nil && replay.fault != nil && replay.cycles > 50)
        #expect(replay.text.hasPrefix("identical up to a fault"))
    }
}
