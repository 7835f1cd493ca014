extension ControlRequest {
    /// An operator's base point ends by itself after at most a day, maintenance after at most a shift.
    public static let setpointSeconds: ClosedRange<Double> = 1...86_400
    public static let agcSeconds: ClosedRange<Double> = 1...3_600
    public static let maintenanceSeconds: ClosedRange<Double> = 60...43_200
    /// Far above any site that 64 units make; a number beyond it is a slip.
    public static let powerKilowatts: ClosedRange<Double> = -1_000_000...1_000_000
    /// As the controller bounds it.
    public static let frequencyTestSeconds: ClosedRange<Double> = 1...1_800
    public static let frequencyHertz: ClosedRange<Double> = 45...65
    private static let longestReason = 200

    /// What is wrong with the request; `nil` where it is whole. Whether the asker may is another question.
    public var fault: String? {
        switch command {
        case .status, .timing, .trips, .metrics: return nil
        case .lease: return lease == nil ? "lease is missing" : nil
        case .agcRelease, .follow: return nil
        case .certificate: return Self.fault("until_s", until_s, 0...253_402_300_799, "s")
        case .frequencyTest:
            if let fault = reasonFault { return fault }
            if frequency_hz == nil, for_s == nil { return nil }
            return Self.fault("frequency_hz", frequency_hz, Self.frequencyHertz, "Hz")
                ?? Self.fault("for_s", for_s, Self.frequencyTestSeconds, "s")
        case .agc:
            return Self.fault("power_kw", power_kw, Self.powerKilowatts, "kW")
                ?? Self.fault("for_s", for_s, Self.agcSeconds, "s")
        case .reset: return reasonFault ?? unitFault
        case .stop, .resume, .revoke, .capture: return reasonFault
        case .setpoint:
            return reasonFault ?? Self.fault("power_kw", power_kw, Self.powerKilowatts, "kW")
                ?? Self.fault("for_s", for_s, Self.setpointSeconds, "s")
        case .mode:
            if let fault = reasonFault ?? unitFault { return fault }
            switch mode {
            case "auto":
                guard let of, of != "unknown", UInt32(of) == nil else { return nil }
                return "of takes a user id, or unknown"
            case "hold" where for_s == nil: return nil
            case "hold", "standby": return Self.fault("for_s", for_s, Self.maintenanceSeconds, "s")
            case "maintenance": return Self.fault("for_s", for_s, Self.maintenanceSeconds, "s")
            default: return "mode takes maintenance, standby, hold or auto"
            }
        case .modbusWrite: return reasonFault ?? modbusFault
        case .reversion:
            guard let fault = reasonFault ?? unitFault else {
                return power_kw == nil ? nil : Self.fault("power_kw", power_kw, Self.powerKilowatts, "kW")
            }
            return fault
        }
    }

    private var modbusFault: String? {
        guard let modbus else { return "modbus_write needs modbus" }
        let isPlain = modbus.device.unicodeScalars.allSatisfy { (0x21...0x7e).contains($0.value) }
        guard (1...200).contains(modbus.device.utf8.count), isPlain else { return "no such device" }
        guard (1...16).contains(modbus.values.count) else {
            return "modbus_write takes 1 … 16 values; \(modbus.values.count) were given"
        }
        if modbus.is_coils && modbus.values.contains(where: { $0 > 1 }) { return "a coil takes 0 or 1" }
        let isInside = Int(modbus.address) + modbus.values.count <= 0x1_0000
        return isInside ? nil : "the values pass address 65535"
    }

    private var unitFault: String? { unit == nil ? "\(command.rawValue) needs a unit" : nil }

    /// What is wrong with the reason. It goes into the log as it is: one line, and not a book.
    public var reasonFault: String? {
        guard let reason, reason.contains(where: { !$0.isWhitespace }) else {
            return "\(command.rawValue) needs a reason"
        }
        guard reason.count <= Self.longestReason else {
            return "the reason is longer than \(Self.longestReason) characters"
        }
        guard reason.unicodeScalars.allSatisfy(Self.isPrintable) else {
            return "the reason holds control characters"
        }
        guard reason.unicodeScalars.contains(where: Self.isSeen) else {
            return "the reason has nothing that can be seen"
        }
        // A letter of a script has a few marks; one with more is no text, and runs into other lines.
        var marks = 0
        for scalar in reason.unicodeScalars {
            marks = Self.isMark(scalar) ? marks + 1 : 0
            if marks > Self.mostMarks { return "the reason's letters have too many marks" }
        }
        return nil
    }

    private static let mostMarks = 5

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark: true
        case _: false
        }
    }

    /// Fillers and blanks are letters and symbols by their category.
    private static func isSeen(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.properties.isDefaultIgnorableCodePoint && !scalar.properties.isWhitespace
            && scalar.value != 0x2800 && !isMark(scalar)
    }

    /// Stays in its line, and shows where it stands: nothing that turns the direction of what follows.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        // Joiners are letters' own in Indian and Arabic scripts.
        case .format: scalar.value == 0x200c || scalar.value == 0x200d
        case _: true
        }
    }

    private static func fault(
        _ name: String, _ value: Double?, _ range: ClosedRange<Double>, _ unit: String
    ) -> String? {
        guard let value else { return "\(name) is missing" }
        return range.contains(value)
            ? nil : "\(name) is \(value) \(unit); allowed: \(range.lowerBound) … \(range.upperBound) \(unit)"
    }
}

/// A length of time as people type it.
public enum DurationText {
    /// Seconds of `90s`, `15m`, `2h`; `nil` for anything else. A bare number has no unit and is refused.
    public static func seconds(_ text: String) -> Double? {
        let factor: Int
        switch text.last {
        case "s": factor = 1
        case "m": factor = 60
        case "h": factor = 3_600
        default: return nil
        }
        let digits = text.dropLast()
        guard !digits.isEmpty, digits.count <= 6, digits.utf8.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        return Int(digits).map { Double($0 * factor) }
    }
}

extension ControlRequest {
    /// The request in words, for the log: `setpoint -40.0 kW for 900 s`.
    public var summary: String {
        var words = [command.rawValue]
        if let unit { words.append(unit) }
        if let mode { words.append(mode) }
        if let of { words.append("of \(of)") }
        if let modbus { words.append(modbus.summary) }
        if let power_kw { words.append("\(power_kw) kW") }
        if let frequency_hz { words.append("\(frequency_hz) Hz") }
        if let for_s { words.append("for \(for_s) s") }
        return words.joined(separator: " ")
    }
}

extension ControlRequest {
    /// Whether a line asks for a stop; a long one does not.
    @Sendable static func isStop(_ line: [UInt8]) -> Bool { shortCommand(line) == .stop }

    /// Whether a line asks for more than one answer; a long one does not.
    static func isFollow(_ line: [UInt8]) -> Bool { shortCommand(line) == .follow }

    private static func shortCommand(_ line: [UInt8]) -> Command? {
        guard line.count <= 4_096 else { return nil }
        return JSONLine.decode(ControlRequest.self, from: line)?.command
    }
}
