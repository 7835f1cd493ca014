import Quantities

/// Whether what an inverter shows of its power still moves: a display that stands still while its setpoint
/// has changed shows nothing of now.
struct ShownPower: Sendable, BitwiseCopyable {
    /// Of the rating: a smaller change of the setpoint need not move a display.
    private static let share = 0.02
    /// A device's dead time, at the least.
    private static let leastTime = Duration.milliseconds(400)
    private static let samples = 3

    private var shown: Watts?
    /// What was asked when it showed something new last.
    private var asked = Watts.zero
    private var sampledAt = MonotonicTime(nanoseconds: 0)
    private var awaySince: MonotonicTime?
    private var samplesAway = 0
    /// It shows the same to the last digit, and has been asked for something else for long enough.
    private(set) var isStill = false

    mutating func forget() { self = ShownPower() }

    /// - Parameters:
    ///   - age: of the sample.
    ///   - response: from a new setpoint to its power; a quarter of it is the longest dead time.
    mutating func look(
        _ power: Watts, age: Duration, asked now: Watts, rating: Watts, response: Duration,
        at time: MonotonicTime
    ) {
        guard power == shown else {
            (shown, asked, sampledAt) = (power, now, time - age)
            (awaySince, samplesAway, isStill) = (nil, 0, false)
            return
        }
        guard (now - asked).magnitude >= rating * Self.share else {
            (awaySince, samplesAway, isStill) = (nil, 0, false)
            return
        }
        let since = awaySince ?? time
        awaySince = since
        if time - age > sampledAt {
            sampledAt = time - age
            samplesAway = min(Self.samples, samplesAway + 1)
        }
        let deadTime = max(Self.leastTime, .nanoseconds(response.nanoseconds / 4))
        isStill = samplesAway >= Self.samples && time - since >= deadTime
    }
}
