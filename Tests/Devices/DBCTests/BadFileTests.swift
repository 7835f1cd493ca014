import DBC
import Testing

/// What is wrong with a file is said with its line and column, and nothing traps.
@Suite struct BadFileTests {
    static let message = "BO_ 256 Cells: 8 BMS\n"

    struct Row: Sendable {
        var text: String
        var error: String
        var why: Comment
    }

    // swift-format-ignore
    static let broken: [Row] = [
        Row(text: "VERSION \"1", error: "f:1:9: the version begins here and never ends", why: "unterminated text"),
        Row(text: "BO_ 256 Cells 8 BMS", error: "f:1:15: expected \":\", found \"8\"", why: "a missing colon"),
        Row(text: "BO_ 256 Cells: 8 BMS\n SG_ A : 0|8@1+ (1,0) [0|1", error: "f:2:27: expected \"]\", found the end of the file", why: "the file ends in a signal"),
        Row(text: "BO_ 2048 Cells: 8 BMS", error: "f:1:1: identifier 0x800 has more than 11 bits", why: "one past the largest"),
        Row(text: "BO_ 2684354560 Cells: 8 BMS", error: "f:1:1: identifier 0x20000000 has more than 29 bits", why: "one past the largest"),
        Row(text: "BO_ 99999999999999999999 Cells: 8 BMS", error: "f:1:5: a message's identifier 99999999999999999999 is beyond all limits", why: "an integer overflow"),
        Row(text: message + " SG_ A : 0|65@1+ (1,0) [0|0] \"\" X", error: "f:2:12: a signal's length in bits 65 is outside 1 … 64", why: "one bit too many"),
        Row(text: message + " SG_ A : 0|0@1+ (1,0) [0|0] \"\" X", error: "f:2:12: a signal's length in bits 0 is outside 1 … 64", why: "no bit"),
        Row(text: message + " SG_ A : -1|8@1+ (1,0) [0|0] \"\" X", error: "f:2:10: a start bit -1 is outside 0 … 1048575", why: "negative"),
        Row(text: message + " SG_ A : 0|8@2+ (1,0) [0|0] \"\" X", error: "f:2:14: a byte order (0 or 1) 2 is outside 0 … 1", why: "no such order"),
        Row(text: message + " SG_ A : 0|8@1* (1,0) [0|0] \"\" X", error: "f:2:15: expected \"+\", found \"*\"", why: "no such sign"),
        Row(text: message + " SG_ A q3 : 0|8@1+ (1,0) [0|0] \"\" X", error: "f:2:8: \"q3\" is no multiplexer mark (M, m1 or m1M)", why: "no such mark"),
        Row(text: message + " SG_ A : 0|8@1+ (1e999,0) [0|0] \"\" X", error: "f:2:18: a factor 1e999 is beyond all limits", why: "no double"),
        Row(text: message + " SG_ A : 0|8@1+ (nan,0) [0|0] \"\" X", error: "f:2:18: expected a factor, found \"nan\"", why: "no number"),
        Row(text: "SG_ A : 0|8@1+ (1,0) [0|0] \"\" X", error: "f:1:1: a signal outside any message", why: "no message"),
        Row(text: "CM_ SG_ 256 A \"text\"", error: "f:1:21: expected \";\", found the end of the file", why: "no end"),
        Row(text: "BO_TX_BU_ 1 : A, B", error: "f:1:1: BO_TX_BU_ begins here and has no \";\"", why: "a skipped statement without end"),
        Row(text: "SG_MUL_VAL_ 256 A B 5-3;", error: "f:1:23: range 5-3 runs backwards", why: "an empty range"),
        Row(text: "HELLO", error: "f:1:1: expected a statement, found \"HELLO\"", why: "not a DBC file"),
        Row(text: "\u{0}\u{0}", error: "f:1:1: expected a statement, found byte 0", why: "a binary file"),
    ]

    @Test(arguments: broken)
    func `a text that is no DBC is refused with its line and column`(row: Row) {
        do throws(DBCError) {
            _ = try DBCDatabase.parse(Array(row.text.utf8), file: "f")
            Issue.record("taken: \(row.why)")
        } catch {
            #expect("\(error)" == row.error, row.why)
        }
    }

    static func signals(_ lines: String...) -> String {
        message + lines.map { " SG_ \($0) (1,0) [0|0] \"\" X" }.joined(separator: "\n") + "\n"
    }

    // swift-format-ignore
    static let wrong: [Row] = [
        Row(text: signals("A : 0|8@1+", "B : 7|2@1+"), error: "f:3:2: message Cells: signals A and B overlap", why: "one bit in common"),
        Row(text: signals("A : 7|16@0+", "B : 15|8@1+"), error: "f:3:2: message Cells: signals A and B overlap", why: "both orders"),
        Row(text: signals("A : 57|8@1+"), error: "f:2:2: message Cells: signal A ends in byte 8 of a message of 8 bytes", why: "one bit outside"),
        Row(text: signals("A : 56|2@0+"), error: "f:2:2: message Cells: signal A ends in byte 8 of a message of 8 bytes", why: "runs out downwards"),
        Row(text: signals("A : 0|8@1+", "A : 8|8@1+"), error: "f:3:2: message Cells: signal A stands already in line 2", why: "a name twice"),
        Row(text: message + message, error: "f:2:1: message Cells: has the identifier of message Cells in line 1", why: "an identifier twice"),
        Row(text: signals("A m1 : 0|8@1+"), error: "f:2:2: message Cells: signal A is multiplexed and has no switch", why: "no switch"),
        Row(text: signals("S M : 0|8@1+", "T M : 8|8@1+", "A m1 : 16|8@1+"), error: "f:4:2: message Cells: signal A is multiplexed and may belong to 2 switches", why: "which one?"),
        Row(text: signals("A : 0|8@1+") + "SIG_VALTYPE_ 256 A : 1;", error: "f:2:2: message Cells: signal A is a floating-point number of 8 bits", why: "a float of 8 bits"),
        Row(text: signals("A : 0|8@1+") + "VAL_ 256 B 1 \"x\";", error: "f:3:1: VAL_ names signal B of message 256, which is not there", why: "no such signal"),
        Row(text: signals("A : 0|8@1+", "B m1 : 8|8@1+") + "SG_MUL_VAL_ 256 B A 1-1;", error: "f:3:2: message Cells: signal B is multiplexed by A, which is no switch (M)", why: "not a switch"),
        Row(text: signals("A m1M : 0|8@1+") + "SG_MUL_VAL_ 256 A A 1-1;", error: "f:2:2: message Cells: signal A hangs on more than 8 switches, or on itself", why: "its own switch"),
    ]

    @Test(arguments: wrong)
    func `what cannot be true is named with its line and column`(row: Row) throws {
        let database = try DBCDatabase.parse(Array(row.text.utf8), file: "f")
        #expect(database.problems.map(\.description) == [row.error], row.why)
        var decoder = DBCDecoder(try DecodePlan(database))
        _ = decoder.decode(256, [UInt8](repeating: 0xFF, count: 8).span)
    }

    @Test func `two switches that hang on each other are named and not followed`() throws {
        let text =
            Self.signals("A m1M : 0|8@1+", "B m1M : 8|8@1+", "C m1 : 16|8@1+")
            + "SG_MUL_VAL_ 256 A B 1-1;\nSG_MUL_VAL_ 256 B A 1-1;\nSG_MUL_VAL_ 256 C A 1-1;\n"
        let database = try DBCDatabase.parse(Array(text.utf8), file: "f")
        #expect(database.problems.count == 3)
        var decoder = DBCDecoder(try DecodePlan(database))
        let outcome = decoder.decode(256, [UInt8](repeating: 1, count: 8).span)
        #expect(outcome?.decoded == 0)
    }

    @Test func `signals of one place that are never there together do not overlap`() throws {
        let text = Self.signals("S M : 0|8@1+", "A m1 : 8|8@1+", "B m2 : 8|8@1+")
        #expect(try DBCDatabase.parse(Array(text.utf8), file: "f").problems == [])
    }

    @Test func `lines of 300 kB are read or refused without harm`() throws {
        let long = String(repeating: "x", count: 300_000)
        let comment = "CM_ \"\(long)\";\n" + Self.message
        #expect(try DBCDatabase.parse(Array(comment.utf8), file: "f").comment.count == 300_000)
        let nines = String(repeating: "9", count: 300_000)
        for text in ["BO_ 1 \(long): 8 X", "BU_: \(long)", "\(long)", "BO_ \(nines)"] {
            #expect(throws: DBCError.self) { try DBCDatabase.parse(Array(text.utf8), file: "f") }
        }
        let nodes = "BU_: " + String(repeating: "node ", count: 60_000) + "\n" + Self.message
        #expect(try DBCDatabase.parse(Array(nodes.utf8), file: "f").messages.count == 1)
    }

    @Test func `a file that asks for too much is refused, not served`() throws {
        var text = "BO_ 256 Cells: 8 BMS\n SG_ S M : 0|32@1+ (1,0) [0|0] \"\" X\n"
        for index in 0..<1_500 { text += " SG_ A\(index) m0 : 32|8@1+ (1,0) [0|0] \"\" X\n" }
        for index in 0..<1_500 { text += "SG_MUL_VAL_ 256 A\(index) S \(index)-\(1_000_000 + index);\n" }
        let database = try DBCDatabase.parse(Array(text.utf8), file: "f")
        #expect(database.problems.count == 20, "overlaps are told, and not all of a million")
        #expect(throws: DBCError.self) { try DecodePlan(database) }
        let signals = String(repeating: " SG_ A : 0|8@1+ (1,0) [0|0] \"\" X\n", count: 5_000)
        let bytes = Array((Self.message + signals).utf8)
        #expect(throws: DBCError.self) { try DBCDatabase.parse(bytes, file: "f") }
    }

    /// Bytes of a good file, cut, doubled, changed.
    @Test func `no change to a file traps the reader or the decoder`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var chance = Xorshift(state: seed | 1)
        let good = Array(
            (Self.signals("S M : 0|8@1+", "A m1M : 8|8@1-", "B m2 : 39|16@0+", "C m1 : 16|32@1-")
                + "SG_MUL_VAL_ 256 C A 1-4, 7-9;\nSIG_VALTYPE_ 256 C : 1;\nVAL_ 256 S 1 \"one\" 2 \"two\";\n"
                + "CM_ SG_ 256 A \"text; more\";\nBA_ \"GenMsgCycleTime\" BO_ 256 100;\n").utf8)
        var taken = 0
        for _ in 0..<3_000 {
            var bytes = good
            for _ in 0...chance.below(4) {
                let place = chance.below(bytes.count)
                switch chance.below(4) {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: chance.next())
                case 1: bytes.remove(at: place)
                case 2:
                    bytes.insert(contentsOf: "-9|;\"@M0".utf8.dropFirst(chance.below(8)).prefix(1), at: place)
                default: bytes.removeSubrange(place..<min(bytes.count, place + chance.below(30)))
                }
                if bytes.isEmpty { break }
            }
            guard let database = try? DBCDatabase.parse(bytes, file: "seed \(seed)"),
                let plan = try? DecodePlan(database)
            else { continue }
            taken += 1
            var decoder = DBCDecoder(plan)
            let payload = (0..<chance.below(10)).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
            _ = decoder.decode(256, payload.span)
        }
        #expect(taken > 100, "seed \(seed): many must still be DBC files")
    }
}

struct Xorshift {
    var state: UInt64
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
    mutating func below(_ limit: Int) -> Int { limit <= 0 ? 0 : Int(next() % UInt64(limit)) }
}
