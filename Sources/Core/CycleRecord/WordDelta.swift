/// What has changed between two rows of words.
///
/// A row is a list of changes and a zero byte. A change is a varint `2 × (words left out + 1) + how`, and a
/// varint of what is to be made of the word before: `how` 0: its zigzag difference is added (counters,
/// clocks); 1: its bits in the reverse order of bytes are turned (numbers, whose last bytes are often zero).
/// The shorter one is written. A varint has seven bits in a byte, the lowest first, and the highest bit where
/// more follow.
enum WordDelta {
    static func encode(_ words: [UInt64], from before: inout [UInt64], into bytes: inout [UInt8]) {
        var left: UInt64 = 1
        for index in words.indices {
            let (new, old) = (words[index], before[index])
            guard new != old else {
                left += 1
                continue
            }
            let difference = Int64(bitPattern: new &- old)
            let added = UInt64(bitPattern: (difference << 1) ^ (difference >> 63))
            let turned = (new ^ old).byteSwapped
            append(left << 1 | (turned < added ? 1 : 0), &bytes)
            append(min(added, turned), &bytes)
            before[index] = new
            left = 1
        }
        bytes.append(0)
    }

    /// The same against zeros.
    static func encode(_ words: some Sequence<UInt64>, into bytes: inout [UInt8]) {
        var left: UInt64 = 1
        for new in words {
            guard new != 0 else {
                left += 1
                continue
            }
            let added = UInt64(bitPattern: (Int64(bitPattern: new) << 1) ^ (Int64(bitPattern: new) >> 63))
            let turned = new.byteSwapped
            append(left << 1 | (turned < added ? 1 : 0), &bytes)
            append(min(added, turned), &bytes)
            left = 1
        }
        bytes.append(0)
    }

    static func append(_ value: UInt64, _ bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// - Returns: whether the bytes were such a row, and nothing but it.
    static func decode(_ bytes: ArraySlice<UInt8>, onto words: inout [UInt64]) -> Bool {
        var rest = bytes
        var next = 0
        while true {
            guard let head = varint(&rest) else { return false }
            if head == 0 { return rest.isEmpty }
            guard head >= 2, head >> 1 <= UInt64(words.count - next), let value = varint(&rest) else {
                return false
            }
            let index = next + Int(head >> 1) - 1
            if head & 1 == 0 {
                let difference = Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
                words[index] = words[index] &+ UInt64(bitPattern: difference)
            } else {
                words[index] ^= value.byteSwapped
            }
            next = index + 1
        }
    }

    private static func varint(_ bytes: inout ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 70, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            if shift == 63 && byte > 1 { return nil }
            value |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return value }
        }
        return nil
    }
}
