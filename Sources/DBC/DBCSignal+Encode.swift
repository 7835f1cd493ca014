extension DBCSignal {
    /// One past the last byte that the signal touches: what a frame must have for it.
    public var endByte: Int { SignalBits(self).end }

    /// Puts a physical value into the payload; other bits stay.
    ///
    /// - Returns: `false` where the value does not fit the signal, or the signal the payload.
    public func encode(_ value: Double, into bytes: inout [UInt8]) -> Bool {
        guard endByte <= bytes.count, factor != 0, let raw = raw(of: (value - offset) / factor) else {
            return false
        }
        var bit = byteOrder == .intel ? start + length - 1 : start
        for index in 0..<length {
            let isSet = raw >> UInt64(length - 1 - index) & 1 != 0
            let mask = UInt8(1) << UInt8(bit % 8)
            bytes[bit / 8] = isSet ? bytes[bit / 8] | mask : bytes[bit / 8] & ~mask
            switch byteOrder {
            case .intel: bit -= 1
            case .motorola: bit = bit % 8 == 0 ? bit + 15 : bit - 1
            }
        }
        return true
    }

    /// The bits for an unscaled number.
    private func raw(of number: Double) -> UInt64? {
        switch format {
        case .float32: return UInt64(Float(number).bitPattern)
        case .float64: return number.bitPattern
        case .unsigned:
            guard let raw = UInt64(exactly: number.rounded()) else { return nil }
            return length == 64 || raw >> UInt64(length) == 0 ? raw : nil
        case .signed:
            guard let raw = Int64(exactly: number.rounded()) else { return nil }
            let top = raw >> Int64(length - 1)
            return top == 0 || top == -1 ? UInt64(bitPattern: raw) : nil
        }
    }
}
