import Quantities

/// Whether another master writes the setpoint of a device that obeys.
///
/// A device that shows something else than was written may ignore us; one that has shown our value since then
/// takes it, and somebody else has written again. That one is told again at once, and looked at more often.
struct ModbusRival: BitwiseCopyable {
    /// When our value was seen to stand, and when another one was found.
    private var stoodAt: MonotonicTime?
    private var foundAt: MonotonicTime?

    /// Of read-backs, while a rival writes; else they come each second.
    private static let interval = Duration.milliseconds(200)
    private static let usual = Duration.seconds(1)
    private static let memory = Duration.seconds(10)

    mutating func stands(at now: MonotonicTime) { stoodAt = now }

    /// Another value stands there.
    ///
    /// - Returns: whether somebody has written it.
    mutating func isFound(at now: MonotonicTime) -> Bool {
        defer { foundAt = now }
        guard let stoodAt, now - stoodAt <= Self.memory else { return false }
        return foundAt.map { stoodAt > $0 } ?? true
    }

    /// Until the next read-back.
    func pause(at now: MonotonicTime) -> Duration {
        guard let foundAt, now - foundAt <= Self.memory else { return Self.usual }
        return Self.interval
    }
}
