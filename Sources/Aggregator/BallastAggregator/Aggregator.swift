import Glibc
import Hummingbird
import Logging
import ConfigText
import YAMLText

/// The whole program: configuration, database, server, until a signal ends it.
public enum Aggregator {
    /// The configuration cannot be used, which was said in the log; starting again will not help.
    public struct UnusableConfiguration: Error {}

    /// Serves until SIGTERM or SIGINT; throws where it cannot start.
    public static func run(configPath: String) async throws {
        let config = try load(configPath)
        let store = try TelemetryStore(path: config.database)
        let desk: LeaseDesk
        do { desk = try LeaseDesk(config.signing) } catch {
            log("not started: \(error)")
            throw UnusableConfiguration()
        }
        let routes = AggregatorRoutes(config: config, store: store, desk: desk, log: log)
        var logger = Logger(label: "ballast-aggregator") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        let application = Application(
            router: routes.router(),
            server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: .init(address: .hostname(config.host, port: config.port)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? config.port
                log("listening on \(config.host):\(port), \(config.sites.count) sites, in \(config.database)")
            },
            logger: logger)
        try await application.runService()
        try store.close()
        log("ended")
    }

    private static func load(_ path: String) throws -> AggregatorConfig {
        do {
            return try AggregatorConfig(try YAMLText.load(path: path), file: path)
        } catch {
            log("not started: \(error)")
            throw UnusableConfiguration()
        }
    }

    @Sendable private static func log(_ line: String) {
        let bytes = Array("ballast-aggregator: \(line)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
