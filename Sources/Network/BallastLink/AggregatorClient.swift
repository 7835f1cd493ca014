import AsyncHTTPClient
import Deflate
import JSONText
import Recorder
import Synchronization

/// What the aggregator made of a report.
enum ReportAnswer: Equatable {
    /// `history` is the head of the aggregator's history as it says it, empty where it says none; `differing`
    /// the first number under which it had another record before.
    case stored(through: UInt64, history: String = "", differing: UInt64? = nil)
    /// It has less than the report builds on.
    case rewind(to: UInt64)
    case tooLarge
    /// Somebody must put something right first.
    case refused(status: UInt, reason: String)
    /// Nothing is known of what became of the report.
    case unreachable(reason: String)
}

/// Speaks HTTP with the aggregator.
struct AggregatorClient {
    private static let answerLimit = 64 * 1_024
    /// For the whole answer: one that drips ends here.
    private static let patience = Duration.seconds(45)

    let connection: EdgeConnection
    let url: String
    let packing = Packing()

    static func configuration() -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(5), read: .seconds(15), write: .seconds(15)))
        configuration.connectionPool.retryConnectionEstablishment = false
        // Behind all its handlers, before the first request: the one place where a handler can be added.
        configuration.http1_1ConnectionDebugInitializer = { channel in
            channel.eventLoop.submit { try InterimAnswers.add(to: channel) }
        }
        return configuration
    }

    func post(_ body: [UInt8], epoch: SpoolEpoch, token: String) async -> ReportAnswer {
        let (connection, url, packing) = (connection, url + "/v1/edge/report", packing)
        let answer = await Deadline.run(Self.patience) { () -> ReportAnswer? in
            do {
                let packed = packing.pack(body)
                var answer = try await connection.ask(
                    url, token: token, packed ?? body, coding: packed == nil ? nil : "deflate",
                    answerLimit: Self.answerLimit)
                if answer.status == 415, packed != nil {
                    // An older aggregator.
                    packing.stop()
                    answer = try await connection.ask(
                        url, token: token, body, answerLimit: Self.answerLimit)
                }
                return Self.interpret(status: answer.status, answer.body, epoch: epoch.description)
            } catch { return .unreachable(reason: "\(error)") }
        }
        return answer ?? .unreachable(reason: "no whole answer within \(Self.patience)")
    }

    static func interpret(status: UInt, _ body: [UInt8], epoch: String) -> ReportAnswer {
        let answer = Fields(body)
        let reason = answer.error ?? String(decoding: body.prefix(200), as: UTF8.self)
        switch status {
        case 200:
            guard answer.epoch == epoch, let mark = answer.storedThrough else {
                return .refused(status: status, reason: "the answer is not an aggregator's: \(reason)")
            }
            return .stored(through: mark, history: answer.history, differing: answer.differing)
        case 409:
            return answer.storedThrough.map { .rewind(to: $0) } ?? .refused(status: status, reason: reason)
        case 413: return .tooLarge
        case 408, 429, 500...: return .unreachable(reason: "status \(status): \(reason)")
        default: return .refused(status: status, reason: reason)
        }
    }

    private struct Fields {
        var epoch: String?
        var storedThrough: UInt64?
        var error: String?
        var history = ""
        var differing: UInt64?

        init(_ body: [UInt8]) {
            var cursor = JSONCursor(body)
            // What is not JSON has none of the fields, and the caller deals with that.
            try? cursor.object { (key, cursor) throws(JSONError) in
                switch key {
                case "epoch" where cursor.isAtString: epoch = try cursor.string()
                case "error" where cursor.isAtString: error = try cursor.string()
                case "head" where cursor.isAtString: history = Self.head(try cursor.string())
                case "stored_through": storedThrough = try cursor.whole()
                case "differing":
                    try cursor.array { (_, cursor) throws(JSONError) in
                        let number = try cursor.whole()
                        differing = differing ?? number
                    }
                default: _ = try cursor.skipValue()
                }
            }
        }

        /// A number and a hash, or nothing at all: it goes into a log.
        private static func head(_ text: String) -> String {
            let parts = text.split(separator: ":")
            guard parts.count == 2, (1...19).contains(parts[0].utf8.count), parts[1].utf8.count == 64,
                parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
            else { return "" }
            return text
        }
    }
}

/// Whether reports leave packed: until an aggregator says that it takes none.
final class Packing: Sendable {
    /// What comes out to more than so many times its size no aggregator takes: a bomb looks like that.
    static let mostRatio = 16
    /// Below it the head weighs more than what is saved.
    private static let least = 512
    private let isOff = Mutex(false)

    func stop() { isOff.withLock { $0 = true } }

    /// - Returns: `nil` where it is better sent as it is.
    func pack(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= Self.least, !isOff.withLock({ $0 }), let packed = Deflate.pack(bytes) else {
            return nil
        }
        return packed.count < bytes.count && packed.count * Self.mostRatio >= bytes.count ? packed : nil
    }
}
