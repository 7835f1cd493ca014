import BallastSimulator
import Foundation
import ProgramSupport
import Scenario
import Testing
import YAMLText

extension BallastDaemonTests {
    /// The runner over real processes: what it brings back is what the judge takes.
    @Suite struct LiveScenarioTests {
        static let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../hil/scenarios").standardizedFileURL.path

        static func programs() throws -> String {
            String(try Program.built("ballastd").dropLast("/ballastd".count))
        }

        private func run(_ text: String, in scratch: ScratchFolder) throws -> RunHistory {
            let path = try scratch.write("scenario.yaml", text)
            let scenario = try Scenario(try YAMLText.load(path: path), file: path)
            return try LiveRunner.host(
                scenario, path: path, programs: Self.programs(), folder: scratch.path + "/run")
        }

        /// A loaded machine may take its time.
        private func expectAllMet(_ text: String, _ history: RunHistory, _ path: String) throws {
            let scenario = try Scenario(try YAMLText.parse(Array(text.utf8), file: path), file: path)
            for expectation in scenario.expectations {
                let verdict = expectation.judged(on: history, allowance: .seconds(20))
                #expect(verdict.judgement == .passed, "\(expectation)")
            }
        }

        @Test func `a scenario is played on real programs: faults, an operator, a kill and a start`() throws {
            let scratch = try ScratchFolder()
            let text = """
                why: the runner itself
                tiers: [host]
                site: \(Self.folder)/sites/short-reversion.yaml
                duration_s: 24
                steps:
                  - {at_s: 0.1, name: low, frequency_hz: 49.5}
                  - {at_s: 2, name: alarm, fault: bms_alarm, unit: BESS_01}
                  - {at_s: 3, name: stop, operator: stop --reason "as a person"}
                  - {at_s: 5, name: kill, daemon: kill}
                  - {at_s: 6, name: start, daemon: restart}
                expect:
                  - {after: low, within_s: 2, power_kw: [30, 40]}
                  - {after: alarm, within_s: 2, unit: BESS_01, event: trip, cause: bms_alarm}
                  - {after: stop, within_s: 2, stopped: true}
                  - {after: kill, within_s: 1, daemon: dead}
                  - {after: kill, within_s: 5, until_s: end, power_kw: 0}
                  - {after: start, within_s: 5, until_s: end, unit: BESS_01, trip: bms_alarm}
                """
            let history = try run(text, in: scratch)
            try expectAllMet(text, history, "scenario.yaml")
            #expect(history.samples.count > 100)
            #expect(history.samples.contains { !$0.isDaemonRunning && $0.units[0].mode == nil })
            #expect(history.samples.contains { $0.units[1].written != nil })
            #expect(access(scratch.path + "/run/run/control.sock", F_OK) != 0, "nothing stays behind")
        }

        @Test func `a site that is refused is refused by the program itself`() throws {
            let scratch = try ScratchFolder()
            let path = Self.folder + "/110-unknown-key.yaml"
            let scenario = try Scenario(try YAMLText.load(path: path), file: path)
            let said = try LiveRunner.refusal(
                scenario, path: path, programs: Self.programs(), folder: scratch.path)
            #expect(try said?.contains(#require(scenario.refusal)) == true, "\(said ?? "it was taken")")
        }

        @Test func `a scenario whose program dies by itself is no run`() throws {
            let scratch = try ScratchFolder()
            let text = """
                why: the runner itself
                tiers: [host]
                site: \(Self.folder)/sites/bad-key.yaml
                """
            #expect(throws: (any Error).self) { try run(text, in: scratch) }
        }
    }
}
