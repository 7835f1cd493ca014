import CLinux
import Glibc
import LinuxIO

/// TCP and UDP without blocking and without name look-up.
enum PhasorSocket {
    /// Begins to connect (TCP), or sets the peer (UDP).
    static func open(_ address: PhasorAddress) throws(PhasorError) -> FileDescriptor {
        switch address {
        case .tcp(let host, let port): return try connect(host, port, isStream: true)
        case .udp(let host, let port): return try connect(host, port, isStream: false)
        case .udpListen(let host, let port):
            let place = try SocketPlace(host, port)
            let descriptor = try make(place, isStream: false)
            try reuse(descriptor.number)
            try bind(descriptor.number, place)
            if place.isMulticast { try join(descriptor.number, place) }
            return descriptor
        }
    }

    private static func connect(
        _ host: String, _ port: UInt16, isStream: Bool
    ) throws(PhasorError) -> FileDescriptor {
        let place = try SocketPlace(host, port)
        let descriptor = try make(place, isStream: isStream)
        let result = place.withPointer { Glibc.connect(descriptor.number, $0, $1) }
        if result != 0 && errno != EINPROGRESS { throw PhasorError.last(.connect) }
        return descriptor
    }

    static func listen(_ host: String, _ port: UInt16) throws(PhasorError) -> FileDescriptor {
        let place = try SocketPlace(host, port)
        let descriptor = try make(place, isStream: true)
        try reuse(descriptor.number)
        try bind(descriptor.number, place)
        guard Glibc.listen(descriptor.number, 4) == 0 else { throw PhasorError.last(.listen) }
        return descriptor
    }

    /// The next waiting peer; `nil` where there is none.
    static func accept(_ listener: CInt) throws(PhasorError) -> FileDescriptor? {
        let number = Glibc.accept(listener, nil, nil)
        if number < 0 {
            let code = errno
            if code == EAGAIN || code == EINTR || code == ECONNABORTED { return nil }
            throw .system(.accept, errno: code)
        }
        let descriptor = FileDescriptor(owning: number)
        guard fcntl(number, F_SETFL, O_NONBLOCK) == 0, fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else {
            throw PhasorError.last(.accept)
        }
        return descriptor
    }

    /// What a connection attempt ended with; 0 = connected.
    static func connectionError(_ number: CInt) -> CInt {
        var code: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno
    }

    /// Commands leave at once. A refusal is harmless: it is the age of samples that counts.
    static func sendAtOnce(_ number: CInt) { _ = set(number, CInt(IPPROTO_TCP), TCP_NODELAY, 1) }

    /// The port that a socket stands on.
    static func localPort(_ number: CInt) -> UInt16? {
        var storage = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutableBytes(of: &storage) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { getsockname(number, $0.baseAddress, &size) }
        }
        // The port stands at the same place for IPv4 and IPv6.
        return result == 0 ? UInt16(bigEndian: storage.sin6_port) : nil
    }

    /// All of a frame or nothing: `false` where the kernel has no room for it now.
    static func send(_ bytes: [UInt8], _ number: CInt) throws(PhasorError) -> Bool {
        let count = bytes.withUnsafeBytes {
            Glibc.send(number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
        }
        if count == bytes.count { return true }
        if count >= 0 { throw .system(.write, errno: EMSGSIZE) }
        let code = errno
        if code == EAGAIN || code == EINTR { return false }
        throw .system(.write, errno: code)
    }

    private static func make(
        _ place: borrowing SocketPlace, isStream: Bool
    ) throws(PhasorError) -> FileDescriptor {
        let type = isStream ? SOCK_STREAM.rawValue : SOCK_DGRAM.rawValue
        let kind = type | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let number = socket(place.family, CInt(kind), 0)
        guard number >= 0 else { throw PhasorError.last(.socket) }
        return FileDescriptor(owning: number)
    }

    private static func reuse(_ number: CInt) throws(PhasorError) {
        guard set(number, SOL_SOCKET, SO_REUSEADDR, 1) else { throw PhasorError.last(.option) }
    }

    private static func bind(_ number: CInt, _ place: borrowing SocketPlace) throws(PhasorError) {
        guard place.withPointer({ Glibc.bind(number, $0, $1) }) == 0 else { throw PhasorError.last(.bind) }
    }

    /// On the interface that the routing table names for the group.
    private static func join(_ number: CInt, _ place: borrowing SocketPlace) throws(PhasorError) {
        var request = ip_mreq()
        request.imr_multiaddr.s_addr = place.ipv4
        let size = socklen_t(MemoryLayout<ip_mreq>.size)
        guard setsockopt(number, CInt(IPPROTO_IP), IP_ADD_MEMBERSHIP, &request, size) == 0 else {
            throw PhasorError.last(.option)
        }
    }

    private static func set(_ number: CInt, _ level: CInt, _ option: CInt, _ value: CInt) -> Bool {
        var value = value
        return setsockopt(number, level, option, &value, socklen_t(MemoryLayout<CInt>.size)) == 0
    }
}

/// A numeric address and a port.
struct SocketPlace: ~Copyable {
    private let list: UnsafeMutablePointer<addrinfo>

    init(_ host: String, _ port: UInt16) throws(PhasorError) {
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

    var family: CInt { list.pointee.ai_family }

    /// In network order; 0 where it is no IPv4 address.
    var ipv4: in_addr_t {
        guard family == AF_INET, let address = list.pointee.ai_addr else { return 0 }
        return UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr
    }

    var isMulticast: Bool { (224...239).contains(UInt32(bigEndian: ipv4) >> 24) }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>?, socklen_t) -> Result) -> Result {
        body(UnsafePointer(list.pointee.ai_addr), list.pointee.ai_addrlen)
    }
}
