import DeviceCodecs
import Quantities

/// SplitMix64, so that a printed seed brings a failure back.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func bytes(_ counts: ClosedRange<Int>) -> [UInt8] {
        let count = Int.random(in: counts, using: &self)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}

/// `14 02 c0` as bytes; anything that is not hexadecimal is a mistake in the test and gives fewer bytes.
func hex(_ text: String) -> [UInt8] { text.split(separator: " ").compactMap { UInt8($0, radix: 16) } }

func frame(_ identifier: UInt32, _ text: String, isExtended: Bool = false) -> CANFrame {
    var frame = CANFrame(identifier, isExtended: isExtended)
    for byte in hex(text) { frame.append(byte) }
    return frame
}

/// One line per frame: kind, identifier and bytes.
func text(_ frame: CANFrame) -> String {
    let bytes = (0..<frame.length).map { index in
        let digits = String(frame.data[index], radix: 16)
        return digits.utf8.count == 1 ? "0" + digits : digits
    }
    let kind =
        switch frame.kind {
        case .data: "data"
        case .remote: "remote"
        case .error: "error"
        }
    let format = frame.isExtended ? "x" : ""
    let prefix = frame.isFlexible ? ["fd"] : []
    return (prefix + [kind, String(frame.identifier, radix: 16) + format] + bytes).joined(separator: " ")
}

func bytes(_ wire: CANWireBytes) -> [UInt8] { wire.withUnsafeBytes { Array($0) } }
