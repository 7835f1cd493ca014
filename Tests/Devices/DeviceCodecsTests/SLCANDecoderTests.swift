import DeviceCodecs
import Testing

@Suite struct SLCANDecoderTests {
    static func events(_ stream: [UInt8], _ decoder: inout SLCANDecoder) -> [String] {
        stream.compactMap { byte in
            switch decoder.accept(byte) {
            case .more: nil
            case .frame(let frame): text(frame)
            case .command(let command): "\(command)"
            case .acknowledged: "ok"
            case .refused: "bell"
            case .garbage: "garbage"
            }
        }
    }

    static let voltage = "data 351 14 02 c0 12 c0 12 c2 01"

    // swift-format-ignore
    static let rows: [(stream: String, events: [String], garbage: UInt64, why: Comment)] = [
        ("t35181402C012C012C201\r",          [voltage],                              0, "golden 11-bit line"),
        ("t35181402c012c012c201\r",          [voltage],                              0, "lower case"),
        ("t35181402C012C012C201ABCD\r",      [voltage],                              0, "with a time stamp"),
        ("T000042108A50930759D042E64\r",     ["data 4210x a5 09 30 75 9d 04 2e 64"], 0, "golden 29-bit line"),
        ("r1238\rR000001230\r",              ["remote 123", "remote 123x"],          0, "remote frames have no data"),
        ("t3050\r",                          ["data 305"],                           0, "no data"),
        ("t35181402C012C012C201\r\nt3050\r", [voltage, "data 305"],                  0, "CR LF"),
        ("\rz\rZ\r",                         ["ok", "ok", "ok"],                     0, "answers"),
        ("\u{7}t3050\r",                     ["bell", "data 305"],                   0, "a refusal"),
        ("C\rS6\rO\rL\rV\rZ0\r",  ["close", "bitRate(6)", "open", "listenOnly", "other", "other"], 0, "commands"),
        ("S9\r",                             ["garbage"],                            2, "firmware disagrees on S9"),
        ("t3051\r",                          ["garbage"],                            5, "a byte is missing"),
        ("t30510\r",                         ["garbage"],                            6, "half a byte is missing"),
        ("t305100AA\r",                      ["garbage"],                            9, "half a time stamp"),
        ("t3059000000000000000000\r",        ["garbage"],                           23, "nine bytes"),
        ("t8000\r",                          ["garbage"],                            5, "12-bit identifier"),
        ("T200000000\r",                     ["garbage"],                           10, "30-bit identifier"),
        ("t30G0\r",                          ["garbage"],                            5, "not a hexadecimal digit"),
        ("hello\rt3050\r",                   ["garbage", "data 305"],                5, "garbage as a line"),
        ("hel\u{1}lot3050\r",                ["data 305"],                           6, "garbage glued to a frame"),
        ("t35181402t3050\r",                 ["data 305"],                           9, "a frame that was cut off"),
        ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\rt3050\r", ["garbage", "data 305"], 40, "a line without end"),
        ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAt3050\r",   ["data 305"],            40, "the same, glued"),
    ]

    @Test(arguments: rows)
    func `a stream is cut into its lines`(
        row: (stream: String, events: [String], garbage: UInt64, why: Comment)
    ) {
        var decoder = SLCANDecoder()
        #expect(Self.events(Array(row.stream.utf8), &decoder) == row.events, row.why)
        #expect(decoder.garbageBytes == row.garbage, row.why)
    }

    @Test func `what the encoder writes the decoder reads back`() throws {
        let frames = [
            frame(0x305, "00 00 00 00 00 00 00 00"), frame(0x7FF, ""),
            frame(0x1FFF_FFFF, "01 ab", isExtended: true),
            CANFrame(0x123, kind: .remote), CANFrame(0x123, isExtended: true, kind: .remote),
        ]
        var decoder = SLCANDecoder()
        for frame in frames {
            let line = try #require(SLCANEncoder.encode(frame))
            #expect(Self.events(bytes(line), &decoder) == [text(frame)])
        }
        #expect(SLCANEncoder.encode(frames[0]).map(bytes) == Array("t30580000000000000000\r".utf8))
        #expect(SLCANEncoder.encode(CANFrame(0x40, kind: .error)).map(bytes) == nil)
        #expect(bytes(SLCANEncoder.bitRate(.kilobits500)) == Array("S6\r".utf8))
    }

    @Test func `no bytes trap it and the next whole frame is found again`() {
        var generator = SeededGenerator(state: UInt64.random(in: 0...UInt64.max))
        let seed = generator.state
        print("seed \(seed)")
        var decoder = SLCANDecoder()
        let letters = Array("tTrR0123456789ABCDEFabcdef\rzZSOC\u{7}".utf8)
        for round in 0..<200_000 {
            let isText = round & 1 == 0
            for byte in generator.bytes(0...40) {
                _ = decoder.accept(isText ? letters[Int(byte) % letters.count] : byte)
            }
            let found = Self.events(Array("t35181402C012C012C201\r".utf8), &decoder)
            guard found == [Self.voltage] else {
                Issue.record("seed \(seed), round \(round): \(found)")
                return
            }
        }
    }
}
