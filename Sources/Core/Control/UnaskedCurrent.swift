import PowerDispatch
import Quantities

/// A battery's current beyond the battery's own limit that nothing explains which was asked of its inverter.
///
/// A device whose numbers come to mean something else obeys in its own words, and shows what it was asked
/// for: its battery alone tells. Power is taken back at once, whoever is right, since the battery protects
/// itself by the same sensor. An overrun that asked or shown power explains is the rows' affair.
struct UnaskedCurrent: Sendable, BitwiseCopyable {
    /// What one cycle sees, in the direction of the current; magnitudes.
    struct Sight: Sendable, BitwiseCopyable {
        /// What the battery says that flows at its terminals.
        var drawn: Watts
        /// The most of the response time, and what the inverter shows; zero where that is the other way.
        var asked: Watts
        var shown: Watts
        /// Its current ÷ its own limit.
        var ratio: Double
    }

    enum Finding: Sendable, BitwiseCopyable, Equatable {
        case none
        /// The unit has nothing from now on, for a while.
        case began
        /// It is no accident: it had nothing for the same reason not long ago, or its inverter's nameplate
        /// says too that the device counts otherwise by now.
        case again
    }

    private static let rest = Duration.seconds(10)
    private static let memory = Duration.seconds(600)
    /// That of the rows `overcurrent_charge` and `overcurrent_discharge`.
    static let overrun = 1.1
    /// Losses and what sensors differ by: of the power, and of the rating.
    private static let share = 1.2
    private static let ratedShare = 0.1

    private let rating: Watts
    private let idle: Watts
    /// More flows than was asked for and is shown, whether or not the battery allows it.
    private(set) var isUnexplained = false
    private var restsUntil: MonotonicTime?

    init(_ settings: UnitSettings) {
        rating = settings.rating
        idle = settings.directCurrentLosses.idle
    }

    /// The unit gets no power until then; `nil` = nothing is taken from it.
    func end(at now: MonotonicTime) -> MonotonicTime? {
        guard let end = restsUntil, now < end else { return nil }
        return end
    }

    /// Looks once; `nil` = the unit does not run, or nobody sees enough.
    ///
    /// - Parameter isRescaled: the inverter's nameplate is another one than it was.
    mutating func look(
        _ seen: Sight?, isRescaled: Bool = false, at now: MonotonicTime
    ) -> Finding {
        guard let seen else {
            isUnexplained = false
            return .none
        }
        let explained = max(seen.asked, seen.shown) * Self.share + rating * Self.ratedShare + idle
        isUnexplained = seen.drawn > explained
        guard seen.ratio > Self.overrun, isUnexplained, end(at: now) == nil else { return .none }
        let isAgain = restsUntil.map { now - $0 < Self.memory } ?? false
        restsUntil = now + Self.rest
        return isAgain || isRescaled ? .again : .began
    }
}
