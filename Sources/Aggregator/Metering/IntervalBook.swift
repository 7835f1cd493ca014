import ExactAmounts

/// The energy of one block, whole; and which intervals it was made of.
public struct BlockEnergy: Equatable, Sendable {
    public var imported: WattHours
    public var exported: WattHours
    /// The highest revision among its intervals.
    public var revision: Int
    public var quality: Quality
    /// The site's records it came from, each once.
    public var records: [String]

    public init(
        imported: WattHours, exported: WattHours, revision: Int = 0, quality: Quality = .measured,
        records: [String] = []
    ) {
        self.imported = imported
        self.exported = exported
        self.revision = revision
        self.quality = quality
        self.records = records
    }

    /// Positive is surplus.
    public var net: WattHours { exported - imported }
}

/// All intervals, each once for its resource, kind, start and revision; which of them counts does not depend
/// on the order they came in.
public struct IntervalBook: Sendable {
    public enum Outcome: Equatable, Sendable {
        case added
        /// The same again: nothing changed.
        case unchanged
        /// It counts instead of a lower revision.
        case supersedes(revision: Int)
        /// A higher revision counts already; kept, since it is no error.
        case older
    }

    struct Series: Sendable {
        var length: BlockLength
        var latest: [UTCInstant: Interval] = [:]
        /// Rare: revisions that no longer count.
        var older: [UTCInstant: [Interval]] = [:]
    }

    struct Key: Hashable, Sendable {
        var resource: String
        var kind: IntervalKind
    }

    var series: [Key: Series] = [:]

    public init() {}

    /// How many intervals count.
    public var count: Int { series.values.reduce(0) { $0 + $1.latest.count } }

    /// Takes an interval, or says why not; after a refusal nothing has changed.
    @discardableResult
    public mutating func accept(_ interval: Interval) throws(IntervalRefusal) -> Outcome {
        if interval.mode != .production { throw .simulated }
        if !interval.length.isAligned(interval.start) { throw .notAligned(length: interval.length) }
        if interval.imported < .zero || interval.exported < .zero { throw .negativeEnergy }
        if interval.imported > .limit || interval.exported > .limit { throw .tooMuchEnergy }
        if interval.revision < 0 { throw .negativeRevision }
        let key = Key(resource: interval.resource, kind: interval.kind)
        let length = series[key]?.length ?? interval.length
        if length != interval.length { throw .otherLength(length) }
        return try series[key, default: Series(length: length)].accept(interval)
    }

    /// In what stretches a resource is told that has told nothing yet: registers may fill them.
    public mutating func expect(_ resource: String, length: BlockLength) {
        let key = Key(resource: resource, kind: .actual)
        if series[key] == nil { series[key] = Series(length: length) }
    }

    /// The whole block's energy of a resource, of intervals of its length or shorter ones.
    ///
    /// - Returns: `nil` where a part is missing, or where the resource is told in longer stretches.
    public func energy(
        of resource: String, _ kind: IntervalKind = .actual, at start: UTCInstant, length: BlockLength
    ) -> BlockEnergy? {
        guard let series = series[Key(resource: resource, kind: kind)],
            series.length.seconds <= length.seconds
        else { return nil }
        var sum = BlockEnergy(imported: .zero, exported: .zero)
        for offset in stride(from: Int64(0), to: length.seconds, by: Int(series.length.seconds)) {
            guard let interval = series.latest[start + offset] else { return nil }
            sum.imported += interval.imported
            sum.exported += interval.exported
            sum.revision = max(sum.revision, interval.revision)
            if interval.quality == .substituted { sum.quality = .substituted }
            if !interval.record.isEmpty, !sum.records.contains(interval.record) {
                sum.records.append(interval.record)
            }
        }
        return sum
    }

    /// The resource's own stretches in the period that nothing was told of; `nil` for a resource never heard
    /// of.
    public func missing(_ resource: String, _ kind: IntervalKind = .actual, in period: Period)
        -> [UTCInstant]?
    {
        guard let series = series[Key(resource: resource, kind: kind)] else { return nil }
        return series.length.starts(in: period)?.filter { series.latest[$0] == nil }
    }

    /// Import minus export of several resources in a block, positive is surplus; `nil` where one is not
    /// complete.
    public func netto(of resources: [String], at start: UTCInstant, length: BlockLength) -> WattHours? {
        var sum = WattHours.zero
        for resource in resources {
            guard let energy = energy(of: resource, at: start, length: length) else { return nil }
            sum += energy.net
        }
        return sum
    }

    /// The highest average import of a resource in the period's blocks, and the first block that had it.
    public func peak(of resource: String, in period: Period, length: BlockLength) -> (
        power: WholeWatts, start: UTCInstant
    )? {
        var highest: (power: WholeWatts, start: UTCInstant)?
        for start in length.starts(in: period) ?? [] {
            guard let energy = energy(of: resource, at: start, length: length) else { continue }
            let power = WholeWatts(average: energy.imported, over: length.seconds)
            if highest.map({ power > $0.power }) ?? true { highest = (power, start) }
        }
        return highest
    }

    /// How much less a resource drew than its baseline; a resource that drew more counts as 0.
    ///
    /// - Returns: `nil` where actual or baseline is not complete.
    public func reduction(of resource: String, at start: UTCInstant, length: BlockLength) -> WattHours? {
        guard let actual = energy(of: resource, at: start, length: length),
            let baseline = energy(of: resource, .baseline, at: start, length: length)
        else { return nil }
        return max(.zero, baseline.imported - actual.imported)
    }

    /// All intervals that count, in the order of resource, kind and start.
    public func sorted() -> [Interval] {
        series.values.flatMap { $0.latest.values }.sorted {
            ($0.resource, $0.kind.rawValue, $0.start) < ($1.resource, $1.kind.rawValue, $1.start)
        }
    }
}

extension IntervalBook.Series {
    mutating func accept(_ interval: Interval) throws(IntervalRefusal) -> IntervalBook.Outcome {
        guard let known = latest[interval.start] else {
            latest[interval.start] = interval
            return .added
        }
        if known.revision < interval.revision {
            older[interval.start, default: []].append(known)
            latest[interval.start] = interval
            return .supersedes(revision: known.revision)
        }
        let same =
            known.revision == interval.revision
            ? known : older[interval.start]?.first { $0.revision == interval.revision }
        guard let same else {
            older[interval.start, default: []].append(interval)
            return .older
        }
        if same != interval { throw .revisionToldTwice(first: same) }
        return .unchanged
    }
}
