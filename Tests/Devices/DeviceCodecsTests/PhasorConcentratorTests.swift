import DeviceCodecs
import Plant
import Quantities
import Testing

/// A concentrator's stream: two PMUs in one frame, described by CFG-3. The bytes were written by hand in Python
/// and are dissected by tshark 4.0.17 (`synphasor`) as what the rows say.
@Suite struct PhasorConcentratorTests {
    /// Stream 700, 50 frames/s: "Andheri Süd" (7; integers, two phasors, an analog, a digital word), "Powai" (8;
    /// floats, one phasor); both 50 Hz.
    static let configuration = PhasorFrames.bytes(
        """
        aa52012402bc6b021af7000000000000000f424000020c416e64686572692053c3bc640007000102030405060708090a0b0c
        0d0e0f000000020001000102564102494101500442495430044249543104424954320442495433044249543404424954350442
        495436044249543704424954380442495439054249543130054249543131054249543132054249543133054249543134054249
        543135000001003c15fffc00000000000009003c23d70a000000003f800000000000000000ffff4198e8a74291bd4941600000
        5000004e20000000280001000305506f7761690008000102030405060708090a0b0c0d0e0f000a000100000000025631000001
        003f800000000000004198e8a74291bd49416000005000004e20000000280001000400321a8d
        """)
    /// 49.987 Hz as −13 mHz, −0.12 Hz/s; 50.021 Hz and 0.05 Hz/s as floats.
    static let data = PhasorFrames.bytes(
        "aa02003402bc6b021af700000000000061a8000000640000fff3fff4006480010000436780003e800000424815813d4ccccde259"
    )

    // swift-format-ignore
    static let rows: [(unit: UInt16?, stream: UInt16?, outcome: PhasorStream.Outcome, hertz: Double?, why: Comment)] = [
        (7,   700, .configured(isChange: false), 49.987, "the first, by its IDCODE"),
        (8,   700, .configured(isChange: false), 50.021, "the second, which writes floats"),
        (nil, 700, .configured(isChange: false), 49.987, "without an IDCODE the first"),
        (9,   700, .rejected(.stranger),         nil,    "one that is not in the stream"),
        (7,   701, .rejected(.stranger),         nil,    "another stream"),
    ]

    private static func stream(_ unit: UInt16?, _ id: UInt16? = 700) -> PhasorStream {
        PhasorStream(settings: PhasorStream.Settings(nominal: Hertz(50), streamID: id, unitID: unit))
    }

    @Test(arguments: rows.indices)
    func `a PMU of a concentrator is found by its IDCODE in CFG-3`(index: Int) throws {
        let row = Self.rows[index]
        var stream = Self.stream(row.unit, row.stream)
        let now = MonotonicTime(nanoseconds: 50_000_000_000)
        #expect(stream.accept(Self.configuration.span, at: now) == row.outcome, row.why)
        guard let hertz = row.hertz else { return }
        #expect(stream.accept(Self.data.span, at: now) == .sample, row.why)
        let seen = try #require(stream.image.frequency.fresh(at: now, within: .seconds(1)), row.why)
        #expect((seen - Hertz(hertz)).magnitude < Hertz(0.0001), row.why)
    }

    @Test func `the same stream told by CFG-2 and by CFG-3 is no change`() throws {
        var stream = Self.stream(8)
        let now = MonotonicTime(nanoseconds: 50_000_000_000)
        _ = stream.accept(Self.configuration.span, at: now)
        let known = try #require(stream.configuration)
        #expect(known.blocks.map(\.name) == ["Andheri S??d", "Powai"])
        #expect(known.blocks[0].phasors.map(\.isCurrent) == [false, true])
        let second = PhasorEncoder.configuration(known, idCode: 700, second: 1, fraction: 0)
        #expect(stream.accept(second.span, at: now) == .configured(isChange: false))
    }

    @Test func `one part of several is refused, and no length of it traps`() {
        for length in 0..<Self.configuration.count {
            var stream = Self.stream(7)
            var cut = Array(Self.configuration.prefix(length))
            if length > 16 {
                (cut[2], cut[3]) = (UInt8(length >> 8), UInt8(length & 0xFF))
                let sum = PhasorChecksum.of(cut.span, count: length - 2)
                (cut[length - 2], cut[length - 1]) = (UInt8(sum >> 8), UInt8(sum & 0xFF))
            }
            let outcome = stream.accept(cut.span, at: MonotonicTime(nanoseconds: 1))
            guard case .rejected = outcome else {
                Issue.record("\(length) bytes are taken")
                return
            }
        }
        var part = Self.configuration
        part[15] = 1
        let sum = PhasorChecksum.of(part.span, count: part.count - 2)
        (part[part.count - 2], part[part.count - 1]) = (UInt8(sum >> 8), UInt8(sum & 0xFF))
        var stream = Self.stream(7)
        let outcome = stream.accept(part.span, at: MonotonicTime(nanoseconds: 1))
        #expect(outcome == .rejected(.configuration))
    }
}
