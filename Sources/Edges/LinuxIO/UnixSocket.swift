import CLinux
import Glibc
import Quantities

/// Who is at the other end of a Unix socket, as the kernel knows it.
public struct PeerIdentity: Sendable, Equatable {
    public var userID: UInt32
    public var groupID: UInt32
    public var processID: Int32

    public init(userID: UInt32, groupID: UInt32, processID: Int32) {
        self.userID = userID
        self.groupID = groupID
        self.processID = processID
    }
}

/// Stream sockets in the file system. No call on one waits for ever: a peer that neither takes nor reads
/// costs two seconds.
public enum UnixSocket {
    private static let patience = timeval(tv_sec: 2, tv_usec: 0)

    /// Listens at `path`. A socket that stands there with nobody behind it is removed; any other thing is
    /// left, and refused. `permissions` as in `chmod`.
    public static func listen(_ path: String, permissions: mode_t) throws(SystemError) -> FileDescriptor {
        let socket = try make()
        if isAbandoned(path) { _ = unlink(path) }
        try withAddress(path, "bind") { address, length in bind(socket.number, address, length) == 0 }
        guard chmod(path, permissions) == 0 else { throw SystemError.last("chmod") }
        guard Glibc.listen(socket.number, 256) == 0 else { throw SystemError.last("listen") }
        return socket
    }

    public static func connect(_ path: String) throws(SystemError) -> FileDescriptor {
        let socket = try make()
        try withAddress(path, "connect") { address, length in
            Glibc.connect(socket.number, address, length) == 0
        }
        return socket
    }

    /// The next peer, or `nil` after `timeout` without one.
    public static func accept(
        on listener: borrowing FileDescriptor, timeout: Duration
    ) throws(SystemError) -> FileDescriptor? {
        guard listener.wait(timeout: timeout) else { return nil }
        let number = Glibc.accept(listener.number, nil, nil)
        guard number >= 0 else {
            let error = SystemError.last("accept")
            if error.code == EAGAIN || error.code == EINTR || error.code == ECONNABORTED { return nil }
            throw error
        }
        let socket = FileDescriptor(owning: number)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        try bound(socket)
        return socket
    }

    public static func peer(of socket: borrowing FileDescriptor) -> PeerIdentity? {
        var identity = PeerIdentity(userID: 0, groupID: 0, processID: 0)
        let result = ballast_peer_credentials(
            socket.number, &identity.userID, &identity.groupID, &identity.processID)
        return result == 0 ? identity : nil
    }

    /// Sends all of `bytes`; never raises SIGPIPE.
    ///
    /// - Throws: EAGAIN where the peer does not read.
    public static func send(_ bytes: [UInt8], on socket: borrowing FileDescriptor) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer -> Int in
                Glibc.send(
                    socket.number, buffer.baseAddress.map { $0 + done }, buffer.count - done,
                    CInt(MSG_NOSIGNAL))
            }
            if count < 0 { throw SystemError.last("send") }
            done += count
        }
    }

    /// One line without its end, at most `limit` bytes; `nil` where the peer ends, is too slow or says too
    /// much.
    public static func receiveLine(
        on socket: borrowing FileDescriptor, limit: Int, until deadline: MonotonicTime
    ) throws(SystemError) -> [UInt8]? {
        var rest: [UInt8] = []
        return try receiveLine(on: socket, after: &rest, limit: limit, until: deadline)
    }

    /// The same, where more than one comes.
    ///
    /// - Parameter rest: what has come of the next line already.
    fileprivate static func receiveLine(
        on socket: borrowing FileDescriptor, after rest: inout [UInt8], limit: Int,
        until deadline: MonotonicTime
    ) throws(SystemError) -> [UInt8]? {
        if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            defer { rest.removeFirst(end + 1) }
            return end <= limit ? Array(rest[..<end]) : nil
        }
        var line = rest
        rest = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while line.count <= limit {
            let left = deadline - .now()
            guard left > .zero, socket.wait(timeout: left) else { return nil }
            let count = recv(socket.number, &chunk, chunk.count, 0)
            if count < 0 { throw SystemError.last("recv") }
            if count == 0 { return nil }
            if let end = chunk[..<count].firstIndex(of: UInt8(ascii: "\n")) {
                rest = Array(chunk[(end + 1)..<count])
                return line.count + end <= limit ? line + chunk[..<end] : nil
            }
            line.append(contentsOf: chunk[..<count])
        }
        return nil
    }

    private static func isAbandoned(_ path: String) -> Bool {
        do throws(SystemError) {
            _ = try connect(path)
            return false
        } catch {
            // Somebody else's file refuses a connection too.
            var status = stat()
            return error.code == ECONNREFUSED && lstat(path, &status) == 0
                && status.st_mode & S_IFMT == S_IFSOCK
        }
    }

    private static func make() throws(SystemError) -> FileDescriptor {
        let number = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw SystemError.last("socket") }
        let socket = FileDescriptor(owning: number)
        try bound(socket)
        return socket
    }

    /// The bound holds for `connect` to a full queue too.
    private static func bound(_ socket: borrowing FileDescriptor) throws(SystemError) {
        var time = patience
        let length = socklen_t(MemoryLayout<timeval>.size)
        guard setsockopt(socket.number, SOL_SOCKET, SO_SNDTIMEO, &time, length) == 0 else {
            throw SystemError.last("setsockopt")
        }
    }

    private static func withAddress(
        _ path: String, _ call: StaticString, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) throws(SystemError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw SystemError(call, code: ENAMETOOLONG)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let isDone = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard isDone else { throw SystemError.last(call) }
    }
}

/// A Unix stream socket on which line after line comes. Belongs to one thread.
public struct LineReader: ~Copyable {
    private let socket: FileDescriptor
    private let limit: Int
    private var rest: [UInt8] = []

    /// - Parameter limit: the longest line, in bytes.
    public init(_ socket: consuming FileDescriptor, limit: Int) {
        self.socket = socket
        self.limit = limit
    }

    /// Sends all of `bytes`, as `UnixSocket.send` does.
    public func send(_ bytes: [UInt8]) throws(SystemError) { try UnixSocket.send(bytes, on: socket) }

    /// The next line without its end; `nil` where the peer ends, is too slow or says too much.
    public mutating func next(until deadline: MonotonicTime) throws(SystemError) -> [UInt8]? {
        try UnixSocket.receiveLine(on: socket, after: &rest, limit: limit, until: deadline)
    }
}
