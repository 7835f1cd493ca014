import JSONText
import Testing

@testable import BallastAggregator

@Suite struct `An edge report` {
    static let epoch = "0123456789abcdef0123456789abcdef"
    static func body(_ rest: String) -> String { "{\"site\":\"demo\",\"epoch\":\"\(epoch)\"\(rest)}" }

    @Test func `keeps each record's data byte for byte`() throws {
        let text = Self.body(
            ",\"later\":[1],\"records\":[{\"n\":4,\"data\":{ \"kind\":\"event\",\"x\":1.50e0}},"
                + "{\"data\":{},\"n\":5}],\"gaps\":[{\"from\":2,\"to\":3}]")
        let report = try EdgeReport(json: Array(text.utf8))
        #expect(report.records.map(\.number) == [4, 5])
        #expect(report.records.map(\.data) == ["{ \"kind\":\"event\",\"x\":1.50e0}", "{}"])
        #expect(report.records.map(\.kind) == ["event", ""])
        #expect(report.gaps == [2...3])
        #expect(report.covered == 2...5)
    }

    @Test func `without records asks for the mark`() throws {
        #expect(try EdgeReport(json: Array(Self.body("").utf8)).covered == nil)
    }

    // swift-format-ignore
    static let refused: [(text: String, says: String, why: Comment)] = [
        ("",                                       "the text ends where an object", "nothing at all"),
        ("hello",                                  "expected an object",            "not JSON"),
        ("[]",                                     "expected an object",            "another kind of JSON"),
        ("{}",                                     "site: is missing",              "an empty object"),
        ("{\"site\":\"demo\"}",                    "epoch: is missing",             "no epoch"),
        ("{\"site\":7,\"epoch\":\"\"}",            "site: expected a string",       "a number for the site"),
        ("{\"site\":\"a\",\"site\":\"b\"}",        "\"site\" comes twice",          "which one holds?"),
        ("{\"site\":\"demo\",\"epoch\":\"0123\"}", "epoch: expected 32",            "a short epoch"),
        (body("}"),                                "something follows the end",     "text behind the end"),
        (body(",\"records\":{}"),                  "records: expected an array",    "records is no list"),
        (body(",\"records\":[1]"),                 "records[0]: expected an object", "a record is no object"),
        (body(",\"records\":[{\"n\":1}]"),         "records[0].data: is missing",   "no data"),
        (body(",\"records\":[{\"data\":{}}]"),     "records[0].n: is missing",      "no number"),
        (body(",\"records\":[{\"n\":1,\"data\":[]}]"),  "records[0].data: expected an object",
            "data is a list"),
        (body(",\"records\":[{\"n\":0,\"data\":{}}]"),  "outside 1",                "numbers begin at 1"),
        (body(",\"records\":[{\"n\":-1,\"data\":{}}]"), "not a whole number",       "below zero"),
        (body(",\"records\":[{\"n\":1.0,\"data\":{}}]"), "not a whole number",      "a fraction"),
        (body(",\"records\":[{\"n\":9223372036854775807,\"data\":{}}]"), "outside 1",
            "the next would overflow"),
        (body(",\"records\":[{\"n\":99999999999999999999,\"data\":{}}]"), "not a whole number",
            "beyond 64 bits"),
        (body(",\"records\":[{\"n\":2,\"data\":{}},{\"n\":2,\"data\":{}}]"), "must increase",
            "twice the same"),
        (body(",\"records\":[{\"n\":2,\"data\":{}},{\"n\":1,\"data\":{}}]"), "must increase", "going back"),
        (body(",\"records\":[{\"n\":1,\"data\":{}},{\"n\":3,\"data\":{}}]"), "1 is followed by 3", "a hole"),
        (body(",\"gaps\":[{\"from\":5}]"),                 "gaps[0]: needs",        "a gap without its end"),
        (body(",\"gaps\":[{\"from\":5,\"to\":4}]"),        "gaps[0]: needs",        "a gap that ends first"),
        (body(",\"gaps\":[{\"from\":5,\"to\":6},{\"from\":6,\"to\":7}]"), "must increase", "gaps overlap"),
        (body(",\"records\":[{\"n\":6,\"data\":{}}],\"gaps\":[{\"from\":5,\"to\":6}]"), "overlap at 6",
                                                                                    "a gap over a record"),
        (body(",\"records\":[{\"n\":1,\"data\":{\"x\":NaN}}]"), "records[0].data.x: expected a value", "NaN"),
        (body(",\"records\":[{\"n\":1,\"data\":{\"x\":01}}]"), "expected \",\"",    "a leading zero"),
        (body(",\"records\":[{\"n\":1,\"data\":{\"x\":\"\\x\"}}]"), "an escape",    "no such escape"),
        (body(",\"x\":" + String(repeating: "[", count: 90_000)), "nested deeper",  "must not eat the stack"),
    ]

    @Test(arguments: refused)
    func `is refused with what is wrong and where`(text: String, says: String, why: Comment) {
        do throws(JSONError) {
            _ = try EdgeReport(json: Array(text.utf8))
            Issue.record("taken: \(text.prefix(80))")
        } catch { #expect(error.description.contains(says), why) }
    }

    @Test func `is refused where it is not UTF-8`() {
        let bytes = Array(Self.body("").utf8.dropLast(2)) + [0xFF, UInt8(ascii: "\""), UInt8(ascii: "}")]
        #expect(throws: JSONError("the text is not UTF-8", at: 0)) { try EdgeReport(json: bytes) }
    }

    @Test func `that is cut anywhere is refused, never a crash`() {
        let whole = Array(
            Self.body(
                ",\"records\":[{\"n\":4,\"data\":{\"a\":[true,null,-1.5e+3,\"\\u00e9\\n\"]}}],"
                    + "\"gaps\":[{\"from\":2,\"to\":3}]"
            ).utf8)
        for length in 0..<whole.count {
            #expect(throws: JSONError.self) { try EdgeReport(json: Array(whole[..<length])) }
        }
        for index in whole.indices {
            for value in [0x00, 0x22, 0x5C, 0x7B, 0xFF] as [UInt8] {
                var bytes = whole
                bytes[index] = value
                // Taken or refused: the row is about coming back at all.
                _ = try? EdgeReport(json: bytes)
            }
        }
    }
}
