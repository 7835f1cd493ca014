import Quantities

/// A contact that carries power and contradicts its command again and again, each time for less than its
/// debounce.
///
/// The contradictions are summed; only an agreement of four debounces in one piece ends the sum. How often
/// they begin the row `contactor_feedback` counts.
struct ContactFlicker: Sendable, BitwiseCopyable {
    private(set) var contradictedFor = Duration.zero
    private(set) var agreedSince: MonotonicTime?
    /// When it was seen contradicted last, without an agreement or a contact that could not be read since.
    private(set) var seenAt: MonotonicTime?
    /// Since when it contradicts without an agreement.
    private(set) var begunAt: MonotonicTime?
    /// A contradiction lasts that counts: a tenth of the debounce, less is a reading that went wrong.
    private(set) var isContradicted = false
    /// It has agreed since it was told to carry power: until then it is on its way, and its row waits.
    private(set) var hasAgreed = false

    /// The contacts move: what they say then is no contradiction.
    mutating func rest() { self = ContactFlicker() }

    /// One look; `nil` = nobody can read the contact, which heals nothing.
    ///
    /// - Returns: whether the sum has reached the debounce.
    mutating func look(isAgreed: Bool?, debounce: Duration, at now: MonotonicTime) -> Bool {
        guard let isAgreed else {
            seenAt = nil
            return false
        }
        guard isAgreed else {
            guard hasAgreed else { return false }
            let begun = begunAt ?? now
            contradictedFor = min(debounce, contradictedFor + (seenAt.map { now - $0 } ?? .zero))
            (agreedSince, seenAt, begunAt) = (nil, now, begun)
            isContradicted = now - begun >= debounce / 10
            return contradictedFor >= debounce
        }
        (seenAt, begunAt, isContradicted, hasAgreed) = (nil, nil, false, true)
        guard contradictedFor > .zero else { return false }
        let since = agreedSince ?? now
        agreedSince = since
        if now - since >= debounce * 4 { (contradictedFor, agreedSince) = (.zero, nil) }
        return false
    }
}
