import PowerDispatch
import Quantities

/// What a unit may give just now, where its inverter is read so seldom that limits would swing with the age
/// of that: what it showed, and all that was asked of it since.
struct PowerBetweenReadings: Sendable, BitwiseCopyable {
    private var readAt: MonotonicTime?
    /// Asked since the last reading, and between the two before it, which may have come late.
    private var asked = PowerRange(.zero)
    private var before = PowerRange(.zero)

    /// - Parameters:
    ///   - age: of what it shows.
    ///   - least: a smaller change of what is asked is none.
    mutating func look(
        _ power: Watts, age: Duration, asked now: Watts, least: Watts, at time: MonotonicTime
    ) -> PowerRange {
        let read = time - age
        if let readAt, read <= readAt {
            asked.include(now)
        } else {
            before = readAt == nil ? PowerRange(now) : asked
            (asked, readAt) = (PowerRange(now), read)
        }
        var range = before
        range.include(asked.least)
        range.include(asked.most)
        // Nothing has moved: it gives what it shows, be that what was asked or not.
        if range.most - range.least < least { return PowerRange(power) }
        range.include(power)
        return range
    }
}
