/// The bits of a payload, one each.
struct BitMask: Equatable {
    private var words = InlineArray<8, UInt64>(repeating: 0)

    mutating func insert(_ bit: Int) {
        guard bit >= 0 && bit < 512 else { return }
        words[bit / 64] |= 1 << UInt64(bit % 64)
    }

    static func overlap(_ one: BitMask, _ other: BitMask) -> Bool {
        for index in 0..<8 where one.words[index] & other.words[index] != 0 { return true }
        return false
    }

    static func == (one: BitMask, other: BitMask) -> Bool {
        for index in 0..<8 where one.words[index] != other.words[index] { return false }
        return true
    }
}

/// Where the bits of a signal lie in the payload.
struct SignalBits {
    /// Bytes that the signal touches: `first ..< end`.
    let first: Int
    let end: Int
    /// Place of the least significant bit in its byte.
    let shift: Int
    private let signal: DBCSignal

    init(_ signal: DBCSignal) {
        self.signal = signal
        switch signal.byteOrder {
        case .intel:
            first = signal.start / 8
            end = (signal.start + signal.length + 7) / 8
            shift = signal.start % 8
        case .motorola:
            // Counted from the most significant bit of byte 0, as the bits go over the wire.
            let top = signal.start / 8 * 8 + 7 - signal.start % 8
            let last = top + signal.length - 1
            first = top / 8
            end = last / 8 + 1
            shift = 7 - last % 8
        }
    }

    var mask: BitMask {
        var mask = BitMask()
        guard end <= DBCLimits.payload else { return mask }
        switch signal.byteOrder {
        case .intel: for bit in 0..<signal.length { mask.insert(signal.start + bit) }
        case .motorola:
            var bit = signal.start
            for _ in 0..<signal.length {
                mask.insert(bit)
                bit = bit % 8 == 0 ? bit + 15 : bit - 1
            }
        }
        return mask
    }
}
