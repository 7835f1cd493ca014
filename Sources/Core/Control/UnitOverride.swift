import FrequencyResponse
import PowerDispatch
import Quantities

/// A power that an operator wants of one unit alone, for a time, in place of its part of the site's. The
/// other units make up for it, so that the site gives what is asked of it as far as they can. Never past an
/// interlock: it is only asked for, as everything else is, and nobody can ask it of a unit that is tripped
/// or that somebody keeps out of service: it would act when that ends.
struct UnitOverride: Sendable, BitwiseCopyable {
    private var lease = Lease()
    private var wanted = Watts.zero
    private var ramp: RampLimiter

    init(ramp rate: WattsPerSecond) { ramp = RampLimiter(rate: rate) }

    /// - Parameter time: of at most `BasePoint.longestLease`; `nil` ends the override.
    /// - Parameter isKeptOut: by somebody's stop, standby, maintenance or hold.
    /// - Returns: what came of it; `nil` where there was nothing to end.
    mutating func handle(
        _ power: Watts, for time: Duration?, isTripped: Bool, isKeptOut: Bool, at now: MonotonicTime
    ) -> Event.Kind? {
        guard let time else { return revoke(at: now) ? .overrideEnded : nil }
        guard time > .zero, time <= BasePoint.longestLease else { return .overrideRefused }
        // What is asked for now would act after the reset and the resume of somebody else.
        guard !isTripped else { return .overrideOfTripped }
        guard !isKeptOut else { return .overrideOfKeptOut }
        wanted = power
        _ = lease.handle(.granted(for: time), at: now)
        return .overrideBegun
    }

    /// Ends it; `false` where there was none.
    mutating func revoke(at now: MonotonicTime) -> Bool { lease.handle(.revoked, at: now) == .revert }

    /// Lets time pass.
    ///
    /// - Returns: whether it has ended now.
    mutating func tick(at now: MonotonicTime) -> Bool { lease.handle(.tick, at: now) == .revert }

    /// The power to ask for, over the comfort ramp; `nil` where none is set.
    mutating func power(after elapsed: Duration) -> Watts? {
        switch lease.state {
        case .held: ramp.follow(wanted, after: elapsed)
        case .none, .lapsed: nil
        }
    }

    /// The next ramp begins at what the unit has.
    mutating func record(_ setpoint: Watts) { ramp.restart(from: setpoint) }
}
