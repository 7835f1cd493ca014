import Quantities

/// Who asks for a power, from the highest rank to the lowest.
public enum BasePointSource: UInt8, Sendable, BitwiseCopyable, Equatable {
    case `operator`, agc, aggregator, schedule
    /// The site's own default; it never lapses.
    case siteDefault

    public var name: StaticString {
        switch self {
        case .operator: "operator"
        case .agc: "agc"
        case .aggregator: "aggregator"
        case .schedule: "schedule"
        case .siteDefault: "default"
        }
    }

    /// A source outside the site, which may fall silent.
    var isRemote: Bool { self == .agc || self == .aggregator }
}

/// The power asked for before frequency response: that of the highest source whose time to live has not
/// passed.
public struct BasePoint: Sendable, BitwiseCopyable {
    /// What follows when a remote source falls silent. The operator's and the schedule's end is planned: the
    /// next source follows at once. Every change goes over the comfort ramp.
    public enum Reversion: Sendable, BitwiseCopyable, Equatable {
        /// The next lower source.
        case nextSource
        /// The last value for that time, then the next lower source.
        case hold(Duration)
        /// Zero, until the source is granted again or revoked.
        case zero
    }

    /// Longest time to live that is granted.
    public static let longestLease = Duration.seconds(7 * 86_400)

    private(set) var leases: InlineArray<4, Lease> = InlineArray(repeating: Lease())
    private var powers: InlineArray<4, Watts> = InlineArray(repeating: .zero)
    private var standing: Watts
    private let reversion: Reversion

    public init(standing: Watts, reversion: Reversion) {
        self.standing = standing
        self.reversion = reversion
    }

    /// The power without any source, from now on; it takes effect over the comfort ramp.
    public mutating func setStanding(_ power: Watts) { standing = power }

    /// - Returns: `false` where nothing is granted: the default has no lease, and a time must be positive
    /// and at most `longestLease`.
    public mutating func grant(
        _ source: BasePointSource, _ power: Watts, for time: Duration, at now: MonotonicTime
    ) -> Bool {
        guard source != .siteDefault, time > .zero, time <= Self.longestLease else { return false }
        let index = Int(source.rawValue)
        powers[index] = power
        return leases[index].handle(.granted(for: time), at: now) == .follow
    }

    /// - Returns: whether there was anything to revoke.
    public mutating func revoke(_ source: BasePointSource, at now: MonotonicTime) -> Bool {
        guard source != .siteDefault else { return false }
        return leases[Int(source.rawValue)].handle(.revoked, at: now) == .revert
    }

    /// Lets time pass for one source.
    ///
    /// - Returns: whether its lease lapsed now.
    public mutating func tick(_ source: BasePointSource, at now: MonotonicTime) -> Bool {
        guard source != .siteDefault else { return false }
        return leases[Int(source.rawValue)].handle(.tick, at: now) == .revert
    }

    /// Who asks now, and for what.
    public func current(at now: MonotonicTime) -> (source: BasePointSource, power: Watts) {
        var rank = UInt8(0)
        while let source = BasePointSource(rawValue: rank), source != .siteDefault {
            let index = Int(rank)
            rank += 1
            switch leases[index].state {
            case .none: continue
            case .held: return (source, powers[index])
            case .lapsed(let end):
                guard source.isRemote else { continue }
                switch reversion {
                case .nextSource: continue
                case .hold(let time): if now - end < time { return (source, powers[index]) }
                case .zero: return (source, .zero)
                }
            }
        }
        return (.siteDefault, standing)
    }
}
