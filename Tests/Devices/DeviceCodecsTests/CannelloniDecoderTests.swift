import DeviceCodecs
import Testing

@Suite struct CannelloniDecoderTests {
    static let greeting = Array("CANNELLONIv1".utf8)

    /// What a stream after the greeting brought, as text.
    static func events(_ stream: [UInt8], greeted: Bool = true) -> [String] {
        var decoder = CannelloniDecoder()
        return ((greeted ? greeting : []) + stream).compactMap { byte in
            switch decoder.accept(byte) {
            case .more: nil
            case .greeted: "greeted"
            case .frame(let frame): text(frame)
            case .desynchronised(let fault): "desynchronised \(fault)"
            }
        }
    }

    // swift-format-ignore
    static let rows: [(stream: String, events: [String], why: Comment)] = [
        ("00 00 03 05 02 00 00",                   ["data 305 00 00"],                 "11-bit, two bytes"),
        ("80 00 42 10 01 01",                      ["data 4210x 01"],                  "29-bit"),
        ("00 00 03 05 00",                         ["data 305"],                       "no data at all"),
        ("40 00 01 23 08 00 00 03 05 01 07",       ["remote 123", "data 305 07"],      "a remote frame has a length and no data"),
        ("20 00 00 40 02 01 02",                   ["error 40 01 02"],                 "the controller's own report is marked"),
        ("00 00 01 23 82 01 aa bb 00 00 03 05 00", ["fd data 123 aa bb", "data 305"],  "an FD frame"),
        ("00 00 01 23 80 00 00 00 03 05 00",       ["fd data 123", "data 305"],        "an empty FD frame"),
        ("00 00 07 ff 08 01 02 03 04 05 06 07 08", ["data 7ff 01 02 03 04 05 06 07 08"], "highest 11-bit identifier"),
        ("00 00 08 00 00",                         ["desynchronised identifier"],      "one above it"),
        ("00 00 03 05 09",                         ["desynchronised length"],          "nine bytes"),
        ("00 00 03 05 c1",                         ["desynchronised length"],          "65 bytes of FD"),
        ("00 00 03 05 7f 00",                      ["desynchronised length", "desynchronised length"],
                                                                                       "after that nothing is believed"),
        ("00 00 03",                               [],                                 "half a frame is nothing"),
    ]

    @Test(arguments: rows)
    func `a stream is cut into its frames`(row: (stream: String, events: [String], why: Comment)) {
        #expect(Self.events(hex(row.stream)) == ["greeted"] + row.events, row.why)
    }

    @Test func `a peer that greets wrongly is refused at the first wrong byte`() {
        #expect(Self.events(Array("CANNELLONIv2".utf8), greeted: false) == ["desynchronised greeting"])
        #expect(Self.events(Array("GET".utf8), greeted: false).first == "desynchronised greeting")
        #expect(Self.events(Array("CANNELLONI".utf8), greeted: false).isEmpty)
    }

    @Test func `a decoder knows that it waits for the rest`() {
        var decoder = CannelloniDecoder()
        #expect(!decoder.isInsideFrame)
        for byte in Self.greeting.dropLast() { _ = decoder.accept(byte) }
        #expect(decoder.isInsideFrame)
        _ = decoder.accept(UInt8(ascii: "1"))
        #expect(!decoder.isInsideFrame)
        for byte in hex("00 00 03 05 01") {
            _ = decoder.accept(byte)
            #expect(decoder.isInsideFrame)
        }
        _ = decoder.accept(0)
        #expect(!decoder.isInsideFrame)
    }

    @Test func `what the encoder writes the decoder reads back`() {
        let frames = [
            frame(0x305, "00 00 00 00 00 00 00 00"), frame(0x7FF, ""),
            frame(0x1FFF_FFFF, "01", isExtended: true),
            CANFrame(0x123, kind: .remote),
        ]
        let stream = frames.flatMap { bytes(CannelloniEncoder.encode($0)) }
        #expect(Self.events(stream) == ["greeted"] + frames.map(text))
        #expect(bytes(CannelloniEncoder.encode(frames[0])) == hex("00 00 03 05 08 00 00 00 00 00 00 00 00"))
        #expect(bytes(CannelloniEncoder.greeting) == Self.greeting)
    }

    @Test func `no bytes trap it and none are believed after garbage`() {
        var generator = SeededGenerator(state: UInt64.random(in: 0...UInt64.max))
        let seed = generator.state
        print("seed \(seed)")
        for _ in 0..<200_000 {
            var decoder = CannelloniDecoder()
            // Half of them get past the greeting.
            if generator.next() & 1 == 0 { for byte in Self.greeting { _ = decoder.accept(byte) } }
            var hasFailed = false
            for byte in generator.bytes(0...24) {
                if case .desynchronised = decoder.accept(byte) {
                    hasFailed = true
                } else if hasFailed {
                    Issue.record("seed \(seed): believed a byte after a fault")
                }
            }
        }
    }
}
