import Plant

/// How far a CAN controller takes part in its bus (ISO 11898-1 fault confinement).
public enum CANBusState: UInt8, Sendable, BitwiseCopyable {
    /// Nothing has been heard of it.
    case unknown
    case active
    /// More than 96 errors on one side.
    case warning
    /// More than 127: it no longer objects to what others send.
    case passive
    /// More than 255 when sending, or no carrier: it neither sends nor receives.
    case busOff
}

/// What a CAN controller reports of itself in an error frame of SocketCAN (`linux/can/error.h`).
public struct CANErrorFrame: Sendable, BitwiseCopyable, Equatable {
    /// `CAN_ERR_…`.
    public struct Classes: BitSet {
        public var rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        public static let transmitTimeout = Classes(rawValue: 1 << 0)
        public static let lostArbitration = Classes(rawValue: 1 << 1)
        public static let controller = Classes(rawValue: 1 << 2)
        public static let protocolViolation = Classes(rawValue: 1 << 3)
        public static let transceiver = Classes(rawValue: 1 << 4)
        public static let noAcknowledgement = Classes(rawValue: 1 << 5)
        public static let busOff = Classes(rawValue: 1 << 6)
        public static let busError = Classes(rawValue: 1 << 7)
        public static let restarted = Classes(rawValue: 1 << 8)
        /// The counters are in the frame.
        public static let counters = Classes(rawValue: 1 << 9)
    }

    public var classes: Classes
    /// Where it is said.
    public var state: CANBusState?
    /// The controller itself has lost frames.
    public var hasOverflow = false
    /// TEC and REC, where they are said.
    public var transmitErrors: UInt8?
    public var receiveErrors: UInt8?

    /// `nil` for any other kind of frame. Whatever is missing is as if it were zero.
    public init?(_ frame: CANFrame) {
        guard frame.kind == .error else { return nil }
        classes = Classes(rawValue: frame.identifier)
        if classes.contains(.controller) {
            let detail = frame.byte(1) ?? 0
            hasOverflow = detail & 0x03 != 0
            if detail & 0x30 != 0 {
                state = .passive
            } else if detail & 0x0C != 0 {
                state = .warning
            } else if detail & 0x40 != 0 {
                state = .active
            }
        }
        // A controller that has restarted begins anew, with both counters at zero.
        if classes.contains(.restarted) { state = .active }
        if classes.contains(.busOff) { state = .busOff }
        // Kernels before 6.0 give the counters with a change of state, without saying so.
        let hasCounters = classes.contains(.counters) || state == .warning || state == .passive
        if hasCounters, let transmit = frame.byte(6), let receive = frame.byte(7) {
            transmitErrors = transmit
            receiveErrors = receive
        }
    }
}
