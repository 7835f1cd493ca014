import JSONText
import Testing

@Suite struct `JSON text` {
    // swift-format-ignore
    static let rows: [(text: String, isObject: Bool, why: Comment)] = [
        ("{}",                                        true,  "the smallest"),
        (" {\"a\" : [1, -0.5e-3, true, null]}\n",     true,  "space and every kind"),
        ("{\"a\":\"\\u00e9\\\\\\\"\\n\"}",            true,  "escapes"),
        ("{\"a\":{},\"a\":1}",                        false, "a key twice"),
        ("{\"a\":1,}",                                false, "a comma too many"),
        ("{\"a\" 1}",                                 false, "no colon"),
        ("{'a':1}",                                   false, "another kind of quotes"),
        ("{\"a\":+1}",                                false, "a plus sign"),
        ("{\"a\":.5}",                                false, "no digit before the point"),
        ("{\"a\":1.}",                                false, "no digit behind the point"),
        ("{\"a\":tru}",                               false, "half a word"),
        ("{\"a\":\"\t\"}",                            false, "a control character in a string"),
        ("{\"a\":\"\\u12g4\"}",                       false, "not hexadecimal"),
        ("{} {}",                                     false, "two texts"),
    ]

    @Test(arguments: rows)
    func `is told from what is not`(text: String, isObject: Bool, why: Comment) {
        #expect(JSONText.isObject(Array(text.utf8)) == isObject, why)
    }

    @Test func `gives strings back as they were quoted`() throws {
        for text in ["", "plain", "\"\\/\n\r\t\u{1}", "é – 🔋", "\u{10FFFF}"] {
            var cursor = JSONCursor(Array(JSONText.quoted(text).utf8))
            #expect(try cursor.string() == text)
        }
        var pair = JSONCursor(Array("\"\\ud83d\\udd0b\"".utf8))
        #expect(try pair.string() == "🔋")
        var half = JSONCursor(Array("\"\\ud83d\"".utf8))
        #expect(throws: JSONError.self) { try half.string() }
    }
}
