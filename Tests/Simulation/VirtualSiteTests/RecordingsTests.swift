import CycleRecord
import Glibc
import Incident
import LinuxIO
import ProgramSupport
import Quantities
import Scenario
import Testing

@testable import BallastDaemon
@testable import VirtualSite

/// Runs of scenarios as they were once decided, cycle by cycle. What a change of a rule does to them shows
/// here as the first decision that is another one, and somebody accepts it on purpose.
@Suite struct RecordingsTests {
    static let folder = project + "/Tests/Simulation/VirtualSiteTests/recordings"

    static let names: [String] = {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".cycles") { names.append(name) }
        }
        return names.sorted()
    }()

    private static func bytes(_ name: String) throws -> [UInt8] {
        try #require(try DurableFile.read(folder + "/" + name, limit: 1 << 24))
    }

    @Test func `there are recordings`() { #expect(Self.names.count >= 10) }

    @Test(arguments: names)
    func `is decided as it was`(name: String) throws {
        let replay = Replay(try Self.bytes(name))
        #expect(
            replay.isIdentical && replay.isEnded,
            """
            \(replay.text)
            Where that was meant: ballastctl replay Tests/Simulation/VirtualSiteTests/recordings/\(name) --accept, \
            and the commit says why. Where a recording has another form by now: ballast-sim run \
            hil/scenarios/\(name.dropLast(7)).yaml --capture with that name.
            """)
    }

    /// One of the first form does not say what its words are called: those that came since are none of its own.
    @Test func `a recording of the first form is read by the words that it had`() throws {
        let path = project + "/Tests/Resources/landed/first-form.cycles"
        let bytes = try #require(try DurableFile.read(path, limit: 1 << 24))
        #expect(try RecordingReader(bytes).version == 1)
        let replay = Replay(bytes)
        #expect(replay.isIdentical, "\(replay.text)")
        #expect(replay.limits.joined().contains("not compared: units[0].restsUntil"), "\(replay.limits)")
    }

    /// Everything that a recording says, but for the names of its words: one of the first version has none.
    private static func told(_ bytes: [UInt8]) throws -> [String] {
        var reader = try RecordingReader(bytes)
        var all: [String] = []
        while let record = try reader.next() {
            switch record {
            case .fields: continue
            case .cycle(let inputs, let decision):
                all.append("\(inputs.now) \(inputs.wallSeconds) \(decision)")
            case .about, .file, .start, .checkpoint, .capture, .command, .endAsked, .end, .instant:
                all.append("\(record)")
            }
        }
        return all
    }

    /// What is accepted without a change says the same, word by word; made anew once more it is the same bytes.
    @Test(arguments: names.prefix(3))
    func `what is accepted unchanged is the same file`(name: String) throws {
        let bytes = try Self.bytes(name)
        let accepted = try #require(Replay(bytes, accepts: true).accepted)
        #expect(try Self.told(accepted) == Self.told(bytes))
        #expect(Replay(accepted, accepts: true).accepted == accepted)
    }

    /// The droop in the recorded site's file is changed: the recorded decisions are then another rule's.
    @Test func `a changed rule shows as the first cycle that it decides otherwise, and is accepted`() throws {
        let changed = try Self.replacing(
            "droop_percent: 5.0", by: "droop_percent: 4.0", in: try Self.bytes("002-droop-step.cycles"))
        let replay = Replay(changed)
        let difference = try #require(replay.difference, "\(replay.text)")
        #expect(replay.text.hasPrefix("differs in cycle \(difference.cycle), "))
        // The step of the grid comes 1 s after the run's clock began, and nothing differs before it.
        #expect(difference.cycle > 10)
        let accepted = try #require(Replay(changed, accepts: true).accepted)
        #expect(Replay(accepted).isIdentical && accepted != changed)
    }

    /// What a recording shows as readings is done to the simulated plant, and the same trips.
    @Test(arguments: [
        ("010-battery-silent", "lost_bms"), ("020-cell-too-full", "cell_overvoltage"),
        ("024-sensor-too-hot", "cell_overtemperature_discharge"),
    ])
    func `a scenario made of a recording trips by the same cause`(name: String, cause: String) throws {
        let scratch = try ScratchFolder()
        let path = Self.folder + "/\(name).cycles"
        let (trace, nominal) = try TraceFiles.trace(path)
        let recorded = trace.happenings.contains { $0.isTrip && $0.isFirstOut && $0.text == "TRIP \(cause)" }
        try #require(recorded, "\(trace.happenings)")
        _ = try TraceFiles.write(trace, of: path, nominal: nominal, as: .scenario(scratch.path + "/made"))
        let outcome = ScenarioRunner.run(path: scratch.path + "/made/scenario.yaml")
        #expect(outcome.problem == nil && outcome.isPassed, "\(outcome.problem ?? "")")
        let trip = outcome.history.events.first { $0.name == "trip" }
        #expect(trip?.cause == cause && trip?.unit == "BESS_01", "\(outcome.history.events)")
        // As long after the run's begin as in the recording, but for how a simulated battery gets there.
        let at = try #require(trace.happenings.first { $0.isTrip }?.time)
        let settling = try #require(
            trace.bars.first { $0.name == "mode" }?.stretches.first { $0.text == "running" }?.from)
        #expect(((trip?.time ?? .zero).seconds - at).magnitude < settling + 3.5)
    }

    /// A text of the same length in place of another, and every check made anew behind it, by what
    /// `RecordingFormat` says of its bytes.
    private static func replacing(_ old: String, by new: String, in bytes: [UInt8]) throws -> [UInt8] {
        let (old, new) = (Array(old.utf8), Array(new.utf8))
        var bytes = bytes
        let first = try #require(
            bytes.indices.first { bytes[$0...].starts(with: old) }, "the file does not hold it")
        bytes.replaceSubrange(first..<(first + old.count), with: new)
        var check = Checksum()
        check.add(bytes[..<16])
        var place = 16
        while place + 5 <= bytes.count {
            let length = (0..<4).reduce(0) { $0 | Int(bytes[place + 1 + $1]) << (8 * $1) }
            let end = place + 5 + length
            check.add(bytes[place..<end])
            for index in 0..<8 { bytes[end + index] = UInt8(truncatingIfNeeded: check.value >> (8 * index)) }
            place = end + 8
        }
        return bytes
    }
}
