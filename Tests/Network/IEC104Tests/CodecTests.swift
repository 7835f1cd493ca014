import IEC104
import Testing

/// The codec as a total function: whatever comes is a value or a refusal, and what is written is read back.
@Suite struct CodecTests {
    struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
            return z ^ z >> 31
        }
    }

    @Test func `whatever octets come, what is read is written and read the same`() {
        var random = Random(state: 104)
        let types = TypeID.allCases
        var read = 0
        for round in 0..<60_000 {
            var bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            // Most of them with a type that is known and a length that fits.
            if round % 4 != 0, bytes.count > 20 {
                let type = types[Int.random(in: 0..<types.count, using: &random)]
                bytes[0] = type.rawValue
                bytes[1] = UInt8.random(in: 1...3, using: &random)
                for length in 6...bytes.count {
                    guard case .asdu = ASDU.read(Array(bytes[..<length])) else { continue }
                    bytes = Array(bytes[..<length])
                    break
                }
            }
            guard case .asdu(let asdu) = ASDU.read(bytes) else { continue }
            read += 1
            guard case .asdu(let again) = ASDU.read(asdu.bytes) else {
                Issue.record("seed 104, round \(round): \(Hex.text(bytes)) is not read again")
                return
            }
            // Compared as octets: a number that is none is not equal to itself.
            #expect(again.bytes == asdu.bytes, "seed 104, round \(round): \(Hex.text(bytes))")
        }
        #expect(read > 15_000, "\(read) ASDUs were read")
    }

    @Test func `a stream is cut the same however it arrives`() throws {
        var random = Random(state: 5)
        let frames: [APDU] = try GoldenFrameTests.frames().prefix(60).map { golden in
            var stream = APDUStream()
            stream.append(golden.bytes)
            return try #require(try stream.next())
        }
        let bytes = frames.flatMap(\.bytes)
        for round in 0..<200 {
            var (stream, place, found) = (APDUStream(), 0, [APDU]())
            while place < bytes.count {
                let end = min(bytes.count, place + Int.random(in: 1...40, using: &random))
                stream.append(bytes[place..<end])
                place = end
                while let frame = try stream.next() { found.append(frame) }
            }
            #expect(found == frames, "seed 5, round \(round)")
        }
    }

    // swift-format-ignore
    static let faults: [(hex: String, fault: APDU.Fault?, why: Comment)] = [
        ("68 04 07 00 00 00", nil,         "STARTDT"),
        ("68 04 07 00 00",    nil,         "not whole yet"),
        ("67 04 07 00 00 00", .badStart,   "another first octet"),
        ("68 03 07 00 00",    .badLength,  "shorter than its control octets"),
        ("68 FE",             .badLength,  "254 octets behind the length"),
        ("68 04 0F 00 00 00", .badControl, "two commands at once"),
        ("68 04 07 00 01 00", .badControl, "a U frame with something in it"),
        ("68 04 05 00 00 00", .badControl, "an S frame with reserved bits"),
        ("68 04 01 00 01 00", .badControl, "N(R) with its lowest bit"),
        ("68 05 01 00 00 00 00", .badLength, "an S frame with something behind it"),
    ]

    @Test(arguments: faults)
    func `what is no frame is refused`(row: (hex: String, fault: APDU.Fault?, why: Comment)) {
        var stream = APDUStream()
        stream.append(Hex.bytes(row.hex))
        var fault: APDU.Fault?
        do throws(APDU.Fault) { _ = try stream.next() } catch { fault = error }
        #expect(fault == row.fault, row.why)
    }

    // swift-format-ignore
    static let malformed: [(hex: String, why: Comment)] = [
        ("64 01 06 00 2F",                   "no header"),
        ("64 01 06 00 2F 00 00 00 00",       "an octet short"),
        ("64 01 06 00 2F 00 00 00 00 14 00", "an octet too many"),
        ("64 00 06 00 2F 00",                "no object"),
        ("0D 82 14 00 2F 00 FF FF FF 00 00 00 00 00 00 00 00 00 00", "a sequence beyond the last address"),
    ]

    @Test(arguments: malformed)
    func `an ASDU whose length is not its objects' is malformed`(row: (hex: String, why: Comment)) {
        #expect(ASDU.read(Hex.bytes(row.hex)) == .malformed, row.why)
    }

    @Test func `a time is the calendar's, and what is no time is none`() {
        // `date -u -d @1772323198.250`; the golden frames hold the same instant in octets.
        let time = CP56Time(milliseconds1970: 1_772_323_198_250)
        #expect(time.fields["cp56time.day"] == "28" && time.fields["cp56time.month"] == "2")
        #expect(time.fields["cp56time.hour"] == "23" && time.fields["cp56time.ms"] == "58250")
        #expect(time.weekday == 6, "a Saturday")
        for day in stride(
            from: Int64(946_684_800_000), to: 4_102_444_800_000, by: 86_400_000 * 13 + 12_345_678)
        {
            #expect(CP56Time(milliseconds1970: day).milliseconds1970 == day)
        }
        var wrong = time
        wrong.day = 30
        #expect(wrong.milliseconds1970 == nil, "the 30th of February")
        wrong = time
        wrong.isInvalid = true
        #expect(wrong.milliseconds1970 == nil)
        wrong = time
        wrong.isSummerTime = true
        let hourBefore: Int64 = 1_772_319_598_250
        #expect(wrong.milliseconds1970 == hourBefore)
    }
}
