import AsyncHTTPClient

/// The link inside another program: what that program writes to its spool goes up, what the level above signs
/// comes down to it. The same session, courier and certificates as those of `ballast-link`.
public struct Uplink: Sendable {
    /// What became of a lease, in words for whoever sent it.
    public struct Verdict: Sendable, Equatable {
        public var isGranted: Bool
        public var words: String

        public init(isGranted: Bool, words: String) {
            self.isGranted = isGranted
            self.words = words
        }
    }

    private let config: LinkConfig
    private let certificates: LinkCertificates?
    private let log: @Sendable (String) -> Void

    /// - Throws: what of its certificates cannot be used.
    public init(_ config: LinkConfig, log: @escaping @Sendable (String) -> Void) throws {
        self.config = config
        self.log = log
        certificates = try config.tls.map { try LinkCertificates($0, log: log) }
    }

    /// Until the task is cancelled.
    ///
    /// - Parameter carry: judges a lease, as hexadecimal digits; `nil` = there is no answer yet.
    public func run(carry: @escaping @Sendable (String) async -> Verdict?) async throws {
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: AggregatorClient.configuration())
        let traffic = Traffic(
            most: config.dailyBudget, path: config.spool + "/sent-today", figures: LinkFigures())
        let connection = EdgeConnection(client: client, certificates: certificates, traffic: traffic)
        let aggregator = AggregatorClient(connection: connection, url: config.url)
        let courier = CommandCourier(connection: connection, config: config, log: log, carry: carry)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await deliver(aggregator) }
            group.addTask {
                var courier = courier
                while !Task.isCancelled {
                    let pause = await courier.step()
                    // Ends early only where the task is cancelled, which the loop looks at.
                    try? await Task.sleep(for: pause)
                }
            }
        }
        traffic.save()
        try await client.shutdown()
    }

    private func deliver(_ aggregator: AggregatorClient) async {
        var session = LinkSession(config: config, traffic: aggregator.connection.traffic, log: log) {
            body, epoch, token in
            await aggregator.post(body, epoch: epoch, token: token)
        }
        while !Task.isCancelled {
            let pause = await session.step()
            if Task.isCancelled || pause == .zero { continue }
            // Ends early only where the task is cancelled, which the loop looks at.
            try? await Task.sleep(for: pause)
        }
    }
}
