import BooksSupport
import ExactAmounts
import Foundation
import Testing

@testable import BooksStore

/// Bodies as other programs write them.
@Suite struct `Texts of bodies` {
    let desk: Desk

    init() throws { desk = try Desk() }

    /// The body as Foundation reads it.
    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test(arguments: [
        #"\ud83d\ude42"#, #"a\\\ud83d\ude42\\"#, #"\\ud83d\\ude42"#, #"\uD804\uDD07 \u0905\u0938\u094d"#,
        #"\/\"\u00e9"#,
    ])
    func `escapes of JSON are read as Foundation reads them`(name: String) async throws {
        let body = #"{"id": "emo", "name": "\#(name)"}"#
        let wanted = try #require(try object(body)["name"] as? String)
        try await desk.done(.addParty, body)
        let told = try object(try await desk.done(.parties))["parties"] as? [[String: Any]]
        #expect(told?.first?["name"] as? String == wanted)
    }

    @Test func `half a character is refused`() async throws {
        for half in [#"\ud83d"#, #"\ud83dx"#, #"\ude42\ud83d"#] {
            #expect(try await desk.ask(.addParty, #"{"id": "emo", "name": "\#(half)"}"#).status == 400)
        }
    }

    @Test func `a list of 1,500 intervals with every key is taken, as the schema says`() async throws {
        try await desk.village()
        let rows = (Int64(0)..<1_501).map { block in
            """
            {"resource": "coop-pv", "kind": "actual", "start": "\(Desk.at(block).text)", "length_s": 900, \
            "import_wh": 0, "export_wh": 7, "revision": 0, "quality": "measured", "mode": "production", \
            "record": "r\(block)"}
            """
        }
        let most = "{\"intervals\": [\(rows.prefix(1_500).joined(separator: ", "))]}"
        #expect(try await desk.done(.addIntervals, most).contains("\"taken\":1500"))
        let more = "{\"intervals\": [\(rows.joined(separator: ", "))]}"
        #expect(try await desk.ask(.addIntervals, more).status == 400)
    }

    @Test func `what goes out as CSV comes in as CSV, whatever stands in it`() async throws {
        let records = ["x,y b,\"evil", "\"", "line\u{2028}alone", "a,\u{301}b", "plain"]
        try await desk.village()
        let rows = try records.enumerated().map { place, record in
            let text = String(decoding: try JSONEncoder().encode(record), as: UTF8.self)
            return Desk.interval("coop-pv", Int64(place), 0, 7).dropLast() + ", \"record\": \(text)}"
        }
        try await desk.done(.addIntervals, "{\"intervals\": [\(rows.joined(separator: ", "))]}")
        let query = ["resource": "coop-pv", "from": Desk.at(0).text, "until": Desk.at(20).text]
        let csv = try await desk.done(
            .intervals, query: query.merging(["format": "csv"]) { first, _ in first })
        let other = try Desk()
        try await other.village()
        try await other.done(.addIntervalsCSV, csv)
        let told = try object(try await other.done(.intervals, query: query))["intervals"] as? [[String: Any]]
        #expect(told?.map { $0["record"] as? String } == records)
    }

    @Test func `CSV that is no UTF-8, or has a loose quote or a record of two lines, is refused`()
        async throws
    {
        try await desk.village()
        let header = "resource,kind,start,length_s,import_wh,export_wh,revision,quality,mode,record\n"
        func row(_ record: [UInt8]) -> [UInt8] {
            let fields = "coop-pv,actual,\(Desk.at(0).text),900,0,7,0,measured,production,"
            return Array(fields.utf8) + record + [0x0A]
        }
        for (record, sees) in [
            ([0x61, 0xFF], "body:2:1: is not UTF-8"), ([0xC3], "body:2:1: is not UTF-8"),
            (Array("a\"b".utf8), "body:2:1: a quote is not closed"),
            (Array("a\"b\"".utf8), "body:2:1: a quote stands within"),
            (Array("\"a\"b".utf8), "body:2:1: a quote stands within"),
            (Array("\"a\nb\"".utf8), "at most 200 characters on one line"),
        ] as [([UInt8], String)] {
            let call = BooksCall(
                caller: Desk.caller(.admin), operation: .addIntervalsCSV, id: "", query: [:],
                body: Array(header.utf8) + row(record),
                key: "k\(record.map(String.init).joined(separator: "-"))", now: desk.now)
            let answer = try await desk.store.answer(call)
            #expect(answer.status == 400 && answer.body.contains(sees), "\(answer)")
        }
    }
}
