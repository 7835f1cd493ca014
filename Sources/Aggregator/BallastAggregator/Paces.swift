import Synchronization

/// How many requests each name may make: a bucket that fills evenly and holds ten seconds' worth.
final class RequestPace: Sendable {
    private struct Bucket {
        var left: Double
        var at: ContinuousClock.Instant
    }

    private let perSecond: Double
    private let buckets = Mutex<[String: Bucket]>([:])

    init(perSecond: Int) { self.perSecond = Double(perSecond) }

    /// Whether `name` may make one more request at `now`; names come from the configuration, so they are few.
    func allows(_ name: String, at now: ContinuousClock.Instant) -> Bool {
        buckets.withLock { buckets in
            let most = perSecond * 10
            var bucket = buckets[name] ?? Bucket(left: most, at: now)
            let since = (now - bucket.at) / .seconds(1)
            bucket.left = min(most, bucket.left + max(0, since) * perSecond)
            bucket.at = now
            let isAllowed = bucket.left >= 1
            if isAllowed { bucket.left -= 1 }
            buckets[name] = bucket
            return isAllowed
        }
    }
}

/// Slows those who send wrong tokens: after ten of them within a minute an address is told 429 for each wrong
/// one for a minute, without a reason and without a line in the log.
///
/// A right token is always taken, from wherever it comes: else a neighbour behind the same address could keep
/// known people out. What keeps a token from being guessed is that it has 256 random bits.
final class GuessBrake: Sendable {
    private struct Record {
        var wrong = 0
        var since: ContinuousClock.Instant
        var right: Set<TokenDigest> = []
    }

    static let most = 10
    static let pause = Duration.seconds(60)
    /// Addresses that are remembered; beyond it those without a right token are forgotten.
    private static let mostAddresses = 10_000
    private let records = Mutex<[String: Record]>([:])

    enum Verdict: Equatable { case wrong, slowedFromNowOn, slowed }

    /// Notes a wrong token, and what is to be said of it.
    func wrong(from address: String, at now: ContinuousClock.Instant) -> Verdict {
        records.withLock { records in
            if records.count > Self.mostAddresses { records = records.filter { !$0.value.right.isEmpty } }
            var record = records[address] ?? Record(since: now)
            if now - record.since >= Self.pause { (record.wrong, record.since) = (0, now) }
            if record.wrong >= Self.most { return .slowed }
            record.wrong += 1
            if record.wrong == Self.most { record.since = now }
            records[address] = record
            return record.wrong == Self.most ? .slowedFromNowOn : .wrong
        }
    }

    /// Notes a right token; says whether it is the first from there, which is a log-in.
    func right(_ digest: TokenDigest, from address: String, at now: ContinuousClock.Instant) -> Bool {
        records.withLock { records in
            var record = records[address] ?? Record(since: now)
            guard !record.right.contains(digest) else { return false }
            if record.right.count >= 1_000 { record.right = [] }
            record.right.insert(digest)
            records[address] = record
            return true
        }
    }
}
