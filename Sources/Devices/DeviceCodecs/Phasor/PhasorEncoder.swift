/// Writes synchrophasor frames: the commands of a client, and what a simulated PMU sends.
public enum PhasorEncoder {
    /// A command frame, 18 bytes.
    public static func command(
        _ command: PhasorCommand, to idCode: UInt16, second: UInt32, fraction: UInt32
    ) -> [UInt8] {
        var frame = begin(.command, idCode, second, fraction)
        frame.add(command.rawValue)
        return end(&frame)
    }

    /// A configuration frame 1 or 2.
    public static func configuration(
        _ configuration: PhasorConfiguration, kind: PhasorFrameKind = .configuration2, idCode: UInt16,
        second: UInt32, fraction: UInt32
    ) -> [UInt8] {
        var frame = begin(kind, idCode, second, fraction)
        frame.add(configuration.timeBase)
        frame.add(UInt16(clamping: configuration.blocks.count))
        for block in configuration.blocks { add(block, &frame) }
        frame.add(UInt16(bitPattern: configuration.rate))
        return end(&frame)
    }

    private static func add(_ block: PhasorConfiguration.Block, _ frame: inout [UInt8]) {
        frame.add(text: block.name)
        frame.add(block.idCode)
        frame.add(block.format.rawValue)
        frame.add(UInt16(clamping: block.phasors.count))
        frame.add(UInt16(clamping: block.analogCount))
        frame.add(UInt16(clamping: block.digitalCount))
        for index in block.phasors.indices { frame.add(text: "PHASOR \(index + 1)") }
        for index in 0..<block.analogCount { frame.add(text: "ANALOG \(index + 1)") }
        for index in 0..<16 * block.digitalCount { frame.add(text: "DIGITAL \(index + 1)") }
        for unit in block.phasors { frame.add((unit.isCurrent ? 1 << 24 : 0) | unit.scale & 0xFF_FFFF) }
        for _ in 0..<block.analogCount { frame.add(UInt32(1)) }
        for _ in 0..<block.digitalCount { frame.add(UInt32(0x0000_FFFF)) }
        frame.add(UInt16(block.isNominal60 ? 0 : 1))
        frame.add(block.changeCount)
    }

    /// What one simulated PMU measures; the format of its block says how it is written.
    public struct Measurement: Sendable {
        public var status: UInt16 = 0
        /// Hz; not bounded, so that nonsense can be sent too.
        public var frequency: Double
        /// Hz/s.
        public var rateOfChange: Double = 0
        /// V, at angle zero, for every phasor.
        public var voltage: Double = 0
        public var digital: UInt16 = 0

        public init(frequency: Double) { self.frequency = frequency }
    }

    /// A data frame; one measurement for each block.
    public static func data(
        _ measurements: [Measurement], _ configuration: PhasorConfiguration, idCode: UInt16, second: UInt32,
        fraction: UInt32
    ) -> [UInt8] {
        var frame = begin(.data, idCode, second, fraction)
        for (block, measurement) in zip(configuration.blocks, measurements) {
            add(measurement, block, &frame)
        }
        return end(&frame)
    }

    private static func add(
        _ value: Measurement, _ block: PhasorConfiguration.Block, _ frame: inout [UInt8]
    ) {
        frame.add(value.status)
        for unit in block.phasors {
            if block.format.hasFloatPhasors {
                frame.add(Float(value.voltage).bitPattern)
                frame.add(Float(0).bitPattern)
            } else {
                let bits = unit.scale == 0 ? 0 : value.voltage / (Double(unit.scale) * 1e-5)
                frame.add(UInt16(bitPattern: integer(bits)))
                frame.add(UInt16(0))
            }
        }
        if block.format.hasFloatFrequency {
            frame.add(Float(value.frequency).bitPattern)
            frame.add(Float(value.rateOfChange).bitPattern)
        } else {
            frame.add(UInt16(bitPattern: integer((value.frequency - block.nominal) * 1_000)))
            frame.add(UInt16(bitPattern: integer(value.rateOfChange * 100)))
        }
        for _ in 0..<block.analogCount * block.analogSize { frame.append(0) }
        for _ in 0..<block.digitalCount { frame.add(value.digital) }
    }

    /// The nearest integer; what does not fit is marked as missing.
    private static func integer(_ value: Double) -> Int16 {
        Int16(exactly: value.rounded()) ?? .min
    }

    private static func begin(
        _ kind: PhasorFrameKind, _ idCode: UInt16, _ second: UInt32, _ fraction: UInt32
    ) -> [UInt8] {
        var frame: [UInt8] = [0xAA, kind.rawValue << 4 | (kind == .configuration3 ? 2 : 1), 0, 0]
        frame.add(idCode)
        frame.add(second)
        frame.add(fraction & 0xFF_FFFF)
        return frame
    }

    /// Fills FRAMESIZE and adds CHK.
    private static func end(_ frame: inout [UInt8]) -> [UInt8] {
        let size = UInt16(clamping: frame.count + 2)
        frame[2] = UInt8(size >> 8)
        frame[3] = UInt8(size & 0xFF)
        frame.add(PhasorChecksum.of(frame.span, count: frame.count))
        return frame
    }
}

extension [UInt8] {
    fileprivate mutating func add(_ number: UInt16) {
        append(UInt8(number >> 8))
        append(UInt8(number & 0xFF))
    }

    fileprivate mutating func add(_ number: UInt32) {
        add(UInt16(number >> 16))
        add(UInt16(number & 0xFFFF))
    }

    /// 16 bytes, filled up with spaces.
    fileprivate mutating func add(text: String) {
        let letters = Array(text.utf8.prefix(16))
        append(contentsOf: letters + [UInt8](repeating: 0x20, count: 16 - letters.count))
    }
}
