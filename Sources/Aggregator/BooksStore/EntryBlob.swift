import ExactAmounts

/// The entries of a block in few bytes: the line's number and the quantity of each, as variable-length
/// integers.
enum EntryBlob {
    static func append(_ line: Int64, _ quantity: WattHours, to bytes: inout [UInt8]) {
        append(UInt64(line), to: &bytes)
        append(UInt64(bitPattern: quantity.count << 1 ^ quantity.count >> 63), to: &bytes)
    }

    private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Bytes that end in the middle of a number end there.
    static func read(_ bytes: [UInt8], _ body: (Int64, WattHours) -> Void) {
        var place = 0
        func number() -> UInt64? {
            var (value, shift): (UInt64, UInt64) = (0, 0)
            while place < bytes.count, shift < 64 {
                let byte = bytes[place]
                place += 1
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
            return nil
        }
        while let line = number(), let folded = number() {
            let quantity = Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
            body(Int64(truncatingIfNeeded: line), WattHours(quantity))
        }
    }
}
