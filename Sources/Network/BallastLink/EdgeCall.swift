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
            // Why there is none the reports say.
            try? await connection.ask(url, token: token, body, type: type, answerLimit: Self.answerLimit)
        }
    }
}
