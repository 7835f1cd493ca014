import FrequencyResponse
import PowerDispatch
import Quantities

/// What an operator wants of one unit alone, for a time. Never past an interlock: it is only asked for, as
/// everything else is.
public enum UnitOverride: Sendable, BitwiseCopyable, Equatable {
    /// A power of its own, in place of its part of the site's. The other units make up for it, so that the
    /// site gives what is asked of it as far as they can.
    case power(Watts)
    /// Zero power, ready to run. In the end it enters service anew if it came from power, else it is held.
    case standby

    public var kind: Kind {
        switch self {
        case .power: .power
        case .standby: .standby
        }
    }

    /// The override without its value.
    public enum Kind: UInt8, Sendable, BitwiseCopyable, Equatable {
        case power, standby

        public var name: StaticString {
            switch self {
            case .power: "power"
            case .standby: "standby"
            }
        }
    }

    var power: Watts? {
        switch self {
        case .power(let power): power
        case .standby: nil
        }
    }
}

/// The overrides of one unit.
struct UnitOverrides: Sendable, BitwiseCopyable {
    private var powerLease = Lease()
    private var standbyLease = Lease()
    private var wanted = Watts.zero
    private var ramp: RampLimiter
    /// The unit ran when it was taken to standby.
    private(set) var returnsToService = false

    init(ramp rate: WattsPerSecond) { ramp = RampLimiter(rate: rate) }

    /// - Parameters:
    ///   - time: of at most `BasePoint.longestLease`; `nil` ends the override.
    ///   - isRunning: whether the unit runs now.
    /// - Returns: what came of it; `nil` where there was nothing to end.
    mutating func handle(
        _ wish: UnitOverride, for time: Duration?, isRunning: Bool = false, at now: MonotonicTime
    ) -> Event.Kind? {
        guard let time else {
            let output = handle(wish.kind, .revoked, at: now)
            return output == .revert ? .overrideEnded(wish.kind) : nil
        }
        guard time > .zero, time <= BasePoint.longestLease else { return .overrideRefused(wish.kind) }
        if let power = wish.power { wanted = power }
        // A longer standby is the same one: where the unit came from does not change.
        if wish == .standby && !isStandby { returnsToService = isRunning }
        _ = handle(wish.kind, .granted(for: time), at: now)
        return .overrideBegun(wish.kind)
    }

    /// Lets time pass for one of them.
    ///
    /// - Returns: whether it has ended now.
    mutating func tick(_ kind: UnitOverride.Kind, at now: MonotonicTime) -> Bool {
        handle(kind, .tick, at: now) == .revert
    }

    private mutating func handle(
        _ kind: UnitOverride.Kind, _ event: Lease.Event, at now: MonotonicTime
    ) -> Lease.Output {
        switch kind {
        case .power: powerLease.handle(event, at: now)
        case .standby: standbyLease.handle(event, at: now)
        }
    }

    var isStandby: Bool { isHeld(standbyLease) }

    /// The power to ask for, over the comfort ramp; `nil` where none is set.
    mutating func power(after elapsed: Duration) -> Watts? {
        isHeld(powerLease) ? ramp.follow(wanted, after: elapsed) : nil
    }

    /// The next ramp begins at what the unit has.
    mutating func record(_ setpoint: Watts) { ramp.restart(from: setpoint) }

    private func isHeld(_ lease: Lease) -> Bool {
        switch lease.state {
        case .held: true
        case .none, .lapsed: false
        }
    }
}
