import LinuxIO
import Quantities

/// A Unix stream socket that answers one line with one line, one asker at a time. Belongs to one thread.
final class LineServer {
    private static let lineLimit = 4_096
    private let listener: FileDescriptor

    /// Takes the place of a socket that stands at `path` with nobody behind it.
    init(path: String) throws(SystemError) {
        makeParents(of: path)
        listener = try UnixSocket.listen(path, permissions: 0o600)
    }

    func run(until stop: StopFlag, answer: (String) -> String) {
        while !stop.isRaised {
            do throws(SystemError) {
                guard let client = try UnixSocket.accept(on: listener, timeout: .milliseconds(100)) else {
                    continue
                }
                let line = try UnixSocket.receiveLine(
                    on: client, limit: Self.lineLimit, until: .now() + .seconds(1))
                guard let line else { continue }
                try UnixSocket.send(
                    Array((answer(String(decoding: line, as: UTF8.self)) + "\n").utf8), on: client)
            } catch {
                // The asker has gone; the next one is served all the same.
                continue
            }
        }
    }
}

/// The other end of `LineServer`.
public enum LineClient {
    /// Sends one line and waits at most `timeout` for the line that answers it.
    public static func ask(
        _ command: String, at path: String, timeout: Duration = .seconds(10)
    ) throws(SystemError) -> String {
        let socket = try UnixSocket.connect(path)
        try UnixSocket.send(Array((command + "\n").utf8), on: socket)
        let line = try UnixSocket.receiveLine(on: socket, limit: 1 << 24, until: .now() + timeout)
        guard let line else { throw SystemError.timedOut("recv") }
        return String(decoding: line, as: UTF8.self)
    }
}
