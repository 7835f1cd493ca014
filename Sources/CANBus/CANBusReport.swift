import DeviceCodecs
import LinuxIO
import Quantities

/// Something worth a line in the log, as a fixed-size record; the composition root makes the line.
public struct CANBusReport: Sendable, BitwiseCopyable {
    public enum Event: Sendable, BitwiseCopyable {
        case linkUp
        case linkDown(CANError)
        /// A frame of ours with a field that cannot be true.
        case rejectedFrame(identifier: UInt32, PylontechLowVoltage.Rejection)
        /// A frame of somebody else.
        case unknownFrame(identifier: UInt32, isExtended: Bool)
        /// Bytes that belonged to no frame.
        case garbage(bytes: UInt64)
        /// The CAN controller's own report; the class is SocketCAN's `CAN_ERR_…` bits.
        case busError(class: UInt32)
        case keepAliveNotSent(CANError)
        case refusedPeer
    }

    public var event: Event
    public var time: MonotonicTime
    /// Events of this kind since the last record of it, this one included.
    public var count: UInt64

    public init(event: Event, time: MonotonicTime, count: UInt64) {
        self.event = event
        self.time = time
        self.count = count
    }

    /// Fills a `RingBuffer` of reports.
    public static var filler: CANBusReport {
        CANBusReport(event: .linkUp, time: MonotonicTime(nanoseconds: 0), count: 0)
    }
}

extension CANBusReport.Event {
    static let kindCount = 8

    var kind: Int {
        switch self {
        case .linkUp: 0
        case .linkDown: 1
        case .rejectedFrame: 2
        case .unknownFrame: 3
        case .garbage: 4
        case .busError: 5
        case .keepAliveNotSent: 6
        case .refusedPeer: 7
        }
    }
}

/// Lets at most a few reports of each kind through per second and counts the others.
struct CANBusReporter: Sendable {
    private static let perSecond: UInt64 = 3

    private struct Window: Sendable, BitwiseCopyable {
        var end = MonotonicTime(nanoseconds: 0)
        var passed: UInt64 = 0
        var held: UInt64 = 0
    }

    private let queue: RingBuffer<CANBusReport>
    private var windows = InlineArray<8, Window>(repeating: Window())

    init(_ queue: RingBuffer<CANBusReport>) { self.queue = queue }

    mutating func report(_ event: CANBusReport.Event, at now: MonotonicTime) {
        var window = windows[event.kind]
        if now >= window.end {
            window.end = now + .seconds(1)
            window.passed = 0
        }
        window.held &+= 1
        if window.passed < Self.perSecond {
            // What the queue refuses stays counted and goes with the next one.
            if queue.push(CANBusReport(event: event, time: now, count: window.held)) { window.held = 0 }
            window.passed += 1
        }
        windows[event.kind] = window
    }
}
