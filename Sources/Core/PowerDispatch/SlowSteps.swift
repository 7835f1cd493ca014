import Quantities

/// The units' power as it moves in pieces that are too small to be a step for ``MeterCheck``, added up.
///
/// A meter that freezes while power creeps shows each piece as if everything else at the site had drawn it,
/// and a limit that believed so would creep along. So what the meter has not shown of the sum counts as
/// nobody's until it is shown.
struct SlowSteps: Sendable, BitwiseCopyable {
    struct Point: Sendable, BitwiseCopyable {
        var meter: Watts
        var own: Watts
        /// What was asked of the units; `nil` = not told.
        var asked: Watts?
    }

    enum Finding: Sendable, BitwiseCopyable, Equatable {
        /// Too little has moved to say anything.
        case none
        /// The meter has moved with it.
        case shown
        /// It has moved, but not by as much.
        case hidden
    }

    /// Where all stood still last.
    private var anchor: Point?
    /// What has been added up since the meter was last seen right.
    private(set) var own: Watts = .zero
    private(set) var meter: Watts = .zero

    /// All stands still once more.
    ///
    /// - Parameter least: so much must have moved.
    mutating func settle(_ point: Point, least: Watts) -> Finding {
        defer { anchor = point }
        guard let before = anchor else {
            (own, meter) = (.zero, .zero)
            return .none
        }
        let change = point.own - before.own
        // A change that nobody has asked for is no test: their own reading may be what is wrong.
        if Self.isAsked(change, from: before.asked, to: point.asked) {
            own += change
            meter += point.meter - before.meter
        }
        guard own.magnitude >= least else { return .none }
        let ratio = meter / own
        if ratio > 0.4 && ratio < 2.5 {
            (own, meter) = (.zero, .zero)
            return .shown
        }
        return .hidden
    }

    /// The load alone has moved the meter.
    mutating func follow(_ change: Watts) { anchor?.meter += change }

    /// A step of its own was judged, or other units count.
    mutating func forget() { self = SlowSteps() }

    static func isAsked(_ change: Watts, from before: Watts?, to now: Watts?) -> Bool {
        guard let before, let now, change != .zero else { return true }
        return (now - before) / change > 0.4
    }
}
