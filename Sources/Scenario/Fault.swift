import Quantities
import SiteConfig

/// Something that goes wrong in the plant or on its wires.
public enum Fault: Sendable, Equatable {
    /// One cell heats by itself, for example from an internal short.
    case cellOverheat(cell: Int, rate: KelvinPerSecond)
    /// One cell's measured voltage stands at a value.
    case cellOvervoltage(cell: Int, voltage: Volts)
    case cellUndervoltage(cell: Int, voltage: Volts)
    /// The BMS reports a system error and opens its contactors.
    case bmsAlarm
    /// The BMS sends nothing more.
    case bmsSilence
    /// The BMS's link carries bytes that are no frames, and frames with nonsense in them.
    case bmsGarbage
    /// The inverter stops and says so.
    case inverterFault
    /// The inverter answers nothing; its control goes on, and its reversion timer with it.
    case inverterSilence
    /// The grid meter answers nothing.
    case meterSilence
    /// The PMUs send nothing more.
    case pmuSilence
    /// The emergency stop is pressed.
    case emergencyStop
    case smoke
    case gas
    /// The door stands open.
    case door
    /// The main contactor's contact does not open any more.
    case contactorWeld
    /// No contactor closes.
    case contactorRefuses
    /// The I/O module answers nothing, and its own watchdog opens its coils.
    case ioSilence
    /// The wire to one input of the I/O module is cut.
    case wireBreak(DigitalInputConfig.Name)

    /// The name in scenario files and on the control socket.
    public enum Kind: String, Sendable, CaseIterable {
        case cellOverheat = "cell_overheat"
        case cellOvervoltage = "cell_overvoltage"
        case cellUndervoltage = "cell_undervoltage"
        case bmsAlarm = "bms_alarm"
        case bmsSilence = "bms_silence"
        case bmsGarbage = "bms_garbage"
        case inverterFault = "inverter_fault"
        case inverterSilence = "inverter_silence"
        case meterSilence = "meter_silence"
        case pmuSilence = "pmu_silence"
        case emergencyStop = "estop"
        case smoke, gas, door
        case contactorWeld = "weld"
        case contactorRefuses = "contactor_refuses"
        case ioSilence = "io_silence"
        case wireBreak = "wire_break"

        /// Whether it happens to one unit; the meter belongs to the site.
        public var concernsUnit: Bool { self != .meterSilence && self != .pmuSilence }

        /// Whether it happens at the unit's I/O module or its wires.
        public var concernsModule: Bool {
            switch self {
            case .emergencyStop, .smoke, .gas, .door, .contactorWeld, .contactorRefuses, .ioSilence,
                .wireBreak:
                true
            case .cellOverheat, .cellOvervoltage, .cellUndervoltage, .bmsAlarm, .bmsSilence, .bmsGarbage,
                .inverterFault, .inverterSilence, .meterSilence, .pmuSilence:
                false
            }
        }
    }

    public var kind: Kind {
        switch self {
        case .cellOverheat: .cellOverheat
        case .cellOvervoltage: .cellOvervoltage
        case .cellUndervoltage: .cellUndervoltage
        case .bmsAlarm: .bmsAlarm
        case .bmsSilence: .bmsSilence
        case .bmsGarbage: .bmsGarbage
        case .inverterFault: .inverterFault
        case .inverterSilence: .inverterSilence
        case .meterSilence: .meterSilence
        case .pmuSilence: .pmuSilence
        case .emergencyStop: .emergencyStop
        case .smoke: .smoke
        case .gas: .gas
        case .door: .door
        case .contactorWeld: .contactorWeld
        case .contactorRefuses: .contactorRefuses
        case .ioSilence: .ioSilence
        case .wireBreak: .wireBreak
        }
    }

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
    /// `cell` (counts from 1), `rate_k_per_s` (cell_overheat, 0.01 … 100, default 3), `voltage_v`
    /// (cell_overvoltage, default 3.75, and cell_undervoltage, default 2.4; 0 … 5), `input` (wire_break,
    /// default emergency_stop).
    public init(name: String, parameters: [Parameter], cellCount: Int = 80) throws(ParseError) {
        guard let kind = Kind(rawValue: name) else { throw .unknownKind(name) }
        var given = Parameters(parameters)
        switch kind {
        case .cellOverheat:
            let cell = try given.cell(of: cellCount)
            let rate = try given.number("rate_k_per_s", 0.01...100, default: 3)
            self = .cellOverheat(cell: cell, rate: KelvinPerSecond(rate))
        case .cellOvervoltage:
            let cell = try given.cell(of: cellCount)
            self = .cellOvervoltage(
                cell: cell, voltage: Volts(try given.number("voltage_v", 0...5, default: 3.75)))
        case .cellUndervoltage:
            let cell = try given.cell(of: cellCount)
            self = .cellUndervoltage(
                cell: cell, voltage: Volts(try given.number("voltage_v", 0...5, default: 2.4)))
        case .bmsAlarm: self = .bmsAlarm
        case .bmsSilence: self = .bmsSilence
        case .bmsGarbage: self = .bmsGarbage
        case .inverterFault: self = .inverterFault
        case .inverterSilence: self = .inverterSilence
        case .meterSilence: self = .meterSilence
        case .pmuSilence: self = .pmuSilence
        case .emergencyStop: self = .emergencyStop
        case .smoke: self = .smoke
        case .gas: self = .gas
        case .door: self = .door
        case .contactorWeld: self = .contactorWeld
        case .contactorRefuses: self = .contactorRefuses
        case .ioSilence: self = .ioSilence
        case .wireBreak: self = .wireBreak(try given.input())
        }
        try given.finish()
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

        mutating func input() throws(ParseError) -> DigitalInputConfig.Name {
            known.append("input")
            guard let index = left.firstIndex(where: { $0.key == "input" }) else { return .emergencyStop }
            let text = left.remove(at: index).value
            guard let name = DigitalInputConfig.Name(rawValue: text) else {
                let names = DigitalInputConfig.Name.allCases.map(\.rawValue)
                throw .badValue(key: "input", value: text, allowed: "one of \(list(names))")
            }
            return name
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
