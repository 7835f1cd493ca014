/// A trace as the files that protection engineers' tools read: IEEE C37.111-2013 (COMTRADE), a configuration
/// and its data. Times in the configuration are UTC.
public struct Comtrade: Sendable {
    /// How the data file writes its values.
    public enum Form: String, Sendable, CaseIterable {
        case ascii, binary, float32
    }

    /// The text of the `.cfg` file, lines ended by CR LF.
    public let configuration: String
    /// The bytes of the `.dat` file.
    public let data: [UInt8]

    /// - Parameters:
    ///   - trace: with at least one cycle.
    ///   - nominal: the grid's frequency, Hz.
    public init(_ trace: Trace, as form: Form, nominal: Double = 50) {
        let scales = trace.analog.map { Scale($0.values, form) }
        var lines = [
            "\(Self.field(trace.site)),\(Self.field(trace.about)),2013",
            "\(trace.analog.count + trace.status.count),\(trace.analog.count)A,\(trace.status.count)D",
        ]
        for (index, channel) in trace.analog.enumerated() {
            let scale = scales[index]
            lines.append(
                "\(index + 1),\(Self.field(channel.title)),,\(Self.field(channel.owner ?? trace.site)),"
                    + "\(channel.uom),\(Self.real(scale.a)),\(Self.real(scale.b)),0,\(scale.least),\(scale.most),1,1,P"
            )
        }
        for (index, channel) in trace.status.enumerated() {
            lines.append(
                "\(index + 1),\(Self.field(channel.title)),,\(Self.field(channel.owner ?? trace.site)),0")
        }
        // No one rate: each sample bears its own time.
        lines += [Number.short(nominal), "0", "0,\(trace.times.count)"]
        lines.append(Self.stamp(trace.beginMicroseconds))
        let trigger = trace.triggerTime ?? 0
        lines.append(Self.stamp(trace.microseconds(at: trigger)))
        // Time factor, UTC as the data's and the place's own, a clock of unknown quality.
        let factor = Self.factor(trace)
        lines += [form.rawValue.uppercased(), "\(factor)", "0,0", "F,3"]
        configuration = lines.joined(separator: "\r\n") + "\r\n"
        data = Self.data(trace, scales, form, factor)
    }

    /// How a channel's numbers stand in the file: value = a · number + b.
    private struct Scale {
        var a = 1.0
        var b = 0.0
        var least = "0"
        var most = "0"
        private var end = 0.0

        init(_ values: [Double], _ form: Form) {
            let finite = values.filter(\.isFinite)
            let (low, high) = (finite.min() ?? 0, finite.max() ?? 0)
            switch form {
            case .float32: (least, most) = (Comtrade.real(low), Comtrade.real(high))
            case .binary: spread(low, high, 32_767)
            case .ascii: spread(low, high, 99_998)
            }
        }

        /// The halves first: no two numbers are then too far from each other.
        private mutating func spread(_ low: Double, _ high: Double, _ end: Int) {
            b = low / 2 + high / 2
            a = max((high / 2 - low / 2) / Double(end), 1e-9)
            (least, most) = ("\(-end)", "\(end)")
            self.end = Double(end)
        }

        func number(_ value: Double) -> Int { Int(min(end, max(-end, ((value - b) / a).rounded()))) }
    }

    /// How many µs a time's step is: its 32 bits end after 71 minutes of 1 µs.
    private static func factor(_ trace: Trace) -> Int {
        min(1_000_000, max(1, Int(((trace.times.last ?? 0) * 1_000_000 / 4_294_967_294).rounded(.up))))
    }

    private static func data(_ trace: Trace, _ scales: [Scale], _ form: Form, _ factor: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for index in trace.times.indices {
            let micros = UInt32(
                clamping: Int64((trace.times[index] * 1_000_000 / Double(factor)).rounded()))
            if form == .ascii {
                bytes += row(trace, scales, index, micros).utf8
                continue
            }
            append(UInt32(truncatingIfNeeded: index + 1), &bytes)
            append(micros, &bytes)
            for (channel, scale) in scales.indices.map({ (trace.analog[$0], scales[$0]) }) {
                let value = channel.values[index]
                if form == .float32 {
                    append(Float(value).bitPattern, &bytes)
                } else {
                    // Missing values are the one number that no value has.
                    append(
                        value.isFinite ? UInt16(bitPattern: Int16(clamping: scale.number(value))) : 0x8000,
                        &bytes)
                }
            }
            for first in stride(from: 0, to: trace.status.count, by: 16) {
                var word: UInt16 = 0
                for bit in 0..<min(16, trace.status.count - first)
                where trace.status[first + bit].values[index] {
                    word |= 1 << UInt16(bit)
                }
                append(word, &bytes)
            }
        }
        return bytes
    }

    private static func row(_ trace: Trace, _ scales: [Scale], _ index: Int, _ micros: UInt32) -> String {
        var row = ["\(index + 1)", "\(micros)"]
        for (channel, scale) in scales.indices.map({ (trace.analog[$0], scales[$0]) }) {
            let value = channel.values[index]
            // The number that the standard keeps for what is missing; the scale does not reach it.
            row.append(value.isFinite ? "\(scale.number(value))" : "99999")
        }
        row += trace.status.map { $0.values[index] ? "1" : "0" }
        return row.joined(separator: ",") + "\r\n"
    }

    private static func append(_ value: some FixedWidthInteger, _ bytes: inout [UInt8]) {
        for shift in 0..<(value.bitWidth / 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> (8 * shift)))
        }
    }

    /// A name may hold anything but what ends a field or a line; the standard allows 64 characters.
    private static func field(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(64).map { $0 == "," || $0.value < 32 || $0.value > 126 ? " " : $0 }
            ))
    }

    /// A real number as the standard writes it.
    static func real(_ value: Double) -> String {
        value == value.rounded() && value.magnitude < 1e9 ? "\(Int64(value))" : "\(value)"
    }

    /// `dd/mm/yyyy,hh:mm:ss.ssssss`.
    private static func stamp(_ microseconds: Int64) -> String {
        let at = CivilTime(microseconds: microseconds)
        let p = CivilTime.padded
        return "\(p(at.day, 2))/\(p(at.month, 2))/\(p(at.year, 4)),\(p(at.hour, 2)):\(p(at.minute, 2)):"
            + "\(p(at.second, 2)).\(p(at.microsecond, 6))"
    }
}
