import LinuxIO
import ServiceLifecycle
import Synchronization

/// Who asked for what, and what became of it: refusals, log-ins and requests, on the disk within seconds.
///
/// The same thing asked again within one stretch is one row with its count, so that nobody fills the disk by
/// asking. What sites deliver and pages ask for each second, and got, is told once an hour with its count: a
/// program that is killed forgets the hour's counts, and nothing else.
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
    /// Of what was counted alone.
    private static let mostCounted = 10_000
    private static let countedStretch = Duration.seconds(3_600)
    private let rows = Mutex<[Entry: Row]>([:])
    private let counted = Mutex<[Entry: Row]>([:])
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

    /// Something that is asked for all the time, and was given.
    func count(_ entry: Entry) {
        let now = WallClock.nowMilliseconds()
        counted.withLock { rows in
            var key = entry
            if rows[key] == nil, rows.count >= Self.mostCounted {
                key = Entry(
                    who: "several", address: "several", method: "", path: "", status: entry.status, why: "")
            }
            rows[key, default: Row(entry: key, at: now, count: 0)].count += 1
        }
    }

    /// Writes what was noted; what the disk refuses is told, and goes.
    ///
    /// - Parameter withCounts: also what was counted alone.
    func flush(withCounts: Bool = false) async {
        func taken(_ rows: borrowing Mutex<[Entry: Row]>) -> [Row] {
            rows.withLock { rows in
                defer { rows = [:] }
                return rows.values.sorted { $0.at < $1.at }
            }
        }
        let noted = (withCounts ? taken(counted) : []) + taken(rows)
        if noted.isEmpty { return }
        do { try await write(noted) } catch { log("\(noted.count) entries of the audit are lost: \(error)") }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var due = ContinuousClock.now + Self.countedStretch
            while !Task.isCancelled {
                // Ends early only where the program ends, which the loop looks at.
                try? await Task.sleep(for: Self.stretch)
                let isDue = ContinuousClock.now >= due
                if isDue { due = .now + Self.countedStretch }
                await self.flush(withCounts: isDue)
            }
        }
        await flush(withCounts: true)
    }
}
