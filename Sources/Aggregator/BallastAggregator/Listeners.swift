import Synchronization

/// Seats of those who listen to events: a few each, and not too many in all.
final class Listeners: Sendable {
    private let most: Int
    private let mostOfOne: Int
    private let taken = Mutex<[String: Int]>([:])

    init(most: Int, mostOfOne: Int) { (self.most, self.mostOfOne) = (most, mostOfOne) }

    var count: Int { taken.withLock { $0.values.reduce(0, +) } }

    func take(_ name: String) throws(Refusal) -> Seat {
        let refusal = taken.withLock { taken -> Refusal? in
            if taken[name, default: 0] >= mostOfOne {
                return Refusal(
                    .tooManyRequests, "\(name) listens \(mostOfOne) times already", retryAfter: 10)
            }
            if taken.values.reduce(0, +) >= most {
                return Refusal(.serviceUnavailable, "too many listen already", retryAfter: 10)
            }
            taken[name, default: 0] += 1
            return nil
        }
        if let refusal { throw refusal }
        return Seat(name: name, of: self)
    }

    /// One listener's place, until it leaves or nobody holds it any more.
    final class Seat: Sendable {
        private let name: String
        private let room: Listeners
        private let isLeft = Mutex(false)

        fileprivate init(name: String, of room: Listeners) {
            self.name = name
            self.room = room
        }

        deinit { leave() }

        func leave() {
            let isFirst = isLeft.withLock { isLeft in
                defer { isLeft = true }
                return !isLeft
            }
            if isFirst { room.taken.withLock { $0[name, default: 1] -= 1 } }
        }
    }
}
