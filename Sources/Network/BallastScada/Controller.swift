import ControlSocket
import Glibc
import IEC104
import LinuxIO
import Quantities
import Synchronization

/// The controller behind its socket: one thread asks for commands, another one is told the site's status.
/// Neither holds the other, and the masters wait for none of them.
final class Controller: Sendable {
    /// What the controller made of a wish.
    struct Answer: Sendable {
        var number: UInt64
        /// `nil` = done.
        var refusal: String?
    }

    struct News: Sendable {
        var answers: [Answer] = []
        /// The newest, and when it came.
        var status: (value: SiteStatus, at: MonotonicTime)?
        /// Why no status comes; `nil` = one does, or nobody is there.
        var refusal: String?
    }

    private static let pause = Duration.milliseconds(200)
    /// A controller that tells nothing for so long is looked for anew.
    private static let silence = Duration.seconds(2)
    /// What has waited for longer behind another wish is nobody's wish any more; an end of one always is.
    private static let patience = Duration.seconds(1)
    private let path: String
    private let validity: Duration
    private let news = Mutex(News())
    private let wishes = Mutex<[(number: UInt64, wish: Outstation.Wish, since: MonotonicTime)]>([])
    private let asked: WakeUp
    private let stop = StopFlag()
    let bell: Bell

    init(path: String, validity: Duration) throws(SystemError) {
        self.path = path
        self.validity = validity
        asked = try WakeUp()
        bell = try Bell()
    }

    func end() { stop.raise() }

    func ask(_ number: UInt64, _ wish: Outstation.Wish) {
        let now = MonotonicTime.now()
        wishes.withLock { $0.append((number, wish, now)) }
        asked.signal(at: now)
    }

    /// What has come since the last call; the status stays.
    func take() -> News {
        news.withLock { news in
            defer { news.answers = [] }
            return news
        }
    }

    /// Brings one wish after the other.
    func bring() {
        while !stop.isRaised {
            asked.wait(until: .now() + Self.pause)
            _ = asked.take()
            while let next = wishes.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                let hasWaited = next.wish != .release && .now() - next.since > Self.patience
                let refusal = hasWaited ? "it waited too long: ask again" : carry(next.wish)
                news.withLock { $0.answers.append(Answer(number: next.number, refusal: refusal)) }
                bell.ring()
            }
        }
    }

    /// - Returns: why the controller refuses; `nil` = done.
    private func carry(_ wish: Outstation.Wish) -> String? {
        let request: ControlRequest
        switch wish {
        case .power(let kilowatts):
            request = ControlRequest(.agc, power_kw: kilowatts, for_s: validity.seconds)
        case .release: request = ControlRequest(.agcRelease)
        case .enable, .heartbeat: return nil
        }
        do throws(SystemError) {
            guard let answer = try ControlClient.ask(request, at: path) else {
                return "the controller gives no answer"
            }
            return answer.error
        } catch {
            return "the controller cannot be asked: \(error)"
        }
    }

    /// Follows the site's status; where the controller is gone, until it is there again.
    func watch() {
        while !stop.isRaised {
            let next = MonotonicTime.now() + Self.pause
            do throws(SystemError) {
                try ControlClient.follow(at: path, patience: Self.silence) { answer in
                    take(answer)
                    return answer.error == nil && !stop.isRaised
                }
            } catch {
                // Without a controller there is no status, which the points then say.
            }
            next.sleep()
        }
    }

    private func take(_ answer: ControlAnswer) {
        news.withLock { news in
            news.refusal = answer.error
            // The age of a status counts from the last cycle that it shows.
            guard let status = answer.status, news.status?.value.cycle != status.cycle else { return }
            news.status = (status, .now())
        }
        bell.ring()
    }
}

/// Wakes a thread that waits in `poll`.
final class Bell: Sendable {
    private let reading: FileDescriptor
    private let writing: FileDescriptor

    init() throws(SystemError) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError.last("pipe") }
        reading = FileDescriptor(owning: ends[0])
        writing = FileDescriptor(owning: ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        try reading.setNonBlocking()
        try writing.setNonBlocking()
    }

    var number: CInt { reading.number }

    func ring() {
        var one: UInt8 = 1
        // A full pipe rings already.
        _ = Glibc.write(writing.number, &one, 1)
    }

    func still() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while Glibc.read(reading.number, &bytes, bytes.count) > 0 {}
    }
}
