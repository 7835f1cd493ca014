import Interlocks
import Plant
import Recorder
import Testing

@testable import BallastDaemon

/// Latches belong to wires, not to names.
@Suite struct LatchBindingTests {
    typealias Wiring = LatchRecord.Wiring
    static let wires = [
        Wiring(unit: "A", text: "10.0.0.5:502 1, can0"), Wiring(unit: "B", text: "10.0.0.6:502 1, can1"),
    ]
    static let exchanged = [Wiring(unit: "A", text: wires[1].text), Wiring(unit: "B", text: wires[0].text)]

    /// As a run has left it: A has tripped, and somebody works on B.
    static var record: LatchRecord {
        var record = LatchRecord(
            entries: [
                .init(
                    unit: "A", set: InterlockSet(.cellOvervoltage), first: .cellOvervoltage, hold: .afterReset
                ),
                .init(unit: "B", trips: 0, firstOut: nil),
            ],
            absences: [.init(unit: "B", kind: .maintenance, end: 9_000_000_000, userID: 1_001, reason: "fan")]
        )
        record.wirings = wires
        return record
    }

    static func bound(_ record: LatchRecord, to wirings: [Wiring]) throws -> Latches {
        let back = try #require(LatchRecord(bytes: record.bytes))
        var latches = Latches.restore(
            .read(back), path: "latches", units: wirings.map(\.unit), isSimulation: true)
        latches.notes = []
        latches.bind(to: wirings)
        return latches
    }

    @Test func `where nothing has changed nothing is told`() throws {
        let latches = try Self.bound(Self.record, to: Self.wires)
        #expect(latches.record == Self.record && latches.notes.isEmpty)
        var before = Self.record
        before.wirings = []
        #expect(try Self.bound(before, to: Self.exchanged).notes.isEmpty, "a version before knew no wires")
    }

    @Test func `names that were exchanged exchange no trip: both units have both, and wait for a person`()
        throws
    {
        let latches = try Self.bound(Self.record, to: Self.exchanged)
        for entry in latches.record.entries {
            #expect(entry.set.contains(.cellOvervoltage) && entry.first == .cellOvervoltage, "\(entry.unit)")
            #expect(entry.held.contains(.afterRestart), "\(entry.unit)")
        }
        #expect(Set(latches.record.absences.map(\.unit)) == ["A", "B"], "so is the lock")
        #expect(latches.notes.count == 2 && latches.notes.allSatisfy { $0.text.contains("exchanged") })
        #expect(latches.record.wirings == Self.exchanged)
        let again = try Self.bound(latches.record, to: Self.exchanged)
        #expect(again.record == latches.record && again.notes.isEmpty, "told once, and kept")
    }

    @Test func `a unit with a new name keeps the trips of its wires, and one with new wires is held`() throws
    {
        let renamed = try Self.bound(
            Self.record, to: [Wiring(unit: "C", text: Self.wires[0].text), Self.wires[1]])
        let c = try #require(renamed.record.entries.first { $0.unit == "C" })
        #expect(c.set.contains(.cellOvervoltage))
        let moved = try Self.bound(
            Self.record, to: [Self.wires[0], Wiring(unit: "B", text: "10.0.0.9:502 1, can1")])
        let b = try #require(moved.record.entries.first { $0.unit == "B" })
        #expect(b.trips == 0 && b.held == .afterRestart && moved.notes.count == 1)
    }

    @Test func `beside a damaged slot every unit counts as tripped, and keeps what is known of it`() {
        var latches = Latches.restore(
            .read(Self.record), path: "latches", units: ["A", "B"], isSimulation: true)
        latches.distrust("a slot is damaged", ["A", "B"])
        let sets = latches.record.entries.map(\.set)
        #expect(
            sets == [InterlockSet(.cellOvervoltage).union(.init(.latchRecord)), InterlockSet(.latchRecord)])
        #expect(latches.record.entries.map(\.first) == [.cellOvervoltage, .latchRecord])
        #expect(latches.record.absences == Self.record.absences)
    }

    @Test(arguments: ["wired A at", "wired A 10.0.0.5", "wired A to 10.0.0.5", "wired A at "])
    func `a line that says no wires is none`(line: String) {
        #expect(LatchRecord(bytes: LatchRecordTests.sealed("ballast latches 5\n\(line)\n")) == nil)
    }
}
