import LinuxIO
import Quantities

/// Stands before a daemon that sees everybody as nobody (`PrivateUsers=`): takes each asker at the public
/// socket, learns from the kernel who it is, and hands its line on with that. It decides nothing and reads no
/// request.
public struct ControlDoor: ~Copyable {
    /// The daemon may wait two seconds for its cycle.
    private static let patience = Duration.seconds(4)
    private static let longestAnswer = 1 << 22

    private let listener: FileDescriptor
    private let daemon: String

    /// Listens at `path` for the owner and the group of the process, who must be the daemon's user too.
    ///
    /// - Parameter daemon: the daemon's socket, `ControlServer(path:isBehindDoor: true)`.
    public init(path: String, daemon: String) throws(SystemError) {
        listener = try UnixSocket.listen(path, permissions: 0o660)
        self.daemon = daemon
    }

    /// Waits at most `timeout` for an asker and serves it; always with an answer, be it that there is none.
    public func serveOne(timeout: Duration) throws(SystemError) {
        guard let socket = try UnixSocket.accept(on: listener, timeout: timeout) else { return }
        let line = try UnixSocket.receiveLine(
            on: socket, limit: ControlServer.longestLine, until: .now() + .seconds(1))
        guard let line else { return }
        try UnixSocket.send(answer(to: line, from: socket) + [UInt8(ascii: "\n")], on: socket)
    }

    private func answer(to line: [UInt8], from socket: borrowing FileDescriptor) -> [UInt8] {
        guard let peer = UnixSocket.peer(of: socket) else {
            return refusal("the kernel does not tell who asks")
        }
        let who = Introduction(peer: peer, groups: UnixSocket.peerGroups(of: socket))
        do throws(SystemError) {
            let inside = try UnixSocket.connect(daemon)
            try UnixSocket.send(who.line(line) + [UInt8(ascii: "\n")], on: inside)
            let answer = try UnixSocket.receiveLine(
                on: inside, limit: Self.longestAnswer, until: .now() + Self.patience)
            return answer ?? refusal("the controller gave no answer within \(Self.patience)")
        } catch {
            return refusal("the controller cannot be asked: \(error); see 'systemctl status ballastd'")
        }
    }

    private func refusal(_ text: String) -> [UInt8] {
        // Without a line of text there is nothing to send, and the asker says that nobody answered.
        JSONLine.encode(ControlAnswer(error: text)).map { Array($0.dropLast()) } ?? []
    }
}
