import ConfigText
import GRDB
import Glibc
import LinuxIO
import YAMLText

/// What is done with the aggregator's file and database beside serving; each gives back lines for people.
public enum Upkeep {
    /// It cannot be done, or what was looked at is not well; the text says why.
    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    static func load(_ path: String) throws -> AggregatorConfig {
        do { return try AggregatorConfig(try YAMLText.load(path: path), file: path) } catch {
            throw Failure(description: "\(error)")
        }
    }

    static func open(_ path: String) throws -> DatabaseQueue {
        guard access(path, R_OK) == 0 else { throw Failure(description: "\(path): cannot be read") }
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let later = try queue.read { try TelemetryStore.laterMigrations(in: $0) }
        guard later.isEmpty else { throw Failure(description: "\(path): \(TelemetryStore.laterText(later))") }
        return queue
    }

    /// Whether everything in the database is as it was stored; may run beside the aggregator.
    ///
    /// - Parameter head: an earlier head, as the log has it.
    ///
    /// - Returns: what holds, and apart from it which sites' own audits were cut or made anew: the history of
    ///   all is whole all the same, and is looked at whole.
    public static func verify(
        config path: String, head: String?, replay: Bool = false
    ) throws -> (lines: [String], remarks: [String]) {
        let config = try load(path)
        var (lines, faults) = try history(config.database, head: head)
        if let history = try booksHistory(config) { lines.append(history) }
        if replay { lines += try replayed(database: config.database) }
        return (lines, faults.map(remark))
    }

    private static func remark(_ fault: String) -> String { "remark: the history is whole; \(fault)" }

    /// Feeds the history to an empty store, and compares its tables with those that are there.
    static func replayed(database path: String) throws -> [String] {
        let queue = try open(path)
        defer { try? queue.close() }  // It only read.
        let outcome = try queue.read { try HistoryReplay.run($0, beside: path) }
        guard outcome.differing.isEmpty else {
            throw Failure(
                description: "\(path): rebuilt from its history it is another one: "
                    + "\(outcome.differing.joined(separator: ", "))\n"
                    + outcome.lines.joined(separator: "\n"))
        }
        return outcome.lines
    }

    /// The history, as it must be where no site's audit was cut or made anew either.
    static func verify(database path: String, head: String? = nil) throws -> [String] {
        let (lines, faults) = try history(path, head: head)
        if let fault = faults.first { throw Failure(description: "\(path): broken: \(fault)") }
        return lines
    }

    private static func history(
        _ path: String, head: String? = nil
    ) throws -> (lines: [String], siteFaults: [String]) {
        var known: (Int64, String)?
        if let head {
            let parts = head.split(separator: ":")
            guard parts.count == 2, let number = Int64(parts[0]), parts[1].utf8.count == 64 else {
                throw Failure(description: "--head takes NUMBER:HASH, as the log has it")
            }
            known = (number, String(parts[1]))
        }
        let queue = try open(path)
        let (finding, faults) = try queue.read { database in
            guard try database.tableExists("chain") else {
                throw Failure(description: "\(path): holds no chain; a start of the aggregator makes it")
            }
            return (try ChainCheck.run(database, known: known), try SiteAuditHeads.faults(in: database))
        }
        try queue.close()
        if case .broken = finding { throw Failure(description: "\(path): \(finding)") }
        return (["\(path): \(finding)"], faults)
    }

    /// As `verify`, but what one site's audit says keeps nobody's history from being kept: it is told.
    private static func verifyCopy(_ path: String) throws -> [String] {
        let (lines, faults) = try history(path)
        return lines + faults.map(remark)
    }

    /// A copy of the database as it is at one instant, beside a serving aggregator.
    public static func backup(config path: String, to copy: String) throws -> [String] {
        let config = try load(path)
        return try copying(config.database, to: copy)
    }

    /// The database out of a copy; where there is one already, nothing is done.
    public static func restore(config path: String, from copy: String) throws -> [String] {
        let config = try load(path)
        _ = try verifyCopy(copy)
        return try copying(copy, to: config.database)
    }

    private static func copying(_ from: String, to: String) throws -> [String] {
        guard access(to, F_OK) != 0 else {
            throw Failure(description: "\(to): is there already, and is not written over")
        }
        // SQLite would take what another database left there into this one.
        for name in ["-wal", "-shm", "-journal"].map({ to + $0 }) where access(name, F_OK) == 0 {
            throw Failure(
                description: "\(name): is of a database that was here: move it to where that one is now")
        }
        // Under another name until it is whole and on the disk.
        let half = to + ".part"
        for name in [half, half + "-wal", half + "-shm", half + "-journal"] { unlink(name) }
        let source = try open(from)
        let target = try DatabaseQueue(path: half)
        try source.backup(to: target)
        try target.close()
        try source.close()
        let lines = try verifyCopy(half)
        for name in [half + "-wal", half + "-shm"] { unlink(name) }
        let file = Glibc.open(half, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Failure(description: "\(SystemError.last("open"))") }
        let owned = FileDescriptor(owning: file)
        guard fsync(owned.number) == 0, rename(half, to) == 0 else {
            throw Failure(description: "\(to): \(SystemError.last("rename"))")
        }
        return lines.map { $0.replacing(half, with: to) }
    }

    /// What the file says, in words, and what is worth a second look.
    public static func check(config path: String) throws -> [String] {
        let config = try load(path)
        var lines = [
            "listens on \(config.host):\(config.port); \(config.sites.count) sites; database \(config.database)",
            config.localPort.map { "/healthz and /metrics on 127.0.0.1:\($0)" }
                ?? "no local listener: no /healthz, no /metrics",
            config.signing.map { "signs leases with \($0.keyFile) as \($0.keyID)" } ?? "signs no leases",
        ]
        let now = WallClock.nowMilliseconds()
        if let files = config.tls {
            // What cannot be used would stop the start.
            let tls = try ListenerTLS(files)
            let sites = files.clientCA == nil ? "sites need none" : "sites need one of their own"
            lines.append("certificate good until \(WallClock.text(milliseconds: tls.end)); \(sites)")
            if let words = CertificateWords.ending(tls.end, now: now) {
                lines.append("remark: the certificate \(words)")
            }
        }
        for person in config.principals {
            let roles = person.roles.map(\.rawValue).sorted().joined(separator: ", ")
            let isOver = person.expires.map { $0 <= now } ?? false
            lines.append(
                "\(person.name): \(roles) for \(person.sites.joined(separator: ", "))"
                    + (isOver ? "; its token HAS EXPIRED" : ""))
        }
        if config.readToken != nil { lines.append("reader: read for all") }
        if let books = config.books {
            lines.append("books: \(books.people.count) people, bills due after \(books.dueDays) days")
            if let tokens = books.tokens {
                lines.append(
                    "web tokens of \(tokens.issuer) for \(tokens.audience), by \(tokens.keys.count) keys")
            }
        }
        let kept = config.retention.map { "\($0.kind.rawValue) \($0.days) days" }
        lines.append(
            kept.isEmpty
                ? "retention: everything stays" : "retention: \(kept.joined(separator: ", ")); the rest stays"
        )
        if let fleet = config.fleet { lines += FleetWords.lines(fleet) }
        lines.append("grid code: \(config.gridCodes.words(at: now))")
        lines += remarks(config).map { "remark: " + $0 }
        lines += try booksLines(config)
        return lines
    }

    private static func remarks(_ config: AggregatorConfig) -> [String] {
        var remarks: [String] = []
        let canRead = config.readToken != nil || config.principals.contains { $0.roles.contains(.read) }
        if !canRead {
            remarks.append("nobody may read: there is no read_token_sha256 and no principal with read")
        }
        if config.signing == nil, config.principals.contains(where: { $0.roles.contains(.dispatch) }) {
            remarks.append("principals may dispatch, but nothing is signed: signing is missing")
        }
        if config.signing != nil, !config.principals.contains(where: { $0.roles.contains(.dispatch) }) {
            remarks.append("signing has no effect: no principal may dispatch")
        }
        if config.tls == nil && config.host != "127.0.0.1" && config.host != "localhost"
            && config.host != "::1"
        {
            remarks.append(
                "no TLS of its own: tokens travel in the clear unless something in front of it has TLS")
        }
        if config.limits.bodiesOfOne > config.limits.bodies {
            remarks.append("bodies_of_one_mib has no effect: bodies_mib is smaller")
        }
        var owners: [TokenDigest: String] = [:]
        let reader = [("reader", [config.readToken].compactMap { $0 })]
        for (name, tokens) in config.sites.map({ ("site \($0.id)", $0.tokens) })
            + config.principals.map({ ($0.name, $0.tokens) }) + reader
        {
            for token in tokens {
                if let other = owners.updateValue(name, forKey: token) {
                    remarks.append("\(name) and \(other) have the same token")
                }
            }
        }
        if let key = config.signing?.keyFile, access(key, R_OK) != 0 {
            remarks.append("\(key) cannot be read by who runs this check")
        }
        let (limits, usual) = (config.limits, AggregatorConfig.Limits())
        if limits.connectionsOfOne != usual.connectionsOfOne, limits.connectionsOfOne > limits.connections / 2
        {
            remarks.append("connections_of_one has no effect: one token has half of connections at most")
        }
        return remarks + AlarmRemarks.all(config.alarms) + FileRemarks.all(config)
    }
}
