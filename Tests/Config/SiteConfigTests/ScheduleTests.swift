import Quantities
import SiteConfig
import Testing

@Suite struct ScheduleTests {
    static func read(_ rows: String...) throws(Schedule.Fault) -> Schedule {
        let text = ([Schedule.heading] + rows).map { $0 + "\n" }.joined()
        return try Schedule.read(text, file: "s.csv", limit: .kilowatts(100))
    }

    static let first = "2026-11-22T00:00:00Z,2026-11-22T00:15:00Z,-40.5"
    /// `date -u -d 2026-11-22T00:00:00Z +%s`
    static let start: Int64 = 1_795_305_600

    @Test func `rows are read in seconds and watts`() throws {
        let schedule = try Self.read(Self.first, "2026-11-22T00:15:00Z,2026-11-22T01:00:00Z,100")
        #expect(
            schedule.rows == [
                .init(start: Self.start, end: Self.start + 900, power: .kilowatts(-40.5)),
                .init(start: Self.start + 900, end: Self.start + 3_600, power: .kilowatts(100)),
            ])
    }

    @Test func `an empty schedule is one gap, CR LF and a missing last line feed are no matter`() throws {
        #expect(try Self.read().rows.isEmpty)
        let text = Schedule.heading + "\r\n" + Self.first
        #expect(try Schedule.read(text, file: "s.csv", limit: .kilowatts(100)).rows.count == 1)
    }

    // swift-format-ignore
    static let instants: [(offset: Int64, power: Double?, why: Comment)] = [
        (-1,     nil,   "before the first row"),
        (0,      -40.5, "the start belongs to the row"),
        (899,    -40.5, "the last second"),
        (900,    nil,   "the end does not: a gap"),
        (1_799,  nil,   "the gap's last second"),
        (1_800,  7,     "the second row"),
        (2_699,  7,     "its last second"),
        (2_700,  8,     "the next row begins where it ends"),
        (3_600,  nil,   "after the last row"),
        (.max - 1_795_305_600, nil, "the end of time"),
    ]

    @Test(arguments: instants)
    func `one row holds at a time, none in a gap`(row: (offset: Int64, power: Double?, why: Comment)) throws {
        let schedule = try Self.read(
            Self.first, "2026-11-22T00:30:00Z,2026-11-22T00:45:00Z,7",
            "2026-11-22T00:45:00Z,2026-11-22T01:00:00Z,8")
        let power = schedule.row(at: Self.start + row.offset)?.power
        #expect(power == row.power.map { .kilowatts($0) }, row.why)
    }

    // swift-format-ignore
    static let bad: [(row: String, text: String)] = [
        ("", "a row has 3 fields, this line has 1"),
        ("2026-11-22T00:15:00Z,2026-11-22T00:30:00Z", "a row has 3 fields, this line has 2"),
        ("2026-11-22T00:15:00Z,2026-11-22T00:30:00Z,1,2", "a row has 3 fields, this line has 4"),
        ("2026-11-22 00:15:00Z,2026-11-22T00:30:00Z,1",
            "start_utc: \"2026-11-22 00:15:00Z\" is not a time like 2026-11-22T00:15:00Z"),
        ("2026-11-22T00:15:00Z,2026-11-22T00:30:00+01:00,1",
            "end_utc: \"2026-11-22T00:30:00+01:00\" is not a time like 2026-11-22T00:15:00Z"),
        ("2027-02-29T00:15:00Z,2027-03-01T00:30:00Z,1",
            "start_utc: \"2027-02-29T00:15:00Z\" is not a time like 2026-11-22T00:15:00Z"),
        ("2026-11-22T24:00:00Z,2026-11-23T00:30:00Z,1",
            "start_utc: \"2026-11-22T24:00:00Z\" is not a time like 2026-11-22T00:15:00Z"),
        ("2026-11-22T00:15:00Z,2026-11-22T00:30:00Z,", "power_kw: \"\" is not a number"),
        ("2026-11-22T00:15:00Z,2026-11-22T00:30:00Z, 1", "power_kw: \" 1\" is not a number"),
        ("2026-11-22T00:15:00Z,2026-11-22T00:30:00Z,nan", "power_kw: \"nan\" is not a number"),
        ("2026-11-22T00:15:00Z,2026-11-22T00:30:00Z,1e1", "power_kw: \"1e1\" is not a number"),
        ("2026-11-22T00:15:00Z,2026-11-22T00:30:00Z,1.2.3", "power_kw: \"1.2.3\" is not a number"),
        ("2026-11-22T00:15:00Z,2026-11-22T00:30:00Z,100.1", "power_kw is 100.1; allowed: -100.0 … 100.0"),
        ("2026-11-22T00:15:00Z,2026-11-22T00:30:00Z,-100.1", "power_kw is -100.1; allowed: -100.0 … 100.0"),
        ("2026-11-22T00:30:00Z,2026-11-22T00:30:00Z,1",
            "end_utc 2026-11-22T00:30:00Z is not after start_utc 2026-11-22T00:30:00Z"),
        ("2026-11-22T00:14:59Z,2026-11-22T00:30:00Z,1", "overlaps the row before it"),
        ("2026-11-21T00:00:00Z,2026-11-21T00:30:00Z,1", "rows are not in the order of time"),
    ]

    @Test(arguments: bad) func `what is wrong with a row is said with its line`(
        row: (row: String, text: String)
    ) {
        #expect(throws: Schedule.Fault(file: "s.csv", line: 3, text: row.text)) {
            try Self.read(Self.first, row.row)
        }
    }

    @Test(arguments: [
        "", "start,end,power", "\u{feff}start_utc,end_utc,power_kw", " start_utc,end_utc,power_kw",
    ])
    func `a file without the heading is refused`(text: String) {
        #expect(
            throws: Schedule.Fault(file: "s.csv", line: 1, text: "the first line must be \(Schedule.heading)")
        ) {
            try Schedule.read(text + "\n", file: "s.csv", limit: .kilowatts(100))
        }
    }

    // swift-format-ignore
    static let times: [(text: String, start: Int64)] = [
        ("1970-01-01T00:00:00Z", 0),
        ("2000-02-29T12:00:00Z", 951_825_600),
        ("2100-03-01T00:00:00Z", 4_107_542_400),
        ("2199-12-31T23:59:58Z", 7_258_118_398),
    ]

    @Test(arguments: times) func `times are those of the calendar`(row: (text: String, start: Int64)) throws {
        let schedule = try Self.read("\(row.text),2199-12-31T23:59:59Z,0")
        #expect(schedule.rows.first?.start == row.start)
    }
}
