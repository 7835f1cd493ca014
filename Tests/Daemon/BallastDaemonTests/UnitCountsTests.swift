import Control
import Interlocks
import Plant
import Quantities
import Recorder
import Testing

@testable import BallastDaemon

/// What is counted of a unit over restarts.
@Suite struct UnitCountsTests {
    static let start: Int64 = 1_800_000_000

    static func counts(_ record: LatchRecord = LatchRecord(entries: []), at wall: Int64 = start) -> UnitCounts
    {
        UnitCounts(record, units: ["A", "B"], seconds: wall)
    }

    static func event(_ kind: Event.Kind, unit: Int = 0, _ value: Double? = nil, _ limit: Double? = nil)
        -> Event
    {
        Event(
            unit: unit, kind: kind, value: value, limit: limit, cycle: 1, at: MonotonicTime(nanoseconds: 0))
    }

    // swift-format-ignore
    static let openings: [(parted: Double?, made: Double?, isCounted: Bool, why: Comment)] = [
        (274, 200, true,  "more than the contacts are made for"),
        (199, 200, false, "less"),
        (nil, 200, true,  "nobody knew the current"),
        (274, nil, false, "nobody has said what they are made for"),
    ]

    @Test(arguments: openings)
    func `an opening beyond the breaking current is counted for good`(
        row: (parted: Double?, made: Double?, isCounted: Bool, why: Comment)
    ) throws {
        var counts = Self.counts()
        for _ in 0..<2 {
            counts.saw(Self.event(.openedUnderLoad, unit: 1, row.parted, row.made), seconds: Self.start)
        }
        #expect(counts.openings(of: "B") == (row.isCounted ? 2 : nil), row.why)
        let record = try #require(LatchRecord(bytes: LatchRecord(entries: [], wear: counts.wear).bytes))
        var later = Self.counts(record, at: Self.start + 100_000_000)
        later.saw(Self.event(.openedUnderLoad, unit: 1, row.parted, row.made), seconds: Self.start)
        #expect(later.openings(of: "B") == (row.isCounted ? 3 : nil), row.why)
        #expect(later.openings(of: "A") == nil)
    }

    @Test func `a passing is kept for the longest window, and ends with its trip`() {
        var counts = Self.counts()
        counts.saw(Self.event(.countedAnew(.smoke)), seconds: Self.start)
        counts.saw(Self.event(.countedAnew(.smoke)), seconds: Self.start + 60)
        counts.saw(Self.event(.countedAnew(.gas)), seconds: Self.start + 60)
        let record = LatchRecord(entries: [], passings: counts.passings)
        #expect(Self.counts(record, at: Self.start + 3_601).passings.count == 2)
        #expect(Self.counts(record, at: Self.start - 86_400).passings.count == 3, "a clock gone back")
        counts.saw(Self.event(.tripped(.smoke)), seconds: Self.start + 61)
        #expect(counts.passings.map(\.interlock) == [InterlockID.gas.rawValue])
    }

    @Test func `what a row's sum has used up is kept until it trips, the newest of each`() throws {
        var counts = Self.counts()
        counts.saw(Self.event(.exposed(.smoke), 1), seconds: Self.start)
        counts.saw(Self.event(.exposed(.smoke), 2), seconds: Self.start + 60)
        counts.saw(Self.event(.exposed(.gas), unit: 1, 3), seconds: Self.start + 60)
        var record = LatchRecord(entries: [])
        record.exposures = counts.exposures
        let back = try #require(LatchRecord(bytes: record.bytes))
        #expect(back == record && back.exposures.map(\.quarters) == [2, 3])
        var later = Self.counts(back)
        later.saw(Self.event(.tripped(.smoke)), seconds: Self.start + 61)
        #expect(later.exposures.map(\.interlock) == [InterlockID.gas.rawValue])
    }

    @Test func `what flickers for ever leaves a record of a bounded size`() {
        var counts = Self.counts()
        for second in 0..<1_000 {
            counts.saw(Self.event(.countedAnew(.smoke)), seconds: Self.start + Int64(second))
        }
        #expect(counts.passings.count == 5 && counts.passings.last?.at == Self.start + 999)
    }
}
