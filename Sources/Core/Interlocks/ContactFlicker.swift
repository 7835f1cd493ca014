import Quantities

/// A contact that carries power and contradicts its command again and again, each time for less than its
/// debounce.
///
/// The contradictions are summed; only an agreement of four debounces in one piece ends the sum. However long
/// it agrees between them, the third within ten minutes is told too.
struct ContactFlicker: Sendable, BitwiseCopyable {
    private(set) var contradictedFor = Duration.zero
    private(set) var agreedSince: MonotonicTime?
    /// When it was seen contradicted last, without an agreement since.
    private(set) var seenAt: MonotonicTime?
    /// Since when it contradicts without an agreement; until it is counted.
    private(set) var begunAt: MonotonicTime?
    private(set) var times = FlickerCount()

    /// So many in the window are no chance.
    private static let most = 3
    static let window = Duration.seconds(600)

    /// The contacts move: what they say then is no contradiction. Those before are remembered.
    mutating func rest() {
        (contradictedFor, agreedSince, seenAt, begunAt) = (.zero, nil, nil, nil)
    }

    /// One look; `nil` = nobody can read the contact, which heals nothing.
    ///
    /// - Returns: whether the sum has reached the debounce, or it is the third time.
    mutating func look(isAgreed: Bool?, debounce: Duration, at now: MonotonicTime) -> Bool {
        guard let isAgreed else { return false }
        guard isAgreed else {
            agreedSince = nil
            if seenAt == nil { begunAt = now }
            contradictedFor = min(debounce, contradictedFor + (seenAt.map { now - $0 } ?? .zero))
            seenAt = now
            return contradictedFor >= debounce || isTooOften(debounce, at: now)
        }
        seenAt = nil
        guard contradictedFor > .zero else { return false }
        let since = agreedSince ?? now
        agreedSince = since
        if now - since >= debounce * 4 { (contradictedFor, agreedSince) = (.zero, nil) }
        return false
    }

    /// One that lasts a tenth of its debounce counts: less is a reading that went wrong.
    private mutating func isTooOften(_ debounce: Duration, at now: MonotonicTime) -> Bool {
        guard let begun = begunAt, now - begun >= debounce / 10 else { return false }
        begunAt = nil
        return times.add(at: .nanoseconds(now.nanoseconds), within: Self.window) >= Self.most
    }
}
