import LinuxIO
import Quantities
import Synchronization

/// Reads the configuration anew, on a thread of its own: a file system that does not answer holds nobody
/// else.
final class FileThread: Sendable {
    enum Answer: Sendable {
        case read(CheckedSite)
        case refused(String)
    }

    private struct Desk: Sendable {
        var path: String?
        var answer: Answer?
    }

    private let desk = Mutex(Desk())
    private let beat: Beat
    private let stop = StopFlag()

    init(_ beat: Beat) { self.beat = beat }

    /// Asks for the site at `path`; of several the newest counts.
    func ask(_ path: String) { desk.withLock { $0.path = path } }

    /// What was read, once.
    func take() -> Answer? {
        desk.withLock { desk in
            defer { desk.answer = nil }
            return desk.answer
        }
    }

    func end() { stop.raise() }

    func run() {
        while !stop.isRaised {
            beat.turn()
            let path = desk.withLock { desk in
                defer { desk.path = nil }
                return desk.path
            }
            if let path {
                let answer = Self.read(path)
                desk.withLock { $0.answer = answer }
            }
            (MonotonicTime.now() + .milliseconds(10)).sleep()
        }
    }

    private static func read(_ path: String) -> Answer {
        do throws(Daemon.StartFailure) {
            return .read(try CheckedSite(path: path))
        } catch {
            return .refused(error.description)
        }
    }
}
