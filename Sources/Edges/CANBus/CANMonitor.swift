import DeviceCodecs
import LinuxIO
import Quantities

/// Listens to a CAN bus for people: never sends, and keeps what each identifier did.
public struct CANMonitor: ~Copyable, Sendable {
    /// Longest stay in the kernel.
    private static let turnLimit = Duration.milliseconds(50)

    private let address: CANAddress
    private let settings: CANLinkSettings
    private var transport: CANTransport?
    private var backOff = BackOff()
    private var supervision = CANSupervision()
    private var traffic = CANTraffic()
    private var isUp = false
    private var garbageBytes: UInt64 = 0
    private var droppedFrames: UInt64 = 0
    private let start = MonotonicTime.now()
    /// Why the link is not up.
    public private(set) var fault: CANError?
    /// The link has been up at some time.
    public private(set) var hasBeenUp = false

    /// Begins to open `address`; a link that is lost later is opened again.
    public init(_ address: CANAddress, rates: CANBitRates = CANBitRates()) throws(CANError) {
        self.address = address
        settings = CANLinkSettings(rates: rates, isListenOnly: true)
        transport = try CANTransport.open(address, settings)
    }

    /// Listens until `limit` has passed or `show` wants no more; `show` is called every `interval`, and at
    /// the end.
    public mutating func run(
        for limit: Duration?, every interval: Duration, _ show: (CANMonitorRecord) -> Bool
    ) {
        let end = limit.map { start + $0 }
        var next = start + interval
        while true {
            let now = MonotonicTime.now()
            if let end, now >= end {
                _ = show(record(at: now))
                return
            }
            if now >= next {
                if !show(record(at: now)) { return }
                next = max(next + interval, now)
            }
            turn(until: min(now + Self.turnLimit, min(next, end ?? next)))
        }
    }

    /// Goes round once; stays in the kernel until `limit` at the longest.
    public mutating func turn(until limit: MonotonicTime) {
        let now = MonotonicTime.now()
        switch transport.take() {
        case .none:
            guard now >= backOff.next else { return min(backOff.next, limit).sleep() }
            open(at: now)
        case .some(var link):
            do throws(CANError) {
                try link.receiveArrivals(timeout: max(.zero, limit - now)) { take($0) }
                note(link)
            } catch {
                lose(error)
            }
            garbageBytes = max(garbageBytes, link.counts.garbageBytes)
            droppedFrames = max(droppedFrames, link.counts.droppedFrames)
            if !link.isBroken { transport = consume link }
        }
    }

    private mutating func open(at now: MonotonicTime) {
        backOff.schedule(after: now)
        do throws(CANError) { transport = try CANTransport.open(address, settings) } catch { lose(error) }
    }

    private mutating func take(_ arrival: CANArrival) {
        traffic.add(arrival)
        if let report = CANErrorFrame(arrival.frame) {
            _ = supervision.handle(.error(report), at: arrival.time)
        } else {
            let time = settings.rates.nanoseconds(of: arrival.frame)
            _ = supervision.handle(.frame(busTime: time, isLocal: arrival.isLocal), at: arrival.time)
        }
    }

    private mutating func note(_ link: borrowing CANTransport) {
        let now = MonotonicTime.now()
        _ = supervision.handle(.tick, at: now)
        guard link.isUp != isUp else { return }
        isUp = link.isUp
        if isUp {
            hasBeenUp = true
            fault = nil
            backOff.reset()
            _ = supervision.handle(.opened(hasCarrier: link.hasCarrier), at: now)
        }
    }

    private mutating func lose(_ error: CANError) {
        fault = error
        isUp = false
        _ = supervision.handle(.closed, at: MonotonicTime.now())
    }

    /// What is known now.
    public func record(at now: MonotonicTime) -> CANMonitorRecord {
        CANMonitorRecord(
            link: "\(address)", time_s: (now - start).seconds, up: isUp, fault: fault?.reason,
            state: supervision.state.name, load_percent: Double(supervision.load) / 10,
            peak_load_percent: Double(supervision.peakLoad) / 10,
            transmit_errors: supervision.transmitErrors, receive_errors: supervision.receiveErrors,
            frames: traffic.frames, other_frames: traffic.otherFrames, dropped_frames: droppedFrames,
            garbage_bytes: garbageBytes,
            identifiers: traffic.rows.map { CANMonitorRecord.Identifier($0, at: now) })
    }
}

/// A bus as people and scripts see it. The names are those of the JSON; the unit is their last part.
public struct CANMonitorRecord: Codable, Sendable, Equatable {
    public struct Identifier: Codable, Sendable, Equatable {
        /// `0x351`, `0x00004210`; for error frames the class.
        public var id: String
        public var number: UInt32
        public var extended: Bool
        /// data, remote or error.
        public var kind: String
        public var fd: Bool
        public var count: UInt64
        /// Mean, standard deviation and maximum of the intervals; absent with too few frames.
        public var period_ms: Double?
        public var jitter_ms: Double?
        public var longest_ms: Double?
        public var age_ms: Double
        /// Of the newest frame.
        public var bytes: [UInt8]
        /// As a battery's profile reads it, where one is given.
        public var message: String?
        public var signals: [String: Double]?
    }

    public var link: String
    /// Since the monitor was started.
    public var time_s: Double
    public var up: Bool
    public var fault: String?
    /// unknown, active, warning, passive or bus_off.
    public var state: String
    public var load_percent: Double
    public var peak_load_percent: Double
    public var transmit_errors: UInt8
    public var receive_errors: UInt8
    public var frames: UInt64
    public var other_frames: UInt64
    public var dropped_frames: UInt64
    public var garbage_bytes: UInt64
    public var identifiers: [Identifier]
}

extension CANMonitorRecord.Identifier {
    init(_ row: CANTraffic.Row, at now: MonotonicTime) {
        let digits = String(row.identifier.number, radix: 16, uppercase: true)
        let width = row.identifier.isExtended || row.kind == .error ? 8 : 3
        id = "0x" + String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        number = row.identifier.number
        extended = row.identifier.isExtended
        kind =
            switch row.kind {
            case .data: "data"
            case .remote: "remote"
            case .error: "error"
            }
        fd = row.last.frame.isFlexible
        count = row.count
        period_ms = row.period.map { $0 * 1_000 }
        jitter_ms = row.jitter.map { $0 * 1_000 }
        longest_ms = row.period == nil ? nil : row.longest.milliseconds
        age_ms = (now - row.last.time).milliseconds
        bytes = (0..<row.last.frame.validLength).map { row.last.frame.data[$0] }
    }
}

extension CANBusState {
    /// As metrics and people call it.
    public var name: String {
        switch self {
        case .unknown: "unknown"
        case .active: "active"
        case .warning: "warning"
        case .passive: "passive"
        case .busOff: "bus_off"
        }
    }
}
