import Glibc
import LinuxIO
import Quantities
import Synchronization
import Testing

/// Numbers from another thread.
final class Mailbox: Sendable {
    private let content = Mutex<[CInt]>([])
    func put(_ number: CInt) { content.withLock { $0.append(number) } }
    var numbers: [CInt] { content.withLock { $0 } }
}

@Suite struct UnixSocketTests {
    /// A generous bound, never reached where the code is right.
    static var deadline: MonotonicTime { .now() + .seconds(20) }

    /// What the listener's side receives as a line after `parts` were sent and the sender has gone or not.
    static func received(_ parts: [[UInt8]], limit: Int, closes: Bool = false) throws -> [UInt8]? {
        let folder = try TestFolder()
        let listener = try UnixSocket.listen(folder.path + "/socket", permissions: 0o600)
        guard let peer = try pair(listener, folder.path + "/socket", parts, closes) else { return nil }
        return try UnixSocket.receiveLine(on: peer.inner, limit: limit, until: deadline)
    }

    struct Held: ~Copyable {
        let inner: FileDescriptor
        let sender: FileDescriptor?
    }

    private static func pair(
        _ listener: borrowing FileDescriptor, _ path: String, _ parts: [[UInt8]], _ closes: Bool
    ) throws -> Held? {
        let sender = try UnixSocket.connect(path)
        guard let inner = try UnixSocket.accept(on: listener, timeout: .seconds(20)) else { return nil }
        for part in parts { try UnixSocket.send(part, on: sender) }
        if closes { return Held(inner: inner, sender: nil) }
        return Held(inner: inner, sender: sender)
    }

    // swift-format-ignore
    static let lines: [(parts: [[UInt8]], limit: Int, closes: Bool, line: [UInt8]?, why: Comment)] = [
        ([Array("hello\n".utf8)],              10, false, Array("hello".utf8), "a line"),
        ([Array("hel".utf8), Array("lo\n".utf8)], 10, false, Array("hello".utf8), "in two pieces"),
        ([Array("\n".utf8)],                   10, false, [],                  "an empty line"),
        ([Array("hello\nmore".utf8)],          10, false, Array("hello".utf8), "what follows the line is not it"),
        ([Array("0123456789\n".utf8)],         10, false, Array("0123456789".utf8), "exactly the limit"),
        ([Array("0123456789X\n".utf8)],        10, false, nil,                 "one byte too long, in one piece"),
        ([Array(repeating: 120, count: 9_000)], 8_192, false, nil,             "too long and without an end"),
        ([Array("hel".utf8)],                  10, true,  nil,                 "the peer ends without a line"),
        ([],                                   10, true,  nil,                 "the peer says nothing and ends"),
    ]

    @Test(arguments: lines)
    func `a line is received whole and never longer than its limit`(
        row: (parts: [[UInt8]], limit: Int, closes: Bool, line: [UInt8]?, why: Comment)
    ) throws {
        let line = try Self.received(row.parts, limit: row.limit, closes: row.closes)
        #expect(line == row.line, row.why)
    }

    @Test func `a peer that says nothing costs only the time it is given`() throws {
        let folder = try TestFolder()
        let listener = try UnixSocket.listen(folder.path + "/socket", permissions: 0o600)
        let sender = try UnixSocket.connect(folder.path + "/socket")
        let accepted = try UnixSocket.accept(on: listener, timeout: .seconds(20))
        guard let peer = accepted else {
            Issue.record("nobody to accept")
            return
        }
        let line = try UnixSocket.receiveLine(on: peer, limit: 10, until: .now() + .milliseconds(20))
        #expect(line == nil)
        withExtendedLifetime(sender) {}
    }

    @Test func `a socket has the permissions it was asked for, replaces an old one, and knows its peer`()
        throws
    {
        let folder = try TestFolder()
        let path = folder.path + "/socket"
        do { _ = try UnixSocket.listen(path, permissions: 0o600) }
        #expect(throws: SystemError("connect", code: ECONNREFUSED)) {
            _ = try UnixSocket.connect(path).number
        }
        let listener = try UnixSocket.listen(path, permissions: 0o660)
        #expect(throws: SystemError("bind", code: EADDRINUSE), "it is in use now") {
            _ = try UnixSocket.listen(path, permissions: 0o660).number
        }
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o660)
        let sender = try UnixSocket.connect(path)
        let accepted = try UnixSocket.accept(on: listener, timeout: .seconds(20))
        guard let peer = accepted else {
            Issue.record("nobody to accept")
            return
        }
        #expect(UnixSocket.peer(of: peer)?.processID == getpid())
        #expect(UnixSocket.peer(of: peer)?.userID == getuid())
        withExtendedLifetime(sender) {}
    }

    @Test func `nobody to accept is no error`() throws {
        let folder = try TestFolder()
        let listener = try UnixSocket.listen(folder.path + "/socket", permissions: 0o600)
        let peer = try UnixSocket.accept(on: listener, timeout: .zero)
        let isNobody = peer == nil
        #expect(isNobody)
    }

    @Test func `a path that no socket address can hold is refused`() {
        let path = "/tmp/" + String(repeating: "x", count: 200)
        #expect(throws: SystemError("bind", code: ENAMETOOLONG)) {
            _ = try UnixSocket.listen(path, permissions: 0o600).number
        }
    }

    @Test func `sending to a peer that has gone is an error and not the end of the process`() throws {
        let folder = try TestFolder()
        let listener = try UnixSocket.listen(folder.path + "/socket", permissions: 0o600)
        let sender = try UnixSocket.connect(folder.path + "/socket")
        do { _ = try UnixSocket.accept(on: listener, timeout: .seconds(20)) }
        #expect(throws: SystemError("send", code: EPIPE)) { try UnixSocket.send([1], on: sender) }
    }
}
