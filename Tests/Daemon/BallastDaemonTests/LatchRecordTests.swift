import Control
import Glibc
import Interlocks
import LinuxIO
import Plant
import Quantities
import Recorder
import Testing

@testable import BallastDaemon

@Suite struct LatchRecordTests {
    typealias Entry = LatchRecord.Entry
    static let clear = Entry(unit: "A", trips: 0, firstOut: nil)
    static let tripped = Entry(unit: "B", set: InterlockSet(.cellOvervoltage), first: .cellOvervoltage)
    static let future = Entry(unit: "A", trips: 1 << 63, firstOut: 63)
    static let held = Entry(unit: "A", trips: 0, firstOut: nil, hold: UnitHold.afterReset.rawValue)
    static let details = [
        LatchRecord.Detail(
            unit: "B", interlock: 0, at: "2026-11-22T07:00:00.000Z", value: 3.7125, limit: 3.65),
        LatchRecord.Detail(
            unit: "B", interlock: 8, at: "noon", value: nil, limit: nil, begunBy: "emergency_stop of A"),
    ]

    static func restore(_ finding: LatchRecord.Finding, isSimulation: Bool = false) -> Latches {
        Latches.restore(finding, path: "latches", units: ["A", "B"], isSimulation: isSimulation)
    }

    @Test func `a record's seconds go on with the machine, whatever the wall clock says`() throws {
        var record = LatchRecord(entries: [])
        // The wall clock is two hours slow when the clock is begun, and is put right a minute later.
        record.clock = RecordClock(record, boot: 7, sinceBoot: 100, wallSeconds: 1_000)
        let again = try #require(LatchRecord(bytes: record.bytes))
        #expect(again == record)
        let later = RecordClock(again, boot: 7, sinceBoot: 160, wallSeconds: 8_260)
        #expect(later.seconds(sinceBoot: 160) == 1_060, "a minute, and not two hours")
        #expect(RecordClock(again, boot: 8, sinceBoot: 5, wallSeconds: 8_260).seconds(sinceBoot: 5) == 8_260)
        #expect(RecordClock(again, boot: 0, sinceBoot: 5, wallSeconds: 9).seconds(sinceBoot: 5) == 9)
        for line in ["clock 7 offset", "clock z offset 1", "clock 7 offset 1 2", "clock 7 offset 9e9"] {
            #expect(LatchRecord(bytes: Self.sealed("ballast latches 5\n\(line)\n")) == nil, "\(line)")
        }
    }

    @Test func `who has stopped the site stands in its record, and in no other`() throws {
        let words = "by anna (user id 1001) since 2026-11-22T07:00:00.000Z: smoke seen; stopped twice"
        let record = LatchRecord(entries: [Self.clear], isStopped: true, stoppedBy: words)
        #expect(try #require(LatchRecord(bytes: record.bytes)) == record)
        let running = LatchRecord(entries: [Self.clear], stoppedBy: words)
        #expect(try #require(LatchRecord(bytes: running.bytes)).stoppedBy == nil)
        #expect(
            LatchRecord(bytes: Self.sealed("ballast latches 5\nstopped by anna\nunit A trips 0 first -\n"))
                == nil)
    }

    @Test func `a record is taken as it is`() {
        let record = LatchRecord(entries: [Self.clear, Self.tripped])
        #expect(Self.restore(.read(record)) == Latches(record: record, isCommissioned: true, notes: []))
    }

    @Test(arguments: [(false, 0), (true, 2)])
    func `a simulation starts without a record where no daemon has run`(row: (hasRun: Bool, tripped: Int)) {
        let latches = Latches.restore(
            .missing, path: "latches", units: ["A", "B"], isSimulation: true, hasRun: row.hasRun)
        #expect(latches.record.entries.count { $0.trips != 0 } == row.tripped)
        #expect(latches.isCommissioned)
    }

    // swift-format-ignore
    static let unknowns: [(finding: LatchRecord.Finding, isCommissioned: Bool, why: Comment)] = [
        (.missing,                                    false, "nobody has commissioned the site"),
        (.unreadable("torn"),                         true,  "there is one, and it cannot be read"),
        (.read(LatchRecord(entries: [future])),       true,  "a newer version's trip is not forgotten"),
        (.read(LatchRecord(entries: [Entry(unit: "A", trips: 0, firstOut: nil, hold: 128)])), true,
         "nor is its hold"),
    ]

    @Test(arguments: unknowns)
    func `where the past is unknown every unit counts as tripped`(
        row: (finding: LatchRecord.Finding, isCommissioned: Bool, why: Comment)
    ) {
        let latches = Self.restore(row.finding)
        #expect(latches.record.entries == [.unknown("A"), .unknown("B")], row.why)
        #expect(latches.isCommissioned == row.isCommissioned, row.why)
        #expect(latches.notes.count == 1, row.why)
    }

    @Test func `only a simulation starts without a record, and not with a torn one`() {
        #expect(Self.restore(.missing, isSimulation: true).record.entries.isEmpty)
        #expect(
            Self.restore(.unreadable("torn"), isSimulation: true).record.entries == [
                .unknown("A"), .unknown("B"),
            ])
    }

    @Test func `a unit that is new in the configuration counts as tripped`() {
        let record = LatchRecord(entries: [Self.clear])
        let latches = Self.restore(.read(record))
        #expect(latches.record.entries == [Self.clear, .unknown("B")])
        #expect(latches.notes.map(\.text) == ["unit B is not in the latch record: it counts as tripped"])
        #expect(Self.restore(.read(record), isSimulation: true).record == record)
    }

    @Test func `trips of a unit that left the configuration are said and kept`() {
        let gone = Entry(unit: "C", set: InterlockSet(.smoke), first: .smoke)
        let record = LatchRecord(entries: [Self.clear, Self.tripped, gone])
        let latches = Self.restore(.read(record))
        #expect(
            latches.notes.map(\.text) == [
                "unit C has latched trips (smoke) and is not in the configuration; its record is kept"
            ])
        let now = [Self.clear, Entry(unit: "B", trips: 0, firstOut: nil)]
        #expect(latches.updated(LatchRecord(entries: now)).entries == now + [gone])
    }

    @Test func `a record is read as it was written, and one that was touched is not`() throws {
        var own = Self.held
        own.resetBy = 1_001
        let record = LatchRecord(
            entries: [own, Self.tripped, Self.future], details: Self.details,
            passings: [LatchRecord.Passing(unit: "A", interlock: 8, at: 1_800_000_000)],
            wear: [LatchRecord.Wear(unit: "B", openings: 3)])
        #expect(LatchRecord(bytes: record.bytes) == record)
        for index in record.bytes.indices {
            var bytes = record.bytes
            bytes[index] ^= 1
            #expect(LatchRecord(bytes: bytes) == nil, "byte \(index)")
            #expect(LatchRecord(bytes: Array(record.bytes[..<index])) == nil, "cut at \(index)")
        }
    }

    static func sealed(_ text: String) -> [UInt8] {
        let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return Array((text + "checksum \(String(hash, radix: 16))\n").utf8)
    }

    @Test func `a record of the version before is read, and its tripped units are held`() throws {
        let text = "ballast latches 1\nsite stopped\nunit A trips 0 first -\nunit B trips 1 first 0\n"
        let record = try #require(LatchRecord(bytes: Self.sealed(text)))
        #expect(record == LatchRecord(entries: [Self.clear, Self.tripped], isStopped: true))
        #expect(record.entries.map(\.hold) == [0, 0], "the core holds a unit with a latched trip")
        let second = try #require(
            LatchRecord(bytes: Self.sealed("ballast latches 2\nunit A trips 0 first - hold 1\n")))
        #expect(second == LatchRecord(entries: [Self.held]), "nobody is known to have reset it")
    }

    // swift-format-ignore
    static let broken: [(line: String, why: Comment)] = [
        ("unit A trips 0 first - hold",                         "a word is missing"),
        ("unit A trips 0 first - hold 1ff",                     "more than a byte"),
        ("unit A trips 0 first - held 1",                       "another word"),
        ("trip A 0 at noon value nan limit -",                  "no number"),
        ("trip A 0 at noon value inf limit -",                  "no finite number"),
        ("trip A 256 at noon value - limit -",                  "no interlock has that number"),
        ("trip A 0 at noon value 3.7",                          "cut short"),
        ("unit A trips 0 first - hold 1 reset",                 "a word is missing"),
        ("unit A trips 0 first - hold 1 reset root",            "no number of an account"),
        ("passed A 0 at noon",                                  "no time"),
        ("passed A 256 at 1",                                   "no interlock has that number"),
        ("worn A openings -1",                                  "no count"),
        ("something else",                                      "no line of ours"),
    ]

    @Test(arguments: broken)
    func `a line that is not understood makes the record none, though its checksum is right`(
        line: String, why: Comment
    ) {
        #expect(LatchRecord(bytes: Self.sealed("ballast latches 2\n\(line)\n")) == nil, why)
    }

    @Test func `a held unit is said at the start, and its hold is kept while it is not configured`() {
        let record = LatchRecord(entries: [Self.held, Self.clear])
        #expect(
            Self.restore(.read(record), isSimulation: true).notes.map(\.text) == [
                "unit A is held after a trip; 'ballastctl resume A' starts it"
            ])
        let gone = LatchRecord(entries: [Entry(unit: "C", trips: 0, firstOut: nil, hold: 1)])
        #expect(
            Self.restore(.read(gone), isSimulation: true).updated(LatchRecord(entries: [Self.clear])).entries
                == [Self.clear] + gone.entries)
    }
}

@Suite struct StoppedSiteTests {
    @Test func `a stop stands in the record, and a restart does not lift it`() throws {
        let record = LatchRecord(
            entries: [LatchRecord.Entry(unit: "A", trips: 0, firstOut: nil)], isStopped: true)
        let again = try #require(LatchRecord(bytes: record.bytes))
        #expect(again == record)
        let latches = Latches.restore(.read(again), path: "latches", units: ["A"], isSimulation: false)
        #expect(latches.record.isStopped)
        #expect(latches.notes.map(\.text).contains { $0.contains("until 'ballastctl resume'") })
        #expect(!latches.updated(LatchRecord(entries: record.entries)).isStopped)
    }
}

@Suite struct AbsenceTests {
    static let absences = [
        LatchRecord.Absence(
            unit: "A", kind: .maintenance, end: 2_000, userID: 1_001, reason: "a fuse,  until 3 by hand"),
        LatchRecord.Absence(unit: "B", kind: .standby, end: 3_000),
    ]
    static let record = LatchRecord(
        entries: [LatchRecord.Entry(unit: "A", trips: 0, firstOut: nil)], absences: absences)

    static func event(
        _ unit: Int, _ kind: Event.Kind, _ value: Double? = nil, by person: Person = .unknown
    ) -> Event {
        Event(unit: unit, kind: kind, value: value, cycle: 1, at: MonotonicTime(nanoseconds: 1), by: person)
    }

    @Test func `units that were taken out stand in the record, and a restart does not give them back`() throws
    {
        let again = try #require(LatchRecord(bytes: Self.record.bytes))
        #expect(again == Self.record)
        let latches = Latches.restore(
            .read(again), path: "latches", units: ["A"], isSimulation: false, seconds: { _ in 1_999 })
        let later = Latches.restore(
            .read(again), path: "latches", units: ["A"], isSimulation: false, seconds: { _ in 2_000 })
        #expect(later.notes.map(\.text)[0].contains("which is over: it waits for a person's resume"))
        #expect(
            latches.notes.map(\.text) == [
                "unit A stays in maintenance by user id 1001 until 1970-01-01T00:33:20.000Z"
                    + " (a fuse,  until 3 by hand)"
            ])
        #expect(Absences(again, units: ["A", "B"], seconds: 1_000).current == Self.absences)
        #expect(Absences(again, units: ["A", "B"], seconds: 2_000).current == [Self.absences[1]])
        #expect(Absences(again, units: ["B"], seconds: 1_000).current == [Self.absences[1]])
    }

    @Test func `they are kept as the cycle tells of them`() {
        var absences = Absences(LatchRecord(entries: []), units: ["A", "B"], seconds: 1_000)
        absences.saw(
            Self.event(0, .lockBegun(.maintenance), 999.5, by: .user(1_001)),
            reason: "a fuse,  until 3 by hand", seconds: 1_000)
        absences.saw(Self.event(0, .lockBegun(.standby), 60, by: .program), seconds: 1_000)
        absences.saw(Self.event(1, .lockBegun(.standby), 1_900), seconds: 1_100)
        #expect(absences.current == Self.absences)
        absences.saw(Self.event(1, .lockBegun(.standby), 2_000), seconds: 1_100)
        #expect(absences.current.map(\.end) == [2_000, 3_100], "renewed, not doubled")
        absences.saw(Self.event(1, .overrideEnded), seconds: 1_200)
        absences.saw(Self.event(0, .lockEnded(.standby)), seconds: 1_200)
        absences.saw(Self.event(0, .lockEnded(.maintenance), by: .user(1_002)), seconds: 1_200)
        #expect(absences.current.count == 2, "another's end is not theirs")
        absences.saw(Self.event(0, .lockEnded(.maintenance), by: .user(1_001)), seconds: 1_200)
        absences.saw(Self.event(1, .lockEnded(.standby)), seconds: 1_200)
        #expect(absences.current == [])
    }

    @Test func `a record of a version without persons keeps its units out, and a hold needs no end`() throws {
        let text =
            "ballast latches 2\nunit A trips 0 first - hold 0\nabsent A standby until 3000\n"
            + "absent B hold until - by - for \n"
        let bytes = Array((text + "checksum \(LatchRecord.checksum(text))\n").utf8)
        let record = try #require(LatchRecord(bytes: bytes))
        #expect(record.absences.map(\.userID) == [nil, nil] && record.absences.map(\.end) == [3_000, nil])
        let absences = Absences(record, units: ["A", "B"], seconds: 9_000)
        #expect(absences.current.map(\.unit) == ["B"])
    }
}
