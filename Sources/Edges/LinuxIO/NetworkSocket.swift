import CLinux
import Glibc

/// Why a socket could not be made or used; fixed size, so that it can cross a `RingBuffer`.
public enum NetworkError: Error, Equatable, Sendable, BitwiseCopyable {
    public enum Call: UInt8, Sendable, BitwiseCopyable {
        case socket, bind, listen, connect, accept, option
    }

    /// The host is neither a numeric address nor `localhost`.
    case hostNotNumeric
    case system(Call, errno: CInt)

    static func last(_ call: Call) -> NetworkError { .system(call, errno: errno) }
}

/// TCP and UDP without blocking and without name look-up.
public enum NetworkSocket {
    public enum Kind: Sendable { case stream, datagram }

    public static func make(
        _ kind: Kind, for address: borrowing NetworkAddress
    ) throws(NetworkError) -> FileDescriptor {
        let type = kind == .stream ? SOCK_STREAM.rawValue : SOCK_DGRAM.rawValue
        let flags = SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let number = socket(address.family, CInt(type | flags), 0)
        guard number >= 0 else { throw NetworkError.last(.socket) }
        return FileDescriptor(owning: number)
    }

    /// Begins to connect: a stream becomes writable when that has ended, well or not (`connectionError`).
    public static func connect(
        _ kind: Kind, to address: borrowing NetworkAddress
    ) throws(NetworkError) -> FileDescriptor {
        let descriptor = try make(kind, for: address)
        let result = address.withPointer { Glibc.connect(descriptor.number, $0, $1) }
        if result != 0 && errno != EINPROGRESS { throw NetworkError.last(.connect) }
        return descriptor
    }

    /// A socket on a place of this machine; several may stand on one group's.
    public static func stand(
        _ kind: Kind, at address: borrowing NetworkAddress
    ) throws(NetworkError) -> FileDescriptor {
        let descriptor = try make(kind, for: address)
        guard set(descriptor.number, SOL_SOCKET, SO_REUSEADDR, 1) else { throw NetworkError.last(.option) }
        guard address.withPointer({ bind(descriptor.number, $0, $1) }) == 0 else {
            throw NetworkError.last(.bind)
        }
        return descriptor
    }

    public static func listen(at address: borrowing NetworkAddress) throws(NetworkError) -> FileDescriptor {
        let descriptor = try stand(.stream, at: address)
        guard Glibc.listen(descriptor.number, 4) == 0 else { throw NetworkError.last(.listen) }
        return descriptor
    }

    /// The next waiting peer; `nil` where there is none.
    public static func accept(_ listener: CInt) throws(NetworkError) -> FileDescriptor? {
        let number = Glibc.accept(listener, nil, nil)
        if number < 0 {
            let code = errno
            // A peer that left before we looked is no error of ours.
            if code == EAGAIN || code == EINTR || code == ECONNABORTED { return nil }
            throw .system(.accept, errno: code)
        }
        let descriptor = FileDescriptor(owning: number)
        guard fcntl(number, F_SETFL, O_NONBLOCK) == 0, fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else {
            throw NetworkError.last(.accept)
        }
        return descriptor
    }

    /// What a connection attempt ended with; 0 = connected.
    public static func connectionError(_ number: CInt) -> CInt {
        var code: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno
    }

    /// The port that a socket stands on.
    public static func localPort(_ number: CInt) -> UInt16? {
        var storage = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutableBytes(of: &storage) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { getsockname(number, $0.baseAddress, &size) }
        }
        // The port stands at the same place for IPv4 and IPv6.
        return result == 0 ? UInt16(bigEndian: storage.sin6_port) : nil
    }

    /// - Returns: whether the kernel took the option.
    @discardableResult
    public static func set(_ number: CInt, _ level: CInt, _ option: CInt, _ value: CInt) -> Bool {
        var value = value
        return setsockopt(number, level, option, &value, socklen_t(MemoryLayout<CInt>.size)) == 0
    }
}

/// A numeric address and a port.
public struct NetworkAddress: ~Copyable {
    private let list: UnsafeMutablePointer<addrinfo>

    public init(_ host: String, _ port: UInt16) throws(NetworkError) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var result: UnsafeMutablePointer<addrinfo>?
        let numeric = host == "localhost" ? "127.0.0.1" : host
        guard getaddrinfo(numeric, String(port), &hints, &result) == 0, let result else {
            throw .hostNotNumeric
        }
        list = result
    }

    deinit { freeaddrinfo(list) }

    public var family: CInt { list.pointee.ai_family }

    /// In network order; 0 where it is no IPv4 address.
    public var ipv4: in_addr_t {
        guard family == AF_INET, let address = list.pointee.ai_addr else { return 0 }
        return UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr
    }

    public var isMulticast: Bool { (224...239).contains(UInt32(bigEndian: ipv4) >> 24) }

    public func withPointer<Result>(_ body: (UnsafePointer<sockaddr>?, socklen_t) -> Result) -> Result {
        body(UnsafePointer(list.pointee.ai_addr), list.pointee.ai_addrlen)
    }
}
