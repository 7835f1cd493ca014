import struct ExactAmounts.WholeWatts

/// The most that a place may draw from the grid for a time. It asks its storage for power, unlike a site's
/// own clamp, which only narrows; and in the end it says whether it held, or why not.
///
/// Instants are milliseconds since 1970-01-01 00:00 UTC.
public struct PeakLimit: Sendable, Equatable {
    public enum Cause: String, Sendable, CaseIterable {
        /// Nobody has seen the meter for too long.
        case meterSilent = "meter_silent"
        /// The storage had no more to give.
        case storageExhausted = "storage_exhausted"
        /// The storage could have given more than it did.
        case notFollowed = "not_followed"
    }

    public enum Verdict: Sendable, Equatable {
        case running
        /// The largest draw, a magnitude, and for how long in sum more than the limit was drawn, in
        /// milliseconds: never for `patience` on end.
        case held(peak: WholeWatts, above: Int64)
        case notHeld(peak: WholeWatts, Cause)
    }

    /// A meter that is not seen for longer has not been seen.
    public static let meterAge: Int64 = 10_000
    /// How long the storage has until a larger draw counts.
    public static let patience: Int64 = 5_000

    public let limit: WholeWatts
    public let from: Int64
    public let until: Int64
    private var peak: Int64 = 0
    private var cause: Cause?
    private var seenAt: Int64
    private var aboveSince: Int64?
    private var notedAt: Int64?
    private var above: Int64 = 0

    /// `nil` where it would end before it begins.
    ///
    /// - Parameter limit: the most that is drawn, zero or more.
    public init?(_ limit: WholeWatts, from: Int64, until: Int64) {
        guard until > from, limit.count >= 0 else { return nil }
        self.limit = limit
        self.from = from
        self.until = until
        seenAt = from
    }

    /// What the storage must give now so that no more than the limit is drawn; it is never asked to charge.
    ///
    /// - Parameters:
    ///   - meter: at the place's connection, positive = injected.
    ///   - storage: what the storage gives at that moment.
    public func wanted(meter: WholeWatts, storage: WholeWatts) -> WholeWatts {
        WholeWatts(max(0, storage.count - meter.count - limit.count))
    }

    /// Takes a measurement in.
    ///
    /// - Parameter available: the most that the storage could give at that moment.
    public mutating func note(
        meter: WholeWatts, storage: WholeWatts, available: WholeWatts, at now: Int64
    ) {
        guard now >= from, now < until else { return }
        look(at: now)
        if aboveSince != nil, let notedAt { above += now - notedAt }
        (seenAt, notedAt) = (now, now)
        let drawn = -meter.count
        peak = max(peak, drawn)
        guard drawn > limit.count else {
            aboveSince = nil
            return
        }
        let since = aboveSince ?? now
        aboveSince = since
        guard now - since >= Self.patience, cause == nil else { return }
        let wanted = wanted(meter: meter, storage: storage)
        cause = wanted.count > available.count ? .storageExhausted : .notFollowed
    }

    /// Whether it held; looked at again and again, the first cause stays.
    public mutating func verdict(at now: Int64) -> Verdict {
        if now >= from { look(at: min(now, until)) }
        if let cause { return .notHeld(peak: WholeWatts(peak), cause) }
        guard now >= until else { return .running }
        // However short it was: a limit that nobody has looked at was not held.
        guard let notedAt else { return .notHeld(peak: WholeWatts(peak), .meterSilent) }
        let rest = aboveSince == nil ? 0 : until - notedAt
        return .held(peak: WholeWatts(peak), above: above + rest)
    }

    private mutating func look(at now: Int64) {
        if now - seenAt > Self.meterAge, cause == nil { cause = .meterSilent }
    }
}
