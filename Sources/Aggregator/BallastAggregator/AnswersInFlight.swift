import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Synchronization

/// Bounds what large answers hold together until their readers have them: who asks and does not read would
/// otherwise fill the machine with answers.
final class AnswersInFlight: Sendable {
    /// Smaller ones are bounded by the number of connections.
    private static let large = 32 << 10
    /// In bytes, of all and of one name: pages of many people may share a token.
    private static let most = 192 << 20
    private static let mostOfOne = 128 << 20

    private struct Held {
        var all = 0
        var of: [String: Int] = [:]
    }

    /// Room that is given back when the last one forgets it: also where nobody was left to read.
    private final class Seat: Sendable {
        let giveBack: @Sendable () -> Void
        init(_ giveBack: @escaping @Sendable () -> Void) { self.giveBack = giveBack }
        deinit { giveBack() }
    }

    private let held = Mutex(Held())

    /// What all of them hold, in bytes.
    var bytes: Int { held.withLock(\.all) }

    /// The same answer, with room set aside until it was written.
    func bounded(_ response: Response, for name: String) throws(Refusal) -> Response {
        guard let length = response.body.contentLength, length > Self.large else { return response }
        let isFull = held.withLock { held in
            let own = held.of[name, default: 0] + length
            if own > Self.mostOfOne || held.all + length > Self.most { return true }
            held.all += length
            held.of[name] = own
            return false
        }
        if isFull {
            throw Refusal(
                .serviceUnavailable, "too many answers are on their way: read them, then ask again",
                retryAfter: 5)
        }
        let seat = Seat { [self] in giveBack(length, of: name) }
        let body = response.body
        var bounded = response
        bounded.body = ResponseBody(contentLength: length) { writer in
            defer { withExtendedLifetime(seat) {} }
            try await body.write(PiecewiseWriter(parent: writer))
        }
        return bounded
    }

    private func giveBack(_ room: Int, of name: String) {
        held.withLock { held in
            held.all -= room
            let left = held.of[name, default: 0] - room
            held.of[name] = left > 0 ? left : nil
        }
    }
}

/// Hands on a little at a time, so that what a reader does not take lies here once, and not again encrypted.
private struct PiecewiseWriter: ResponseBodyWriter {
    private static let piece = 64 << 10
    var parent: any ResponseBodyWriter

    mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        while rest.readableBytes > 0 {
            guard let piece = rest.readSlice(length: min(Self.piece, rest.readableBytes)) else { return }
            try await parent.write(piece)
        }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await parent.finish(trailingHeaders)
    }
}
