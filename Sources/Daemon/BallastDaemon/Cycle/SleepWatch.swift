import Control
import Quantities

/// Notices that the machine was suspended: its monotonic clock stood still, and what was seen before it is
/// older than that clock says.
///
/// The cycle itself asks, before it believes what it has seen: whoever looked on could tell it only after a
/// cycle that had asked for power once more.
struct SleepWatch: Sendable {
    /// Shorter ones count as none: a reading that is held between two clocks looks the same.
    static let smallest = Duration.milliseconds(100)
    /// Two clocks that were read further apart are not compared.
    static let longestLook = Duration.milliseconds(5)

    /// By how much the clock that runs through every suspension is ahead of the other; `nil` before a first
    /// look.
    private var ahead: Duration?

    /// - Parameter boot: the clock that runs through a suspension, read at `monotonic`.
    mutating func hasSlept(monotonic: MonotonicTime, boot: Duration) -> Bool {
        let now = boot - .nanoseconds(monotonic.nanoseconds)
        guard let before = ahead else {
            ahead = now
            return false
        }
        guard now - before >= Self.smallest else { return false }
        ahead = now
        return true
    }

    /// What is done then: every unit is taken through standby and the time to enter service.
    static func reentry(units: Int, enterService: Duration) -> [Controller.Command] {
        (0..<units).map { .reenter(unit: $0, for: max(.seconds(10), enterService)) }
    }
}
