import AsyncHTTPClient
import NIOCore

/// One question to the aggregator beside the reports, and its bounded answer.
struct EdgeCall {
    struct Answer: Sendable {
        var status: UInt
        var body: [UInt8]
    }

    /// The most that is read of an answer.
    private static let answerLimit = 512 * 1_024

    var url: String
    var token: String
    /// `nil` = it only asks.
    var body: [UInt8]?
    var type = "application/json"

    /// - Returns: `nil` where there was none in time.
    func answer(_ connection: EdgeConnection, within time: Duration) async -> Answer? {
        await Deadline.run(time) { [self] in
            var request = HTTPClientRequest(url: url)
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
            if let body {
                request.method = .POST
                request.headers.add(name: "Content-Type", value: type)
                request.body = .bytes(ByteBuffer(bytes: body))
            }
            do {
                let response = try await connection.execute(request)
                let bytes = Array((try await response.body.collect(upTo: Self.answerLimit)).readableBytesView)
                return Answer(status: UInt(response.status.code), body: bytes)
            } catch { return nil }
        }
    }
}
