/// Frames as SocketCAN's raw sockets carry them (`linux/can.h`): `struct can_frame` of 16 bytes, and
/// `struct canfd_frame` of 72; numbers in the machine's order.
public enum SocketCANCodec {
    public static let classicSize = 16
    public static let flexibleSize = 72

    /// `nil` for any other size, and for an 11-bit identifier with more bits.
    public static func decode(_ bytes: Span<UInt8>) -> CANFrame? {
        guard bytes.count == classicSize || bytes.count == flexibleSize else { return nil }
        var word: UInt32 = 0
        for place in 0..<4 { word |= UInt32(bytes[place]) << UInt32(8 * place) }
        guard var frame = CANFrame(socketCAN: UInt32(littleEndian: word)) else { return nil }
        frame.isFlexible = bytes.count == flexibleSize
        frame.hasRateSwitch = frame.isFlexible && bytes[5] & 1 != 0
        guard frame.kind != .remote else { return frame }
        let length = min(Int(bytes[4]), frame.capacity)
        for index in 0..<length { frame.append(bytes[8 + index]) }
        return frame
    }

    /// CAN FD is padded to a length that its DLC can say.
    public static func encode(_ frame: CANFrame) -> CANWireBytes {
        var frame = frame
        frame.length = frame.kind == .remote ? 0 : frame.validLength
        if frame.isFlexible { frame.pad() }
        var bytes = CANWireBytes()
        let word = frame.socketCANIdentifier.littleEndian
        for place in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(8 * place))) }
        bytes.append(UInt8(truncatingIfNeeded: frame.length))
        bytes.append(frame.hasRateSwitch ? 1 : 0)
        for _ in 0..<2 { bytes.append(0) }
        let room = frame.isFlexible ? 64 : 8
        for index in 0..<room { bytes.append(index < frame.length ? frame.data[index] : 0) }
        return bytes
    }
}
