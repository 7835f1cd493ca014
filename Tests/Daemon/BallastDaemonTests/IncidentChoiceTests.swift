import Testing

@testable import Incident

/// Which capture people mean, which minutes of a log, and what a scenario takes over.
@Suite struct IncidentChoiceTests {
    // swift-format-ignore
    static let times: [(text: String, microseconds: Int64?, why: Comment)] = [
        ("2026-11-24T14:03:07Z",      1_795_528_987_000_000, "UTC"),
        ("2026-11-24T14:03:07",       1_795_528_987_000_000, "no zone is UTC"),
        ("2026-11-24 15:03:07+01:00", 1_795_528_987_000_000, "an hour ahead"),
        ("20261124T140307.250Z",      1_795_528_987_250_000, "as a capture is called"),
        ("20261124T1403",             1_795_528_980_000_000, "a minute"),
        ("14:03:07",                         50_587_000_000, "of no day"),
        ("2026-02-29T00:00",                            nil, "no such day"),
        ("14:60",                                       nil, "no such minute"),
        ("14:03:07 and more",                           nil, "something follows"),
        ("trip",                                        nil, "a word"),
        ("",                                            nil, "nothing"),
    ]

    @Test(arguments: times)
    func `a time is read as people write it`(text: String, microseconds: Int64?, why: Comment) {
        #expect(TypedTime(text)?.microseconds == microseconds, why)
    }

    private static let captures = [
        "20261123T140300.000Z-trip.cycles", "20261124T140307.250Z-grid.cycles",
        "20261124T140330.000Z-crash.cycles", "20261124T180000.000Z-asked.cycles",
    ].map { KeptCapture(name: $0, head: []) }

    // swift-format-ignore
    static let choices: [(which: String, begin: String?, why: Comment)] = [
        ("20261124T1403",       "20261124T140330", "the newest whose name begins so"),
        ("20261124T140307",     "20261124T140307", "one whose name begins so"),
        ("2026-11-24T14:03:08", "20261124T140307", "of two windows the nearer"),
        ("14:03:08",            "20261124T140307", "the newest day"),
        ("14:02:11",            "20261123T140300", "before the window of the newer ones"),
        ("2026-11-23T14:03:15", "20261123T140300", "the window's end"),
        ("2026-11-23T14:03:16", nil,               "behind it"),
        ("16:00:00",            nil,               "in no window"),
        ("trip",                "20261123T140300", "what it was kept for"),
        ("BESS_02",             nil,               "a unit that none names"),
    ]

    @Test(arguments: choices)
    func `a capture is found by time or cause`(which: String, begin: String?, why: Comment) {
        let found = try? KeptCapture.find(which, in: Self.captures)
        #expect(found.map { String($0.name.prefix(15)) } == begin, why)
    }

    @Test func `what lies outside of the minutes is left out, with the lines that go with it`() {
        let log = "first\n2026-11-24T14:00:00+0000 a\n more\n2026-11-24T14:05:00.5Z b\n more of b\n"
        let begin: Int64 = 1_795_528_800_000_000
        let kept = LogLines.within(Array(log.utf8), from: begin + 240_000_000, to: begin + 400_000_000)
        #expect(String(decoding: kept, as: UTF8.self) == "first\n2026-11-24T14:05:00.5Z b\n more of b\n")
        let plain = Array("10:00 x\ny".utf8)
        #expect(LogLines.within(plain, from: 0, to: 1) == plain)
    }

    @Test func `wired inputs are steps of the scenario, and what is lost is said`() {
        var trace = Trace(site: "a-site", units: ["BESS_01"])
        trace.times = [0, 1, 2, 3]
        trace.status = [
            Trace.Status(owner: "BESS_01", name: "smoke", values: [false, true, true, false]),
            Trace.Status(owner: "BESS_01", name: "breaker open", values: [true, true, true, true]),
        ]
        trace.happenings = [
            Trace.Happening(time: 1, unit: "BESS_01", text: "TRIP smoke", isTrip: true),
            Trace.Happening(time: 2, unit: "BESS_01", text: "TRIP bms_alarm", isTrip: true),
        ]
        let text = trace.scenario(sitePath: "s", profilePath: "p")
        #expect(text.contains("  - {at_s: 1.000, fault: smoke, unit: BESS_01}\n"), "\(text)")
        #expect(text.contains("  - {at_s: 3.000, clear: smoke, unit: BESS_01}\n"))
        #expect(text.contains("  - {at_s: 0.000, fault: wire_break, unit: BESS_01, input: breaker}\n"))
        #expect(text.contains("#   TRIP bms_alarm of BESS_01, 2.000 s\n"))
        #expect(!trace.notInScenario.contains { $0.hasPrefix("TRIP smoke") })
    }

    @Test func `a time's place in a recording, and in a window of it, is that of the clock`() throws {
        var trace = Trace(site: "a-site", units: [])
        trace.times = [0, 10, 20, 30]
        trace.beginMicroseconds = 1_795_528_987_000_000
        for typed in ["10", "14:03:17", "2026-11-24T14:03:17Z"] {
            let place = try #require(TracePlace(typed))
            #expect(trace.seconds(of: place) == 10, "\(typed)")
            let part = trace.window(from: 10, to: 30)
            #expect(part.seconds(of: place) == 0 && part.offset == 10, "\(typed)")
            #expect(part.recordingBeginMicroseconds == trace.beginMicroseconds)
        }
        #expect(TracePlace("soon") == nil)
    }
}
