import Quantities

/// STAT of one PMU in a data frame.
public struct PhasorStatus: Sendable, BitwiseCopyable, Equatable {
    public var rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Bits 15 and 14 in either edition: PMU error, test mode, or no valid data. Not to be used for control.
    public var isUnusable: Bool { rawValue & 0xC000 != 0 }
    /// The PMU's clock is not locked to UTC: its frequency can be used, its time and angles cannot.
    public var isUnsynchronised: Bool { rawValue & 0x2000 != 0 }
    /// The configuration has changed, or will within a minute.
    public var isConfigurationChanging: Bool { rawValue & 0x0400 != 0 }
}

/// What one PMU says in one data frame.
public struct PhasorSample: Sendable, BitwiseCopyable, Equatable {
    /// Digital words that are kept; a stream may have more.
    public static let digitalCapacity = 4

    public var status: PhasorStatus
    /// `nil` = the PMU marks it as missing, or it is no number.
    public var frequency: Hertz?
    public var rateOfChange: HertzPerSecond?
    /// Magnitude of the first voltage phasor, as its PMU scales it (line to neutral or positive sequence).
    public var voltage: Volts?
    public var digitals: InlineArray<4, UInt16>
    public var digitalCount: Int

    public static func == (a: PhasorSample, b: PhasorSample) -> Bool {
        guard a.status == b.status, a.frequency == b.frequency, a.rateOfChange == b.rateOfChange,
            a.voltage == b.voltage, a.digitalCount == b.digitalCount
        else { return false }
        for index in 0..<digitalCapacity where a.digitals[index] != b.digitals[index] { return false }
        return true
    }

    /// One bit of a digital word; `nil` where the stream has no such word.
    public func digital(word: Int, bit: Int) -> Bool? {
        guard word >= 0, word < digitalCount, word < Self.digitalCapacity, (0...15).contains(bit) else {
            return nil
        }
        return digitals[word] >> UInt16(bit) & 1 == 1
    }
}

extension PhasorConfiguration {
    /// What the PMU at `index` says in a data frame that was checked.
    ///
    /// - Parameter floatIsDeviation: some PMUs write a float FREQ as deviation from nominal in Hz; the
    ///   standard's meaning is the frequency itself.
    public func sample(
        ofBlock index: Int, in frame: borrowing Span<UInt8>, floatIsDeviation: Bool = false
    ) throws(PhasorFault) -> PhasorSample {
        guard frame.count == dataSize else { throw .size }
        guard blocks.indices.contains(index) else { throw .configuration }
        let start = blocks[..<index].reduce(PhasorHeader.length) { $0 + $1.size }
        var reader = PhasorByteReader(at: start)
        let block = blocks[index]
        var sample = PhasorSample(
            status: PhasorStatus(rawValue: try reader.word(frame)), digitals: InlineArray(repeating: 0),
            digitalCount: min(block.digitalCount, PhasorSample.digitalCapacity))
        let voltageIndex = block.phasors.firstIndex { !$0.isCurrent }
        for index in block.phasors.indices {
            let magnitude = try block.magnitude(of: block.phasors[index], &reader, frame)
            if index == voltageIndex { sample.voltage = magnitude.flatMap { Volts(decoded: $0) } }
        }
        sample.frequency = try block.frequency(&reader, frame, floatIsDeviation)
        sample.rateOfChange = try block.rateOfChange(&reader, frame)
        try reader.skip(block.analogCount * block.analogSize, frame)
        for index in 0..<sample.digitalCount { sample.digitals[index] = try reader.word(frame) }
        return sample
    }
}

extension PhasorConfiguration.Block {
    /// The mark of a missing integer value.
    private static let missing: UInt16 = 0x8000

    fileprivate func magnitude(
        of unit: PhasorConfiguration.PhasorUnit, _ reader: inout PhasorByteReader,
        _ frame: borrowing Span<UInt8>
    ) throws(PhasorFault) -> Double? {
        if format.hasFloatPhasors {
            let (first, second) = (try reader.float(frame), try reader.float(frame))
            return format.isPolar ? first : (first * first + second * second).squareRoot()
        }
        let (first, second) = (try reader.word(frame), try reader.word(frame))
        let bit = Double(unit.scale) * 1e-5
        if format.isPolar { return second == Self.missing ? nil : Double(first) * bit }
        if first == Self.missing || second == Self.missing { return nil }
        let (real, imaginary) = (Double(Int16(bitPattern: first)), Double(Int16(bitPattern: second)))
        return (real * real + imaginary * imaginary).squareRoot() * bit
    }

    fileprivate func frequency(
        _ reader: inout PhasorByteReader, _ frame: borrowing Span<UInt8>, _ floatIsDeviation: Bool
    ) throws(PhasorFault) -> Hertz? {
        if format.hasFloatFrequency {
            let value = try reader.float(frame)
            return Hertz(decoded: floatIsDeviation ? nominal + value : value)
        }
        let deviation = try reader.word(frame)
        guard deviation != Self.missing else { return nil }
        // One division, so that 49.987 Hz is the double nearest to 49.987.
        return Hertz((nominal * 1_000 + Double(Int16(bitPattern: deviation))) / 1_000)
    }

    fileprivate func rateOfChange(
        _ reader: inout PhasorByteReader, _ frame: borrowing Span<UInt8>
    ) throws(PhasorFault) -> HertzPerSecond? {
        if format.hasFloatFrequency { return HertzPerSecond(decoded: try reader.float(frame)) }
        let value = try reader.word(frame)
        return value == Self.missing ? nil : HertzPerSecond(Double(Int16(bitPattern: value)) / 100)
    }
}
