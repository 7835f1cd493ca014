import DBC
import DeviceCodecs
import Plant
import Quantities

/// A recorded bus through a profile: one JSON line for each frame, and in the end a table of events and
/// readings.
public struct LogDecoding: Sendable {
    private let profile: BatteryProfile
    private var battery: ProfiledBattery
    private var reader = CANLogReader()
    private var start: Int64?
    private var now = MonotonicTime(nanoseconds: 0)
    private var standing: [String] = []
    private var wasFrozen = false
    private var events: [String] = []
    private var counts: [UInt32: Int] = [:]
    private var unknown: [UInt32: Int] = [:]
    private var rejected = 0
    private var unreadable = 0

    /// Events kept for the table.
    static let eventLimit = 1_000

    public init(_ profile: BatteryProfile) {
        self.profile = profile
        battery = ProfiledBattery(profile)
    }

    /// Takes a line of a candump or `.asc` recording.
    ///
    /// - Returns: a JSON line for a frame of the profile's DBC file; `nil` for anything else.
    public mutating func take(_ line: Substring) -> String? {
        switch reader.read(line) {
        case .other: return nil
        case .unreadable:
            unreadable += 1
            return nil
        case .frame(let frame, let time):
            let first = start ?? time
            start = first
            // One second past zero: no reading counts as never seen for its time.
            let instant = MonotonicTime(nanoseconds: max(0, time - first) + 1_000_000_000)
            now = max(now, instant)
            return take(frame)
        }
    }

    private var seconds: Double { (now - MonotonicTime(nanoseconds: 1_000_000_000)).seconds }

    private mutating func take(_ frame: CANFrame) -> String? {
        let key = DBCMessage.key(frame.identifier, isExtended: frame.isExtended)
        let outcome = battery.accept(frame, at: now)
        switch outcome {
        case .ignored(.unknownIdentifier), .ignored(.extendedIdentifier):
            // A recording of noise must not fill the memory.
            if unknown[key] != nil || unknown.count < 4_096 { unknown[key, default: 0] += 1 }
            return nil
        case .ignored(.errorFrame):
            note("bus error, class 0x" + String(frame.identifier, radix: 16, uppercase: true))
            return nil
        case .ignored(.remote): return nil
        case .used: break
        case .rejected(let reason):
            rejected += 1
            note("frame \(LogDecoding.hex(key)) rejected: \(LogDecoding.text(reason))")
        }
        counts[key, default: 0] += 1
        noteAlarms()
        noteFrozen()
        guard let place = battery.decoder.plan.place(of: key) else { return nil }
        return json(key, profile.database.messages[place], battery.decoder.plan.firstSignals[place], outcome)
    }

    private mutating func note(_ event: String) {
        guard events.count < LogDecoding.eventLimit else { return }
        events.append("\(LogDecoding.decimal(seconds, 3)) s  \(event)")
    }

    private mutating func noteAlarms() {
        let texts =
            battery.activeTexts(isWarning: false).map { "alarm: " + $0 }
            + battery.activeTexts(isWarning: true).map { "warning: " + $0 }
        guard texts != standing else { return }
        for text in texts where !standing.contains(text) { note("\(text) raised") }
        for text in standing where !texts.contains(text) { note("\(text) cleared") }
        standing = texts
    }

    private mutating func noteFrozen() {
        guard battery.isFrozen != wasFrozen else { return }
        wasFrozen = battery.isFrozen
        note(wasFrozen ? "frozen: a counter stands still" : "no longer frozen")
    }

    private func json(
        _ key: UInt32, _ message: DBCMessage, _ first: Int, _ outcome: BatteryFrameOutcome
    ) -> String {
        var values: [String] = []
        for (index, signal) in message.signals.enumerated() {
            let sample = battery.decoder.samples[first + index]
            guard sample.frame == battery.decoder.frame else { continue }
            let value = sample.value.isFinite ? "\(sample.value)" : "null"
            values.append("\"\(signal.name)\":\(value)")
        }
        let isUsed = outcome == .used
        return "{\"time_s\":\(LogDecoding.decimal(seconds, 6)),\"id\":\"\(LogDecoding.hex(key))\","
            + "\"message\":\"\(message.name)\",\"used\":\(isUsed),\"signals\":{\(values.joined(separator: ","))}}"
    }

    /// Events in their order, then what was known at the end.
    public var table: String {
        var lines = ["events"]
        lines += events.map { "  " + $0 }
        lines.append("readings at \(LogDecoding.decimal(seconds, 3)) s")
        for quantity in BatteryQuantity.allCases {
            let field = battery.field(quantity)
            let name = LogDecoding.padded(quantity.name)
            if let fault = field.fault {
                if fault != .neverSeen { lines.append("  \(name) - (\(LogDecoding.text(fault)))") }
                continue
            }
            if wasFrozen {
                lines.append("  \(name) - (\(LogDecoding.text(.frozen)))")
                continue
            }
            let age = LogDecoding.decimal((now - field.time).seconds, 3)
            lines.append("  \(name) \(LogDecoding.decimal(field.value, 4)) \(quantity.unit) (\(age) s old)")
        }
        let image = battery.image(at: now)
        if let allowed = image.permissions.fresh(at: now, within: .seconds(3_600)) {
            let words = [
                allowed.contains(.charge) ? "charge" : "", allowed.contains(.discharge) ? "discharge" : "",
            ]
            lines.append(
                "  \(LogDecoding.padded("allowed")) \(words.filter { !$0.isEmpty }.joined(separator: ", "))")
        }
        lines.append("  \(LogDecoding.padded("alarms")) \(state(image.alarms, isWarning: false))")
        lines.append("  \(LogDecoding.padded("warnings")) \(state(image.warnings, isWarning: true))")
        lines.append("frames")
        for (key, count) in counts.sorted(by: { $0.key < $1.key }) {
            let name = profile.database.messages.first { $0.key == key }?.name ?? ""
            lines.append("  \(LogDecoding.hex(key)) \(name): \(count)")
        }
        for (key, count) in unknown.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(LogDecoding.hex(key)) unknown: \(count)")
        }
        if unreadable > 0 { lines.append("  unreadable lines: \(unreadable)") }
        return lines.joined(separator: "\n") + "\n"
    }

    private func state(_ reading: Reading<BatteryAlarms>, isWarning: Bool) -> String {
        if let fault = reading.fault(at: now, within: .seconds(3_600)) {
            return "- (\(LogDecoding.text(fault)))"
        }
        let texts = battery.activeTexts(isWarning: isWarning)
        return texts.isEmpty ? "none" : texts.joined(separator: ", ")
    }

    // MARK: Texts

    static func hex(_ key: UInt32) -> String {
        let number = key & 0x1FFF_FFFF
        let digits = String(number, radix: 16, uppercase: true)
        let width = key & 0x8000_0000 == 0 ? 3 : 8
        return "0x" + String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    static func padded(_ name: String) -> String {
        name + String(repeating: " ", count: max(0, 24 - name.utf8.count))
    }

    /// At most so many decimals, without zeros at the end.
    static func decimal(_ value: Double, _ places: Int) -> String {
        let power = (0..<places).reduce(1.0) { result, _ in result * 10 }
        guard value.magnitude < 1e12 else { return "\(value)" }
        let scaled = Int64((value * power).rounded())
        let whole = scaled.magnitude / UInt64(power)
        var fraction = String(scaled.magnitude % UInt64(power))
        fraction = String(repeating: "0", count: places - fraction.utf8.count) + fraction
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return (scaled < 0 ? "-" : "") + "\(whole)" + (fraction.isEmpty ? "" : "." + fraction)
    }

    static func text(_ fault: ReadingFault) -> String {
        switch fault {
        case .neverSeen: "never seen"
        case .notImplemented: "not implemented"
        case .implausible: "implausible"
        case .deviceFault: "called bad by the device"
        case .stale: "stale"
        case .frozen: "frozen"
        case .disagrees: "disagrees"
        case .fromTheFuture: "from the future"
        case .busOff: "bus off"
        case .unread: "looked at anew"
        case .busy: "busy"
        }
    }

    static func text(_ reason: BatteryFrameOutcome.Rejection) -> String {
        switch reason {
        case .tooShort: "too short"
        case .outOfRange: "a value that cannot be"
        case .contradictory: "minimum above maximum"
        case .voltageScale: "pack voltage in the wrong scale"
        case .checksum: "wrong checksum"
        case .counter: "wrong counter"
        }
    }
}
