import Plant
import Quantities
import SiteConfig

extension Fault {
    /// A `key=value` of a fault; the key ends in its unit.
    public struct Parameter: Sendable, Equatable {
        public var key: String
        public var value: String

        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    public enum ParseError: Error, Equatable, CustomStringConvertible {
        case unknownKind(String)
        case unknownParameter(String, allowed: [String])
        case badValue(key: String, value: String, allowed: String)

        public var description: String {
            switch self {
            case .unknownKind(let name):
                "'\(name)' is no fault; allowed: \(list(Kind.allCases.map(\.rawValue)))"
            case .unknownParameter(let key, let allowed):
                "'\(key)' is no parameter of this fault; allowed: \(allowed.isEmpty ? "none" : list(allowed))"
            case .badValue(let key, let value, let allowed): "\(key): '\(value)' is not \(allowed)"
            }
        }
    }

    /// Makes a fault from its name and parameters; those not given have defaults.
    ///
    /// `Kind.summary` names the parameters of each with what stands without them; `cell` counts from 1.
    public init(name: String, parameters: [Parameter], cellCount: Int = 80) throws(ParseError) {
        guard let kind = Kind(rawValue: name) else { throw .unknownKind(name) }
        var given = Parameters(parameters)
        if let plain = Self.plain(kind) {
            self = plain
        } else if let cell = try Self.cell(kind, &given, of: cellCount) {
            self = cell
        } else if let battery = try Self.battery(kind, &given) {
            self = battery
        } else {
            self = try Self.device(kind, &given)
        }
        try given.finish()
    }

    private static func cell(
        _ kind: Kind, _ given: inout Parameters, of count: Int
    ) throws(ParseError) -> Fault? {
        switch kind {
        case .cellOverheat:
            let cell = try given.cell(of: count)
            let rate = try given.number("rate_k_per_s", 0.01...100, default: 3)
            return .cellOverheat(cell: cell, rate: KelvinPerSecond(rate))
        case .cellOvervoltage:
            let cell = try given.cell(of: count)
            return .cellOvervoltage(
                cell: cell, voltage: Volts(try given.number("voltage_v", 0...5, default: 3.75)))
        case .cellUndervoltage:
            let cell = try given.cell(of: count)
            return .cellUndervoltage(
                cell: cell, voltage: Volts(try given.number("voltage_v", 0...5, default: 2.4)))
        case .cellTemperature:
            let cell = try given.cell(of: count)
            return .cellTemperature(
                cell: cell, temperature: Celsius(try given.number("temperature_c", -100...400, default: 215)))
        case _: return nil
        }
    }

    private static func battery(
        _ kind: Kind, _ given: inout Parameters
    ) throws(ParseError) -> Fault? {
        switch kind {
        case .bmsJitter:
            let jitter = try given.number("jitter_ms", 1...60_000, default: 500)
            return .bmsJitter(.microseconds(Int64(jitter * 1_000)))
        case .bmsShortFrames:
            return .bmsShortFrames(length: Int(try given.number("bytes", 0...7, default: 3)))
        case .bmsLimits:
            return .bmsLimits(
                charge: Amperes(try given.number("charge_a", -3_000...3_000, default: 0)),
                discharge: Amperes(try given.number("discharge_a", -3_000...3_000, default: 0)))
        case .bmsChargeVoltage:
            return .bmsChargeVoltage(Volts(try given.number("voltage_v", 0...6_000, default: 1_000)))
        case .bmsCharge: return .bmsCharge(.percent(try given.number("percent", 0...100, default: 0)))
        case .bmsInsulation:
            return .bmsInsulation(
                Ohms(try given.number("resistance_kohm", 0...10_000, default: 10) * 1_000))
        case .bmsPackVoltage:
            return .bmsPackVoltage(.percent(try given.number("share_percent", 0...200, default: 80)))
        case .bmsCurrentOffset:
            let share = Fraction.percent(try given.number("share_percent", 0...200, default: 100))
            return .bmsCurrentOffset(
                Amperes(try given.number("offset_a", -1_000...1_000, default: 50)), share: share)
        case _: return nil
        }
    }

    private static func device(_ kind: Kind, _ given: inout Parameters) throws(ParseError) -> Fault {
        switch kind {
        case .inverterSlow:
            let delay = try given.number("delay_ms", 1...10_000, default: 500)
            return .inverterSlow(.milliseconds(Int64(delay)))
        case .inverterRefuses:
            return .inverterRefuses(code: Int(try given.number("code", 1...11, default: 4)))
        case .inverterForeignWrites:
            let power = try given.number("power_kw", -10_000...10_000, default: 20)
            return .inverterForeignWrites(.kilowatts(power))
        case .meterOutlier:
            return .meterOutlier(Hertz(try given.number("shown_hz", 0...100, default: 0)))
        case .inverterNameplate:
            return .inverterNameplate(.kilowatts(try given.number("power_kw", 0.1...10_000, default: 15)))
        case .meterOffset: return .meterOffset(Hertz(try given.number("offset_hz", -5...5, default: 0.3)))
        case .meterCoarse: return .meterCoarse(Hertz(try given.number("step_hz", 0.001...1, default: 0.1)))
        case .pmuOffset: return .pmuOffset(Hertz(try given.number("offset_hz", -5...5, default: 0.3)))
        // The only one left with a parameter is `wireBreak`.
        case _: return .wireBreak(try given.input())
        }
    }

    /// Those that have no parameters.
    private static func plain(_ kind: Kind) -> Fault? {
        let faults: [Fault] = [
            .bmsAlarm, .bmsSilence, .bmsGarbage, .bmsFrozen, .bmsStuck, .bmsBadChecksum, .bmsBusOff,
            .bmsLimitsFlap, .bmsCellsStuck, .bmsNotAvailable, .bmsSecondSender, .bmsFlood, .inverterFault,
            .inverterSilence,
            .inverterHalfAnswers, .inverterWrongUnit, .inverterScale, .inverterStuck, .inverterDisobeys,
            .inverterReboot, .inverterKeepsPower, .inverterReversed, .inverterNotAvailable, .inverterZeros,
            .inverterMapShift, .inverterExchanged, .inverterGridBlind, .meterSilence, .meterFrozen,
            .meterReversed,
            .meterNotAvailable, .pmuSilence,
            .gridLoss, .emergencyStop, .smoke, .gas, .door, .contactorWeld, .contactorRefuses, .ioSilence,
        ]
        return faults.first { $0.kind == kind }
    }

    /// Takes parameters by name and refuses what is left over.
    private struct Parameters {
        private var left: [Parameter]
        private var known: [String] = []

        init(_ parameters: [Parameter]) { left = parameters }

        mutating func number(
            _ key: String, _ range: ClosedRange<Double>, default fallback: Double
        ) throws(ParseError) -> Double {
            known.append(key)
            guard let index = left.firstIndex(where: { $0.key == key }) else { return fallback }
            let text = left.remove(at: index).value
            guard let number = Double(text), range.contains(number) else {
                throw .badValue(
                    key: key, value: text, allowed: "a number in \(range.lowerBound) … \(range.upperBound)")
            }
            return number
        }

        mutating func input() throws(ParseError) -> DigitalInput {
            known.append("input")
            guard let index = left.firstIndex(where: { $0.key == "input" }) else { return .emergencyStop }
            let text = left.remove(at: index).value
            guard let known = DigitalInput.words.first(where: { $0.text == text }) else {
                let names = DigitalInput.words.map(\.text)
                throw .badValue(key: "input", value: text, allowed: "one of \(list(names))")
            }
            return known.value
        }

        /// Counts from 1 outside and from 0 inside.
        mutating func cell(of count: Int) throws(ParseError) -> Int {
            known.append("cell")
            guard let index = left.firstIndex(where: { $0.key == "cell" }) else { return 0 }
            let text = left.remove(at: index).value
            guard let number = Int(text), number >= 1, number <= count else {
                throw .badValue(key: "cell", value: text, allowed: "a cell in 1 … \(count)")
            }
            return number - 1
        }

        func finish() throws(ParseError) {
            if let first = left.first { throw .unknownParameter(first.key, allowed: known) }
        }
    }
}

private func list(_ names: [String]) -> String {
    names.dropFirst().reduce(names.first ?? "") { $0 + ", " + $1 }
}
