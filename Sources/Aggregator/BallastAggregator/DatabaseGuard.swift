import BooksStore
import GRDB
import Glibc
import LinuxIO

/// One aggregator serves a database: what it holds in memory of its sites, leases and alarms is true only
/// while nobody else writes there. The lock is on a file beside the database, as versions before have it, and
/// on the database itself, which nobody can remove and have; it ends with the process.
final class DatabaseLock: Sendable {
    /// Another aggregator serves it, or the lock cannot be had; the text says which.
    struct Refused: Error, CustomStringConvertible {
        var description: String
    }

    private let descriptor: CInt
    /// Never closed before SQLite has closed the database: with any descriptor of a file go its locks there.
    private let own: CInt

    /// What makes a file none that could be a database, in words that follow its name; `nil` = nothing, or
    /// there is none yet.
    static func fault(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        guard status.st_mode & S_IFMT == S_IFREG else { return "is no regular file" }
        let file = open(path, O_RDONLY | O_CLOEXEC)
        // One that cannot be read is told by whoever opens it to serve.
        guard file >= 0 else { return nil }
        defer { close(file) }
        var head = [UInt8](repeating: 0, count: 16)
        let count = read(file, &head, head.count)
        let isDatabase = count <= 0 || head == Array("SQLite format 3\0".utf8)
        return isDatabase ? nil : "is another file, and no database"
    }

    init(of database: String) throws(Refused) {
        if let words = Self.fault(of: database) { throw Refused(description: "\(database) \(words)") }
        // Another name of the same file is the same database.
        let path = (Self.resolved(database) ?? database) + ".lock"
        descriptor = try Self.take(path, 0o600)
        do throws(Refused) { own = try Self.take(database, 0o644) } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        close(own)
        close(descriptor)
    }

    private static func take(_ path: String, _ mode: mode_t) throws(Refused) -> CInt {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Refused(description: "\(path): \(SystemError.last("open"))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let isHeld = errno == EWOULDBLOCK
            let words = isHeld ? "another aggregator serves this database" : "\(SystemError.last("flock"))"
            close(descriptor)
            throw Refused(description: "\(path): \(words)")
        }
        return descriptor
    }

    private static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}

extension TelemetryStore {
    /// What a later version has made of a database that this one does not know, by the names of its
    /// migrations; empty = nothing.
    static func laterMigrations(in database: Database) throws -> [String] {
        guard try database.tableExists("grdb_migrations") else { return [] }
        let known = Set(migrator.migrations + BooksStore.migrations)
        return try String.fetchAll(database, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
            .filter { !known.contains($0) }
    }

    /// The same of the database at `path`, which is not written to; none where there is none.
    static func laterMigrations(of path: String) throws -> [String] {
        guard access(path, F_OK) == 0 else { return [] }
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        return try queue.read { try laterMigrations(in: $0) }
    }

    static func laterText(_ names: [String]) -> String {
        "a later version has written to this database (\(names.joined(separator: ", "))): use that one"
    }
}
