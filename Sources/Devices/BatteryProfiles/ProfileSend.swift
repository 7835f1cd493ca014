import DBC
import DeviceCodecs
import Plant
import Quantities

/// A frame that the controller sends to the battery, again and again.
public struct ProfileSend: Sendable {
    public enum Condition: String, Sendable, CaseIterable {
        /// While the control cycle lives.
        case alive
        /// The same, and contactors may be closed.
        case permitted
        /// The same, and contactors must not be closed.
        case notPermitted = "not_permitted"
    }

    /// Where a signal's value comes from at the moment of sending.
    public enum Source: String, Sendable, CaseIterable {
        /// How often the frame was sent before, modulo `modulo`.
        case counter
        /// 1 while contactors may be closed, else 0.
        case contactorPermit = "contactor_permit"
        /// Positive = discharge; zero once it has expired.
        case setpoint = "setpoint_kw"
        /// Seconds since 1970-01-01 00:00 UTC, and its parts in UTC.
        case unixTime = "unix_time_s"
        case year, month, day, hour, minute, second
    }

    /// A signal that is filled in when the frame is sent: value · scale + offset, as near as it can carry.
    public struct Part: Sendable {
        var signal: DBCSignal
        var source: Source
        var scale: Double
        var offset: Double
        var modulo: UInt64
    }

    /// With every `Part` zero.
    public var frame: CANFrame
    public var period: Duration
    public var condition: Condition
    var parts: [Part] = []
    var checksum: FrameChecksum?

    public init(frame: CANFrame, period: Duration, condition: Condition) {
        self.frame = frame
        self.period = period
        self.condition = condition
    }

    /// Whether it is to be sent now; never once the actuation has expired. What a battery hears must outlast
    /// the power: many a battery opens its contactors when nobody speaks to it.
    public func isDue(_ actuation: Actuation, at now: MonotonicTime) -> Bool {
        guard now <= actuation.contactorsExpire else { return false }
        if actuation.leavesContactors && saysPermit { return false }
        switch condition {
        case .alive: return true
        case .permitted: return actuation.isContactorPermitted(at: now)
        case .notPermitted: return !actuation.isContactorPermitted(at: now)
        }
    }

    private var saysPermit: Bool {
        switch condition {
        case .alive: parts.contains { $0.source == .contactorPermit }
        case .permitted, .notPermitted: true
        }
    }

    /// The frame as it goes out now.
    ///
    /// - Parameters:
    ///   - wallSeconds: since 1970-01-01 00:00 UTC; only for what the battery is told of the time.
    ///   - count: how often it was sent before.
    public func frame(
        _ actuation: Actuation, at now: MonotonicTime, wallSeconds: Int64, count: UInt64
    ) -> CANFrame {
        if parts.isEmpty && checksum == nil { return frame }
        var bytes = (0..<frame.length).map { frame.data[$0] }
        var counter: UInt64 = 0
        for part in parts {
            if part.source == .counter { counter = count % max(1, part.modulo) }
            let value = part.value(actuation, at: now, wallSeconds, counter) * part.scale + part.offset
            // The builder has seen that it fits.
            _ = part.signal.encode(part.signal.nearest(value), into: &bytes)
        }
        checksum?.write(into: &bytes, counter: counter)
        return CANFrame(frame.identifier, isExtended: frame.isExtended, bytes: bytes) ?? frame
    }
}

extension ProfileSend.Part {
    func value(
        _ actuation: Actuation, at now: MonotonicTime, _ wallSeconds: Int64, _ counter: UInt64
    ) -> Double {
        let time = CivilTime(wallSeconds)
        switch source {
        case .counter: return Double(counter)
        case .contactorPermit: return actuation.isContactorPermitted(at: now) ? 1 : 0
        case .setpoint: return actuation.setpoint(at: now).value / 1_000
        case .unixTime: return Double(wallSeconds)
        case .year: return Double(time.year)
        case .month: return Double(time.month)
        case .day: return Double(time.day)
        case .hour: return Double(time.hour)
        case .minute: return Double(time.minute)
        case .second: return Double(time.second)
        }
    }
}

/// A date and time of day in UTC, years 1970 … 9999.
struct CivilTime: Equatable {
    var year = 1970
    var month = 1
    var day = 1
    var hour = 0
    var minute = 0
    var second = 0

    /// - Parameter seconds: since 1970-01-01 00:00 UTC; before and after the range its end stands.
    init(_ seconds: Int64) {
        let seconds = Int(min(max(seconds, 0), 253_402_300_799))
        second = seconds % 60
        minute = seconds / 60 % 60
        hour = seconds / 3_600 % 24
        var days = seconds / 86_400
        // Eras of 400 years have one length; at most 20 of them, then at most 400 years.
        year += days / 146_097 * 400
        days %= 146_097
        while days >= CivilTime.days(of: year) {
            days -= CivilTime.days(of: year)
            year += 1
        }
        while days >= CivilTime.days(of: month, year) {
            days -= CivilTime.days(of: month, year)
            month += 1
        }
        day = days + 1
    }

    private static func days(of year: Int) -> Int { isLeap(year) ? 366 : 365 }

    private static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static func days(of month: Int, _ year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: isLeap(year) ? 29 : 28
        default: 31
        }
    }
}
