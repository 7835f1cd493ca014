import GRDB
import LinuxIO
import ServiceLifecycle

/// How long what is stored stays, by what it is; what a file does not name stays for ever.
///
/// What goes is declared in the chain (`CutBook`), which verifies as before. Never cut are leases, where
/// sites' audits stand, gaps, and what was there before the chain began.
struct RetentionRule: Sendable, Equatable {
    enum Kind: String, Sendable, CaseIterable {
        case values, events, energy, requests, minutes

        /// Of records, as they name themselves.
        var records: Set<String> {
            switch self {
            case .values: ["snapshot", "delta", "telemetry", "cells"]
            case .events: ["event", "frequency_event", "frequency_time", "signal_time", "months"]
            case .energy: ["energy"]
            case .requests, .minutes: []
            }
        }
    }

    var kind: Kind
    var days: Int

    /// What is older goes.
    ///
    /// - Parameter now: UTC, in milliseconds since 1970.
    func limit(_ now: Int64) -> Int64 { now - Int64(days) * 86_400_000 }
}

/// Takes what is too old, a little at a time, so that reports never wait for it.
struct RetentionWork: Service {
    private static let pause = Duration.seconds(600)
    /// Between two steps that found something.
    private static let breath = Duration.milliseconds(200)
    let store: TelemetryStore
    let rules: [RetentionRule]
    let log: @Sendable (String) -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var isDoubted = false
            while !Task.isCancelled {
                let doubt = await clockDoubt()
                if let doubt, !isDoubted { log("retention waits: \(doubt)") }
                isDoubted = doubt != nil
                for rule in rules where doubt == nil && !Task.isCancelled { await sweep(rule) }
                // Ends early only where the program ends, which the loop looks at.
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    private func clockDoubt() async -> String? {
        do { return try await store.clockDoubt(at: WallClock.nowMilliseconds()) } catch { return "\(error)" }
    }

    private func sweep(_ rule: RetentionRule) async {
        do {
            var gone = 0
            let limit = rule.limit(WallClock.nowMilliseconds())
            while !Task.isCancelled {
                let step = try await store.cut(rule, before: limit)
                gone += step.gone
                if !step.hasMore { break }
                try? await Task.sleep(for: Self.breath)
            }
            guard gone > 0 else { return }
            log("retention: \(gone) of \(rule.kind.rawValue) were older than \(rule.days) days")
        } catch { log("retention: \(rule.kind.rawValue): \(error)") }
    }
}

extension TelemetryStore {
    struct CutStep: Sendable {
        /// Records, requests or minutes.
        var gone = 0
        var hasMore = false
    }

    private static let day: Int64 = 86_400_000

    /// Why nothing should be cut by this clock: what it takes never comes back. More than half of the sites
    /// that were heard within a day must say about the same.
    ///
    /// - Parameter now: UTC, in milliseconds since 1970.
    /// - Returns: `nil` where they do.
    func clockDoubt(at now: Int64) async throws -> String? {
        let since = Self.text(ofMilliseconds: now - Self.day)
        return try await pool.read { database in
            let times = try Int64?.fetchAll(
                database,
                sql: """
                    SELECT (SELECT t_ms FROM record WHERE record.site = stream.site
                            AND record.epoch = stream.epoch AND n <= stored_through ORDER BY n DESC LIMIT 1)
                    FROM stream WHERE last_seen >= ? AND stored_through > 0
                        AND turn = (SELECT max(turn) FROM stream AS other WHERE other.site = stream.site)
                    """, arguments: [since])
            let alike = times.count { $0.map { now - Self.day < $0 && $0 < now + Self.day } ?? false }
            guard alike * 2 <= times.count else { return nil }
            return "by this clock it is \(Self.text(ofMilliseconds: now)), and of \(times.count) sites heard "
                + "within a day \(alike) say about the same"
        }
    }

    /// Entries of the chain that one step looks at.
    private static let entriesOfStep = 500

    /// Takes some of what is older, and declares it.
    ///
    /// - Parameter limit: UTC, in milliseconds since 1970: what came here earlier goes.
    func cut(_ rule: RetentionRule, before limit: Int64) async throws -> CutStep {
        switch rule.kind {
        case .values, .events, .energy, .requests:
            try await write { try Cutter($0, rule, limit).step(most: Self.entriesOfStep) }
        case .minutes: try await cutMinutes(before: limit)
        }
    }

    /// Values by minutes stand for themselves and are in no chain: a site at a time, once a day.
    private func cutMinutes(before limit: Int64) async throws -> CutStep {
        let day = limit / 86_400_000
        return try await write { database in
            let known = try Int64.fetchOne(
                database, sql: "SELECT swept_ms FROM retention WHERE rule = 'minutes'")
            guard known ?? 0 < day else { return CutStep() }
            try database.execute(
                sql: """
                    INSERT INTO retention VALUES ('minutes', 0, ?)
                    ON CONFLICT (rule) DO UPDATE SET swept_ms = excluded.swept_ms
                    """, arguments: [day])
            var step = CutStep()
            for site in try String.fetchAll(database, sql: "SELECT DISTINCT site FROM stream") {
                try database.execute(
                    sql: "DELETE FROM minute WHERE site = ? AND start_ms < ?",
                    arguments: [site, day * 86_400_000])
                step.gone += database.changesCount
            }
            return step
        }
    }
}
