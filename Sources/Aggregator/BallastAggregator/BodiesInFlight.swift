import Deflate
import Hummingbird
import NIOCore
import Synchronization

/// Takes the bodies of requests, bounded in memory and in time: room is set aside before the first byte is
/// read and given back when the request has been answered, because peers that send half a body each could
/// otherwise fill the machine.
final class BodiesInFlight: Sendable {
    /// What is packed may come out to so many times its size: more of a report never does, and a bomb does.
    static let mostRatio = 16

    private struct Held {
        var all = 0
        var of: [String: Int] = [:]
    }

    private let limits: AggregatorConfig.Limits
    private let held = Mutex(Held())
    private let deadlines = Deadlines()

    init(_ limits: AggregatorConfig.Limits) { self.limits = limits }

    /// What all bodies together hold, in bytes.
    var bytes: Int { held.withLock(\.all) }

    /// Reads a body of at most `limit` bytes whole and hands it to `use`; a packed one is unpacked first,
    /// within the same limit.
    func with<Result: Sendable>(
        _ body: RequestBody, declared: Int?, isPacked: Bool = false, limit: Int, for name: String,
        _ use: ([UInt8]) async throws -> Result
    ) async throws -> Result {
        let tooLarge = Refusal(
            .contentTooLarge, "the body is larger than \(limit) bytes: send less at once")
        if let declared, declared > limit { throw tooLarge }
        let room = min(max(declared ?? limit, 0), limit)
        try take(room, for: name)
        defer { giveBack(room, of: name) }
        do {
            let bytes = try await whole(body, limit: limit)
            guard isPacked else { return try await use(bytes) }
            let most = min(limit, bytes.count * Self.mostRatio)
            try take(most, for: name)
            defer { giveBack(most, of: name) }
            return try await use(try Self.unpack(bytes, most))
        } catch is NIOTooManyBytesError {
            throw tooLarge
        }
    }

    private static func unpack(_ packed: [UInt8], _ limit: Int) throws(Refusal) -> [UInt8] {
        do throws(Deflate.Failure) {
            return try Deflate.unpack(packed, limit: limit)
        } catch {
            switch error {
            case .larger(let limit):
                throw Refusal(
                    .contentTooLarge,
                    "the body comes out to more than \(limit) bytes, \(mostRatio) times its size at most")
            case .damaged: throw Refusal(.badRequest, "the body is not packed as deflate (RFC 1950)")
            }
        }
    }

    private func whole(_ body: RequestBody, limit: Int) async throws -> [UInt8] {
        let reading = Task { Array(try await body.collect(upTo: limit).readableBytesView) }
        let ticket = deadlines.add(limits.bodyTime) { reading.cancel() }
        let result = await withTaskCancellationHandler {
            await reading.result
        } onCancel: {
            reading.cancel()
        }
        guard deadlines.take(ticket) else {
            throw Refusal(.requestTimeout, "the body did not come whole within \(limits.bodyTime)")
        }
        try Task.checkCancellation()
        return try result.get()
    }

    private func take(_ room: Int, for name: String) throws(Refusal) {
        let refusal = held.withLock { held -> Refusal? in
            let ofOne = held.of[name, default: 0]
            if ofOne + room > limits.bodiesOfOne {
                return Refusal(
                    .tooManyRequests, "bodies of this token are still on their way: send one at a time",
                    retryAfter: 1)
            }
            if held.all + room > limits.bodies {
                return Refusal(
                    .serviceUnavailable, "too many bodies are on their way: try again", retryAfter: 1)
            }
            held.all += room
            held.of[name] = ofOne + room
            return nil
        }
        if let refusal { throw refusal }
    }

    private func giveBack(_ room: Int, of name: String) {
        held.withLock { held in
            held.all -= room
            let left = held.of[name, default: 0] - room
            held.of[name] = left > 0 ? left : nil
        }
    }
}

/// What is cut off when its time is over, by one task that looks four times a second while there is anything:
/// a timer for each would go on after its body has come, and wake a thread for nothing.
final class Deadlines: Sendable {
    private struct Waiting {
        var next: UInt64 = 0
        var ends: [UInt64: (at: ContinuousClock.Instant, cut: @Sendable () -> Void)] = [:]
        var isLookedAt = false
    }

    private static let look = Duration.milliseconds(250)
    private let waiting = Mutex(Waiting())

    /// - Returns: a ticket for `take`.
    func add(_ time: Duration, cut: @escaping @Sendable () -> Void) -> UInt64 {
        let (ticket, isFirst) = waiting.withLock { waiting in
            waiting.next += 1
            waiting.ends[waiting.next] = (.now + time, cut)
            defer { waiting.isLookedAt = true }
            return (waiting.next, !waiting.isLookedAt)
        }
        if isFirst { Task { await run() } }
        return ticket
    }

    /// - Returns: whether it came before its end.
    func take(_ ticket: UInt64) -> Bool { waiting.withLock { $0.ends.removeValue(forKey: ticket) != nil } }

    private func run() async {
        while true {
            // Nobody cancels it; it ends where nothing waits.
            try? await Task.sleep(for: Self.look)
            let now = ContinuousClock.now
            let cuts = waiting.withLock { waiting -> [@Sendable () -> Void]? in
                if waiting.ends.isEmpty {
                    waiting.isLookedAt = false
                    return nil
                }
                let over = waiting.ends.filter { $0.value.at <= now }
                for ticket in over.keys { waiting.ends[ticket] = nil }
                return over.values.map(\.cut)
            }
            guard let cuts else { return }
            for cut in cuts { cut() }
        }
    }
}
