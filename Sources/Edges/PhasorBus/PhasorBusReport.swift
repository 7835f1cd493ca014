import DeviceCodecs
import LinuxIO

public typealias PhasorBusReport = BusReport<PhasorBusEvent>

/// What happens on a PMU's link.
public enum PhasorBusEvent: BusEvent {
    case linkUp
    case linkDown(PhasorError)
    /// Data frames per second (above zero) or seconds per frame (below zero), and PMUs in the stream.
    case configured(rate: Int16, units: Int, isChange: Bool)
    /// A frame that cannot be used.
    case rejected(PhasorFault)
    /// Frames that came twice, late or from another time.
    case outOfOrder
    /// Bytes that belonged to no frame.
    case garbage(bytes: UInt64)

    public static var filler: PhasorBusEvent { .linkUp }

    public var kind: Int {
        switch self {
        case .linkUp: 0
        case .linkDown: 1
        case .configured: 2
        case .rejected: 3
        case .outOfOrder: 4
        case .garbage: 5
        }
    }
}
