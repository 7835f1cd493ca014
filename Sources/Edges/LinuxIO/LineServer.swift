import Glibc
import Quantities
import Synchronization

/// Serves many askers on a Unix socket with one thread: each sends one line and gets one answer, or follows
/// and gets a line each time that there is one, the newest alone where it is slow. An asker
/// that says nothing, or does not read, keeps no other waiting: it has a bounded time, and where a user has
/// too many connections, or all together, the oldest that has asked nothing makes room for the new one. Where
/// all of them have asked, a further one is heard all the same, and served where what it asks is urgent.
public struct LineServer: ~Copyable, Sendable {
    /// What somebody asks.
    public struct Visit: Sendable {
        public let id: UInt64
        /// `nil` where the kernel does not tell.
        public let peer: PeerIdentity?
        public let groups: [UInt32]
        public let line: [UInt8]
    }

    /// Answers that come later, from other threads.
    public final class Answers: Sendable {
        private struct Desk {
            var waiting: [(id: UInt64, bytes: [UInt8])] = []
            var followers: Set<UInt64> = []
        }

        private let desk = Mutex(Desk())
        fileprivate let wake: WakeUp

        fileprivate init() throws(SystemError) { wake = try WakeUp() }

        /// The last line of `id`, or of one that follows one more.
        public func put(_ bytes: [UInt8], to id: UInt64) {
            desk.withLock { $0.waiting.append((id, bytes)) }
            wake.signal(at: .now())
        }

        /// Makes an asker one that follows; `false` where enough do.
        public func follow(_ id: UInt64) -> Bool {
            desk.withLock { desk in
                guard desk.followers.count < Bounds.followers else { return false }
                return desk.followers.insert(id).inserted
            }
        }

        /// Whether it follows and is still there.
        public func isFollowed(_ id: UInt64) -> Bool { desk.withLock { $0.followers.contains(id) } }

        /// The next line is the last of `id`.
        public func unfollow(_ id: UInt64) { desk.withLock { _ = $0.followers.remove(id) } }

        fileprivate func take() -> [(id: UInt64, bytes: [UInt8])] {
            desk.withLock { desk in
                defer { desk.waiting = [] }
                return desk.waiting
            }
        }

        fileprivate func keep(_ here: [Guest]) {
            desk.withLock { desk in
                if !desk.followers.isEmpty { desk.followers.formIntersection(here.map(\.id)) }
            }
        }
    }

    /// How many, and for how long.
    public struct Bounds: Sendable {
        public var connections = 48
        public var perUser = 8
        /// To send a line; to have an answer; to take it.
        public var patience = (
            line: Duration.seconds(1), work: Duration.seconds(6), answer: Duration.seconds(2)
        )
        public var longestLine: Int
        /// What is served beyond the bounds too; everybody else gets `busy` there.
        public var isUrgent: @Sendable ([UInt8]) -> Bool = { _ in false }
        /// With its line end.
        public var busy: [UInt8] = []
        /// Heard at most, whatever they want.
        public static let most = 512
        /// Who follow at once.
        static let followers = 4
        /// Nobody is sent away before it has had this time to ask.
        public static let welcome = Duration.milliseconds(250)

        public init(longestLine: Int) { self.longestLine = longestLine }
    }

    fileprivate final class Guest {
        enum State { case reading, working, writing, following }
        let id: UInt64
        let socket: FileDescriptor
        let user: UInt32?
        var state = State.reading
        /// Beyond the bounds: only what is urgent is served.
        var isBeyond = false
        var since: MonotonicTime
        var bytes: [UInt8] = []
        var done = 0
        /// Of one that follows, while it has not taken the line before.
        var next: [UInt8]?

        init(_ id: UInt64, _ socket: consuming FileDescriptor, at now: MonotonicTime) {
            self.id = id
            user = UnixSocket.peer(of: socket)?.userID
            self.socket = socket
            since = now
        }

        func become(_ state: State, at now: MonotonicTime) { (self.state, since) = (state, now) }

        func begin(_ line: [UInt8], at now: MonotonicTime) {
            (bytes, done) = (line, 0)
            become(.writing, at: now)
        }
    }

    private var doorway: Doorway
    private let bounds: Bounds
    public let answers: Answers

    /// Listens at `path`; `permissions` as in `chmod`.
    public init(path: String, permissions: mode_t, _ bounds: Bounds) throws(SystemError) {
        let answers = try Answers()
        doorway = try Doorway(path, permissions: permissions)
        self.answers = answers
        self.bounds = bounds
    }

    /// Serves until `isWanted` says no; a path that is taken away is made anew within about a second.
    ///
    /// - Parameters:
    ///   - isWanted: asked at least each 200 ms.
    ///   - told: what became of the path. It must not wait.
    ///   - take: the answer, with its line end; `nil` = it comes by `answers`. It must not wait.
    public mutating func run(
        while isWanted: () -> Bool, told: (Doorway.Change) -> Void, _ take: (Visit) -> [UInt8]?
    ) {
        var guests: [Guest] = []
        var nextID: UInt64 = 1
        while isWanted() {
            let ready = wait(guests)
            let now = MonotonicTime.now()
            if let change = doorway.look(at: now) { told(change) }
            for (id, bytes) in answers.take() {
                guard let guest = guests.first(where: { $0.id == id }) else { continue }
                if guest.state == .writing { guest.next = bytes } else { guest.begin(bytes, at: now) }
            }
            admit(&guests, &nextID, at: now)
            guests = guests.filter { serve($0, isReady: ready.contains($0.id), at: now, take) }
            answers.keep(guests)
        }
    }

    /// - Returns: who has something to read or may write.
    private func wait(_ guests: [Guest]) -> Set<UInt64> {
        var entries = [doorway.socket.number, answers.wake.number].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        for guest in guests {
            let events: CInt =
                switch guest.state {
                case .reading, .following: POLLIN
                case .working: 0
                case .writing: POLLOUT
                }
            entries.append(pollfd(fd: guest.socket.number, events: Int16(events), revents: 0))
        }
        let count = poll(&entries, nfds_t(entries.count), guests.isEmpty ? 200 : 50)
        answers.wake.still()
        guard count > 0 else { return [] }
        return Set(zip(guests, entries.dropFirst(2)).filter { $0.1.revents != 0 }.map(\.0.id))
    }

    /// Takes all that wait at the door.
    private func admit(_ guests: inout [Guest], _ nextID: inout UInt64, at now: MonotonicTime) {
        for _ in 0..<64 {
            let number = Glibc.accept(doorway.socket.number, nil, nil)
            guard number >= 0 else { return }
            let socket = FileDescriptor(owning: number)
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            _ = fcntl(number, F_SETFL, O_NONBLOCK)
            let guest = Guest(nextID, socket, at: now)
            nextID += 1
            if guests.count >= Bounds.most, !Self.send(away: guests, &guests, before: now) { continue }
            let own = guests.filter { $0.user == guest.user && !$0.isBeyond }
            let patient = now - Bounds.welcome
            if own.count >= bounds.perUser {
                guest.isBeyond = !Self.send(away: own, &guests, before: patient)
            } else {
                let all = guests.filter { !$0.isBeyond }
                if all.count >= bounds.connections {
                    guest.isBeyond = !Self.send(away: all, &guests, before: patient)
                }
            }
            guests.append(guest)
        }
    }

    /// Closes the oldest of `some` that has asked nothing since an instant.
    ///
    /// - Returns: whether there was one.
    private static func send(
        away some: [Guest], _ guests: inout [Guest], before time: MonotonicTime
    ) -> Bool {
        guard let idle = some.first(where: { $0.state == .reading && $0.since <= time }) else { return false }
        guests.removeAll { $0.id == idle.id }
        return true
    }

    /// - Returns: whether the guest stays.
    private func serve(
        _ guest: Guest, isReady: Bool, at now: MonotonicTime, _ take: (Visit) -> [UInt8]?
    ) -> Bool {
        switch guest.state {
        case .reading:
            guard let line = read(guest) else { return false }
            guard !line.isEmpty else { return now - guest.since < bounds.patience.line }
            let visit = Visit(
                id: guest.id, peer: UnixSocket.peer(of: guest.socket),
                groups: UnixSocket.peerGroups(of: guest.socket), line: Array(line.dropLast()))
            let isServed = !guest.isBeyond || bounds.isUrgent(visit.line)
            guard let answer = isServed ? take(visit) : bounds.busy else {
                guest.become(.working, at: now)
                return true
            }
            guest.begin(answer, at: now)
            return write(guest, at: now)
        case .working: return now - guest.since < bounds.patience.work
        case .writing:
            return (isReady ? write(guest, at: now) : true) && now - guest.since < bounds.patience.answer
        // Who follows has nothing more to say: what comes is its end.
        case .following: return !isReady && answers.isFollowed(guest.id)
        }
    }

    /// - Returns: a line with its end; nothing where it is not whole yet; `nil` where there will be none.
    private func read(_ guest: Guest) -> ArraySlice<UInt8>? {
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(guest.socket.number, &chunk, chunk.count, 0)
            if count < 0 { return errno == EAGAIN || errno == EINTR ? [] : nil }
            if count == 0 { return nil }
            if let end = chunk[..<count].firstIndex(of: UInt8(ascii: "\n")) {
                guard guest.bytes.count + end <= bounds.longestLine else { return nil }
                return (guest.bytes + chunk[...end])[...]
            }
            guest.bytes += chunk[..<count]
            if guest.bytes.count > bounds.longestLine { return nil }
        }
    }

    /// - Returns: whether the guest stays: something is left to write, or it follows.
    private func write(_ guest: Guest, at now: MonotonicTime) -> Bool {
        while guest.done < guest.bytes.count {
            let count = guest.bytes.withUnsafeBytes { buffer -> Int in
                Glibc.send(
                    guest.socket.number, buffer.baseAddress.map { $0 + guest.done },
                    buffer.count - guest.done, CInt(MSG_NOSIGNAL))
            }
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            guest.done += count
        }
        guard answers.isFollowed(guest.id) else { return false }
        guest.become(.following, at: now)
        if let next = guest.next {
            guest.next = nil
            guest.begin(next, at: now)
        }
        return true
    }
}
