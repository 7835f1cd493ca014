import DeviceCodecs
import Plant
import Quantities
import Testing

@Suite struct PhasorStreamTests {
    static let limit = Duration.milliseconds(100)

    /// A stream on virtual time: frame stamps and arrivals are given in milliseconds.
    struct Bench {
        var stream: PhasorStream
        var now = MonotonicTime(nanoseconds: 50_000_000_000)

        init(
            streamID: UInt16? = 7, unitID: UInt16? = nil, breaker: PhasorStream.DigitalBit? = nil,
            configured: Bool = true
        ) {
            stream = PhasorStream(
                settings: PhasorStream.Settings(
                    nominal: Hertz(50), streamID: streamID, unitID: unitID, breaker: breaker))
            if configured { _ = feed(PhasorFrames.configurationFrame(PhasorFrames.configuration()), at: 0) }
        }

        mutating func feed(_ frame: [UInt8], at milliseconds: Int) -> PhasorStream.Outcome {
            now = MonotonicTime(nanoseconds: 50_000_000_000 + Int64(milliseconds) * 1_000_000)
            return stream.accept(frame.span, at: now)
        }

        mutating func data(
            _ frequency: Double, stamp: Int, at milliseconds: Int, status: UInt16 = 0
        ) -> PhasorStream.Outcome {
            feed(PhasorFrames.data(frequency, milliseconds: stamp, status: status), at: milliseconds)
        }

        var frequency: Hertz? { stream.image.frequency.fresh(at: now, within: PhasorStreamTests.limit) }
        var fault: ReadingFault? { stream.image.frequency.fault(at: now, within: PhasorStreamTests.limit) }
    }

    @Test func `data counts only once the configuration is known`() {
        var bench = Bench(configured: false)
        #expect(bench.data(49.9, stamp: 0, at: 0) == .unconfigured)
        #expect(bench.fault == .neverSeen)
        #expect(bench.stream.wantsConfiguration)
        let frame = PhasorFrames.configurationFrame(PhasorFrames.configuration())
        #expect(bench.feed(frame, at: 10) == .configured(isChange: false))
        #expect(bench.data(49.875, stamp: 20, at: 20) == .sample)
        #expect(bench.frequency == Hertz(49.875))
        #expect(bench.stream.image.voltage.fresh(at: bench.now, within: Self.limit) == Volts(231))
    }

    // swift-format-ignore
    static let values: [(hertz: Double, status: UInt16, fault: ReadingFault?, why: Comment)] = [
        (50,          0x0000, nil,             "good"),
        (50,          0x2000, nil,             "not locked to UTC: its frequency counts all the same"),
        (50,          0x0800, nil,             "a trigger"),
        (50,          0x8000, .deviceFault,    "data invalid"),
        (50,          0x4000, .deviceFault,    "PMU error, or test mode"),
        (50,          0xC000, .deviceFault,    "both"),
        (9.5,         0x0000, .implausible,    "below what a PMU can see"),
        (100.5,       0x0000, .implausible,    "above it"),
        (.nan,        0x0000, .notImplemented, "marked as missing"),
        (.infinity,   0x0000, .notImplemented, "no number"),
        (0,           0x0000, .implausible,    "a deviation where the frequency should stand"),
    ]

    @Test(arguments: values)
    func `what cannot be used is a bad reading with its reason`(
        row: (hertz: Double, status: UInt16, fault: ReadingFault?, why: Comment)
    ) {
        var bench = Bench()
        #expect(bench.data(50, stamp: 0, at: 0) == .sample)
        #expect(bench.data(row.hertz, stamp: 20, at: 20, status: row.status) == .sample)
        #expect(bench.fault == row.fault, row.why)
    }

    @Test func `a frame that comes twice, or late, changes nothing`() {
        var bench = Bench()
        #expect(bench.data(50, stamp: 0, at: 0) == .sample)
        #expect(bench.data(49.75, stamp: 40, at: 40) == .sample)
        #expect(bench.data(47, stamp: 40, at: 41) == .duplicate)
        #expect(bench.data(47, stamp: 20, at: 42) == .outOfOrder)
        #expect(bench.frequency == Hertz(49.75))
    }

    @Test func `a frame that waited somewhere is old when it comes`() {
        var bench = Bench()
        #expect(bench.data(50, stamp: 0, at: 30) == .sample)
        #expect(bench.data(49.75, stamp: 20, at: 400) == .sample)
        #expect(bench.fault == .stale, "350 ms longer on its way than the first one")
        #expect(bench.data(49.75, stamp: 380, at: 410) == .sample)
        #expect(bench.frequency == Hertz(49.75))
    }

    @Test func `when its clock is set, the new time counts after a second`() {
        for leap in [-500_000, -2_000, 2_000, 3_600_000] {
            var bench = Bench()
            for step in 0..<10 { _ = bench.data(50, stamp: 1_000_000 + step * 20, at: step * 20) }
            for step in 10..<60 {
                let outcome = bench.data(49, stamp: 1_000_000 + leap + step * 20, at: step * 20)
                #expect(outcome == .outOfOrder, "leap \(leap), step \(step)")
            }
            #expect(bench.fault == .stale, "in the meantime it grows old")
            #expect(bench.data(49.5, stamp: 1_000_000 + leap + 1_200, at: 1_200) == .sample)
            #expect(bench.frequency == Hertz(49.5), "leap \(leap)")
        }
    }

    @Test func `clocks that run apart by 100 ppm stay together`() {
        var bench = Bench()
        for second in 0..<3_600 {
            let arrival = second * 1_000 + second / 10
            #expect(bench.data(50, stamp: second * 1_000, at: arrival) == .sample)
            #expect(bench.frequency == Hertz(50), "after \(second) s")
        }
    }

    @Test func `another stream's frames, and frames with a wrong checksum, change nothing`() {
        var bench = Bench()
        _ = bench.data(50, stamp: 0, at: 0)
        let stranger = PhasorFrames.data(47, milliseconds: 20, idCode: 8)
        #expect(bench.feed(stranger, at: 20) == .rejected(.stranger))
        var bad = PhasorFrames.data(47, milliseconds: 40)
        bad[20] ^= 1
        #expect(bench.feed(bad, at: 40) == .rejected(.checksum))
        #expect(bench.feed([], at: 41) == .rejected(.length))
        #expect(bench.frequency == Hertz(50), "it grows old by itself")
    }

    @Test func `a configuration that changes in mid-stream is followed at once`() {
        var bench = Bench()
        _ = bench.data(50, stamp: 0, at: 0)
        let integers = PhasorFrames.configuration(float: false, changeCount: 1)
        let early = PhasorFrames.data(49.9, milliseconds: 20, integers)
        #expect(bench.feed(early, at: 20) == .rejected(.size))
        #expect(bench.fault == .implausible, "no value of a frame that is not understood")
        #expect(bench.stream.wantsConfiguration)
        #expect(bench.feed(PhasorFrames.configurationFrame(integers), at: 30) == .configured(isChange: true))
        #expect(bench.feed(PhasorFrames.data(49.9, milliseconds: 40, integers), at: 40) == .sample)
        #expect(bench.frequency == Hertz(49.9))
    }

    @Test func `where a change is announced, data waits for the configuration`() {
        var bench = Bench()
        let frame = PhasorFrames.configurationFrame(PhasorFrames.configuration(changeCount: 1))
        _ = bench.data(50, stamp: 0, at: 0)
        #expect(bench.data(49, stamp: 20, at: 20, status: 0x0400) == .unconfigured)
        #expect(bench.data(49, stamp: 40, at: 40, status: 0x0400) == .unconfigured)
        #expect(bench.frequency == Hertz(50), "the last good one")
        #expect(bench.feed(frame, at: 50) == .configured(isChange: true))
        #expect(bench.data(49.5, stamp: 60, at: 60, status: 0x0400) == .sample)
        #expect(bench.data(49, stamp: 80, at: 80) == .unconfigured, "the bit has fallen: it is made now")
        #expect(bench.feed(frame, at: 90) == .configured(isChange: false))
        #expect(bench.data(49.25, stamp: 100, at: 100) == .sample)
        #expect(bench.frequency == Hertz(49.25))
    }

    @Test func `a PMU of another nominal frequency, or one that is not there, is refused`() {
        var bench = Bench()
        _ = bench.data(50, stamp: 0, at: 0)
        let other = PhasorFrames.configurationFrame(PhasorFrames.configuration(isNominal60: true))
        #expect(bench.feed(other, at: 20) == .rejected(.nominal))
        #expect(bench.fault == .disagrees)
        #expect(bench.data(50, stamp: 40, at: 40) == .unconfigured)

        var second = Bench(unitID: 12)
        #expect(second.stream.wantsConfiguration, "the stream has no PMU 12")
        #expect(second.data(50, stamp: 0, at: 0) == .unconfigured)
    }

    @Test func `one PMU of many is picked by its number`() {
        var bench = Bench(streamID: 7, unitID: 12, configured: false)
        var configuration = PhasorFrames.configuration(idCode: 11)
        configuration.blocks.append(PhasorFrames.configuration(float: false, idCode: 12).blocks[0])
        let first = PhasorFrames.configurationFrame(configuration)
        #expect(bench.feed(first, at: 0) == .configured(isChange: false))
        let values = [
            PhasorEncoder.Measurement(frequency: 48), PhasorEncoder.Measurement(frequency: 50.25),
        ]
        let frame = PhasorEncoder.data(values, configuration, idCode: 7, second: 9, fraction: 0)
        #expect(bench.feed(frame, at: 10) == .sample)
        #expect(bench.frequency == Hertz(50.25))
    }

    @Test func `a digital bit tells of the breaker, and a missing word is no breaker`() {
        var bench = Bench(breaker: PhasorStream.DigitalBit(word: 0, bit: 3))
        _ = bench.feed(PhasorFrames.data(50, milliseconds: 0, digital: 8), at: 0)
        #expect(bench.stream.image.breaker.fresh(at: bench.now, within: Self.limit) == true)
        _ = bench.feed(PhasorFrames.data(50, milliseconds: 20, digital: 0), at: 20)
        #expect(bench.stream.image.breaker.fresh(at: bench.now, within: Self.limit) == false)
        _ = bench.feed(PhasorFrames.data(50, milliseconds: 40, status: 0x8000), at: 40)
        #expect(bench.stream.image.breaker.fault(at: bench.now, within: Self.limit) == .deviceFault)

        var missing = Bench(breaker: PhasorStream.DigitalBit(word: 1, bit: 0))
        _ = missing.feed(PhasorFrames.data(50, milliseconds: 0), at: 0)
        #expect(missing.stream.image.breaker.fault(at: missing.now, within: Self.limit) == .notImplemented)
    }

    @Test func `headers, commands and other configurations go by`() {
        var bench = Bench()
        #expect(bench.feed(PhasorFrames.dataOn, at: 0) == .ignored(.command))
        let first = PhasorEncoder.configuration(
            PhasorFrames.configuration(), kind: .configuration1, idCode: 7, second: 0, fraction: 0)
        #expect(bench.feed(first, at: 0) == .ignored(.configuration1))
    }

    @Test func `a fraction of a second that is none is refused`() {
        var bench = Bench()
        let value = PhasorEncoder.Measurement(frequency: 50)
        let frame = PhasorEncoder.data(
            [value], PhasorFrames.configuration(), idCode: 7, second: 1, fraction: 1_000_000)
        #expect(bench.feed(frame, at: 0) == .rejected(.time))
    }

    @Test func `any sequence of frames with random damage gives no value that was not sent`() {
        var random = SplitMix(seed: 42)
        var bench = Bench()
        for step in 0..<5_000 {
            var frame = PhasorFrames.data(50, milliseconds: step * 20)
            for _ in 0..<Int(random.next() % 4) {
                frame[Int(random.next() % UInt64(frame.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            _ = bench.feed(frame, at: step * 20)
            if let seen = bench.frequency { #expect(seen == Hertz(50), "step \(step)") }
        }
    }
}
