import DeviceCodecs
import Testing

@Suite struct SocketCANCodecTests {
    static let eight = " 01 02 03 04 05 06 07 08"
    static let empty = " 00 00 00 00 00 00 00 00"

    // swift-format-ignore
    static let rows: [(bytes: String, frame: String?, why: Comment)] = [
        ("51 03 00 00 08 00 00 00" + eight,  "data 351 01 02 03 04 05 06 07 08", "11 bits"),
        ("10 42 00 80 01 00 00 00" + eight,  "data 4210x 01",                    "29 bits: the flag, and one byte"),
        ("23 01 00 40 08 00 00 00" + empty,  "remote 123",                       "a request has a length and no data"),
        ("40 00 00 20 08 00 00 00" + eight,  "error 40 01 02 03 04 05 06 07 08", "the controller's own report"),
        ("51 03 00 00 ff 00 00 00" + eight,  "data 351 01 02 03 04 05 06 07 08", "never more than eight bytes"),
        ("00 08 00 00 00 00 00 00" + empty,  nil,                                "no 11 bits hold 0x800"),
        ("51 03 00 00 08 00 00 00",          nil,                                "half a frame"),
        ("",                                 nil,                                "nothing"),
    ]

    @Test(arguments: rows)
    func `the bytes of the kernel are a frame with its identity`(
        row: (bytes: String, frame: String?, why: Comment)
    ) {
        #expect(SocketCANCodec.decode(hex(row.bytes).span).map(text) == row.frame, row.why)
    }

    @Test func `what is encoded is decoded back, and CAN FD is padded to a length that it can say`() {
        for (length, padded) in [(0, 0), (8, 8), (9, 12), (13, 16), (21, 24), (25, 32), (33, 48), (64, 64)] {
            var frame = CANFrame(0x1FFF_FFFF, isExtended: true, isFlexible: true)
            frame.hasRateSwitch = true
            for byte in 0..<length { frame.append(UInt8(byte + 1)) }
            let wire = bytes(SocketCANCodec.encode(frame))
            #expect(wire.count == SocketCANCodec.flexibleSize && wire[4] == UInt8(padded))
            let back = SocketCANCodec.decode(wire.span)
            #expect(back?.length == padded && back?.hasRateSwitch == true && back?.isFlexible == true)
            #expect(back.map { Array((0..<length).map($0.data.byte)) } == (0..<length).map { UInt8($0 + 1) })
        }
        let classic = frame(0x305, "01 02")
        let wire = bytes(SocketCANCodec.encode(classic))
        #expect(wire == hex("05 03 00 00 02 00 00 00 01 02 00 00 00 00 00 00"))
        let remote = bytes(SocketCANCodec.encode(CANFrame(0x123, kind: .remote)))
        #expect(remote == hex("23 01 00 40 00 00 00 00" + Self.empty))
    }

    @Test func `any bytes are a frame or none, and no frame is longer than it may be`() {
        var generator = SeededGenerator(state: UInt64.random(in: 0...UInt64.max))
        print("seed \(generator.state)")
        for _ in 0..<20_000 {
            let size = [0, 8, 15, 16, 17, 71, 72, 73][Int(generator.next() % 8)]
            let bytes = generator.bytes(size...size)
            guard let frame = SocketCANCodec.decode(bytes.span) else { continue }
            #expect(frame.validLength == frame.length && frame.length <= frame.capacity)
            #expect(frame.isExtended || frame.kind == .error || frame.identifier <= 0x7FF)
            _ = CANErrorFrame(frame)
            _ = CANBitRates().nanoseconds(of: frame)
        }
    }
}

extension InlineArray where Element == UInt8 {
    fileprivate func byte(_ index: Int) -> UInt8 { self[index] }
}
