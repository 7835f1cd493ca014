import DBC
import Testing

/// Cases that are easily got wrong, with numbers worked out by hand or published by others.
@Suite struct DecoderTests {
    static func decode(_ text: String, _ key: UInt32, _ bytes: [UInt8]) throws -> [String: Double] {
        let database = try DBCDatabase.parse(Array(text.utf8), file: "f")
        #expect(database.problems == [])
        var decoder = DBCDecoder(try DecodePlan(database))
        guard let outcome = decoder.decode(key, bytes.span) else { return [:] }
        let first = decoder.plan.firstSignals[outcome.message]
        var values: [String: Double] = [:]
        for (index, signal) in database.messages[outcome.message].signals.enumerated() {
            let sample = decoder.samples[first + index]
            if sample.frame == decoder.frame { values[signal.name] = sample.value }
        }
        return values
    }

    struct Row: Sendable {
        var signal: String
        var bytes: [UInt8]
        var value: Double?
        var why: Comment
    }

    // swift-format-ignore
    static let rows: [Row] = [
        Row(signal: "16|16@1- (0.1,0)", bytes: [0x14, 0x02, 0x9C, 0xFF], value: -10, why: "Intel, signed: a current limit of 0x351"),
        Row(signal: "7|16@0+ (1,0)", bytes: [0x12, 0x34], value: 0x1234, why: "Motorola, two bytes"),
        Row(signal: "19|12@0- (0.5,-10)", bytes: [0x12, 0x34, 0x0F, 0x8A], value: -69, why: "Motorola across a nibble, negative"),
        Row(signal: "19|12@0- (0.5,-10)", bytes: [0x12, 0x34, 0x05, 0x00], value: 630, why: "the same, positive"),
        Row(signal: "32|1@0+ (1,0)", bytes: [0, 0, 0, 0, 0x01], value: 1, why: "lowest bit of byte 4"),
        Row(signal: "39|1@0+ (1,0)", bytes: [0, 0, 0, 0, 0x80], value: 1, why: "highest bit of byte 4"),
        Row(signal: "41|3@1- (1,0)", bytes: [0, 0, 0, 0, 0, 0x0E], value: -1, why: "three signed bits"),
        Row(signal: "41|3@1- (1,0)", bytes: [0, 0, 0, 0, 0, 0x08], value: -4, why: "the most negative of them"),
        Row(signal: "49|10@0+ (1,0)", bytes: [0, 0, 0, 0, 0, 0, 0xAB, 0x40], value: 832, why: "Motorola across two bytes"),
        Row(signal: "0|16@1+ (0.1,-100)", bytes: [0x9D, 0x04], value: 18.10000000000001, why: "0.1 · 1181 - 100 as doubles"),
        Row(signal: "0|64@1+ (1,0)", bytes: [UInt8](repeating: 0xFF, count: 8), value: 18446744073709551616, why: "all 64 bits"),
        Row(signal: "0|64@1- (1,0)", bytes: [UInt8](repeating: 0xFF, count: 8), value: -1, why: "all 64 bits, signed"),
        Row(signal: "3|64@1+ (1,0)", bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0x04], value: 9223372036854775808, why: "64 bits in nine bytes"),
        Row(signal: "56|16@1+ (1,0)", bytes: [0, 0, 0, 0, 0, 0, 0, 0x01, 0x02], value: 0x0201, why: "past the eighth byte"),
        Row(signal: "16|16@1- (1,0)", bytes: [1, 2, 3], value: nil, why: "the frame ends in the signal"),
        Row(signal: "16|8@1+ (1,0)", bytes: [1, 2, 3], value: 3, why: "the frame ends with the signal"),
        Row(signal: "0|8@1+ (1,0)", bytes: [UInt8](repeating: 7, count: 64), value: 7, why: "a longer frame than said"),
    ]

    @Test(arguments: rows)
    func `a signal is read from its bits`(row: Row) throws {
        let text = "BO_ 256 Message: 12 BMS\n SG_ A : \(row.signal) [0|0] \"\" X\n"
        #expect(try Self.decode(text, 256, row.bytes)["A"] == row.value, row.why)
    }

    @Test func `floating-point signals are read in both orders`() throws {
        let text = """
            BO_ 1 Floats: 8 BMS
             SG_ A : 0|32@1- (1,0) [0|0] "" X
             SG_ B : 39|32@0- (1,0) [0|0] "" X
            BO_ 2 Double: 8 BMS
             SG_ C : 0|64@1- (1,0) [0|0] "" X
            SIG_VALTYPE_ 1 A : 1;
            SIG_VALTYPE_ 1 B : 1;
            SIG_VALTYPE_ 2 C : 2;
            """
        let floats = try Self.decode(text, 1, [0x00, 0x00, 0x46, 0x42, 0xC0, 0x10, 0x00, 0x00])
        #expect(floats == ["A": 49.5, "B": -2.25])
        let double = try Self.decode(text, 2, [0xFC, 0xA9, 0xF1, 0xD2, 0x4D, 0x62, 0x50, 0xBF])
        #expect(double == ["C": -0.001])
    }

    static let multiplexed = """
        BO_ 256 Cells: 8 BMS
         SG_ sel M : 0|4@1+ (1,0) [0|0] "" X
         SG_ sub m2M : 4|4@1+ (1,0) [0|0] "" X
         SG_ a m0 : 8|16@1+ (1,0) [0|0] "" X
         SG_ c m3 : 8|32@1- (1,0) [0|0] "" X
         SG_ d m9 : 16|8@1+ (1,0) [0|0] "" X
         SG_ always : 56|8@1+ (1,0) [0|0] "" X
        SG_MUL_VAL_ 256 sub sel 2-2;
        SG_MUL_VAL_ 256 a sel 0-0, 6-8;
        SG_MUL_VAL_ 256 c sub 3-3;
        SG_MUL_VAL_ 256 d sub 9-10;
        """

    // swift-format-ignore
    static let frames: [([UInt8], [String: Double], Comment)] = [
        ([0x06, 0x34, 0x12, 0, 0, 0, 0, 1], ["sel": 6, "a": 0x1234, "always": 1],             "inside a range"),
        ([0x05, 0x34, 0x12, 0, 0, 0, 0, 1], ["sel": 5, "always": 1],                          "between two ranges: unknown"),
        ([0x32, 0, 0, 0, 0x80, 0, 0, 0x99], ["sel": 2, "sub": 3, "c": -2147483648, "always": 0x99], "a switch behind a switch"),
        ([0x92, 0x11, 0x22, 0, 0, 0, 0, 0], ["sel": 2, "sub": 9, "d": 0x22, "always": 0],     "first of a range"),
        ([0xA2, 0x11, 0x22, 0, 0, 0, 0, 0], ["sel": 2, "sub": 10, "d": 0x22, "always": 0],    "last of a range"),
        ([0xB2, 0x11, 0x22],                ["sel": 2, "sub": 11],                            "past it, and short"),
        ([],                                [:],                                              "nothing at all"),
    ]

    @Test(arguments: frames)
    func `multiplexed signals are there while their switches say so`(
        bytes: [UInt8], values: [String: Double], why: Comment
    ) throws {
        #expect(try Self.decode(Self.multiplexed, 256, bytes) == values, why)
    }

    @Test func `an unknown switch value and a short frame are counted`() throws {
        let database = try DBCDatabase.parse(Array(Self.multiplexed.utf8), file: "f")
        var decoder = DBCDecoder(try DecodePlan(database))
        let unknown = decoder.decode(256, [0x0F, 0, 0, 0, 0, 0, 0, 0].span)
        #expect(unknown?.decoded == 2 && unknown?.truncated == 0 && unknown?.unknownSwitches == 1)
        let short = decoder.decode(256, [0x32].span)
        #expect(short?.decoded == 2 && short?.truncated == 2 && short?.unknownSwitches == 0)
    }

    @Test func `an 11-bit and a 29-bit identifier of one number are two messages`() throws {
        let text = """
            BO_ 100 Standard: 8 BMS
             SG_ A : 0|8@1+ (1,0) [0|0] "" X
            BO_ 2147483748 Extended: 8 BMS
             SG_ B : 0|8@1+ (1,0) [0|0] "" X
            """
        #expect(try Self.decode(text, DBCMessage.key(100, isExtended: false), [7]) == ["A": 7])
        #expect(try Self.decode(text, DBCMessage.key(100, isExtended: true), [7]) == ["B": 7])
        #expect(try Self.decode(text, 101, [7]) == [:])
    }

    @Test func `everything else that a file says of its messages is kept`() throws {
        let text = """
            BO_ 100 Limits: 8 BMS
             SG_ A : 0|8@1+ (1,0) [-5|5] "°C" X
            BO_ 101 Other: 8 BMS
            CM_ BO_ 100 "two
            lines; \\"quoted\\"";
            CM_ SG_ 100 A "hot";
            BA_DEF_ BO_ "GenMsgCycleTime" INT 0 65535;
            BA_DEF_DEF_ "GenMsgCycleTime" 1000;
            BA_ "GenMsgCycleTime" BO_ 100 50;
            BA_ "SystemSignalLongSymbol" SG_ 100 A "A_name_of_more_than_thirty_two_letters";
            VAL_ 100 A -1 "unknown" 3 "three" ;
            """
        let database = try DBCDatabase.parse(Array(text.utf8), file: "f")
        let limits = try #require(database.message(named: "Limits"))
        let signal = try #require(limits.signals.first)
        #expect(limits.comment == "two\nlines; \"quoted\"")
        #expect(signal.comment == "hot" && signal.unit == "°C" && signal.range == -5...5)
        #expect(signal.text(-1) == "unknown" && signal.text(2) == nil)
        #expect(signal.name == "A_name_of_more_than_thirty_two_letters")
        #expect(limits.cycleTime == 50)
        #expect(database.message(named: "Other")?.cycleTime == 1_000)
    }
}
