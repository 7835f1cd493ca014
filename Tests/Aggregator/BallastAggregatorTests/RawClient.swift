import Glibc
import LinuxIO

/// A peer on a plain socket, which sends what it likes when it likes.
final class RawClient {
    private let socket: FileDescriptor
    private(set) var answer = ""

    init(port: Int) throws {
        let number = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if number < 0 { throw SystemError.last("socket") }
        socket = FileDescriptor(owning: number)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result < 0 { throw SystemError.last("connect") }
        try socket.setNonBlocking()
    }

    /// The head of a report whose body of `length` bytes has yet to come.
    func sendHead(length: Int, token: String = "demo-token") {
        _ = send(
            Array(
                ("POST /v1/edge/report HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token)\r\n"
                    + "Content-Length: \(length)\r\n\r\n").utf8))
    }

    /// - Returns: how many bytes the other side has taken at once.
    func send(_ bytes: [UInt8]) -> Int {
        max(0, Glibc.send(socket.number, bytes, bytes.count, CInt(MSG_NOSIGNAL)))
    }

    /// Takes what has come, waiting so long for it.
    ///
    /// - Returns: whether the other side has closed.
    func receive(within time: Duration) -> Bool {
        guard socket.wait(timeout: time) else { return false }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket.number, &bytes, bytes.count, 0)
        if count > 0 { answer += String(decoding: bytes.prefix(count), as: UTF8.self) }
        return count == 0 || count < 0 && errno != EAGAIN
    }
}
