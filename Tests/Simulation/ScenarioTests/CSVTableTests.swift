import Scenario
import Testing

@Suite struct CSVTableTests {
    @Test func `fields may stand in quotes, with commas, quotes and line ends in them`() throws {
        let text =
            "\u{FEFF}id,note\r\n# a comment\r\n\r\n"
            + "a,\"one, \"\"two\"\"\nthree\"\r\n b , c \r\n\"d\",\"\""
        let table = try CSVTable(text, required: ["id"])
        #expect(table.columns == ["id", "note"])
        #expect(table.rows.map(\.line) == [4, 6, 7])
        #expect(table.rows[0].text("note") == "one, \"two\"\nthree")
        #expect(table.rows[1].text("id") == "b" && table.rows[1].text("note") == "c")
        #expect(table.rows[2].text("note") == nil && table.rows[2].text("other") == nil, "empty is missing")
    }

    // swift-format-ignore
    static let refused: [(text: String, line: Int, message: String, why: Comment)] = [
        ("",                    0, "is empty: a header line is expected",  "nothing"),
        ("# only\n\n",          0, "is empty: a header line is expected",  "comments only"),
        ("a,b\n1,2\n",          1, "the header lacks the column id",       "a column is missing"),
        ("id,b,b\n",            1, "the header has \"b\" twice",           "which of them?"),
        ("id\n1\n\"2\n3\n",     3, "a quoted field has no end",            "where it begins"),
    ]

    @Test(arguments: refused)
    func `a text that is no table is refused with its line`(
        row: (text: String, line: Int, message: String, why: Comment)
    ) {
        #expect(throws: CSVError(line: row.line, row.message), row.why) {
            try CSVTable(row.text, required: ["id"])
        }
    }

    // swift-format-ignore
    static let numbers: [(field: String, message: String?, why: Comment)] = [
        ("5",        nil,                                       "plain"),
        ("-5e-1",    "x: -5e-1 is outside 0.0 … 10.0",          "outside"),
        (".5",       nil,                                       "as spreadsheets write it"),
        ("1e999",    "x: \"1e999\" is not a number",            "infinite"),
        ("nan",      "x: \"nan\" is not a number",              "no number"),
        ("0x10",     "x: \"0x10\" is not a number",             "hexadecimal"),
        ("5 kW",     "x: \"5 kW\" is not a number",             "a unit"),
        ("",         "x: is missing",                           "empty"),
    ]

    @Test(arguments: numbers)
    func `a field that is no number says its line and column`(
        row: (field: String, message: String?, why: Comment)
    ) throws {
        let table = try CSVTable("id,x\na,\(row.field)\n", required: ["id", "x"])
        var found: String?
        do throws(CSVError) {
            _ = try table.rows[0].required("x", in: 0...10)
        } catch {
            found = error.message
            #expect(error.line == 2)
        }
        #expect(found == row.message, row.why)
    }

    @Test func `a row with another number of fields is refused`() throws {
        let table = try CSVTable("id,x\na\n", required: ["id"])
        #expect(throws: CSVError(line: 2, "has 1 fields, the header 2")) { try table.rows[0].checkWidth() }
    }
}
