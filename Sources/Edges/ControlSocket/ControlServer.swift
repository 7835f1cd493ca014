import LinuxIO
import Quantities

/// The daemon's end of the control socket.
public struct ControlServer: ~Copyable, Sendable {
    static let longestLine = 65_536
    static let longestAnswer = 1 << 22
    private var lines: LineServer
    private let isBehindDoor: Bool

    /// Listens at `path` for the owner and the group of the process.
    ///
    /// - Parameter isBehindDoor: only the process's own user may ask there, which is `ControlDoor`, and it
    ///   tells who stands before it. In a user namespace of its own (`PrivateUsers=`) a daemon sees everybody
    ///   else as nobody.
    public init(path: String, isBehindDoor: Bool = false) throws(SystemError) {
        var bounds = LineServer.Bounds(
            longestLine: isBehindDoor ? Introduction.longestLine : Self.longestLine)
        bounds.isUrgent = ControlRequest.isStop
        bounds.busy = Self.line(ControlAnswer(error: Self.busy))
        // The door counts each user's connections; to us they all look like its own.
        if isBehindDoor { bounds.perUser = bounds.connections }
        lines = try LineServer(path: path, permissions: isBehindDoor ? 0o600 : 0o660, bounds)
        self.isBehindDoor = isBehindDoor
    }

    static let busy = "too many requests at once: try again when those before are answered"

    /// Who asks for what, and where the answer goes if it is not given at once.
    public struct Question: Sendable {
        public let request: ControlRequest
        public let peer: PeerIdentity?
        public let groups: [UInt32]
        fileprivate let id: UInt64
        fileprivate let answers: LineServer.Answers

        /// From any thread, once, where the question was not answered at once.
        public func answer(_ answer: ControlAnswer) { answers.put(ControlServer.line(answer), to: id) }

        /// Lets the asker have answer after answer by `tell`; `false` where enough follow already.
        public func follow() -> Bool { answers.follow(id) }

        /// Whether the asker follows and is still there.
        public var isFollowed: Bool { answers.isFollowed(id) }
    }

    /// Tells all who follow the same, from any thread: it is put into words once. Who is slow gets the
    /// newest.
    public static func tell(_ answer: ControlAnswer, _ followers: [Question]) {
        let line = Self.line(answer)
        for question in followers { question.answers.put(line, to: question.id) }
    }

    /// Serves until `isWanted` says no; it is asked at least each 200 ms.
    ///
    /// - Parameters:
    ///   - told: what became of the path at which people ask.
    ///   - answer: must not wait; `nil` = the question is answered later.
    public mutating func run(
        while isWanted: () -> Bool, told: (Doorway.Change) -> Void = { _ in },
        _ answer: (Question) -> ControlAnswer?
    ) {
        let (answers, isBehindDoor) = (lines.answers, self.isBehindDoor)
        lines.run(while: isWanted, told: told) { visit in
            switch Self.question(visit, answers, isBehindDoor: isBehindDoor) {
            case .success(let question): answer(question).map(Self.line)
            case .failure(let refusal): Self.line(ControlAnswer(error: refusal.text))
            }
        }
    }

    /// What is sent; without a text there is nothing, and the asker says that nobody answered.
    private static func line(_ answer: ControlAnswer) -> [UInt8] { JSONLine.encode(answer) ?? [] }

    private struct Refusal: Error { let text: String }

    private static func question(
        _ visit: LineServer.Visit, _ answers: LineServer.Answers, isBehindDoor: Bool
    ) -> Result<Question, Refusal> {
        var (peer, groups, line) = (visit.peer, visit.groups, visit.line)
        if isBehindDoor {
            guard peer?.userID == Accounts.ownUserID, let introduced = Introduction.parse(line) else {
                return .failure(Refusal(text: "only the door (ballast-door) asks here"))
            }
            (peer, groups, line) = (introduced.who.peer, introduced.who.groups, introduced.request)
        }
        guard let request = JSONLine.decode(ControlRequest.self, from: line) else {
            let commands = ControlRequest.Command.allCases.map(\.rawValue).joined(separator: ", ")
            return .failure(
                Refusal(text: "not a request; send {\"command\": one of \(commands)} on one line"))
        }
        return .success(
            Question(request: request, peer: peer, groups: groups, id: visit.id, answers: answers))
    }
}

/// The asker's end.
public enum ControlClient {
    /// - Returns: the answer; `nil` where the daemon gave none within five seconds.
    public static func ask(_ request: ControlRequest, at path: String) throws(SystemError) -> ControlAnswer? {
        let socket = try UnixSocket.connect(path)
        guard let bytes = JSONLine.encode(request) else { return nil }
        try UnixSocket.send(bytes, on: socket)
        let line = try UnixSocket.receiveLine(
            on: socket, limit: ControlServer.longestAnswer, until: .now() + .seconds(5))
        return line.flatMap { JSONLine.decode(ControlAnswer.self, from: $0) }
    }

    /// Follows the site's status until the daemon ends, refuses, is silent for `patience`, or nobody wants
    /// more.
    ///
    /// - Parameter took: each answer as it comes; `false` = that is enough.
    public static func follow(
        at path: String, patience: Duration, _ took: (ControlAnswer) -> Bool
    ) throws(SystemError) {
        var lines = LineReader(try UnixSocket.connect(path), limit: ControlServer.longestAnswer)
        guard let bytes = JSONLine.encode(ControlRequest(.follow)) else { return }
        try lines.send(bytes)
        while let line = try lines.next(until: .now() + patience) {
            guard let answer = JSONLine.decode(ControlAnswer.self, from: line), took(answer) else { return }
        }
    }
}
