import Quantities
import SiteConfig

/// Turns the schedule's rows into leases, by wall time. To be asked about once each second.
///
/// A lease ends with its row, so that a main thread that hangs leaves no row standing. When the wall clock is
/// set, the row and its end are found anew.
struct ScheduleFeeder: Sendable {
    enum Order: Sendable, Equatable {
        case grant(Watts, for: Duration)
        case revoke
    }

    private struct Granted: Equatable {
        var row: Schedule.Row
        var end: MonotonicTime
    }

    /// How far the two clocks may drift apart before a row is granted anew.
    private static let drift = Duration.milliseconds(500)
    /// Below the longest lease that is granted; a row that is longer is granted again.
    static let longestLease = Duration.seconds(86_400)

    private let schedule: Schedule
    private var granted: Granted?

    init(_ schedule: Schedule) { self.schedule = schedule }

    /// - Returns: what is to be told to the cycle; `nil` = nothing new.
    mutating func order(wallMilliseconds: Int64, at now: MonotonicTime) -> Order? {
        let second = wallMilliseconds / 1_000
        guard let row = schedule.row(at: second) else {
            guard let last = granted else { return nil }
            granted = nil
            // What has ended by itself needs no end.
            return now < last.end ? .revoke : nil
        }
        let left = min(Self.longestLease, .milliseconds(row.end * 1_000 - wallMilliseconds))
        if let last = granted, last.row == row, (now + left - last.end).magnitude <= Self.drift { return nil }
        // A long row in the middle of its lease.
        if let last = granted, last.row == row, left == Self.longestLease, now < last.end - .seconds(3_600) {
            return nil
        }
        granted = Granted(row: row, end: now + left)
        return .grant(row.power, for: left)
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
