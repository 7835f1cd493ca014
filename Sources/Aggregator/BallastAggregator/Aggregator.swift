import ConfigText
import Glibc
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import LinuxIO
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
        let (store, lock) = try open(config.database)
        let books = try BooksRoutes(config, store)
        let (desk, tls): (LeaseDesk, ListenerTLS?)
        let sessions = try Sessions(store)
        do {
            desk = try LeaseDesk(config.signing)
            tls = try config.tls.map { try ListenerTLS($0) }
        } catch {
            log("not started: \(error)")
            throw UnusableConfiguration()
        }
        var logger = Logger(label: "ballast-aggregator") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .critical
        let services: [any Service]
        do {
            services = try Self.services(config, path: configPath, store, sessions, desk, tls, books, logger)
        } catch {
            log("not started: fleet: \(error)")
            throw UnusableConfiguration()
        }
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
        withExtendedLifetime(lock) { log("ended") }
    }

    /// Another aggregator may be about to end, so that starting again can help; a later version does not go.
    private static func open(_ path: String) throws -> (TelemetryStore, DatabaseLock) {
        do {
            let lock = try DatabaseLock(of: path)
            return (try TelemetryStore(path: path), lock)
        } catch let error as TelemetryStore.Failure {
            log("not started: \(path): \(error)")
            throw UnusableConfiguration()
        } catch let error as DatabaseLock.Refused {
            log("not started: \(error)")
            throw error
        }
    }

    private static func services(
        _ config: AggregatorConfig, path: String, _ store: TelemetryStore, _ sessions: Sessions,
        _ desk: LeaseDesk, _ tls: ListenerTLS?, _ books: BooksRoutes?, _ logger: Logger
    ) throws -> [any Service] {
        let (gate, figures) = (TokenGate(config), Figures())
        let (contacts, signs) = (Contacts(), SiteSigns())
        let fleet = FleetDesk(store: store, gate: gate, signs: signs, contacts: contacts)
        let alarms = AlarmDesk(store: store, fleet: fleet, config: config.alarms, log: log)
        let audit = AuditLog(log: log) { try await store.write($0) }
        let level = try config.fleet.map {
            try FleetServices(
                $0, store: store, desk: desk, rows: fleet, signs: signs, codes: config.gridCodes, log: log)
        }
        let routes = AggregatorRoutes(
            gate: gate, store: store, desk: desk, figures: figures, fleet: fleet, alarms: alarms,
            audit: audit, sessions: sessions, signs: signs, books: books, level: level?.routes,
            codes: config.gridCodes, log: log)
        let certificates =
            config.tls?.clientCA == nil
            ? nil : tls.map { SiteCertificates($0, audit: audit, log: log) }
        let front = Front(
            routes: routes.table, gate: gate, certificates: certificates,
            bodies: BodiesInFlight(config.limits),
            pace: RequestPace(perSecond: config.limits.requestsPerSecond), figures: figures, audit: audit,
            contacts: contacts, sessions: sessions,
            doorstep: Doorstep(config.limits, figures: figures, log: log), hasTLS: tls != nil, log: log)
        let reloading = Reloading(path: path, first: config, gate: gate, tls: tls, log: log)
        let rolling = RollUp(store: store, log: log)
        var services: [any Service] = [audit, reloading, rolling, alarms]
        if let tls { services.append(CertificateWatch(tls: tls, audit: audit, log: log)) }
        services += level?.services ?? []
        if let books { services.append(BooksUpkeep(books: books.store, log: log)) }
        if !config.alarms.ways.isEmpty {
            services.append(Messenger(store: store, config: config.alarms, log: log))
        }
        if !config.retention.isEmpty {
            services.append(RetentionWork(store: store, rules: config.retention, log: log))
        }
        if let port = config.localPort {
            let view = LocalView(
                store: store, figures: figures, bodies: front.bodies, listeners: routes.listeners,
                signs: routes.signs, sites: SiteMetrics(store: store, fleet: fleet), tls: tls,
                certificates: certificates, level: level?.routes.control, doorstep: front.doorstep)
            services.append(
                application(view, "127.0.0.1", port, AggregatorConfig.Limits(), nil, nil, logger) {
                    log("figures on 127.0.0.1:\($0)")
                })
        }
        services.append(
            application(front, config.host, config.port, config.limits, tls, front.doorstep, logger) { port in
                let manner = tls == nil ? "" : certificates == nil ? ", with TLS" : ", with mutual TLS"
                log(
                    "listening on \(config.host):\(port)\(manner), \(config.sites.count) sites, "
                        + "in \(config.database)")
            })
        return services
    }

    private static func application(
        _ responder: some HTTPResponder<AggregatorContext>, _ host: String, _ port: Int,
        _ limits: AggregatorConfig.Limits, _ tls: ListenerTLS?, _ doorstep: Doorstep?,
        _ logger: Logger, running: @escaping @Sendable (Int) -> Void
    ) -> any Service {
        let connections = MaximumAvailableConnections(limits.connections, logger: logger)
        let http = HTTP1Channel.Configuration(
            additionalChannelHandlers: [WholeRequests(longest: limits.bodyTime + .seconds(3))]
                + [doorstep.map { Doorstep.Guest($0) }].compactMap { $0 },
            idleTimeout: .seconds(60),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 8_192, maxHeaderListSize: 16_384, maxHeaderFieldCount: 64))
        let encrypted = tls.map { tls in
            HTTPServerBuilder { responder in
                try TLSChannel(
                    HTTP1Channel(responder: responder, configuration: http), tlsConfiguration: tls.serving)
            }
        }
        return Application(
            responder: responder,
            server: encrypted ?? .http1(configuration: http),
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
        let bytes = Array("ballast-aggregator: \(LogText.line(line))\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}

/// Takes over what the file says of tokens, and the listener's certificate and the revoked ones, at each
/// SIGHUP; what cannot be used changes nothing.
private struct Reloading: Service {
    let path: String
    let first: AggregatorConfig
    let gate: TokenGate
    let tls: ListenerTLS?
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
        rest.tls = takeTLS(config.tls)
        (rest.sites, rest.principals, rest.readToken) = (first.sites, first.principals, first.readToken)
        if let books = first.books {
            rest.books?.people = books.people
            rest.books?.tokens = books.tokens
        }
        log(
            "tokens taken over: \(config.sites.count) sites, \(config.principals.count) principals"
                + (rest == first ? "" : "; what else has changed in the file needs a start"))
    }

    /// - Returns: what the comparison with the first file should see: certificate, key and the revoked ones
    ///   may stand elsewhere.
    private func takeTLS(_ files: AggregatorConfig.TLS?) -> AggregatorConfig.TLS? {
        guard let files, let tls, files.clientCA == first.tls?.clientCA else { return files }
        do {
            try tls.take(files)
            log("certificate taken over, good until \(WallClock.text(milliseconds: tls.end))")
        } catch {
            log("certificate, key and revoked are not taken over, what held goes on: \(error)")
        }
        return first.tls
    }
}
