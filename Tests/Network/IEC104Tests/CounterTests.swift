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
        ("65 01 06 00 2f00 000000 85", ["650147002f0000000085"], "freeze and reset"),
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

    @Test func `a counter tells of itself once it has moved by its deadband`() {
        var bench = Self.bench(Self.values)
        bench.show([.number(0), .number(2_147_484_648), .number(4_100_000), .unknown])
        #expect(bench.news().isEmpty, "999 more")
        bench.show([.number(0), .number(2_147_484_649), .number(4_100_000), .unknown])
        let news = bench.news()
        #expect(news.count == 1 && news.first?.hasPrefix("250103002f00b90b00e903000000") == true, "\(news)")
    }
}
