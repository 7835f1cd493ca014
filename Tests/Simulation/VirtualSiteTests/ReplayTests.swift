import BallastDaemon
import LinuxIO
import ProgramSupport
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

    /// The places of the blocks differ from run to run, so a cut may fall between two of them: then nothing but the end
    /// is missing. Of two cuts side by side one is inside a block.
    @Test func `what is cut off is identical up to there`() {
        let cut = Self.recording.count * 2 / 3
        let replays = [cut, cut + 1].map { Replay(Array(Self.recording[..<$0])) }
        for replay in replays {
            #expect(replay.difference == nil && !replay.isEnded && replay.cycles > 50, "\(replay.text)")
        }
        let torn = replays.filter { $0.fault != nil }
        #expect(!torn.isEmpty && torn.allSatisfy { $0.text.hasPrefix("identical up to a fault") })
    }

    /// The shipped site of the recording with one line changed.
    private static func site(_ line: String, _ other: String) throws -> CheckedSite {
        let bytes = try #require(
            try DurableFile.read(project + "/config/examples/demo-site.yaml", limit: 1 << 20))
        let text = String(decoding: bytes, as: UTF8.self)
        let changed = text.replacing(line, with: other)
        if line != other { try #require(changed != text) }
        let folder = try ScratchFolder()
        let file = folder.path + "/site.yaml"
        try DurableFile.replace(file, with: Array(changed.utf8))
        return try CheckedSite(path: file)
    }

    @Test func `the recorded settings differ from themselves in nothing`() throws {
        let same = WhatIf(Self.recording, with: try Self.site("droop_percent: 5.0", "droop_percent: 5.0"))
        #expect(!same.differs && same.text.contains("nothing differs"), "\(same.text)")
    }

    /// 0.5 Hz of 50 are 1 %: a droop of 5 % asks for a fifth of the rating beyond the deadband, one of 10 % for half
    /// as much. The plant followed the recorded setpoint, and no trip comes of that.
    @Test func `a flatter droop shows as less power, and invents no trip`() throws {
        let flat = WhatIf(Self.recording, with: try Self.site("droop_percent: 5.0", "droop_percent: 10.0"))
        #expect(flat.differs && flat.text.contains("setpoint differs from"), "\(flat.text)")
        #expect(!flat.text.contains("not_following at"), "\(flat.text)")
    }

    @Test func `half the power shows as what is allowed`() throws {
        let half = WhatIf(Self.recording, with: try Self.site("max_power_kw: 100", "max_power_kw: 50"))
        #expect(half.text.contains("discharge allowed differs"), "\(half.text)")
    }

    @Test func `units of other names are not compared`() throws {
        let other = WhatIf(Self.recording, with: try Self.site("id: BESS_02", "id: BESS_09"))
        #expect(other.fault?.contains("BESS_09") == true, "\(other.text)")
    }
}
