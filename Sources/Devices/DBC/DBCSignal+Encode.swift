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

    /// The physical value nearest to `value` that the signal can carry.
    public func nearest(_ value: Double) -> Double {
        guard factor != 0, value.isFinite else { return offset }
        // Beyond 53 bits a double has no single steps.
        let bits = min(length, format == .signed ? 54 : 53)
        let span = Double(UInt64(1) << UInt64(bits))
        let raw = (value - offset) / factor
        switch format {
        case .float32, .float64: return value
        case .unsigned: return min(max(raw.rounded(), 0), span - 1) * factor + offset
        case .signed: return min(max(raw.rounded(), -span / 2), span / 2 - 1) * factor + offset
        }
    }

    /// The physical value that raw bits mean.
    public func physical(of raw: UInt64) -> Double { Double(raw) * factor + offset }

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
