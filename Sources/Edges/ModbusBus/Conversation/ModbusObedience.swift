import Quantities

/// Whether an inverter that was told zero ends its power, and when it is left alone because it does not: each
/// write and each heartbeat would start its own timer anew, and that would never end it.
///
/// It is left alone only while zero is all that is wanted and stands in it, by acknowledgement and read-back,
/// and not for ever: then it is told again.
public struct ModbusObedience: Sendable, BitwiseCopyable {
    /// Longer than it needs to end its power after it was told.
    let patience: Duration
    /// Up to this, either direction, is no power.
    let nearZero: Watts
    /// After what time its own timer has taken it to zero; `nil` = that is not proven.
    let provenReversion: Duration?

    private var flowsSince: MonotonicTime?
    /// It was seen without power since it was told zero: what flows then somebody else has started.
    private var hasEnded = false
    private var lookedAt: MonotonicTime?
    private var rest: Rest?
    /// Its own timer did not end its power either: it is told again, at least until then.
    private var notBefore = MonotonicTime(nanoseconds: 0)

    private struct Rest: BitwiseCopyable {
        var until: MonotonicTime
        /// With which it began.
        let power: Watts
        var isGone = false
    }

    /// Between two such looks: power may lie about what counts as none.
    private static let apart = Duration.seconds(1)
    /// So long it is told in vain before it is left alone once more.
    private static let pause = Duration.seconds(60)
    /// Once its power is gone it is left alone for so long: told again, it might go on.
    private static let longest = Duration.seconds(600)

    /// - Parameter response: what it needs from a setpoint to its power.
    public init(response: Duration, nearZero: Watts, provenReversion: Duration?) {
        patience = response + .seconds(2)
        self.nearZero = nearZero
        self.provenReversion = provenReversion
    }

    var isLeftAlone: Bool { rest != nil }

    enum Order: Equatable {
        /// It is told as ever.
        case tell
        /// Zero stands by all that is known, and power has begun to flow: what stands there is looked at now.
        case readBack
        case leaveAlone
        /// It was left alone until now: what stands in it is not known.
        case over
    }

    /// What is to be done now.
    ///
    /// - Parameters:
    ///   - standsAtZero: zero is wanted and was acknowledged, and nobody has written anything else.
    ///   - power: as it was measured just now; `nil` = it is not known.
    ///   - reversion: its own timer as it was set; `nil` = it has none that leads to zero.
    mutating func order(
        standsAtZero: Bool, power: Watts?, reversion: Duration?, at now: MonotonicTime
    ) -> Order {
        guard standsAtZero, let power, let reversion = provenReversion ?? reversion else { return forget() }
        let flows = power.magnitude > nearZero
        if let rest { return goOn(rest, power, flows: flows, at: now) }
        guard flows, now >= notBefore else {
            flowsSince = nil
            hasEnded = hasEnded || !flows
            return .tell
        }
        if hasEnded, lookedAt.map({ now - $0 >= Self.apart }) ?? true {
            (hasEnded, lookedAt, flowsSince) = (false, now, nil)
            return .readBack
        }
        let since = flowsSince ?? now
        flowsSince = since
        guard now - since > patience else { return .tell }
        rest = Rest(until: now + reversion + patience, power: power.magnitude)
        return .leaveAlone
    }

    /// Something else is wanted, or stands there, or nobody sees what it does.
    private mutating func forget() -> Order {
        let was = rest
        (flowsSince, rest, hasEnded) = (nil, nil, false)
        return was == nil ? .tell : .over
    }

    /// Power that comes back or grows ends it at once.
    private mutating func goOn(_ rest: Rest, _ power: Watts, flows: Bool, at now: MonotonicTime) -> Order {
        if !flows, !rest.isGone {
            self.rest?.isGone = true
            self.rest?.until = now + Self.longest
            return .leaveAlone
        }
        let isMore = flows && (rest.isGone || power.magnitude > rest.power + nearZero)
        if !isMore, now < rest.until { return .leaveAlone }
        (flowsSince, self.rest) = (nil, nil)
        if flows, !rest.isGone { notBefore = now + Self.pause }
        return .over
    }
}
