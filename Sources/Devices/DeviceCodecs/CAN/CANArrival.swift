import Quantities

/// A frame and when it came.
public struct CANArrival: Sendable, BitwiseCopyable {
    public var frame: CANFrame
    /// Never later than the true instant by more than the bus thread's absence.
    public var time: MonotonicTime
    /// A program on this machine has sent it.
    public var isLocal: Bool
    /// By the CAN controller's own clock, where it has one: good for intervals only.
    public var hardwareNanoseconds: Int64?

    public init(
        _ frame: CANFrame, at time: MonotonicTime, isLocal: Bool = false, hardwareNanoseconds: Int64? = nil
    ) {
        self.frame = frame
        self.time = time
        self.isLocal = isLocal
        self.hardwareNanoseconds = hardwareNanoseconds
    }
}

/// Turns the kernel's time stamps, which are wall time, into instants that a step of the wall clock cannot
/// make younger.
///
/// What is read now has come after the queue was last found empty, and before now: a stamp outside of that
/// is the clock's fault, and the older end counts.
public struct CANArrivalClock: Sendable, BitwiseCopyable {
    /// When nothing was left to read.
    public private(set) var emptied: MonotonicTime

    public init(emptied: MonotonicTime) { self.emptied = emptied }

    public mutating func noteEmpty(at now: MonotonicTime) { emptied = max(emptied, now) }

    /// - Parameters:
    ///   - stamp: wall time of arrival, in nanoseconds.
    ///   - wall: wall time of `now`.
    public func time(ofStamp stamp: Int64, wall: Int64, now: MonotonicTime) -> MonotonicTime {
        let (age, isBeyond) = wall.subtractingReportingOverflow(stamp)
        let longest = (now - emptied).nanoseconds
        guard !isBeyond, age >= 0, age <= longest else { return min(emptied, now) }
        return now + .nanoseconds(-age)
    }

    /// Without stamps: now, unless we have been away for longer than `limit`.
    public func time(now: MonotonicTime, limit: Duration) -> MonotonicTime {
        now - emptied <= limit ? now : min(emptied, now)
    }
}
