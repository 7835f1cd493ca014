import Quantities

/// Something that a bus thread tells; fixed size, so that it can cross a `RingBuffer`.
public protocol BusEvent: Sendable, BitwiseCopyable {
    /// Fills an empty `RingBuffer`.
    static var filler: Self { get }
    /// Which of at most sixteen kinds it is, from 0.
    var kind: Int { get }
}

/// Something worth a line in the log, as a fixed-size record; the composition root makes the line.
public struct BusReport<Event: BusEvent>: Sendable, BitwiseCopyable {
    public var event: Event
    public var time: MonotonicTime
    /// Events of this kind since the last record of it, this one included.
    public var count: UInt64

    public init(event: Event, time: MonotonicTime, count: UInt64) {
        self.event = event
        self.time = time
        self.count = count
    }

    public static var filler: BusReport {
        BusReport(event: .filler, time: MonotonicTime(nanoseconds: 0), count: 0)
    }
}

/// Lets a few reports of each kind through per second and counts the others: none is dropped in silence.
public struct ReportGate<Event: BusEvent>: Sendable {
    private static var perSecond: UInt64 { 3 }

    private struct Window: Sendable, BitwiseCopyable {
        var end = MonotonicTime(nanoseconds: 0)
        var passed: UInt64 = 0
        var held: UInt64 = 0
    }

    private let queue: RingBuffer<BusReport<Event>>
    private var windows = InlineArray<16, Window>(repeating: Window())

    public init(_ queue: RingBuffer<BusReport<Event>>) { self.queue = queue }

    public mutating func report(_ event: Event, at now: MonotonicTime) {
        var window = windows[event.kind]
        if now >= window.end {
            window.end = now + .seconds(1)
            window.passed = 0
        }
        window.held &+= 1
        if window.passed < Self.perSecond {
            // What the queue refuses stays counted and goes with the next one.
            if queue.push(BusReport(event: event, time: now, count: window.held)) { window.held = 0 }
            window.passed += 1
        }
        windows[event.kind] = window
    }
}
