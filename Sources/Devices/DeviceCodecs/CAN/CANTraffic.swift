import Quantities

/// What each identifier on a bus has done since we listen. Bounded: a bus full of noise fills no memory.
public struct CANTraffic: Sendable {
    public struct Row: Sendable {
        public let identifier: CANIdentifier
        public let kind: CANFrame.Kind
        public private(set) var last: CANArrival
        public private(set) var count: UInt64 = 1
        /// The longest interval between two frames so far.
        public private(set) var longest = Duration.zero
        private var intervals = 0.0
        private var mean = 0.0
        private var squares = 0.0

        init(_ arrival: CANArrival) {
            identifier = CANIdentifier(arrival.frame)
            kind = arrival.frame.kind
            last = arrival
        }

        mutating func add(_ arrival: CANArrival) {
            let interval = Self.interval(from: last, to: arrival)
            last = arrival
            count &+= 1
            guard interval >= .zero else { return }
            longest = max(longest, interval)
            // Welford: no large sums, so no loss of precision in days of listening.
            intervals += 1
            let distance = interval.seconds - mean
            mean += distance / intervals
            squares += distance * (interval.seconds - mean)
        }

        /// The controller's clock knows neither our queue nor our scheduling.
        private static func interval(from first: CANArrival, to second: CANArrival) -> Duration {
            guard let start = first.hardwareNanoseconds, let end = second.hardwareNanoseconds else {
                return second.time - first.time
            }
            return .nanoseconds(end &- start)
        }

        /// Mean interval in seconds; `nil` with fewer than two frames.
        public var period: Double? { intervals > 0 ? mean : nil }
        /// Standard deviation of the interval in seconds; `nil` with fewer than three frames.
        public var jitter: Double? { intervals > 1 ? (max(0, squares) / (intervals - 1)).squareRoot() : nil }
    }

    private struct Key: Hashable {
        var identifier: CANIdentifier
        var kind: CANFrame.Kind
    }

    public static let rowLimit = 4_096

    private var table: [Key: Row] = [:]
    public private(set) var frames: UInt64 = 0
    /// Frames of identifiers that found no row.
    public private(set) var otherFrames: UInt64 = 0

    public init() {}

    public mutating func add(_ arrival: CANArrival) {
        frames &+= 1
        let key = Key(identifier: CANIdentifier(arrival.frame), kind: arrival.frame.kind)
        if table[key]?.add(arrival) != nil { return }
        guard table.count < Self.rowLimit else {
            otherFrames &+= 1
            return
        }
        table[key] = Row(arrival)
    }

    /// By kind and identifier, 11-bit ones first.
    public var rows: [Row] {
        table.values.sorted { a, b in
            let (left, right) = (a.identifier, b.identifier)
            return (a.kind.rawValue, left.isExtended ? 1 : 0, left.number)
                < (b.kind.rawValue, right.isExtended ? 1 : 0, right.number)
        }
    }
}
