import IEC104
import Testing

/// Integrated totals, octet by octet (IEC 60870-5-101, 7.3.1.15, 7.3.4.2 and 7.2.6.23).
@Suite struct CounterTests {
    private static let table: PointTable = {
        func counter(_ address: UInt32, _ scale: Double, group: Int?, deadband: Double?) -> MonitoredPoint {
            MonitoredPoint(
                address: address, kind: .counter, source: .exportEnergy, unit: nil, scale: scale,
                deadband: deadband, cycle: nil, group: group)
        }
        var table = Bench.table
        table.points = [
            table.points[0], counter(3_001, 1, group: 1, deadband: 1_000),
            counter(3_002, 0.001, group: 2, deadband: nil), counter(3_003, 1, group: nil, deadband: nil),
        ]
        return table
    }()

    private static func bench(_ values: [PointValue]) -> Bench {
        var bench = Bench(table)
        bench.open(1)
        bench.show(values)
        _ = bench.news()
        bench.acknowledge(1)
        return bench
    }

    private static let values: [PointValue] = [
        .number(0), .number(2_147_483_649), .number(4_099_999), .unknown,
    ]

    // swift-format-ignore
    static let rows: [(ask: String, answer: [String], why: Comment)] = [
        ("65 01 06 00 2f00 000000 05",
         ["650107002f0000000005",
          // Beyond 2^31 - 1 it begins anew; 4,099.999 kWh are 4,099 full ones; nobody knows the third: IV.
          "0f0325002f00" + "b90b00" + "0100000000" + "ba0b00" + "0310000000" + "bb0b00" + "0000000080",
          "65010a002f0000000005"], "all of them, cause 37"),
        ("65 01 06 00 2f00 000000 02",
         ["650107002f0000000002", "0f0127002f00ba0b000310000000", "65010a002f0000000002"], "group 2, cause 39"),
        ("65 01 06 00 2f00 000000 04",
         ["650107002f0000000004", "65010a002f0000000004"], "a group without counters"),
        ("65 01 06 00 2f00 000000 06", ["650147002f0000000006"], "no such group"),
        ("65 01 06 00 2f00 000000 45", ["650107002f0000000045", "65010a002f0000000045"], "what freezes reads nothing"),
        ("65 01 06 00 2f00 000000 46", ["650147002f0000000046"], "to freeze a group that is none"),
        ("65 01 06 00 2f00 000000 c0", ["650147002f00000000c0"], "to reset nothing"),
        ("65 01 86 00 2f00 000000 45", ["6501c7002f0000000045"], "the test bit"),
        ("65 01 46 00 2f00 000000 45", ["650147002f0000000045"], "marked as a refusal"),
        ("64 01 06 00 2f00 000000 14",
         ["640107002f0000000014", "0d0114002f00e90300" + "0000000000", "64010a002f0000000014"],
         "counters do not answer a station interrogation"),
        ("64 01 06 00 2f00 000000 15",
         ["640107002f0000000015", "0d0115002f00e90300" + "0000000000", "64010a002f0000000015"],
         "group 1 of the others is another one"),
        ("66 01 05 00 2f00 b90b00", ["66016f002f00b90b00"], "nor a read"),
    ]

    @Test(arguments: rows)
    func `counters answer their own interrogation`(row: (ask: String, answer: [String], why: Comment)) {
        var bench = Self.bench(Self.values)
        bench.say(row.ask)
        #expect(bench.news() == row.answer, row.why)
    }

    /// What is told for 3001, 3002 and 3003 when all, or those of a group, are read.
    private static func read(_ bench: inout Bench, _ group: String = "05", on link: Int = 1) -> [String] {
        bench.say("65 01 06 00 2f00 000000 \(group)", on: link)
        let told = bench.news(link).filter { $0.hasPrefix("0f") }.joined().dropFirst(12)
        return stride(from: 0, to: told.count, by: 16).map { start in
            String(told.dropFirst(start + 6).prefix(10))
        }
    }

    private static func order(_ qualifier: String, _ bench: inout Bench) {
        bench.say("65 01 06 00 2f00 000000 \(qualifier)")
        #expect(bench.news() == ["650107002f00000000\(qualifier)", "65010a002f00000000\(qualifier)"])
    }

    @Test func `what is frozen is told until it is frozen anew, with the number of its freezing`() {
        var bench = Self.bench([.number(0), .number(5_000), .number(4_000_000), .unknown])
        Self.order("45", &bench)
        bench.show([.number(0), .number(5_999), .number(5_000_000), .number(7)])
        #expect(Self.read(&bench) == ["8813000001", "a00f000001", "0000000081"], "the third was not known")
        Self.order("41", &bench)
        #expect(Self.read(&bench) == ["6f17000002", "a00f000001", "0000000081"], "the first group alone")
        for _ in 0..<30 { Self.order("41", &bench) }
        #expect(Self.read(&bench, "01") == ["6f17000000"], "five bits of numbers")
        bench.open(3, group: 1)
        #expect(
            Self.read(&bench, on: 3) == ["6f17000000", "8813000000", "0700000000"], "others see what runs")
    }

    @Test func `frozen and reset, it is what has come since the last time, if that was seen`() {
        var bench = Self.bench([.number(0), .number(5_000), .number(0), .unknown])
        Self.order("81", &bench)
        #expect(Self.read(&bench, "01") == ["0000000081"], "since when, nobody knows")
        bench.show([.number(0), .number(5_900), .number(0), .unknown])
        Self.order("81", &bench)
        #expect(Self.read(&bench, "01") == ["8403000002"])
        bench.show([.number(0), .unknown, .number(0), .unknown])
        Self.order("81", &bench)
        bench.show([.number(0), .number(6_000), .number(0), .unknown])
        Self.order("81", &bench)
        #expect(Self.read(&bench, "01") == ["0000000084"], "nobody saw it when it was reset")
    }

    @Test func `reset, it begins at zero and says so once; the site's own count goes on`() {
        var bench = Self.bench([.number(0), .number(5_000), .number(0), .unknown])
        Self.order("c1", &bench)
        #expect(Self.read(&bench, "01") == ["0000000040"] && Self.read(&bench, "01") == ["0000000000"])
        bench.show([.number(0), .number(6_001), .number(0), .unknown])
        let news = bench.news()
        #expect(news.count == 1 && news[0].hasPrefix("250103002f00b90b00e903000000"), "\(news)")
        #expect(Self.read(&bench, "01") == ["e903000000"])
        bench.open(3, group: 1)
        #expect(Self.read(&bench, "01", on: 3) == ["7117000000"], "of another group")
        bench.show([.number(0), .number(4_999), .number(0), .unknown])
        _ = bench.news()
        #expect(Self.read(&bench, "01") == ["0000000080"], "it has gone back: nobody knows")
    }

    @Test func `a counter tells of itself once it has moved by its deadband`() {
        var bench = Self.bench(Self.values)
        bench.show([.number(0), .number(2_147_484_648), .number(4_100_000), .unknown])
        #expect(bench.news().isEmpty, "999 more")
        bench.show([.number(0), .number(2_147_484_649), .number(4_100_000), .unknown])
        let news = bench.news()
        #expect(news.count == 1 && news.first?.hasPrefix("250103002f00b90b00e903000000") == true, "\(news)")
    }
}
