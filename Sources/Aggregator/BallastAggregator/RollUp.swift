import GRDB
import ServiceLifecycle
import SiteRecords
import Synchronization

/// Puts the values of the sites together by minutes, a while after they came; what it has done it knows from
/// the database, so it may die at any time.
struct RollUp: Service {
    private static let pause = Duration.seconds(5)
    private static let headTime = Duration.seconds(600)
    let store: TelemetryStore
    let log: @Sendable (String) -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var told = ContinuousClock.now - Self.headTime
            while !Task.isCancelled {
                do {
                    if ContinuousClock.now - told >= Self.headTime {
                        told = .now
                        // Kept elsewhere, by the journal, it shows a history that was made anew.
                        log("history: head \(try await store.head().text)")
                    }
                    try await store.rollUpWhatIsDue()
                } catch { log("values by minutes are behind: \(error)") }
                // Ends early only where the program ends, which the loop looks at.
                try? await Task.sleep(for: Self.pause)
            }
        }
    }
}

extension TelemetryStore {
    /// Streams and records of one step, so that reports never wait long.
    private static let streamsOfStep = 16
    static let recordsOfStep = 500
    /// Streams of one pass, where more are behind: then it is a sixth of them.
    private static let streamsOfPass = 100
    /// Between rows that lie further apart nobody knows what the values were.
    static let longestStep: Int64 = 10_000

    struct Behind: Hashable {
        var site: String
        var epoch: String
        var rolled: Int64
    }

    /// Those that are behind, as many as are due: with very many sites each waits for some records, for what
    /// a step writes is every value of the site, however few rows it has.
    func rollUpWhatIsDue() async throws {
        let behind = try await pool.read { try Self.behind(in: $0) }
        var due = rolled.oldest(behind, most: max(Self.streamsOfPass, behind.count / 6))
        while !due.isEmpty, !Task.isCancelled {
            let step = due.prefix(Self.streamsOfStep)
            due = try await rollUp(Array(step)) + due.dropFirst(step.count)
        }
    }

    /// - Returns: whether there may be more to do.
    func rollUpSome() async throws -> Bool {
        let behind = try await pool.read { try Self.behind(in: $0) }
        _ = try await rollUp(Array(behind.prefix(Self.streamsOfStep)))
        return !behind.isEmpty
    }

    /// - Returns: those of `streams` that are behind still.
    private func rollUp(_ streams: [Behind]) async throws -> [Behind] {
        let known = streams.map { rolled.take($0) }
        let pieces = try await pool.read { database in
            var (pieces, left) = ([RolledStream](), Self.recordsOfStep)
            for (stream, known) in zip(streams, known) where left > 0 {
                let piece = try RolledStream(stream, after: known, most: left, in: database)
                left -= piece.records
                pieces.append(piece)
            }
            return pieces
        }
        try await write { database in for piece in pieces { try piece.keep(in: database) } }
        for piece in pieces + known.dropFirst(pieces.count).compactMap({ $0 }) { rolled.put(piece) }
        let unfinished = pieces.filter(\.isBehind).map {
            Behind(site: $0.stream.site, epoch: $0.stream.epoch, rolled: $0.through)
        }
        return unfinished + streams.dropFirst(pieces.count)
    }

    /// The same in one transaction, where nobody waits.
    static func rollUpSome(in database: Database) throws -> Bool {
        guard let stream = try behind(in: database).first else { return false }
        try RolledStream(stream, after: nil, most: recordsOfStep, in: database).keep(in: database)
        return true
    }

    private static func behind(in database: Database) throws -> [Behind] {
        let statement = try database.cachedStatement(
            sql: "SELECT site, epoch, rolled_through FROM stream WHERE rolled_through < stored_through")
        return try Row.fetchAll(statement).map {
            Behind(site: $0["site"], epoch: $0["epoch"], rolled: $0["rolled_through"])
        }
    }
}

/// A stream as far as it is put together by minutes, with what the next records are added to.
struct RolledStream: Sendable {
    let stream: TelemetryStore.Behind
    /// The last number that the minutes rest on, and the last one that there was a record of.
    let through: Int64
    let last: Int64
    /// New records that were looked at, and whether there may be more.
    let records: Int
    let isBehind: Bool
    private let state: SiteRecordState
    private var minutes: Minutes

    /// - Parameters:
    ///   - known: what was put together before; without it all since the newest snapshot is read again.
    ///   - most: records.
    init(
        _ stream: TelemetryStore.Behind, after known: RolledStream?, most: Int, in database: Database
    ) throws {
        let key: StatementArguments = [stream.site, stream.epoch]
        let begin = try known?.last ?? Self.snapshot(before: stream, in: database) ?? stream.rolled
        let gaps = try Row.fetchAll(
            try database.cachedStatement(
                sql: "SELECT from_n, to_n FROM gap WHERE site = ? AND epoch = ? AND to_n > ?"),
            arguments: key + [begin]
        ).map { row -> ClosedRange<Int64> in row["from_n"]...row["to_n"] }
        let rows = try Row.fetchCursor(
            try database.cachedStatement(
                sql: "SELECT n, kind, data FROM record WHERE site = ? AND epoch = ? AND n >= ? ORDER BY n"),
            arguments: key + [known == nil ? begin : begin + 1])
        var (state, minutes) = (known?.state ?? SiteRecordState(), known?.minutes ?? Minutes())
        var (last, done) = (begin, 0)
        while done < most, let row = try rows.next() {
            let number: Int64 = row["n"]
            if gaps.contains(where: { $0.upperBound > last && $0.lowerBound < number }) { state.gap() }
            last = number
            if number > stream.rolled { done += 1 }
            let kind: String = row["kind"]
            guard kind == "snapshot" || kind == "delta" else { continue }
            let data: String = row["data"]
            // What is no column record says nothing by minutes.
            try? state.take(Array(data.utf8)) { minutes.see($0, isNew: number > stream.rolled) }
        }
        var through = max(last, stream.rolled)
        if done < most {
            let sql = "SELECT stored_through FROM stream WHERE site = ? AND epoch = ?"
            through = max(try database.number(sql, key) ?? last, last)
        }
        (self.stream, self.through, self.last) = (stream, through, last)
        (records, isBehind) = (done, done >= most)
        (self.state, self.minutes) = (state, minutes)
    }

    private static func snapshot(
        before stream: TelemetryStore.Behind, in database: Database
    ) throws -> Int64? {
        try database.number(
            "SELECT max(n) FROM record WHERE site = ? AND epoch = ? AND kind = 'snapshot' AND n <= ?",
            [stream.site, stream.epoch, stream.rolled])
    }

    func keep(in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO minute VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (site, unit, channel, start_ms) DO UPDATE SET
                    low = min(low, excluded.low), high = max(high, excluded.high),
                    mean = (mean * seconds + excluded.mean * excluded.seconds) / (seconds + excluded.seconds),
                    seconds = seconds + excluded.seconds
                """)
        for (key, minute) in minutes.all {
            try statement.execute(arguments: [
                stream.site, key.unit, key.channel, key.start, minute.low, minute.high,
                minute.area / minute.seconds, minute.seconds,
            ])
        }
        try database.run(
            "UPDATE stream SET rolled_through = ? WHERE site = ? AND epoch = ?",
            [through, stream.site, stream.epoch])
    }

    /// What the next records are added to, without what is written.
    fileprivate var rest: RolledStream {
        var rest = self
        rest.minutes.forget()
        return rest
    }
}

/// The streams that are put together by minutes, in memory, so that few records are read again; without it,
/// as after a start, they are put together from their newest snapshot on, and come out the same.
final class RolledStreams: Sendable {
    private struct Key: Hashable {
        var site: String
        var epoch: String
    }

    /// Beyond it all begin anew: a stream takes some kilobytes.
    private static let most = 4_096
    private let streams = Mutex<[Key: (rest: RolledStream, at: ContinuousClock.Instant)]>([:])

    /// Those that were put together longest ago, or never.
    func oldest(_ behind: [TelemetryStore.Behind], most: Int) -> [TelemetryStore.Behind] {
        guard behind.count > most else { return behind }
        let times = streams.withLock { streams in
            behind.map { streams[Key(site: $0.site, epoch: $0.epoch)]?.at }
        }
        let order = behind.indices.sorted { left, right in
            guard let right = times[right] else { return false }
            return times[left].map { $0 < right } ?? true
        }
        return order.prefix(most).map { behind[$0] }
    }

    /// What is known of a stream, where it is as far as the database says; it is taken out, so that what was
    /// not written is known of nobody.
    func take(_ stream: TelemetryStore.Behind) -> RolledStream? {
        let key = Key(site: stream.site, epoch: stream.epoch)
        guard let known = streams.withLock({ $0.removeValue(forKey: key) })?.rest else { return nil }
        return known.through == stream.rolled ? known : nil
    }

    func put(_ piece: RolledStream) {
        let key = Key(site: piece.stream.site, epoch: piece.stream.epoch)
        streams.withLock { streams in
            if streams.count >= Self.most { streams = [:] }
            streams[key] = (piece.rest, .now)
        }
    }
}

/// Values by minutes: each holds from its row to the next one.
struct Minutes: Sendable {
    struct Key: Hashable {
        var unit: String
        var channel: String
        var start: Int64
    }

    struct Minute {
        var low: Double
        var high: Double
        var area: Double
        var seconds: Double
    }

    private(set) var all: [Key: Minute] = [:]
    private var values: [(unit: String, key: String, value: Double)] = []
    private var since: Int64 = 0

    /// All but the last row, from which on the next ones hold.
    mutating func forget() { all = [:] }

    /// A row behind the one before.
    mutating func see(_ state: borrowing SiteRecordState, isNew: Bool) {
        let now = state.wallMilliseconds
        if isNew, now > since, now - since <= TelemetryStore.longestStep { hold(until: now) }
        since = now
        var values: [(unit: String, key: String, value: Double)] = []
        state.numbers { values.append(($0, $1, $2)) }
        self.values = values
    }

    private mutating func hold(until end: Int64) {
        var from = since
        while from < end {
            let start = from - from % 60_000
            let until = min(end, start + 60_000)
            let seconds = Double(until - from) / 1_000
            for (unit, channel, value) in values {
                let new = Minute(low: value, high: value, area: 0, seconds: 0)
                let key = Key(unit: unit, channel: channel, start: start)
                var minute = all[key] ?? new
                minute.low = min(minute.low, value)
                minute.high = max(minute.high, value)
                minute.area += value * seconds
                minute.seconds += seconds
                all[key] = minute
            }
            from = until
        }
    }
}
