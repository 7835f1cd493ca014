import DeviceCodecs
import LinuxIO

public typealias CANBusReport = BusReport<CANBusEvent>

/// What happens on a CAN bus.
public enum CANBusEvent: BusEvent {
    case linkUp
    case linkDown(CANError)
    /// A frame of ours with a field that cannot be true.
    case rejectedFrame(identifier: UInt32, BatteryFrameOutcome.Rejection)
    /// A frame of somebody else.
    case unknownFrame(identifier: UInt32, isExtended: Bool)
    /// Bytes that belonged to no frame.
    case garbage(bytes: UInt64)
    /// The CAN controller's own report; the class is SocketCAN's `CAN_ERR_…` bits.
    case busError(class: UInt32)
    case keepAliveNotSent(CANError)
    case refusedPeer
    /// The CAN controller's state, and its counters as they were said last (TEC, REC).
    case state(from: CANBusState, to: CANBusState, transmitErrors: UInt8, receiveErrors: UInt8)
    /// Nothing of ours has left for a second.
    case transmitStalled
    case transmitResumed
    /// A frame came with an identifier that only we send.
    case identifierConflict(identifier: UInt32, isExtended: Bool)
    /// Frames that the kernel had no room for.
    case framesDropped(UInt64)
    /// In thousandths of what the bus carries.
    case loadHigh(UInt32)
    case loadNormal(UInt32)
    /// So many of a hundred frames of the battery come, and the others do not.
    case framesMissing(UInt32)
    case framesWhole

    public static var filler: CANBusEvent { .linkUp }

    public var kind: Int {
        switch self {
        case .linkUp: 0
        case .linkDown: 1
        case .rejectedFrame: 2
        case .unknownFrame: 3
        case .garbage: 4
        case .busError: 5
        case .keepAliveNotSent: 6
        case .refusedPeer: 7
        case .state: 8
        case .transmitStalled: 9
        case .transmitResumed: 10
        case .identifierConflict: 11
        case .framesDropped: 12
        case .loadHigh: 13
        case .loadNormal: 14
        case .framesMissing, .framesWhole: 15
        }
    }
}
