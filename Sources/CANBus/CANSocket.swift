import CSocketCAN
import DeviceCodecs
import Glibc
import LinuxIO

/// SocketCAN raw sockets. Error frames are asked for; our own frames do not come back (the kernel's default).
enum CANSocket {
    /// Whether the kernel knows the address family at all.
    static var isSupported: Bool {
        let number = socket(AF_CAN, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), CAN_RAW)
        if number < 0 { return errno != EAFNOSUPPORT }
        close(number)
        return true
    }

    static func open(_ interface: String) throws(CANError) -> FileDescriptor {
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(AF_CAN, kind, CAN_RAW)
        guard number >= 0 else {
            throw errno == EAFNOSUPPORT ? CANError.noKernelSupport : CANError.last(.socket)
        }
        let descriptor = FileDescriptor(owning: number)
        let index = if_nametoindex(interface)
        guard index != 0 else { throw .noSuchInterface }
        var errors = can_err_mask_t(CAN_ERR_MASK)
        let size = socklen_t(MemoryLayout<can_err_mask_t>.size)
        guard setsockopt(number, ballast_SOL_CAN_RAW, Int32(CAN_RAW_ERR_FILTER), &errors, size) == 0
        else { throw CANError.last(.socket) }
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

    /// The next frame in the socket's queue; `nil` where it is empty.
    static func receive(_ number: CInt) throws(CANError) -> CANFrame? {
        var raw = can_frame()
        let size = MemoryLayout<can_frame>.size
        let count = withUnsafeMutableBytes(of: &raw) { read(number, $0.baseAddress, size) }
        guard count == size else {
            if count >= 0 { throw .peerClosed }
            let code = errno
            if code == EAGAIN || code == EINTR { return nil }
            throw code == ENETDOWN ? CANError.interfaceDown : CANError.system(.read, errno: code)
        }
        // The kernel never delivers an 11-bit identifier with more bits; should it, there is no such frame.
        guard var frame = CANFrame(socketCAN: raw.can_id) else { return nil }
        guard frame.kind != .remote else { return frame }
        let length = min(Int(raw.can_dlc), 8)
        withUnsafeBytes(of: raw.data) { for index in 0..<length { frame.append($0[index]) } }
        return frame
    }

    static func send(_ frame: CANFrame, _ number: CInt) throws(CANError) {
        var raw = can_frame()
        raw.can_id = frame.socketCANIdentifier
        let length = max(0, min(frame.length, 8))
        raw.can_dlc = frame.kind == .remote ? 0 : UInt8(length)
        withUnsafeMutableBytes(of: &raw.data) { for index in 0..<length { $0[index] = frame.data[index] } }
        let size = MemoryLayout<can_frame>.size
        let count = withUnsafeBytes(of: raw) { write(number, $0.baseAddress, size) }
        guard count != size else { return }
        switch errno {
        case ENOBUFS, EAGAIN, EINTR: throw .full
        case ENETDOWN: throw .interfaceDown
        default: throw CANError.last(.write)
        }
    }
}
