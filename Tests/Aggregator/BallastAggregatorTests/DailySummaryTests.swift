import Testing

@testable import BallastAggregator

@Suite struct DailySummaryTests {
    private static let day: Int64 = 86_400_000
    private static let seven = DailySummary(at: 7 * 60, zoneMinutes: 330)

    // swift-format-ignore
    static let rows: [(minutes: Int64, day: Int64?, why: Comment)] = [
        // 07:00 in India is 01:30 UTC.
        (    89, nil, "a minute before"),
        (    90,   0, "at its minute"),
        (   809,   0, "so late that a program which was down still tells it"),
        (   810, nil, "half a day later an old day is told to nobody"),
        ( 1_529, nil, "a minute before the next"),
        ( 1_530,   1, "the next day"),
    ]

    @Test(arguments: rows) func `a day is summed up at its minute in its zone`(
        row: (minutes: Int64, day: Int64?, why: Comment)
    ) {
        let now = Self.day * 20_000 + row.minutes * 60_000
        #expect(Self.seven.day(at: now) == row.day.map { $0 + 20_000 }, row.why)
    }

    @Test func `what stands is named, the gravest first, on lines of its own`() {
        func record(_ severity: AlarmMachine.Severity, _ text: String) -> AlarmRecord {
            var machine = AlarmMachine(.init(severity: severity, raiseAfter: 0, clearAfter: 0))
            _ = machine.handle(.seen(true), at: 1)
            return AlarmRecord(key: .init(rule: "r", site: text, subject: ""), machine: machine, text: text)
        }
        let standing =
            [record(.warning, "low\r\n.\r\nQUIT"), record(.lifeSafety, "smoke")]
            + (0..<100).map { record(.notice, "n\($0)") }
        let text = DailySummary.text(
            standing: standing, shelved: 3, told: ["raised": 9, "cleared": 7], sites: 2, at: 0)
        let lines = text.split(separator: "\n")
        #expect(
            lines[0].hasPrefix(
                "2 sites; 102 alarms stand, 3 are shelved; in the last 24 h 9 raised, 7 over, 0"))
        #expect(lines[1] == "life_safety: smoke")
        #expect(
            lines[2] == "warning: low\\u{d}\\u{a}.\\u{d}\\u{a}QUIT",
            "nothing of it is a line of the mail's own")
        #expect(lines.last == "and 52 more" && lines.count == 52)
    }
}
