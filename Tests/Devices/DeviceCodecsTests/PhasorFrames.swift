import DeviceCodecs

/// Synchrophasor frames for tests.
enum PhasorFrames {
    static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.filter { $0 != " " && $0 != "\n" }
        var bytes: [UInt8] = []
        var rest = digits[...]
        while rest.count >= 2 {
            bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    /// Captured from the PyPI package `synchrophasor`; an independent dissector agrees.
    static let floatData = bytes(
        "aa01 0028 0007 6b021af7 000b7889 0000 43678000 3e800000 bc54fdf4 bdf5c28f 41180000 8001 2cca")
    static let integerData = bytes(
        "aa01 001e 0007 6b021afd 000b6fd5 0000 392b ff9c fff3 fff4 0064 8001 428d")
    static let dataOn = bytes("aa41 0012 0007 6b021af7 00000000 0002 881b")

    static func configuration(
        float: Bool = true, changeCount: UInt16 = 0, isNominal60: Bool = false, idCode: UInt16 = 7
    ) -> PhasorConfiguration {
        let format = PhasorConfiguration.Format(
            polar: float, floatPhasors: float, floatAnalogs: float, floatFrequency: float)
        let block = PhasorConfiguration.Block(
            name: "NORTH", idCode: idCode, format: format,
            phasors: [PhasorConfiguration.PhasorUnit(isCurrent: false, scale: 915_527)], analogCount: 1,
            digitalCount: 1, isNominal60: isNominal60, changeCount: changeCount)
        return PhasorConfiguration(timeBase: 1_000_000, blocks: [block], rate: 50)
    }

    static func configurationFrame(_ configuration: PhasorConfiguration, idCode: UInt16 = 7) -> [UInt8] {
        PhasorEncoder.configuration(configuration, idCode: idCode, second: 1_000, fraction: 0)
    }

    static func data(
        _ frequency: Double, milliseconds: Int, status: UInt16 = 0, digital: UInt16 = 0,
        _ configuration: PhasorConfiguration = configuration(), idCode: UInt16 = 7
    ) -> [UInt8] {
        var value = PhasorEncoder.Measurement(frequency: frequency)
        value.status = status
        value.voltage = 231
        value.digital = digital
        return PhasorEncoder.data(
            [value], configuration, idCode: idCode, second: UInt32(2_000 + milliseconds / 1_000),
            fraction: UInt32(milliseconds % 1_000 * 1_000))
    }

    // Decoders take spans, which the test macros cannot hold.

    static func checked(_ bytes: [UInt8]) throws(PhasorFault) -> PhasorHeader {
        try PhasorHeader.checked(bytes.span)
    }
    static func header(_ bytes: [UInt8]) throws(PhasorFault) -> PhasorHeader { try PhasorHeader(bytes.span) }
    static func command(_ bytes: [UInt8]) throws(PhasorFault) -> PhasorCommand {
        try PhasorCommand(bytes.span)
    }
    static func configuration(in bytes: [UInt8]) throws(PhasorFault) -> PhasorConfiguration {
        try PhasorConfiguration(bytes.span)
    }
    static func sample(
        _ configuration: PhasorConfiguration, _ block: Int, _ bytes: [UInt8], floatIsDeviation: Bool = false
    ) throws(PhasorFault) -> PhasorSample {
        try configuration.sample(ofBlock: block, in: bytes.span, floatIsDeviation: floatIsDeviation)
    }
    static func checksum(_ bytes: [UInt8]) -> UInt16 { PhasorChecksum.of(bytes.span, count: bytes.count) }
}
