import CSocketCAN
import DeviceCodecs
import Glibc
import LinuxIO

/// SocketCAN raw sockets: classic and FD frames, error frames, time stamps, and the count of frames lost for
/// want of room. Our own frames do not come back (the kernel's default).
enum CANSocket {
    /// Whether the kernel knows the address family at all.
    static var isSupported: Bool {
        let number = socket(AF_CAN, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), CAN_RAW)
        if number < 0 { return errno != EAFNOSUPPORT }
        close(number)
        return true
    }

    static func open(_ interface: String, _ settings: CANLinkSettings) throws(CANError) -> FileDescriptor {
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(AF_CAN, kind, CAN_RAW)
        guard number >= 0 else {
            throw errno == EAFNOSUPPORT ? CANError.noKernelSupport : CANError.last(.socket)
        }
        let descriptor = FileDescriptor(owning: number)
        let index = if_nametoindex(interface)
        guard index != 0 else { throw .noSuchInterface }
        // A socket on an interface that is down opens well, and fails at its first read.
        if CANInterface(interface).isUp == false { throw .interfaceDown }
        try select(number, settings.filter)
        describe(number)
        var address = sockaddr_can()
        address.can_family = sa_family_t(AF_CAN)
        address.can_ifindex = Int32(bitPattern: index)
        let bound = withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) {
                bind(number, $0.baseAddress, socklen_t(MemoryLayout<sockaddr_can>.size))
            }
        }
        guard bound == 0 else { throw CANError.last(.bind) }
        return descriptor
    }

    /// What comes: all error frames, CAN FD, and the frames of `identifiers`, of all kinds.
    private static func select(_ number: CInt, _ identifiers: [CANIdentifier]) throws(CANError) {
        var errors = can_err_mask_t(CAN_ERR_MASK)
        guard set(number, ballast_SOL_CAN_RAW, CInt(CAN_RAW_ERR_FILTER), &errors) else {
            throw CANError.last(.socket)
        }
        // A kernel without CAN FD has none to give.
        NetworkSocket.set(number, ballast_SOL_CAN_RAW, CInt(CAN_RAW_FD_FRAMES), 1)
        // The kernel takes no more; then everything comes, as without a filter.
        guard !identifiers.isEmpty, identifiers.count <= Int(CAN_RAW_FILTER_MAX) else { return }
        let filters = identifiers.map(filter)
        let size = socklen_t(MemoryLayout<can_filter>.stride * filters.count)
        guard setsockopt(number, ballast_SOL_CAN_RAW, CInt(CAN_RAW_FILTER), filters, size) == 0 else {
            throw CANError.last(.socket)
        }
    }

    /// The format belongs to the identity; data and remote frames both pass.
    static func filter(_ identifier: CANIdentifier) -> can_filter {
        let extended: UInt32 = 0x8000_0000
        return identifier.isExtended
            ? can_filter(can_id: identifier.number | extended, can_mask: 0x1FFF_FFFF | extended)
            : can_filter(can_id: identifier.number, can_mask: 0x7FF | extended)
    }

    /// Asks for time stamps and for the count of lost frames. A kernel that gives none costs no more than
    /// their precision: the frames are dated as they are read.
    static func describe(_ number: CInt) {
        NetworkSocket.set(number, SOL_SOCKET, ballast_SO_TIMESTAMPNS, 1)
        NetworkSocket.set(number, SOL_SOCKET, ballast_SO_TIMESTAMPING, ballast_HARDWARE_STAMPS)
        NetworkSocket.set(number, SOL_SOCKET, ballast_SO_RXQ_OVFL, 1)
        NetworkSocket.set(number, SOL_SOCKET, SO_RCVBUF, 1 << 20)
    }

    private static func set<Value: BitwiseCopyable>(
        _ number: CInt, _ level: CInt, _ option: CInt, _ value: inout Value
    ) -> Bool {
        setsockopt(number, level, option, &value, socklen_t(MemoryLayout<Value>.size)) == 0
    }

    /// What one read gave.
    struct Received {
        /// `nil` for what is no frame.
        var frame: CANFrame?
        var messages: CANControlMessages
        var isLocal: Bool
    }

    /// The next frame in the socket's queue; `nil` where it is empty.
    static func receive(_ number: CInt) throws(CANError) -> Received? {
        var data = InlineArray<72, UInt8>(repeating: 0)
        var control = InlineArray<256, UInt8>(repeating: 0)
        var message = msghdr()
        let count = withUnsafeMutableBytes(of: &data) { data in
            withUnsafeMutableBytes(of: &control) { control in
                var vector = iovec(iov_base: data.baseAddress, iov_len: data.count)
                return withUnsafeMutablePointer(to: &vector) { vector in
                    message.msg_iov = vector
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = .init(control.count)
                    return recvmsg(number, &message, 0)
                }
            }
        }
        guard count >= 0 else {
            let code = errno
            if code == EAGAIN || code == EINTR { return nil }
            throw failure(.read, code)
        }
        let messages = withUnsafeBytes(of: control) { bytes in
            CANControlMessages(UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(message.msg_controllen))))
        }
        // Frames that this machine has sent are marked so.
        let isLocal = message.msg_flags & CInt(MSG_DONTROUTE) != 0
        let frame = SocketCANCodec.decode(data.span.extracting(first: count))
        return Received(frame: frame, messages: messages, isLocal: isLocal)
    }

    static func send(_ frame: CANFrame, _ number: CInt) throws(CANError) {
        let bytes = SocketCANCodec.encode(frame)
        let count = bytes.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
        if count != bytes.count { throw failure(.write, errno) }
    }

    /// What a refusal of the kernel means for the link.
    static func failure(_ call: CANError.Call, _ code: CInt) -> CANError {
        switch code {
        // The interface's queue, or the socket's own.
        case ENOBUFS, EAGAIN, EINTR: .full
        case ENETDOWN: .interfaceDown
        case ENODEV, ENXIO: .noSuchInterface
        // CAN FD on an interface that is set up for classic frames.
        case EINVAL where call == .write, EMSGSIZE where call == .write: .notExpressible
        default: .system(call, errno: code)
        }
    }
}
