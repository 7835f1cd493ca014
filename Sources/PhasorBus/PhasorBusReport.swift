import DeviceCodecs
import LinuxIO
import Quantities

/// Something worth a line in the log, as a fixed-size record; the composition root makes the line.
public struct PhasorBusReport: Sendable, BitwiseCopyable {
    public enum Event: Sendable, BitwiseCopyable {
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
    public static var filler: PhasorBusReport {
        PhasorBusReport(event: .linkUp, time: MonotonicTime(nanoseconds: 0), count: 0)
    }
}

extension PhasorBusReport.Event {
    var kind: Int {
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

/// Lets a few reports of each kind through per second and counts the others.
struct PhasorBusReporter: Sendable {
    private static let perSecond: UInt64 = 3

    private struct Window: Sendable, BitwiseCopyable {
        var end = MonotonicTime(nanoseconds: 0)
        var passed: UInt64 = 0
        var held: UInt64 = 0
    }

    private let queue: RingBuffer<PhasorBusReport>
    private var windows = InlineArray<6, Window>(repeating: Window())

    init(_ queue: RingBuffer<PhasorBusReport>) { self.queue = queue }

    mutating func report(_ event: PhasorBusReport.Event, at now: MonotonicTime) {
        var window = windows[event.kind]
        if now >= window.end {
            window.end = now + .seconds(1)
            window.passed = 0
        }
        window.held &+= 1
        if window.passed < Self.perSecond {
            // What the queue refuses stays counted and goes with the next one.
            if queue.push(PhasorBusReport(event: event, time: now, count: window.held)) { window.held = 0 }
            window.passed += 1
        }
        windows[event.kind] = window
    }
}
