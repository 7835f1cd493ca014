import CLinux
import Glibc
import LinuxIO

/// TCP as cannelloni uses it.
enum TCPSocket {
    static func connect(_ host: String, _ port: UInt16) throws(CANError) -> FileDescriptor {
        do { return try NetworkSocket.connect(.stream, to: NetworkAddress(host, port)) } catch {
            throw CANError(error)
        }
    }

    static func listen(_ host: String, _ port: UInt16) throws(CANError) -> FileDescriptor {
        do { return try NetworkSocket.listen(at: NetworkAddress(host, port)) } catch { throw CANError(error) }
    }

    static func accept(_ listener: CInt) throws(CANError) -> FileDescriptor? {
        do { return try NetworkSocket.accept(listener) } catch { throw CANError(error) }
    }

    /// Frames leave at once, and a peer that has vanished is noticed within about three seconds.
    ///
    /// These options only make failures show sooner; frame age is what safety rests on, so a refusal is
    /// harmless.
    static func setUp(_ number: CInt) {
        let tcp = CInt(IPPROTO_TCP)
        // What waits is old: about a second of a full bus is enough.
        NetworkSocket.set(number, SOL_SOCKET, SO_RCVBUF, 1 << 16)
        NetworkSocket.set(number, tcp, TCP_NODELAY, 1)
        NetworkSocket.set(number, tcp, TCP_USER_TIMEOUT, 2_000)
        NetworkSocket.set(number, SOL_SOCKET, SO_KEEPALIVE, 1)
        NetworkSocket.set(number, tcp, TCP_KEEPIDLE, 1)
        NetworkSocket.set(number, tcp, TCP_KEEPINTVL, 1)
        NetworkSocket.set(number, tcp, TCP_KEEPCNT, 2)
    }
}

extension CANError {
    init(_ error: NetworkError) {
        switch error {
        case .hostNotNumeric: self = .hostNotNumeric
        case .system(let call, let code): self = .system(Call(call), errno: code)
        }
    }
}

extension CANError.Call {
    init(_ call: NetworkError.Call) {
        self =
            switch call {
            case .socket, .option: .socket
            case .bind: .bind
            case .listen: .listen
            case .connect: .connect
            case .accept: .accept
            }
    }
}
