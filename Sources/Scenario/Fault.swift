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
    /// The BMS repeats its last frames, with their counters: a program that hangs.
    case bmsFrozen
    /// The BMS's values stand still while its counters go on: measuring has stopped, sending has not.
    case bmsStuck
    /// Frames come late by up to this time, each by another.
    case bmsJitter(Duration)
    /// Frames have at most so many bytes.
    case bmsShortFrames(length: Int)
    /// Checksums of protected frames are wrong.
    case bmsBadChecksum
    /// The bus controller reports bus-off, and nothing comes any more.
    case bmsBusOff
    /// The inverter stops and says so.
    case inverterFault
    /// The inverter answers nothing; its control goes on, and its reversion timer with it.
    case inverterSilence
    /// The inverter's reversion timer does not work: it keeps its last setpoint for ever.
    case inverterKeepsPower
    /// The inverter answers that much later.
    case inverterSlow(Duration)
    /// The inverter refuses every request with this exception code.
    case inverterRefuses(code: Int)
    /// The inverter's answers break off half way.
    case inverterHalfAnswers
    /// The inverter answers in the name of another unit.
    case inverterWrongUnit
    /// The inverter's powers come in another power of ten, as after a change of its firmware.
    case inverterScale
    /// The inverter shows what it measured last; its control goes on.
    case inverterStuck
    /// The inverter takes setpoints and goes on with the power that it had.
    case inverterDisobeys
    /// The inverter has no supply; with it back it has forgotten what it was told.
    case inverterReboot
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
    /// No contactor closes; a battery with contactors of its own opens them and keeps them open.
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
        case bmsFrozen = "bms_frozen"
        case bmsStuck = "bms_stuck"
        case bmsJitter = "bms_jitter"
        case bmsShortFrames = "bms_short_frames"
        case bmsBadChecksum = "bms_bad_checksum"
        case bmsBusOff = "bms_bus_off"
        case inverterFault = "inverter_fault"
        case inverterSilence = "inverter_silence"
        case inverterSlow = "inverter_slow"
        case inverterRefuses = "inverter_refuses"
        case inverterHalfAnswers = "inverter_half_answers"
        case inverterWrongUnit = "inverter_wrong_unit"
        case inverterScale = "inverter_scale"
        case inverterStuck = "inverter_stuck"
        case inverterDisobeys = "inverter_disobeys"
        case inverterReboot = "inverter_reboot"
        case inverterKeepsPower = "inverter_keeps_power"
        case meterSilence = "meter_silence"
        case pmuSilence = "pmu_silence"
        case emergencyStop = "estop"
        case smoke, gas, door
        case contactorWeld = "weld"
        case contactorRefuses = "contactor_refuses"
        case ioSilence = "io_silence"
        case wireBreak = "wire_break"

        /// What happens, and the parameters with what stands without them, for a person.
        public var summary: String {
            switch self {
            case .cellOverheat: "one cell heats by itself (cell=1 rate_k_per_s=3)"
            case .cellOvervoltage: "one cell's measured voltage stands (cell=1 voltage_v=3.75)"
            case .cellUndervoltage: "one cell's measured voltage stands (cell=1 voltage_v=2.4)"
            case .bmsAlarm: "the BMS reports a system error and opens its contactors"
            case .bmsSilence: "the BMS sends nothing more"
            case .bmsGarbage: "frames with nonsense in them"
            case .bmsFrozen: "the BMS repeats its last frames, with their counters"
            case .bmsStuck: "values stand still, counters go on"
            case .bmsJitter: "frames come late, each by another time (jitter_ms=500)"
            case .bmsShortFrames: "frames are cut (bytes=3)"
            case .bmsBadChecksum: "checksums of protected frames are wrong"
            case .bmsBusOff: "the bus controller reports bus-off, then nothing comes"
            case .inverterFault: "the inverter stops and says so"
            case .inverterSilence: "the inverter answers nothing"
            case .inverterKeepsPower: "the inverter keeps its power when nobody speaks to it: no reversion"
            case .inverterSlow: "the inverter answers later (delay_ms=500)"
            case .inverterRefuses: "the inverter refuses every request (code=4)"
            case .inverterHalfAnswers: "the inverter's answers break off"
            case .inverterWrongUnit: "the inverter answers in another unit's name"
            case .inverterScale: "the inverter's powers come in another power of ten"
            case .inverterStuck: "the inverter shows what it measured last"
            case .inverterDisobeys: "the inverter goes on with the power that it had"
            case .inverterReboot: "the inverter has no supply; then it has forgotten everything"
            case .meterSilence: "the grid meter answers nothing"
            case .pmuSilence: "the PMUs send nothing more"
            case .emergencyStop: "the emergency stop is pressed"
            case .smoke: "the smoke detector opens its circuit"
            case .gas: "the gas detector opens its circuit"
            case .door: "the door stands open"
            case .contactorWeld: "the main contactor does not open any more"
            case .contactorRefuses: "no contactor closes; a battery opens its own"
            case .ioSilence: "the I/O module answers nothing; its watchdog opens its coils"
            case .wireBreak: "the wire to one input is cut (input=emergency_stop)"
            }
        }

        /// Whether it happens to one unit; the meter belongs to the site.
        public var concernsUnit: Bool { self != .meterSilence && self != .pmuSilence }

        /// Whether it happens at the unit's I/O module or its wires.
        public var concernsModule: Bool {
            switch self {
            case .emergencyStop, .smoke, .gas, .door, .contactorWeld, .ioSilence, .wireBreak: true
            case .cellOverheat, .cellOvervoltage, .cellUndervoltage, .bmsAlarm, .bmsSilence, .bmsGarbage,
                .bmsFrozen, .bmsStuck, .bmsJitter, .bmsShortFrames, .bmsBadChecksum, .bmsBusOff,
                .contactorRefuses, .inverterFault, .inverterSilence, .inverterKeepsPower, .inverterSlow,
                .inverterRefuses, .inverterHalfAnswers, .inverterWrongUnit, .inverterScale, .inverterStuck,
                .inverterDisobeys, .inverterReboot, .meterSilence, .pmuSilence:
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
        case .bmsFrozen: .bmsFrozen
        case .bmsStuck: .bmsStuck
        case .bmsJitter: .bmsJitter
        case .bmsShortFrames: .bmsShortFrames
        case .bmsBadChecksum: .bmsBadChecksum
        case .bmsBusOff: .bmsBusOff
        case .inverterFault: .inverterFault
        case .inverterSilence: .inverterSilence
        case .inverterSlow: .inverterSlow
        case .inverterRefuses: .inverterRefuses
        case .inverterHalfAnswers: .inverterHalfAnswers
        case .inverterWrongUnit: .inverterWrongUnit
        case .inverterScale: .inverterScale
        case .inverterStuck: .inverterStuck
        case .inverterDisobeys: .inverterDisobeys
        case .inverterReboot: .inverterReboot
        case .inverterKeepsPower: .inverterKeepsPower
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
    /// (cell_overvoltage, default 3.75, and cell_undervoltage, default 2.4; 0 … 5), `jitter_ms` (bms_jitter,
    /// 1 … 60 000, default 500), `bytes` (bms_short_frames, 0 … 7, default 3), `input` (wire_break, default
    /// emergency_stop), `delay_ms` (inverter_slow, 1 … 10000, default 500), `code` (inverter_refuses, 1 … 11,
    /// default 4).
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
        case .bmsFrozen: self = .bmsFrozen
        case .bmsStuck: self = .bmsStuck
        case .bmsJitter:
            let jitter = try given.number("jitter_ms", 1...60_000, default: 500)
            self = .bmsJitter(.microseconds(Int64(jitter * 1_000)))
        case .bmsShortFrames:
            self = .bmsShortFrames(length: Int(try given.number("bytes", 0...7, default: 3)))
        case .bmsBadChecksum: self = .bmsBadChecksum
        case .bmsBusOff: self = .bmsBusOff
        case .inverterFault: self = .inverterFault
        case .inverterSilence: self = .inverterSilence
        case .inverterSlow:
            let delay = try given.number("delay_ms", 1...10_000, default: 500)
            self = .inverterSlow(.milliseconds(Int64(delay)))
        case .inverterRefuses:
            self = .inverterRefuses(code: Int(try given.number("code", 1...11, default: 4)))
        case .inverterHalfAnswers: self = .inverterHalfAnswers
        case .inverterWrongUnit: self = .inverterWrongUnit
        case .inverterScale: self = .inverterScale
        case .inverterStuck: self = .inverterStuck
        case .inverterDisobeys: self = .inverterDisobeys
        case .inverterReboot: self = .inverterReboot
        case .inverterKeepsPower: self = .inverterKeepsPower
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
