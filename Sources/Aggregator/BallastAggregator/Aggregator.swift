import ConfigText
import Glibc
import Hummingbird
import HummingbirdCore
import Logging
import ServiceLifecycle
import UnixSignals
import YAMLText

/// The whole program: configuration, database, server, until a signal ends it.
public enum Aggregator {
    /// The configuration cannot be used, which was said in the log; starting again will not help.
    public struct UnusableConfiguration: Error {}

    /// How long requests may take to end when the program is told to: below what its unit gives it.
    private static let lastOrders = Duration.seconds(5)

    /// Serves until SIGTERM or SIGINT; throws where it cannot start. SIGHUP reads tokens and principals
    /// again.
    public static func run(configPath: String) async throws {
        let config = try load(configPath)
        let store = try TelemetryStore(path: config.database)
        let books = try BooksRoutes(config, store)
        let desk: LeaseDesk
        do { desk = try LeaseDesk(config.signing) } catch {
            log("not started: \(error)")
            throw UnusableConfiguration()
        }
        var logger = Logger(label: "ballast-aggregator") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .critical
        let services = services(config, path: configPath, store, desk, books, logger)
        var group = ServiceGroupConfiguration(
            services: services.map { .init(service: $0) }, gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger)
        group.maximumGracefulShutdownDuration = lastOrders
        do {
            try await ServiceGroup(configuration: group).run()
        } catch is CancellationError {
            log("requests that did not end in \(lastOrders) were cut off")
        }
        try store.close()
        log("ended")
    }

    private static func services(
        _ config: AggregatorConfig, path: String, _ store: TelemetryStore, _ desk: LeaseDesk,
        _ books: BooksRoutes?, _ logger: Logger
    ) -> [any Service] {
        let (gate, figures) = (TokenGate(config), Figures())
        let routes = AggregatorRoutes(
            gate: gate, store: store, desk: desk, figures: figures, books: books, log: log)
        let audit = AuditLog(log: log) { try await store.write($0) }
        let front = Front(
            routes: routes.table, gate: gate, bodies: BodiesInFlight(config.limits),
            pace: RequestPace(perSecond: config.limits.requestsPerSecond), figures: figures, audit: audit,
            log: log)
        let reloading = Reloading(path: path, first: config, gate: gate, log: log)
        let rolling = RollUp(store: store, log: log)
        var services: [any Service] = [audit, reloading, rolling]
        if let books { services.append(BooksUpkeep(books: books.store, log: log)) }
        if let port = config.localPort {
            let view = LocalView(
                store: store, figures: figures, bodies: front.bodies, listeners: routes.listeners)
            services.append(
                application(view, "127.0.0.1", port, AggregatorConfig.Limits(), logger) {
                    log("figures on 127.0.0.1:\($0)")
                })
        }
        services.append(
            application(front, config.host, config.port, config.limits, logger) {
                port in
                log("listening on \(config.host):\(port), \(config.sites.count) sites, in \(config.database)")
            })
        return services
    }

    private static func application(
        _ responder: some HTTPResponder<AggregatorContext>, _ host: String, _ port: Int,
        _ limits: AggregatorConfig.Limits,
        _ logger: Logger, running: @escaping @Sendable (Int) -> Void
    ) -> any Service {
        let connections = MaximumAvailableConnections(limits.connections, logger: logger)
        return Application(
            responder: responder,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [WholeRequests(longest: limits.bodyTime + .seconds(3))],
                    idleTimeout: .seconds(60),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 8_192, maxHeaderListSize: 16_384, maxHeaderFieldCount: 64))),
            configuration: .init(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: connections),
            onServerRunning: { channel in running(channel.localAddress?.port ?? port) },
            logger: logger)
    }

    fileprivate static func load(_ path: String) throws -> AggregatorConfig {
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

/// Takes over what the file says of tokens at each SIGHUP; a file that cannot be used changes nothing.
private struct Reloading: Service {
    let path: String
    let first: AggregatorConfig
    let gate: TokenGate
    let log: @Sendable (String) -> Void

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() { take() }
    }

    private func take() {
        let config: AggregatorConfig
        do {
            config = try AggregatorConfig(try YAMLText.load(path: path), file: path)
        } catch {
            log("the file is not taken over, what held goes on: \(error)")
            return
        }
        gate.take(config)
        var rest = config
        (rest.sites, rest.principals, rest.readToken) = (first.sites, first.principals, first.readToken)
        if let people = first.books?.people { rest.books?.people = people }
        log(
            "tokens taken over: \(config.sites.count) sites, \(config.principals.count) principals"
                + (rest == first ? "" : "; what else has changed in the file needs a start"))
    }
}
