import LinuxIO
import Quantities
import Scenario
import Testing

@testable import BallastSimulator

@Suite struct SimulatorCommandsTests {
    static func commands() throws -> SimulatorCommands {
        let site = try SimulatedSite(
            units: [simulatedUnit()], scenario: Scenario(), profile: FrequencyProfile(constant: Hertz(50)))
        return SimulatorCommands(plant: SimulatedPlant(site), stop: StopFlag())
    }

    // swift-format-ignore
    static let refused: [(line: String, part: String, why: Comment)] = [
        ("", "not understood", "nothing"),
        ("truth now", "not understood", "a word too many"),
        ("frequency abc", "40 … 70", "not a number"),
        ("frequency nan", "40 … 70", "no frequency"),
        ("frequency 70.1", "40 … 70", "one step above the range"),
        ("fault fire BESS_01", "cell_overheat", "no such fault"),
        ("fault bms_silence", "needs a unit", "no unit"),
        ("fault bms_silence BESS_09", "no unit 'BESS_09'", "no such unit"),
        ("fault meter_silence BESS_01", "concerns no unit", "a unit too many"),
        ("fault cell_overheat BESS_01 rate_k_per_s", "key=value", "no value"),
        ("fault cell_overheat BESS_01 rate_k_per_s=0", "0.01 … 100.0", "below the range"),
        ("fault cell_overheat BESS_01 volt=\"1", "volt", "an unknown parameter, with a quote in it"),
        ("fault estop BESS_01", "no I/O module", "no wires"),
        ("fault wire_break BESS_01 input=fire", "no I/O module", "no wires, and no such input"),
        ("clear fire", "cell_overheat", "no such fault to clear"),
    ]

    @Test(arguments: refused)
    func `a command that is wrong is answered with what would be right`(
        line: String, part: String, why: Comment
    ) throws {
        let answer = try object(try Self.commands().answer(line))
        let text = try #require(answer["error"] as? String, why)
        #expect(text.contains(part), "\(text)")
    }

    @Test func `the help names every fault, and every fault can be asked for by its name alone`() throws {
        let lines = SimulatorHelp.faults.split(separator: "\n")
        #expect(lines.count == Fault.Kind.allCases.count)
        for (kind, line) in zip(Fault.Kind.allCases, lines) {
            #expect(line.hasPrefix("  \(kind.rawValue)\(kind.concernsUnit ? " UNIT" : "") "))
            if kind.concernsModule { continue }
            let answer = try Self.commands().answer(
                "fault \(kind.rawValue)\(kind.concernsUnit ? " BESS_01" : "")")
            #expect(answer == #"{"ok":true}"#, "\(kind)")
        }
    }

    @Test func `faults show in the truth until they are cleared`() throws {
        let commands = try Self.commands()
        #expect(commands.answer("fault cell_overheat BESS_01 rate_k_per_s=5 cell=3") == #"{"ok":true}"#)
        let faults = {
            let units = try object(commands.answer("truth"))["units"] as? [[String: Any]]
            return units?.first?["faults"] as? [String]
        }
        #expect(try faults() == ["cell_overheat"])
        #expect(commands.answer("clear cell_overheat BESS_01") == #"{"ok":true}"#)
        #expect(try faults() == [])
    }

    @Test func `latency is the time from a step to the first setpoint that differs`() {
        var record = LatencyRecord(unitCount: 2)
        func at(_ milliseconds: Int64) -> MonotonicTime {
            MonotonicTime(nanoseconds: milliseconds * 1_000_000)
        }
        record.setpointWritten(.kilowatts(5), unit: 0, at: at(0))
        record.frequencyStepped(to: Hertz(49.5), at: at(100))
        record.setpointWritten(.kilowatts(5), unit: 0, at: at(110))
        #expect(record.steps[0].answers[0] == nil, "the same value again is no answer")
        record.setpointWritten(.kilowatts(6), unit: 0, at: at(130))
        record.setpointWritten(.kilowatts(7), unit: 0, at: at(150))
        #expect(record.steps[0].answers == [.milliseconds(30), nil], "the first counts")
        record.frequencyStepped(to: Hertz(50), at: at(200))
        record.setpointWritten(.kilowatts(9), unit: 1, at: at(225))
        #expect(record.steps[0].answers[1] == nil, "an answer belongs to the newest step")
        #expect(record.steps[1].answers == [nil, .milliseconds(25)])
    }
}
