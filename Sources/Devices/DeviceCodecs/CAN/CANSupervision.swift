import Quantities

/// Looks after one CAN bus: the controller's state, its load, and whether our frames leave.
///
/// A pure value: every event goes in with its time, what has changed comes out. Any order of events is
/// allowed.
public struct CANSupervision: Sendable, BitwiseCopyable {
    public enum Event: Sendable, BitwiseCopyable {
        /// The link was opened; whether the interface has a carrier, where one can tell.
        case opened(hasCarrier: Bool?)
        case closed
        /// Looked at from time to time: an error frame may have been lost.
        case carrier(Bool)
        case error(CANErrorFrame)
        /// A data or remote frame. One that a program on this machine has sent says nothing of the bus.
        case frame(busTime: UInt64, isLocal: Bool)
        case sent(busTime: UInt64)
        /// The transmit queue had no room for a frame.
        case refused
        case tick
    }

    public enum Output: Sendable, BitwiseCopyable, Equatable {
        case nothing
        case state(from: CANBusState, to: CANBusState)
        /// Nothing has left for `stallLimit`.
        case stalled
        case moving
        /// In thousandths of what the bus can carry.
        case loadHigh(UInt32)
        case loadNormal(UInt32)
    }

    /// Frames refused for so long without one taken: nobody acknowledges, or somebody else has the bus.
    public static let stallLimit = Duration.seconds(1)
    /// The load is taken over this time.
    public static let window = Duration.seconds(1)
    static let highLoad: UInt32 = 800
    static let normalLoad: UInt32 = 700
    /// Where nobody tells of a carrier, we try to send again after this time.
    static let silence = Duration.seconds(5)

    public private(set) var state = CANBusState.unknown
    /// As last reported.
    public private(set) var transmitErrors: UInt8 = 0
    public private(set) var receiveErrors: UInt8 = 0
    public private(set) var busOffs: UInt64 = 0
    public private(set) var restarts: UInt64 = 0
    public private(set) var overflows: UInt64 = 0
    public private(set) var stalls: UInt64 = 0
    public private(set) var isStalled = false
    /// Of the last whole window, in thousandths; more than 1,000 cannot have come from one bus.
    public private(set) var load: UInt32 = 0
    public private(set) var peakLoad: UInt32 = 0
    /// What was sampled before this instant is void: the bus has been off since.
    public private(set) var voidBefore = MonotonicTime(nanoseconds: 0)

    private var refusedSince: MonotonicTime?
    private var offSince = MonotonicTime(nanoseconds: 0)
    private var hasCarrierSign = false
    private var windowStart = MonotonicTime(nanoseconds: 0)
    private var windowTime: UInt64 = 0
    private var isLoadHigh = false

    public init() {}

    /// Frames that wait in a dead controller would leave when it comes back, long out of date.
    public func maySend(at now: MonotonicTime) -> Bool {
        state != .busOff || !hasCarrierSign && now - offSince >= Self.silence
    }

    /// More comes than two buses could carry: a gateway or a peer that floods us.
    public var isFlooded: Bool { windowTime > 2 * UInt64(Self.window.nanoseconds) }

    public mutating func handle(_ event: Event, at now: MonotonicTime) -> Output {
        switch event {
        case .opened(let hasCarrier):
            hasCarrierSign = hasCarrier != nil
            refusedSince = nil
            isStalled = false
            // The first frames may have come with the news that the link is open.
            return hasCarrier == false ? move(to: .busOff, at: now) : .nothing
        case .closed:
            return move(to: .unknown, at: now)
        case .carrier(let hasCarrier):
            hasCarrierSign = true
            if !hasCarrier { return move(to: .busOff, at: now) }
            return state == .busOff ? move(to: .unknown, at: now) : .nothing
        case .error(let report): return accept(report, at: now)
        case .frame(let busTime, let isLocal):
            windowTime &+= busTime
            let isNews = state == .unknown || state == .busOff
            return isNews && !isLocal ? move(to: .active, at: now) : .nothing
        case .sent(let busTime):
            windowTime &+= busTime
            refusedSince = nil
            guard isStalled else { return .nothing }
            isStalled = false
            return .moving
        case .refused: return refuse(at: now)
        case .tick: return closeWindow(at: now)
        }
    }

    private mutating func accept(_ report: CANErrorFrame, at now: MonotonicTime) -> Output {
        if let errors = report.transmitErrors { transmitErrors = errors }
        if let errors = report.receiveErrors { receiveErrors = errors }
        if report.hasOverflow { overflows &+= 1 }
        if report.classes.contains(.restarted) {
            restarts &+= 1
            (transmitErrors, receiveErrors) = (0, 0)
        }
        guard let next = report.state else { return .nothing }
        return move(to: next, at: now)
    }

    private mutating func move(to next: CANBusState, at now: MonotonicTime) -> Output {
        let last = state
        guard next != last else { return .nothing }
        state = next
        if next == .busOff {
            busOffs &+= 1
            offSince = now
        }
        if last == .busOff { voidBefore = now }
        return .state(from: last, to: next)
    }

    private mutating func refuse(at now: MonotonicTime) -> Output {
        guard let since = refusedSince else {
            refusedSince = now
            return .nothing
        }
        guard !isStalled, now - since >= Self.stallLimit else { return .nothing }
        isStalled = true
        stalls &+= 1
        return .stalled
    }

    private mutating func closeWindow(at now: MonotonicTime) -> Output {
        let elapsed = now - windowStart
        guard elapsed >= Self.window || elapsed < .zero else { return .nothing }
        let nanoseconds = UInt64(clamping: max(1, elapsed.nanoseconds))
        let (product, isBeyond) = windowTime.multipliedReportingOverflow(by: 1_000)
        load = isBeyond ? .max : UInt32(clamping: product / nanoseconds)
        peakLoad = max(peakLoad, load)
        windowStart = now
        windowTime = 0
        if !isLoadHigh && load >= Self.highLoad {
            isLoadHigh = true
            return .loadHigh(load)
        }
        if isLoadHigh && load <= Self.normalLoad {
            isLoadHigh = false
            return .loadNormal(load)
        }
        return .nothing
    }
}
