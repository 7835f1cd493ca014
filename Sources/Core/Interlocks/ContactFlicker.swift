import Quantities

/// A contact that carries power and contradicts its command again and again, each time for less than its
/// debounce.
///
/// The contradictions are summed; only an agreement of four debounces in one piece ends the sum.
struct ContactFlicker: Sendable, BitwiseCopyable {
    private(set) var contradictedFor = Duration.zero
    private(set) var agreedSince: MonotonicTime?
    /// When it was seen contradicted last, without an agreement since.
    private(set) var seenAt: MonotonicTime?

    /// One look; `nil` = nobody can read the contact, which heals nothing.
    ///
    /// - Returns: whether the sum has reached the debounce.
    mutating func look(isAgreed: Bool?, debounce: Duration, at now: MonotonicTime) -> Bool {
        guard let isAgreed else { return false }
        guard isAgreed else {
            agreedSince = nil
            contradictedFor = min(debounce, contradictedFor + (seenAt.map { now - $0 } ?? .zero))
            seenAt = now
            return contradictedFor >= debounce
        }
        seenAt = nil
        guard contradictedFor > .zero else { return false }
        let since = agreedSince ?? now
        agreedSince = since
        if now - since >= debounce * 4 { (contradictedFor, agreedSince) = (.zero, nil) }
        return false
    }
}
