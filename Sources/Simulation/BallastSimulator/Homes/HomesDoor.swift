import Glibc
import LinuxIO
import Quantities

/// HTTP/1.1 on one connection that stays open: as much of it as the door of an aggregator on this machine
/// needs.
struct HomesDoor: ~Copyable {
    struct Failure: Error, CustomStringConvertible { var description: String }

    private static let patience = Duration.seconds(120)
    private let socket: FileDescriptor
    private let token: String
    private var rest: [UInt8] = []

    init(port: UInt16, token: String) throws {
        socket = try Self.connect(port)
        self.token = token
    }

    private static func connect(_ port: UInt16) throws -> FileDescriptor {
        let socket = try NetworkSocket.connect(.stream, to: try NetworkAddress("127.0.0.1", port))
        guard socket.wait(forWriting: true, timeout: patience),
            NetworkSocket.connectionError(socket.number) == 0
        else { throw Failure(description: "nobody listens on 127.0.0.1:\(port)") }
        return socket
    }

    /// Posts and wants a 201.
    mutating func post(_ path: String, _ body: String, key: String, type: String = "application/json") throws
    {
        let bytes = Array(body.utf8)
        try send(
            "POST \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\nContent-Type: \(type)\r\n"
                + "Idempotency-Key: \(key)\r\nContent-Length: \(bytes.count)\r\n\r\n", bytes)
        let (status, text) = try answer()
        if status != 201 { throw Failure(description: "\(path): \(status) \(text.prefix(400))") }
    }

    /// Gets and wants a 200.
    mutating func get(_ path: String) throws -> String {
        try send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n", [])
        let (status, text) = try answer()
        if status != 200 { throw Failure(description: "\(path): \(status) \(text.prefix(400))") }
        return text
    }

    private func send(_ heading: String, _ body: [UInt8]) throws {
        let bytes = Array(heading.utf8) + body
        var sent = 0
        while sent < bytes.count {
            let count = try bytes[sent...].withUnsafeBytes { try socket.write($0) }
            sent += count
            if count == 0, !socket.wait(forWriting: true, timeout: Self.patience) {
                throw Failure(description: "the aggregator takes no more")
            }
        }
    }

    private mutating func answer() throws -> (status: Int, text: String) {
        let heading = String(decoding: try take(through: [13, 10, 13, 10]), as: UTF8.self)
        let lines = heading.split(separator: "\r\n")
        guard let first = lines.first?.split(separator: " "), first.count >= 2, let status = Int(first[1])
        else {
            throw Failure(description: "no HTTP: \(heading.prefix(100))")
        }
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.drop { !$0.isNumber }) }
        guard let length else { throw Failure(description: "an answer without its length") }
        while rest.count < length { try readSome() }
        let body = rest.prefix(length)
        rest.removeFirst(length)
        return (status, String(decoding: body, as: UTF8.self))
    }

    private mutating func take(through mark: [UInt8]) throws -> [UInt8] {
        while true {
            if let place = rest.firstRange(of: mark) {
                let part = Array(rest[..<place.upperBound])
                rest.removeFirst(place.upperBound)
                return part
            }
            try readSome()
        }
    }

    private mutating func readSome() throws {
        guard socket.wait(timeout: Self.patience) else {
            throw Failure(description: "the aggregator does not answer")
        }
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let result = try chunk.withUnsafeMutableBytes { try socket.read(into: $0) }
        switch result {
        case .bytes(let count): rest += chunk.prefix(count)
        case .wouldBlock: break
        case .endOfFile: throw Failure(description: "the aggregator went away")
        }
    }
}
