import LinuxIO
import Quantities

/// The daemon's end of the control socket: one asker at a time, each with a bound.
public struct ControlServer: ~Copyable, Sendable {
    static let longestLine = 65_536
    private let listener: FileDescriptor
    private let isBehindDoor: Bool

    /// Listens at `path` for the owner and the group of the process.
    ///
    /// - Parameter isBehindDoor: only the process's own user may ask there, which is `ControlDoor`, and it
    ///   tells who stands before it. In a user namespace of its own (`PrivateUsers=`) a daemon sees everybody
    ///   else as nobody.
    public init(path: String, isBehindDoor: Bool = false) throws(SystemError) {
        listener = try UnixSocket.listen(path, permissions: isBehindDoor ? 0o600 : 0o660)
        self.isBehindDoor = isBehindDoor
    }

    /// Waits at most `timeout` for an asker and serves it; `answer` gets the asker and its groups.
    public func serveOne(
        timeout: Duration, _ answer: (ControlRequest, PeerIdentity?, [UInt32]) -> ControlAnswer
    ) throws(SystemError) {
        guard let socket = try UnixSocket.accept(on: listener, timeout: timeout) else { return }
        let limit = isBehindDoor ? Introduction.longestLine : Self.longestLine
        let line = try UnixSocket.receiveLine(on: socket, limit: limit, until: .now() + .seconds(1))
        guard let line else { return }
        let reply = reply(to: line, from: socket, answer)
        if let bytes = JSONLine.encode(reply) { try UnixSocket.send(bytes, on: socket) }
    }

    private func reply(
        to line: [UInt8], from socket: borrowing FileDescriptor,
        _ answer: (ControlRequest, PeerIdentity?, [UInt32]) -> ControlAnswer
    ) -> ControlAnswer {
        var line = line
        var peer = UnixSocket.peer(of: socket)
        var groups: [UInt32] = []
        if isBehindDoor {
            guard peer?.userID == Accounts.ownUserID, let introduced = Introduction.parse(line) else {
                return ControlAnswer(error: "only the door (ballast-door) asks here")
            }
            (peer, groups, line) = (introduced.who.peer, introduced.who.groups, introduced.request)
        } else {
            groups = UnixSocket.peerGroups(of: socket)
        }
        guard let request = JSONLine.decode(ControlRequest.self, from: line) else {
            let commands = ControlRequest.Command.allCases.map(\.rawValue).joined(separator: ", ")
            return ControlAnswer(error: "not a request; send {\"command\": one of \(commands)} on one line")
        }
        return answer(request, peer, groups)
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
