/// Whether the controller still writes: one whose spool does not grow for longer than it ever pauses is
/// silent.
struct ControllerSilence: Equatable {
    /// The controller writes a record each 4 s at the latest.
    static let longest = Duration.seconds(10)
    /// So often a silence is told anew, for an aggregator that has forgotten it.
    static let repetition = Duration.seconds(30)

    private var number: UInt64?
    private var since: ContinuousClock.Instant?
    private var told: ContinuousClock.Instant?
    private(set) var isSilent = false

    /// - Parameter durable: the last number on the disk.
    /// - Returns: whether it is to be told now.
    mutating func look(_ durable: UInt64, at now: ContinuousClock.Instant) -> Bool {
        guard let since, durable == number else {
            let wasSilent = isSilent
            (number, since, told, isSilent) = (durable, now, nil, false)
            return wasSilent
        }
        guard now - since >= Self.longest else { return false }
        isSilent = true
        if let told, now - told < Self.repetition { return false }
        told = now
        return true
    }

    /// It could not be told: the next look says it again.
    mutating func forget() { told = nil }
}
