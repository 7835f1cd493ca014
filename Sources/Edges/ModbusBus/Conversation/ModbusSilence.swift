import Quantities
import Synchronization

/// Keeps a link's owner from telling one inverter its setpoint again, on purpose: to see what the device does
/// after our silence.
///
/// It holds back repetitions only. As soon as anything else is to be written (a trip, an expiry, a stop, a
/// limit) the silence is over, and it is written at once.
public final class ModbusSilence: Sendable {
    private let asked = Atomic<Bool>(false)
    private let broken = Atomic<Bool>(false)
    /// Whether the owner has been silent since it was asked.
    private let kept = Atomic<Bool>(false)
    private let lastWrite = Atomic<Int64>(0)

    init() {}

    /// Asks for silence from the next repetition on.
    public func begin() { asked.store(true, ordering: .releasing) }

    /// Ends it; the owner then takes control of the device anew.
    public func end() {
        asked.store(false, ordering: .releasing)
        broken.store(false, ordering: .releasing)
    }

    /// Something else than a repetition had to be written.
    public var isBroken: Bool { broken.load(ordering: .acquiring) }

    /// The last write before the silence; `nil` before the first repetition was held back.
    public var lastWrittenAt: MonotonicTime? {
        kept.load(ordering: .acquiring)
            ? MonotonicTime(nanoseconds: lastWrite.load(ordering: .relaxed)) : nil
    }

    // MARK: The owner's side

    enum Order: Equatable {
        /// Go on as ever.
        case none
        case silent
        /// The silence is over: what stands in the device is not known.
        case over
    }

    /// What the owner is to do now.
    ///
    /// - Parameters:
    ///   - isSame: what is to be written stands in the device already.
    ///   - time: of the last write.
    func order(isSame: Bool, writtenAt time: MonotonicTime) -> Order {
        let wasKept = kept.load(ordering: .relaxed)
        guard isAsked, isSame else {
            if isAsked { broken.store(true, ordering: .releasing) }
            if wasKept { kept.store(false, ordering: .releasing) }
            return wasKept ? .over : .none
        }
        if !wasKept {
            lastWrite.store(time.nanoseconds, ordering: .relaxed)
            kept.store(true, ordering: .releasing)
        }
        return .silent
    }

    /// Whether what a read-back shows is no news now.
    var isAsked: Bool { asked.load(ordering: .relaxed) && !broken.load(ordering: .relaxed) }
}
