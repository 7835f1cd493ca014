import DeviceCodecs
import Quantities
import Testing

@Suite struct PhasorDecoderTests {
    private func sample(_ frame: [UInt8], float: Bool) throws -> PhasorSample {
        _ = try PhasorFrames.checked(frame)
        return try PhasorFrames.sample(PhasorFrames.configuration(float: float), 0, frame)
    }

    @Test func `the checksum has the standard's check value`() {
        #expect(PhasorFrames.checksum(Array("123456789".utf8)) == 0x29B1)
    }

    @Test func `a captured frame of floats is read`() throws {
        let sample = try sample(PhasorFrames.floatData, float: true)
        #expect(sample.voltage == Volts(231.5))
        #expect(sample.frequency.map { ($0 - Hertz(-0.013)).magnitude < Hertz(1e-6) } == true)
        #expect(
            sample.rateOfChange.map { ($0 - HertzPerSecond(-0.12)).magnitude < HertzPerSecond(1e-6) } == true)
        #expect(sample.digital(word: 0, bit: 0) == true)
        #expect(sample.digital(word: 0, bit: 1) == false)
        #expect(sample.digital(word: 0, bit: 15) == true)
        #expect(sample.digital(word: 1, bit: 0) == nil)
        #expect(sample.digital(word: 0, bit: 16) == nil)
    }

    @Test func `a captured frame of integers is read, its frequency as a deviation in millihertz`() throws {
        let sample = try sample(PhasorFrames.integerData, float: false)
        #expect(sample.frequency == Hertz(49.987))
        #expect(sample.rateOfChange == HertzPerSecond(-0.12))
        let header = try PhasorFrames.header(PhasorFrames.integerData)
        #expect(header.kind == .data && header.version == 1 && header.size == 30 && header.idCode == 7)
        #expect(header.second == 0x6B02_1AFD && header.fraction == 0x0B_6FD5)
    }

    @Test func `a float frequency is a deviation only where the profile says so`() throws {
        let configuration = PhasorFrames.configuration()
        let sample = try PhasorFrames.sample(configuration, 0, PhasorFrames.floatData, floatIsDeviation: true)
        #expect(sample.frequency.map { ($0 - Hertz(49.987)).magnitude < Hertz(1e-6) } == true)
    }

    @Test func `a captured command is read and written byte for byte`() throws {
        let header = try PhasorFrames.checked(PhasorFrames.dataOn)
        #expect(header.kind == .command)
        #expect(try PhasorFrames.command(PhasorFrames.dataOn) == .dataOn)
        #expect(
            PhasorEncoder.command(.dataOn, to: 7, second: 0x6B02_1AF7, fraction: 0) == PhasorFrames.dataOn)
    }

    // swift-format-ignore
    static let formats: [(polar: Bool, phasors: Bool, analogs: Bool, frequency: Bool)] = (0..<16).map {
        ($0 & 1 != 0, $0 & 2 != 0, $0 & 4 != 0, $0 & 8 != 0)
    }

    @Test(arguments: formats)
    func `a configuration and its data come back as they were written, in every format`(
        format: (polar: Bool, phasors: Bool, analogs: Bool, frequency: Bool)
    ) throws {
        var configuration = PhasorFrames.configuration()
        configuration.blocks[0].format = PhasorConfiguration.Format(
            polar: format.polar, floatPhasors: format.phasors, floatAnalogs: format.analogs,
            floatFrequency: format.frequency)
        configuration.blocks[0].phasors.insert(
            PhasorConfiguration.PhasorUnit(isCurrent: true, scale: 1), at: 0)
        configuration.blocks.append(PhasorFrames.configuration(float: false, idCode: 9).blocks[0])
        let frame = PhasorFrames.configurationFrame(configuration)
        #expect(try PhasorFrames.configuration(in: frame) == configuration)

        var first = PhasorEncoder.Measurement(frequency: 50.125)
        first.voltage = 400
        first.rateOfChange = -0.25
        first.digital = 4
        let second = PhasorEncoder.Measurement(frequency: 49.5)
        let data = PhasorEncoder.data([first, second], configuration, idCode: 7, second: 1, fraction: 2)
        #expect(data.count == configuration.dataSize)
        let sample = try PhasorFrames.sample(configuration, 0, data)
        #expect(sample.frequency == Hertz(50.125))
        #expect(sample.rateOfChange == HertzPerSecond(-0.25))
        #expect(sample.voltage.map { ($0 - Volts(400)).magnitude < Volts(5) } == true)
        #expect(sample.digital(word: 0, bit: 2) == true)
        #expect(try PhasorFrames.sample(configuration, 1, data).frequency == Hertz(49.5))
        #expect(throws: PhasorFault.configuration) {
            _ = try PhasorFrames.sample(configuration, 2, data)
        }
    }

    @Test func `missing values are none`() throws {
        let integers = PhasorFrames.configuration(float: false)
        let frame = PhasorFrames.data(1_000, milliseconds: 0, integers)
        #expect(try PhasorFrames.sample(integers, 0, frame).frequency == nil, "0x8000")
        let floats = PhasorFrames.configuration()
        let notANumber = PhasorFrames.data(.nan, milliseconds: 0, floats)
        #expect(try PhasorFrames.sample(floats, 0, notANumber).frequency == nil, "NaN")
        let infinite = PhasorFrames.data(.infinity, milliseconds: 0, floats)
        #expect(try PhasorFrames.sample(floats, 0, infinite).frequency == nil, "infinite")
    }

    // swift-format-ignore
    static let broken: [(name: String, offset: Int, value: UInt16, fault: PhasorFault)] = [
        ("TIME_BASE zero",   16, 0,      .configuration),
        ("no PMU",           18, 0,      .configuration),
        ("one PMU too many", 18, 2,      .length),
        ("65535 PMUs",       18, 0xFFFF, .length),
        ("65535 phasors",    40, 0xFFFF, .length),
        ("65535 analogs",    42, 0xFFFF, .length),
        ("65535 digitals",   44, 0xFFFF, .length),
    ]

    @Test(arguments: broken)
    func `a configuration that cannot be true is refused`(
        row: (name: String, offset: Int, value: UInt16, fault: PhasorFault)
    ) throws {
        var frame = PhasorFrames.configurationFrame(PhasorFrames.configuration())
        if row.name == "TIME_BASE zero" { (frame[14], frame[15]) = (0, 0) }
        frame[row.offset] = UInt8(row.value >> 8)
        frame[row.offset + 1] = UInt8(row.value & 0xFF)
        #expect(throws: row.fault, "\(row.name)") { _ = try PhasorFrames.configuration(in: frame) }
    }

    @Test func `a data rate of zero is refused`() {
        var frame = PhasorFrames.configurationFrame(PhasorFrames.configuration())
        (frame[frame.count - 4], frame[frame.count - 3]) = (0, 0)
        #expect(throws: PhasorFault.configuration) { _ = try PhasorFrames.configuration(in: frame) }
    }

    static let whole: [[UInt8]] = [
        PhasorFrames.floatData, PhasorFrames.integerData, PhasorFrames.dataOn,
        PhasorFrames.configurationFrame(PhasorFrames.configuration()),
    ]

    @Test func `a frame cut at any length is an error`() {
        for frame in Self.whole {
            for length in 0..<frame.count {
                let cut = Array(frame.prefix(length))
                #expect(throws: PhasorFault.length, "\(length) bytes") {
                    _ = try PhasorFrames.checked(cut)
                }
                // Also past the checksum's guard nothing traps.
                _ = try? PhasorFrames.configuration(in: cut)
                _ = try? PhasorFrames.sample(PhasorFrames.configuration(), 0, cut)
                _ = try? PhasorFrames.command(cut)
            }
        }
    }

    @Test func `every single bit that flips is found`() {
        for frame in Self.whole {
            for bit in 0..<frame.count * 8 {
                var flipped = frame
                flipped[bit / 8] ^= 1 << UInt8(bit % 8)
                #expect(throws: PhasorFault.self, "bit \(bit)") {
                    _ = try PhasorFrames.checked(flipped)
                }
            }
        }
    }

    @Test func `random bytes never trap a decoder`() {
        var random = SplitMix(seed: 20_261_122)
        for _ in 0..<20_000 {
            var frame = (0..<Int(random.next() % 300)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            if frame.count > 40, random.next() % 2 == 0 {
                // Looks like a configuration of few PMUs with few channels.
                for index in [18, 38, 40, 42, 44] where index < frame.count { frame[index] = 0 }
                for index in [19, 39, 41, 43, 45] where index < frame.count { frame[index] %= 4 }
            }
            _ = try? PhasorFrames.checked(frame)
            _ = try? PhasorFrames.command(frame)
            if let found = try? PhasorFrames.configuration(in: frame) {
                _ = try? PhasorFrames.sample(found, 0, frame)
            }
            _ = try? PhasorFrames.sample(PhasorFrames.configuration(), 0, frame)
        }
    }
}

/// Numbers that a seed decides.
struct SplitMix {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
