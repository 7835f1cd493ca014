import Plant
import Quantities

/// A running unit whose device was not heard for a moment: it comes back on the ramp, without the time that
/// the grid's code asks of one that enters service.
///
/// Only where nothing has happened meanwhile: no trip, nobody who wants it out, the grid seen good
/// throughout, the devices the same ones and in the state that they had. And seldom: a device that hiccups
/// all day is not well.
struct ShortGap: Sendable, BitwiseCopyable {
    /// Three of them in that time; the next is a loss.
    static let window = Duration.seconds(3_600)
    /// After the gap the inverter may need so long to be seen at zero power.
    static let settling = Duration.seconds(10)

    /// What an inverter shows that has not been exchanged or started anew.
    struct Inverter: Sendable, BitwiseCopyable, Equatable {
        var state: InverterState
        var identity: UInt64
    }

    /// The longest gap; zero = every gap is a loss.
    let limit: Duration
    /// Since when the device is missing; `nil` = it is not, or the gap has become a loss.
    private(set) var began: MonotonicTime?
    /// When the device was there again.
    private(set) var ended: MonotonicTime?
    private var inverter: Inverter?
    /// When the last of them ended, oldest first.
    private var returns: InlineArray<3, MonotonicTime?> = InlineArray(repeating: nil)

    init(limit: Duration) { self.limit = limit }

    /// Those of a former run, which are not known to be older than this one.
    private var former = 0

    /// A former run has counted one of them within the window. Before the first look.
    mutating func restore() { former = min(former + 1, 3) }

    /// The unit has left service at `now` because a reading is missing.
    ///
    /// - Parameter missed: before that nobody has looked for so long.
    mutating func begin(_ inverter: Inverter?, missed: Duration, at now: MonotonicTime) {
        let oldest = returns[0]
        guard limit > missed, inverter != nil, oldest.map({ now - $0 > Self.window }) ?? true else { return }
        (began, ended) = (now - missed, nil)
        self.inverter = inverter
    }

    /// It is a loss after all.
    mutating func spoil() { (began, ended) = (nil, nil) }

    /// What goes on while no reading is missing for long.
    ///
    /// - Parameter isSameBattery: it shows what it showed before.
    mutating func look(isSeen: Bool, inverter: Inverter?, isSameBattery: Bool, at now: MonotonicTime) {
        if former > 0 {
            for index in (3 - former)..<3 { returns[index] = now }
            former = 0
        }
        guard let began else { return }
        if let ended {
            if !isSeen || now - ended > Self.settling { spoil() }
        } else if isSeen {
            if inverter == self.inverter && isSameBattery { ended = now } else { spoil() }
        } else if now - began > limit {
            spoil()
        }
    }

    /// Contacts that are closed stay so, until the unit runs again.
    var isOpen: Bool { began != nil }

    /// The unit runs again.
    ///
    /// - Returns: how long the device was missing; `nil` where the unit has entered service in its whole
    /// time.
    mutating func close(at now: MonotonicTime) -> Duration? {
        guard let began, let ended else { return nil }
        spoil()
        for index in 0..<2 { returns[index] = returns[index + 1] }
        returns[2] = now
        return ended - began
    }
}

extension InverterImage {
    /// `nil` where its state is not fresh.
    func shown(at now: MonotonicTime, within budget: Duration) -> ShortGap.Inverter? {
        state.fresh(at: now, within: budget).map { ShortGap.Inverter(state: $0, identity: identity) }
    }
}
