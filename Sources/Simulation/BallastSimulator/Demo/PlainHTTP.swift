import Glibc
import LinuxIO
import Quantities

/// One HTTP/1.0 GET on the loopback, for looking at our own aggregator.
enum PlainHTTP {
    /// - Returns: the body of a 200 answer; `nil` for anything else.
    static func get(port: UInt16, path: String, token: String) -> String? {
        let number = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return nil }
        let connection = FileDescriptor(owning: number)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return nil }
        let request = Array(
            ("GET \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
                + "Connection: close\r\n\r\n").utf8)
        // A refused request shows as a missing answer.
        try? UnixSocket.send(request, on: connection)
        let answer = String(decoding: all(of: connection), as: UTF8.self)
        guard answer.hasPrefix("HTTP/1.1 200"), let end = answer.range(of: "\r\n\r\n") else { return nil }
        return String(answer[end])
    }

    private static func all(of connection: borrowing FileDescriptor) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let deadline = MonotonicTime.now() + .seconds(3)
        while bytes.count < 4 << 20, connection.wait(timeout: deadline - .now()) {
            let count = recv(connection.number, &chunk, chunk.count, 0)
            if count <= 0 { break }
            bytes.append(contentsOf: chunk[..<count])
        }
        return bytes
    }
}

extension String {
    /// From the end of the first occurrence of `text`; a small stand-in for Foundation's search.
    fileprivate func range(of text: String) -> PartialRangeFrom<String.Index>? {
        var rest = utf8[...]
        let wanted = Array(text.utf8)
        while rest.count >= wanted.count {
            if rest.prefix(wanted.count).elementsEqual(wanted) {
                return rest.index(rest.startIndex, offsetBy: wanted.count)...
            }
            rest = rest.dropFirst()
        }
        return nil
    }
}
