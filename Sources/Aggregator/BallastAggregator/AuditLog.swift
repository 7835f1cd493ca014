import LinuxIO
import ServiceLifecycle
import Synchronization

/// Who asked for what, and what became of it: refusals, log-ins and requests, on the disk within seconds.
///
/// The same thing asked again within one stretch is one row with its count, so that nobody fills the disk by
/// asking. What a site delivers is not in it: its records and their numbers say that themselves.
final class AuditLog: Service {
    struct Entry: Sendable, Hashable {
        var who: String
        var address: String
        var method: String
        var path: String
        var status: Int
        var why: String
    }

    struct Row: Sendable {
        var entry: Entry
        /// UTC, in milliseconds since 1970; of the first of them.
        var at: Int64
        var count: Int
    }

    /// Kinds of entries that are kept apart within one stretch; those beyond are counted together.
    private static let mostKinds = 1_000
    /// Of those without a right token, who may be very many.
    private static let mostOfStrangers = 20
    private static let stretch = Duration.seconds(5)
    private let rows = Mutex<[Entry: Row]>([:])
    private let write: @Sendable ([Row]) async throws -> Void
    private let log: @Sendable (String) -> Void

    init(
        log: @escaping @Sendable (String) -> Void, write: @escaping @Sendable ([Row]) async throws -> Void
    ) {
        self.log = log
        self.write = write
    }

    func note(_ entry: Entry) {
        let now = WallClock.nowMilliseconds()
        rows.withLock { rows in
            var key = entry
            let isStrange = entry.who.isEmpty
            let most = isStrange ? Self.mostOfStrangers : Self.mostKinds
            if rows[key] == nil, rows.keys.count(where: { $0.who.isEmpty == isStrange }) >= most {
                key = Entry(
                    who: isStrange ? "" : "several", address: "several", method: "", path: "",
                    status: entry.status, why: "")
            }
            rows[key, default: Row(entry: key, at: now, count: 0)].count += 1
        }
    }

    /// Writes what was noted; what the disk refuses is told, and goes.
    func flush() async {
        let noted = rows.withLock { rows in
            defer { rows = [:] }
            return rows.values.sorted { $0.at < $1.at }
        }
        if noted.isEmpty { return }
        do { try await write(noted) } catch { log("\(noted.count) entries of the audit are lost: \(error)") }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                // Ends early only where the program ends, which the loop looks at.
                try? await Task.sleep(for: Self.stretch)
                await self.flush()
            }
        }
        await flush()
    }
}
