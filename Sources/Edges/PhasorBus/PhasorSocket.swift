import CLinux
import Glibc
import LinuxIO

/// TCP and UDP as C37.118 uses them.
enum PhasorSocket {
    /// Begins to connect (TCP), or sets the peer (UDP).
    static func open(_ address: PhasorAddress) throws(PhasorError) -> FileDescriptor {
        do {
            switch address {
            case .tcp(let host, let port), .mixed(let host, let port, _):
                return try NetworkSocket.connect(.stream, to: NetworkAddress(host, port))
            case .udp(let host, let port):
                return try NetworkSocket.connect(.datagram, to: NetworkAddress(host, port))
            case .udpListen(let host, let port):
                let place = try NetworkAddress(host, port)
                let descriptor = try NetworkSocket.stand(.datagram, at: place)
                if place.isMulticast { try join(descriptor.number, place) }
                return descriptor
            }
        } catch {
            throw PhasorError(error)
        }
    }

    /// Where a PMU that is commanded by TCP sends its data; `nil` where it has no such place.
    static func openData(_ address: PhasorAddress) throws(PhasorError) -> FileDescriptor? {
        guard case .mixed(_, _, let dataPort) = address else { return nil }
        do { return try NetworkSocket.stand(.datagram, at: NetworkAddress("0.0.0.0", dataPort)) } catch {
            throw PhasorError(error)
        }
    }

    /// The IPv4 address from which data is taken, as sockets have it; `nil` where it comes as we asked.
    static func sender(_ address: PhasorAddress) throws(PhasorError) -> UInt32? {
        guard case .mixed(let host, let port, _) = address else { return nil }
        do { return try NetworkAddress(host, port).ipv4 } catch { throw PhasorError(error) }
    }

    /// The next datagram, and whether it is from `sender`; `nil` where none waits.
    static func receive(
        _ number: CInt, from sender: UInt32, into buffer: inout [UInt8]
    ) throws(PhasorError) -> (count: Int, isFromSender: Bool)? {
        var name = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                buffer.withUnsafeMutableBytes { recvfrom(number, $0.baseAddress, $0.count, 0, name, &size) }
            }
        }
        if count >= 0 { return (count, name.sin_addr.s_addr == sender) }
        let code = errno
        if code == EAGAIN || code == EINTR { return nil }
        throw .system(.read, errno: code)
    }

    static func listen(_ host: String, _ port: UInt16) throws(PhasorError) -> FileDescriptor {
        do { return try NetworkSocket.listen(at: NetworkAddress(host, port)) } catch {
            throw PhasorError(error)
        }
    }

    /// Commands leave at once. A refusal is harmless: it is the age of samples that counts.
    static func sendAtOnce(_ number: CInt) { NetworkSocket.set(number, CInt(IPPROTO_TCP), TCP_NODELAY, 1) }

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

    /// On the interface that the routing table names for the group.
    private static func join(_ number: CInt, _ place: borrowing NetworkAddress) throws(NetworkError) {
        var request = ip_mreq()
        request.imr_multiaddr.s_addr = place.ipv4
        let size = socklen_t(MemoryLayout<ip_mreq>.size)
        guard setsockopt(number, CInt(IPPROTO_IP), IP_ADD_MEMBERSHIP, &request, size) == 0 else {
            throw .system(.option, errno: errno)
        }
    }
}

extension PhasorError {
    init(_ error: NetworkError) {
        switch error {
        case .hostNotNumeric: self = .hostNotNumeric
        case .system(let call, let code): self = .system(Call(call), errno: code)
        }
    }
}

extension PhasorError.Call {
    init(_ call: NetworkError.Call) {
        self =
            switch call {
            case .socket: .socket
            case .option: .option
            case .bind: .bind
            case .listen: .listen
            case .connect: .connect
            case .accept: .accept
            }
    }
}
