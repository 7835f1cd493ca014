import BooksSupport
import ExactAmounts
import Metering
import Testing

@Suite struct `Meter intervals` {
    static let start = UTCInstant(seconds: 1_793_491_200)

    static func interval(
        _ resource: String = "m", _ block: Int64 = 0, _ imported: Int64 = 0, _ exported: Int64 = 0,
        revision: Int = 0, length: BlockLength = .quarterHour, kind: IntervalKind = .actual,
        mode: RecordedMode = .production
    ) -> Interval {
        Interval(
            resource: resource, kind: kind, start: start + block * length.seconds, length: length,
            imported: WattHours(imported), exported: WattHours(exported), revision: revision,
            quality: .measured, mode: mode, record: "")
    }

    static func book(_ intervals: [Interval]) throws -> IntervalBook {
        var book = IntervalBook()
        for interval in intervals { try book.accept(interval) }
        return book
    }

    static func period(_ blocks: Int64) throws -> Period {
        try #require(Period(from: start, until: start + blocks * 900))
    }

    // swift-format-ignore
    static let refused: [(change: @Sendable (inout Interval) -> Void, refusal: IntervalRefusal, why: Comment)] = [
        ({ $0.mode = .simulated },                          .simulated,                         "nothing is paid on simulation"),
        ({ $0.start = start + 420 },                        .notAligned(length: .quarterHour),  "a block at :07"),
        ({ $0.imported = WattHours(-1) },                   .negativeEnergy,                    "energy drawn below nothing"),
        ({ $0.exported = WattHours(.min) },                 .negativeEnergy,                    "the lower end"),
        ({ $0.imported = WattHours(.max) },                 .tooMuchEnergy,                     "the upper end"),
        ({ $0.exported = WattHours.limit + WattHours(1) },  .tooMuchEnergy,                     "one above the limit"),
        ({ $0.revision = -1 },                              .negativeRevision,                  "revisions count up"),
        ({ $0.length = .hour },                             .otherLength(.quarterHour),         "an hour over its quarters"),
        ({ $0.imported = WattHours(2) },                    .revisionToldTwice(first: interval("m", 0, 1)), "the same number, another value"),
    ]

    @Test(arguments: refused.indices)
    func `are refused with the reason, and nothing has changed`(index: Int) throws {
        let row = Self.refused[index]
        var book = try Self.book([Self.interval("m", 0, 1)])
        var bad = Self.interval("m", 0, 1)
        row.change(&bad)
        let before = book.sorted()
        #expect(throws: row.refusal, row.why) { try book.accept(bad) }
        #expect(book.sorted() == before && !row.refusal.text.isEmpty)
    }

    @Test func `count once, and a higher revision counts instead`() throws {
        var book = IntervalBook()
        #expect(try book.accept(Self.interval("m", 0, 5)) == .added)
        #expect(try book.accept(Self.interval("m", 0, 5)) == .unchanged)
        #expect(try book.accept(Self.interval("m", 0, 7, revision: 2)) == .supersedes(revision: 0))
        #expect(try book.accept(Self.interval("m", 0, 6, revision: 1)) == .older)
        #expect(throws: IntervalRefusal.self, "an old number told anew") {
            try book.accept(Self.interval("m", 0, 8, revision: 1))
        }
        #expect(book.energy(of: "m", at: Self.start, length: .quarterHour)?.imported == WattHours(7))
        #expect(book.energy(of: "m", at: Self.start, length: .hour) == nil, "three quarters are missing")
    }

    @Test func `are netted for any length of block`() throws {
        let book = try Self.book(
            (0..<12).map { Self.interval("pv", $0, 0, 400 + $0, length: .fiveMinutes) }
                + (0..<4).map { Self.interval("load", $0, 900, length: .quarterHour) })
        for length in BlockLength.allCases {
            let starts = try #require(length.starts(in: try Self.period(4)))
            let sum = starts.compactMap { book.netto(of: ["pv"], at: $0, length: length) }.reduce(.zero, +)
            #expect(sum == WattHours(4_866))
        }
        #expect(book.netto(of: ["pv", "load"], at: Self.start, length: .hour) == WattHours(1_266))
        #expect(book.netto(of: ["pv", "load"], at: Self.start, length: .fiveMinutes) == nil, "not that fine")
        let mission = try Self.book([Self.interval("a", 0, 0, 5_000), Self.interval("b", 0, 3_000, 0)])
        #expect(mission.netto(of: ["a", "b"], at: Self.start, length: .quarterHour) == WattHours(2_000))
    }

    @Test func `have a peak, and a reduction that is never negative`() throws {
        let book = try Self.book([
            Self.interval("m", 0, 5_000), Self.interval("m", 1, 9_000), Self.interval("m", 2, 9_000),
            Self.interval("m", 0, 7_000, kind: .baseline), Self.interval("m", 1, 8_000, kind: .baseline),
        ])
        let peak = try #require(book.peak(of: "m", in: try Self.period(4), length: .quarterHour))
        #expect(peak.power == WholeWatts(36_000) && peak.start == Self.start + 900)
        #expect(book.reduction(of: "m", at: Self.start, length: .quarterHour) == WattHours(2_000))
        #expect(book.reduction(of: "m", at: Self.start + 900, length: .quarterHour) == .zero)
        #expect(book.reduction(of: "m", at: Self.start + 1_800, length: .quarterHour) == nil, "no baseline")
    }

    static func reading(_ meter: String, _ block: Int64, _ imported: Int64) -> RegisterReading {
        RegisterReading(
            resource: "m", meter: meter, time: start + block * 900, imported: WattHours(imported),
            exported: .zero)
    }

    @Test func `that were lost are rebuilt from two readings, and say so`() throws {
        var book = try Self.book([Self.interval("m", 0, 100), Self.interval("m", 3, 100)])
        let found = book.substitute(from: [Self.reading("A", 4, 1_301), Self.reading("A", 0, 1_000)])
        #expect(found == [.rebuilt(resource: "m", period: try Self.period(4), count: 2)])
        let energies = (0..<4).map {
            book.energy(of: "m", at: Self.start + Int64($0) * 900, length: .quarterHour)
        }
        #expect(energies.map { $0?.imported.count } == [100, 51, 50, 100], "to the last Wh")
        #expect(energies.map { $0?.quality } == [.measured, .substituted, .substituted, .measured])
        #expect(book.substitute(from: [Self.reading("A", 0, 1_000), Self.reading("A", 4, 1_301)]).isEmpty)
    }

    @Test func `are not rebuilt over a meter that went back, was replaced, or saw less than was told`() throws
    {
        let told = [Self.interval("m", 0, 100), Self.interval("m", 3, 100)]
        var book = try Self.book(told)
        #expect(
            book.substitute(from: [Self.reading("A", 0, 1_000), Self.reading("A", 4, 5)])
                == [.wentBack(resource: "m", meter: "A", period: try Self.period(4))])
        #expect(
            book.substitute(from: [Self.reading("A", 0, 1_000), Self.reading("B", 4, 5)]).isEmpty,
            "replaced in between: no difference is taken")
        #expect(
            book.substitute(from: [Self.reading("A", 0, 1_000), Self.reading("A", 4, 1_150)])
                == [
                    .disagrees(
                        resource: "m", period: try Self.period(4), imported: WattHours(50), exported: .zero)
                ])
        #expect(try book.count == 2 && book.missing("m", in: Self.period(4))?.count == 2)
    }

    /// B3 against a plain list that shares no code.
    @Test func `in any order give the same, with the highest revision`() throws {
        var dice = Dice(seed: 23)
        for _ in 0..<operations(20_000) / 100 {
            var told: [Interval] = []
            for _ in 0..<100 {
                let revision = dice.roll(0...3)
                let (resource, block) = (dice.pick(["a", "b", "c"]), Int64(dice.roll(0...9)))
                // One value for each place and revision.
                let value = Int64(revision * 1_000) + block * 10 + Int64(resource.utf8.first ?? 0)
                told.append(Self.interval(resource, block, value, revision: revision))
            }
            let book = try Self.book(told)
            #expect(try Self.book(dice.shuffled(told + told)).sorted() == book.sorted())
            for resource in ["a", "b", "c"] {
                for block in Int64(0)...9 {
                    let here = told.filter { $0.resource == resource && $0.start == Self.start + block * 900 }
                    let best = here.max { $0.revision < $1.revision }
                    let found = book.energy(
                        of: resource, at: Self.start + block * 900, length: .quarterHour)
                    #expect(found?.imported == best?.imported, "seed 23")
                }
            }
        }
    }
}
