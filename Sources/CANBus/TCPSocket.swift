import CLinux
import CSocketCAN
import Glibc
import LinuxIO

/// TCP without blocking and without name look-up.
enum TCPSocket {
    /// Begins to connect; the socket becomes writable when that has ended, well or not (`connectionError`).
    static func connect(_ host: String, _ port: UInt16) throws(CANError) -> FileDescriptor {
        let address = try SocketAddress(host, port)
        let descriptor = try make(address)
        let result = address.withPointer { Glibc.connect(descriptor.number, $0, $1) }
        if result != 0 && errno != EINPROGRESS { throw CANError.last(.connect) }
        return descriptor
    }

    static func listen(_ host: String, _ port: UInt16) throws(CANError) -> FileDescriptor {
        let address = try SocketAddress(host, port)
        let descriptor = try make(address)
        set(descriptor.number, SOL_SOCKET, SO_REUSEADDR, 1)
        guard address.withPointer({ bind(descriptor.number, $0, $1) }) == 0 else {
            throw CANError.last(.bind)
        }
        guard Glibc.listen(descriptor.number, 4) == 0 else { throw CANError.last(.listen) }
        return descriptor
    }

    /// The next waiting peer; `nil` where there is none.
    static func accept(_ listener: CInt) throws(CANError) -> FileDescriptor? {
        let number = Glibc.accept(listener, nil, nil)
        if number < 0 {
            let code = errno
            // A peer that left before we looked is no error of ours.
            if code == EAGAIN || code == EINTR || code == ECONNABORTED { return nil }
            throw .system(.accept, errno: code)
        }
        let descriptor = FileDescriptor(owning: number)
        guard fcntl(number, F_SETFL, O_NONBLOCK) == 0, fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else {
            throw CANError.last(.accept)
        }
        return descriptor
    }

    /// What a connection attempt ended with; 0 = connected.
    static func connectionError(_ number: CInt) -> CInt {
        var code: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno
    }

    /// Frames leave at once, and a peer that has vanished is noticed within about three seconds.
    static func setUp(_ number: CInt) {
        set(number, CInt(IPPROTO_TCP), TCP_NODELAY, 1)
        set(number, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, 2_000)
        set(number, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(number, CInt(IPPROTO_TCP), TCP_KEEPIDLE, 1)
        set(number, CInt(IPPROTO_TCP), TCP_KEEPINTVL, 1)
        set(number, CInt(IPPROTO_TCP), TCP_KEEPCNT, 2)
    }

    /// The port a listener got.
    static func localPort(_ number: CInt) -> UInt16? {
        var storage = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutableBytes(of: &storage) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { getsockname(number, $0.baseAddress, &size) }
        }
        // The port stands at the same place for IPv4 and IPv6.
        return result == 0 ? UInt16(bigEndian: storage.sin6_port) : nil
    }

    private static func make(_ address: borrowing SocketAddress) throws(CANError) -> FileDescriptor {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(address.family, kind, 0)
        guard number >= 0 else { throw CANError.last(.socket) }
        return FileDescriptor(owning: number)
    }

    /// These options only make failures show sooner; frame age is what safety rests on, so a refusal is
    /// harmless.
    private static func set(_ number: CInt, _ level: CInt, _ option: CInt, _ value: CInt) {
        var value = value
        _ = setsockopt(number, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }
}

/// A numeric address and a port.
struct SocketAddress: ~Copyable {
    private let list: UnsafeMutablePointer<addrinfo>

    init(_ host: String, _ port: UInt16) throws(CANError) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var result: UnsafeMutablePointer<addrinfo>?
        let numeric = host == "localhost" ? "127.0.0.1" : host
        guard getaddrinfo(numeric, String(port), &hints, &result) == 0, let result else {
            throw .hostNotNumeric
        }
        list = result
    }

    deinit { freeaddrinfo(list) }

    var family: CInt { list.pointee.ai_family }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>?, socklen_t) -> Result) -> Result {
        body(UnsafePointer(list.pointee.ai_addr), list.pointee.ai_addrlen)
    }
}
