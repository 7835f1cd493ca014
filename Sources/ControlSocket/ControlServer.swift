import LinuxIO
import Quantities

/// The daemon's end of the control socket: one asker at a time, each with a bound.
public struct ControlServer: ~Copyable, Sendable {
    private static let longestLine = 65_536
    private let listener: FileDescriptor

    /// Listens at `path` for the owner and the group of the process.
    public init(path: String) throws(SystemError) {
        listener = try UnixSocket.listen(path, permissions: 0o660)
    }

    /// Waits at most `timeout` for an asker and serves it; `answer` gets the asker and its groups.
    public func serveOne(
        timeout: Duration, _ answer: (ControlRequest, PeerIdentity?, [UInt32]) -> ControlAnswer
    ) throws(SystemError) {
        guard let socket = try UnixSocket.accept(on: listener, timeout: timeout) else { return }
        let line = try UnixSocket.receiveLine(
            on: socket, limit: Self.longestLine, until: .now() + .seconds(1))
        guard let line else { return }
        let reply: ControlAnswer
        if let request = JSONLine.decode(ControlRequest.self, from: line) {
            reply = answer(request, UnixSocket.peer(of: socket), UnixSocket.peerGroups(of: socket))
        } else {
            let commands = ControlRequest.Command.allCases.map(\.rawValue).joined(separator: ", ")
            reply = ControlAnswer(error: "not a request; send {\"command\": one of \(commands)} on one line")
        }
        if let bytes = JSONLine.encode(reply) { try UnixSocket.send(bytes, on: socket) }
    }
}

/// The asker's end.
public enum ControlClient {
    /// - Returns: the answer; `nil` where the daemon gave none within five seconds.
    public static func ask(_ request: ControlRequest, at path: String) throws(SystemError) -> ControlAnswer? {
        let socket = try UnixSocket.connect(path)
        guard let bytes = JSONLine.encode(request) else { return nil }
        try UnixSocket.send(bytes, on: socket)
        let line = try UnixSocket.receiveLine(on: socket, limit: 1 << 22, until: .now() + .seconds(5))
        return line.flatMap { JSONLine.decode(ControlAnswer.self, from: $0) }
    }
}
