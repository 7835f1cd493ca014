import LinuxIO
import Quantities
import Synchronization

/// Stands before a daemon that sees everybody as nobody (`PrivateUsers=`): takes each asker at the public
/// socket, learns from the kernel who it is, and hands its line on with that. It decides nothing, and reads
/// of a request only whether it is a stop, which comes through beside all others, or wants more than one
/// answer.
public struct ControlDoor: ~Copyable, Sendable {
    /// The daemon may wait two seconds for its cycle.
    private static let patience = Duration.seconds(4)

    /// So many askers wait for the daemon at once; further ones are told so.
    private static let mostAtOnce = 16
    private static let mostOfOneUser = 4
    /// Stops that wait beside all of them; a stop comes through whatever else is asked.
    private static let mostStops = 8

    private var lines: LineServer
    private let daemon: String
    private let desk = Desk()

    /// Who is being served.
    private final class Desk: Sendable {
        private let users = Mutex<[UInt32: Int]>([:])

        func begin(_ user: UInt32, isStop: Bool) -> Bool {
            users.withLock { users in
                let more = isStop ? ControlDoor.mostStops : 0
                guard users[user, default: 0] < ControlDoor.mostOfOneUser + more,
                    users.values.reduce(0, +) < ControlDoor.mostAtOnce + more
                else { return false }
                users[user, default: 0] += 1
                return true
            }
        }

        func end(_ user: UInt32) {
            users.withLock { users in
                users[user, default: 1] -= 1
                if users[user] == 0 { users[user] = nil }
            }
        }
    }

    /// Listens at `path` for the owner and the group of the process, who must be the daemon's user too.
    ///
    /// - Parameter daemon: the daemon's socket, `ControlServer(path:isBehindDoor: true)`.
    public init(path: String, daemon: String) throws(SystemError) {
        var bounds = LineServer.Bounds(longestLine: ControlServer.longestLine)
        bounds.isUrgent = ControlRequest.isStop
        bounds.busy = Self.refusal(ControlServer.busy)
        lines = try LineServer(path: path, permissions: 0o660, bounds)
        self.daemon = daemon
    }

    /// Serves until `isWanted` says no; always with an answer, be it that there is none.
    ///
    /// - Parameter told: what became of the path at which people ask.
    public mutating func run(while isWanted: () -> Bool, told: (Doorway.Change) -> Void) {
        let (answers, daemon, desk) = (lines.answers, self.daemon, self.desk)
        lines.run(while: isWanted, told: told) { visit in
            guard let peer = visit.peer else { return Self.refusal("the kernel does not tell who asks") }
            guard desk.begin(peer.userID, isStop: ControlRequest.isStop(visit.line)) else {
                return Self.refusal(ControlServer.busy)
            }
            let who = Introduction(peer: peer, groups: visit.groups)
            let isFollow = ControlRequest.isFollow(visit.line)
            guard !isFollow || answers.follow(visit.id) else {
                desk.end(peer.userID)
                return Self.refusal(ControlServer.busy)
            }
            do throws(SystemError) {
                _ = try SystemThread(name: "asker") {
                    if isFollow {
                        Self.follow(visit, from: who, daemon, answers)
                    } else {
                        answers.put(Self.answer(to: visit.line, from: who, daemon), to: visit.id)
                    }
                    desk.end(peer.userID)
                }
            } catch {
                desk.end(peer.userID)
                return Self.refusal("the door has no thread to ask with: \(error)")
            }
            return nil
        }
    }

    private static func answer(to line: [UInt8], from who: Introduction, _ daemon: String) -> [UInt8] {
        do throws(SystemError) {
            var inside = try reach(line, from: who, daemon)
            return try inside.next(until: .now() + Self.patience).map { $0 + [UInt8(ascii: "\n")] } ?? silence
        } catch {
            return refusal(error)
        }
    }

    /// Hands line after line on, until the daemon ends it, is silent, or the asker has gone.
    private static func follow(
        _ visit: LineServer.Visit, from who: Introduction, _ daemon: String, _ answers: LineServer.Answers
    ) {
        do throws(SystemError) {
            var inside = try reach(visit.line, from: who, daemon)
            var isFirst = true
            while answers.isFollowed(visit.id) {
                guard let line = try inside.next(until: .now() + Self.patience) else {
                    if isFirst { answers.put(silence, to: visit.id) }
                    break
                }
                answers.put(line + [UInt8(ascii: "\n")], to: visit.id)
                isFirst = false
            }
        } catch {
            answers.put(refusal(error), to: visit.id)
        }
        answers.unfollow(visit.id)
    }

    private static func reach(
        _ line: [UInt8], from who: Introduction, _ daemon: String
    ) throws(SystemError) -> LineReader {
        let lines = LineReader(try UnixSocket.connect(daemon), limit: ControlServer.longestAnswer)
        try lines.send(who.line(line) + [UInt8(ascii: "\n")])
        return lines
    }

    private static var silence: [UInt8] { refusal("the controller gave no answer within \(patience)") }

    private static func refusal(_ error: SystemError) -> [UInt8] {
        refusal("the controller cannot be asked: \(error); see 'systemctl status ballastd'")
    }

    private static func refusal(_ text: String) -> [UInt8] {
        // Without a line of text there is nothing to send, and the asker says that nobody answered.
        JSONLine.encode(ControlAnswer(error: text)) ?? []
    }
}
