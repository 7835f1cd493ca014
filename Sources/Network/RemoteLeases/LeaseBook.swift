import Quantities

/// Why a lease from outside is not granted.
public enum LeaseRefusal: String, Sendable, CaseIterable {
    /// Too long, cut short, of another version, or not written the one way.
    case malformed
    /// It names another site.
    case otherSite = "other_site"
    /// It asks for something of this site that takes no lease.
    case noSuchTarget = "no_such_target"
    /// It names a key that the site's file does not have.
    case unknownKey = "unknown_key"
    /// Its sequence is not above the last one of its key.
    case replayed
    /// The record of sequences was lost, and the lease was issued before that.
    case sequenceLost = "sequence_lost"
    /// The wall clock is not synchronised, so that its times mean nothing.
    case clockNotSynchronised = "clock_not_synchronised"
    /// It was issued, or begins, later than now.
    case notYet = "not_yet"
    /// Its time is over, or ends before it begins.
    case expired
    /// It holds for longer than the site allows.
    case tooLong = "too_long"
    /// More leases come than the site looks at.
    case tooOften = "too_often"
    /// The signature is not the key's.
    case badSignature = "bad_signature"
    /// The sequence could not be put on disk, so that the lease could be played again.
    case notSaved = "not_saved"
    /// The site takes no power from outside now: it has no keys, or a device has not proven its reversion.
    case notAllowed = "not_allowed"
    /// The cycle did not take it in time.
    case noAnswer = "no_answer"
}

/// Judges leases from outside: cheap looks first, the signature last, each sequence once.
///
/// It reads no clock and writes nothing. A judged lease counts as used from then on, granted or not; whoever
/// grants it puts `record` on disk first.
public struct LeaseBook: Sendable {
    /// What must survive a restart.
    public struct Record: Sendable, Equatable {
        /// Leases issued until then are refused: what was used of them is not known. Milliseconds since
        /// 1970-01-01 00:00 UTC; `nil` = not known yet, because the clock was not synchronised.
        public var since: Int64?
        /// The last sequence of each key.
        public var sequences: [String: UInt64]

        public init(since: Int64? = nil, sequences: [String: UInt64] = [:]) {
            self.since = since
            self.sequences = sequences
        }
    }

    /// What the clocks say as a lease is judged.
    public struct Moment: Sendable {
        public var monotonic: MonotonicTime
        /// Milliseconds since 1970-01-01 00:00 UTC.
        public var wall: Int64
        public var isSynchronised: Bool

        public init(monotonic: MonotonicTime, wall: Int64, isSynchronised: Bool) {
            self.monotonic = monotonic
            self.wall = wall
            self.isSynchronised = isSynchronised
        }
    }

    public enum Verdict: Sendable, Equatable {
        case refused(LeaseRefusal)
        /// The power may flow for so long from the moment of the verdict.
        case power(watts: Int64, for: Duration)
        case release
    }

    /// Two clocks that are both synchronised differ by no more.
    public static let clockDifference = Duration.seconds(2)
    /// So many signatures are looked at in a row, and one more each second.
    public static let burst = 10

    private let site: String
    private let keys: Set<String>
    private let longest: Duration
    public private(set) var record: Record
    private var tokens = Double(burst)
    private var last: MonotonicTime?

    /// - Parameter record: what an earlier run has left; an empty one where it is lost or was never there.
    public init(site: String, keys: Set<String>, longest: Duration, record: Record) {
        self.site = site
        self.keys = keys
        self.longest = longest
        self.record = record
    }

    /// Holds the record against what another one, the audit, says was granted last: a record that knows less
    /// of any key was set back, and counts as lost.
    ///
    /// - Parameter wall: when this run began, milliseconds since 1970-01-01 00:00 UTC; `nil` = the clock was
    ///   not synchronised then, and the first look at a synchronised one counts.
    /// - Returns: whether the record is older than that.
    public mutating func hold(against granted: [String: UInt64], since wall: Int64?) -> Bool {
        let isOlder = granted.contains { keys.contains($0.key) && $0.value > record.sequences[$0.key] ?? 0 }
        if isOlder { record = Record(since: wall) }
        return isOlder
    }

    /// Whether a lease may be granted now.
    ///
    /// - Parameter isSigned: whether the signature is that of the lease's key; asked for at most once, and
    ///   only of a lease that passes everything else.
    public mutating func judge(
        _ lease: RemoteLease, at moment: Moment, isSigned: () -> Bool
    ) -> Verdict {
        if let refusal = place(lease) ?? time(lease, moment) ?? order(lease) { return .refused(refusal) }
        guard takeToken(at: moment.monotonic) else { return .refused(.tooOften) }
        guard isSigned() else { return .refused(.badSignature) }
        record.sequences[lease.key] = lease.sequence
        switch lease.kind {
        case .release: return .release
        case .power: return .power(watts: lease.watts, for: .milliseconds(lease.until - moment.wall))
        }
    }

    private func place(_ lease: RemoteLease) -> LeaseRefusal? {
        if lease.site != site { return .otherSite }
        if !lease.target.isEmpty { return .noSuchTarget }
        return keys.contains(lease.key) ? nil : .unknownKey
    }

    private mutating func time(_ lease: RemoteLease, _ moment: Moment) -> LeaseRefusal? {
        guard moment.isSynchronised else { return .clockNotSynchronised }
        if record.since == nil { record.since = moment.wall }
        let ahead = moment.wall + Int64(Self.clockDifference / .milliseconds(1))
        if lease.issued > ahead || lease.from > ahead { return .notYet }
        if lease.until <= moment.wall || lease.until <= lease.from { return .expired }
        let most = Int64(longest / .milliseconds(1))
        return lease.until - min(lease.from, moment.wall) > most ? .tooLong : nil
    }

    private func order(_ lease: RemoteLease) -> LeaseRefusal? {
        if let last = record.sequences[lease.key] { return lease.sequence > last ? nil : .replayed }
        return lease.issued > record.since ?? .max ? nil : .sequenceLost
    }

    private mutating func takeToken(at now: MonotonicTime) -> Bool {
        if let last { tokens = min(Double(Self.burst), tokens + (now - last) / .seconds(1)) }
        last = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
