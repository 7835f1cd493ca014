import DeviceCodecs
import ModbusBus
import Quantities
import Scenario
import SiteConfig

/// A simulated device behind a Modbus endpoint: what it shows, how it behaves, and what a write does to the
/// plant. It knows no wire and no clock.
public struct SimulatedModbusDevice: Sendable {
    enum Kind: Sendable {
        case inverter(unit: Int, InverterRegisters)
        case meter
        case module(unit: Int)
        /// By a driver file.
        case driven(unit: Int, DriverRegisters)
        case drivenMeter(DriverRegisters)
    }

    /// Whose it is; `unit` counts from 0.
    public enum Role: Sendable, Equatable {
        case inverter(unit: Int)
        case meter
        case module(unit: Int)
    }

    public var role: Role {
        switch kind {
        case .inverter(let unit, _), .driven(let unit, _): .inverter(unit: unit)
        case .meter, .drivenMeter: .meter
        case .module(let unit): .module(unit: unit)
        }
    }

    public typealias Levels = (first: UInt16, levels: [Bool])

    /// Registers that follow each other.
    public struct Run: Sendable, Equatable {
        public var start: UInt16
        public var values: [UInt16]
    }

    /// What stands in the two tables of registers.
    public struct Tables: Sendable, Equatable {
        public var holding: [Run] = []
        public var input: [Run] = []
    }

    public enum Content: Sendable {
        case registers([UInt16])
        case tables(Tables)
        case bits(inputs: Levels, coils: Levels)
    }

    /// Where the registers of inverters and meters begin.
    public static let base: UInt16 = 40_000

    public let unitID: UInt8
    private(set) var kind: Kind
    /// What it showed last.
    private var shown: [UInt16]?
    private var shownTables: Tables?

    init(unitID: UInt8, _ kind: Kind) {
        self.unitID = unitID
        self.kind = kind
    }

    /// The devices of a site with their endpoints: the meter, then inverter and module of each unit.
    ///
    /// - Parameters:
    ///   - isShort: inverters have only the models that are read and written all the time.
    ///   - hidesSetpoint: inverters have no model 704.
    ///   - drivers: by the paths that the site's file has; a device that names none of them is a SunSpec one.
    public static func all(
        of site: SiteConfig, _ plant: SimulatedSite, isShort: Bool = false, hidesSetpoint: Bool = false,
        drivers: [String: RegisterMap] = [:]
    ) -> [(endpoint: ModbusEndpoint, device: SimulatedModbusDevice)] {
        var devices: [(endpoint: ModbusEndpoint, device: SimulatedModbusDevice)] = []
        func map(of device: ModbusConfig) -> DriverRegisters? {
            device.driver.flatMap { drivers[$0] }.map { DriverRegisters($0) }
        }
        if let meter = site.gridMeter?.modbus {
            let kind = map(of: meter).map { Kind.drivenMeter($0) } ?? .meter
            devices.append((meter.endpoint, SimulatedModbusDevice(unitID: meter.unitID, kind)))
        }
        for (index, unit) in site.units.enumerated() {
            let kind: Kind
            if let registers = map(of: unit.inverter) {
                kind = .driven(unit: index, registers)
            } else {
                var registers = InverterRegisters(
                    unitID: unit.inverter.unitID, unit: plant.units[index], isShort: isShort)
                registers.hidesSetpoint = hidesSetpoint
                kind = .inverter(unit: index, registers)
            }
            devices.append(
                (unit.inverter.endpoint, SimulatedModbusDevice(unitID: unit.inverter.unitID, kind)))
            guard let modbus = unit.ioModule?.modbus else { continue }
            devices.append(
                (modbus.endpoint, SimulatedModbusDevice(unitID: modbus.unitID, .module(unit: index))))
        }
        return devices
    }

    /// How it answers now.
    public func behaviour(at site: SimulatedSite) -> ModbusServedBehaviour {
        switch kind {
        case .inverter(let index, _), .driven(let index, _): Self.behaviour(site.units[index])
        case .meter, .drivenMeter: site.isMeterSilent ? .silent : .answers
        case .module(let index): site.units[index].has(.ioSilence) ? .silent : .answers
        }
    }

    /// What it shows now, and how it answers.
    public mutating func look(at site: SimulatedSite) -> (content: Content, behaviour: ModbusServedBehaviour)
    {
        switch kind {
        case .inverter(let index, var registers):
            let unit = site.units[index]
            registers.isRescaled = unit.has(.inverterScale)
            registers.ratedPower = unit.inverter.ratedPower
            registers.isBlind = unit.has(.inverterNotAvailable)
            registers.isZero = unit.has(.inverterZeros)
            registers.isShifted = unit.has(.inverterMapShift)
            registers.isExchanged = unit.has(.inverterExchanged)
            registers.isGridBlind = unit.has(.inverterGridBlind)
            registers.voltage = LastDigits.voltage(site.terminals.voltage, at: site.time, of: unitID)
            let behaviour = behaviour(at: site)
            if unit.has(.inverterStuck), let shown { return (.registers(shown), behaviour) }
            let image = registers.image(unit, frequency: site.terminals.frequency)
            shown = image
            return (.registers(image), behaviour)
        case .driven(let index, var registers):
            let unit = site.units[index]
            Self.lie(&registers, unit)
            let behaviour = behaviour(at: site)
            if unit.has(.inverterStuck), let shownTables { return (.tables(shownTables), behaviour) }
            let tables = registers.image(
                unit, frequency: site.terminals.frequency, voltage: site.terminals.voltage)
            shownTables = tables
            return (.tables(tables), behaviour)
        case .drivenMeter(var registers):
            let view = site.meter
            registers.isBlind = view.isBlind
            let tables = registers.image(
                power: view.power, frequency: view.frequency, voltage: view.voltage)
            return (.tables(tables), behaviour(at: site))
        case .meter:
            var view = site.meter
            if !site.isMeterFrozen {
                view.voltage = LastDigits.voltage(view.voltage, at: site.time, of: unitID)
                view.power += LastDigits.power(at: site.time, of: unitID)
            }
            let meter = MeterRegisters(
                frequency: view.frequency, power: view.power, voltage: view.voltage, isBlind: view.isBlind)
            return (.registers(meter.image(unitID: unitID)), behaviour(at: site))
        case .module(let index):
            let unit = site.units[index]
            let none: Levels = (0, [])
            return (
                .bits(inputs: unit.inputLevels ?? none, coils: unit.module?.coils ?? none),
                behaviour(at: site)
            )
        }
    }

    /// What faults make of a device by a driver file.
    private static func lie(_ registers: inout DriverRegisters, _ unit: SimulatedUnit) {
        registers.isRescaled = unit.has(.inverterScale)
        registers.isBlind = unit.has(.inverterNotAvailable)
        registers.isZero = unit.has(.inverterZeros)
        registers.isShifted = unit.has(.inverterMapShift)
        registers.isGridBlind = unit.has(.inverterGridBlind)
    }

    private static func behaviour(_ unit: SimulatedUnit) -> ModbusServedBehaviour {
        var behaviour = ModbusServedBehaviour.answers
        for fault in unit.faults {
            switch fault {
            case .inverterSilence, .inverterReboot: return .silent
            case .inverterSlow(let delay): behaviour = .slow(delay)
            case .inverterRefuses(let code): behaviour = .exception(UInt8(clamping: code))
            case .inverterHalfAnswers: behaviour = .half
            case .inverterWrongUnit: behaviour = .wrongUnit
            case _: break
            }
        }
        return behaviour
    }

    /// What a write does.
    public enum Stored: Sendable, Equatable {
        case refused(exception: UInt8)
        case coils(unit: Int)
        /// The inverter's setpoint, if it was among what was written.
        case registers(unit: Int, setpointWritten: Bool)
    }

    public mutating func store(_ write: ModbusWrite, in site: inout SimulatedSite) -> Stored {
        switch kind {
        case .meter, .drivenMeter: return .refused(exception: 2)
        case .driven(let unit, var registers):
            if write.table != .registers { return .refused(exception: 1) }
            Self.lie(&registers, site.units[unit])
            let result = registers.write(
                write.values, at: write.address, to: &site.units[unit].inverter)
            kind = .driven(unit: unit, registers)
            return Self.stored(result, unit)
        case .module(let unit):
            if write.table != .coils { return .refused(exception: 2) }
            site.units[unit].module?.write(write.values.map { $0 != 0 }, at: write.address)
            return .coils(unit: unit)
        case .inverter(let unit, var registers):
            registers.isRescaled = site.units[unit].has(.inverterScale)
            registers.isShifted = site.units[unit].has(.inverterMapShift)
            registers.isExchanged = site.units[unit].has(.inverterExchanged)
            registers.ratedPower = site.units[unit].inverter.ratedPower
            let offset = Int(write.address) - Int(Self.base)
            let result = registers.write(write.values, at: offset, to: &site.units[unit].inverter)
            kind = .inverter(unit: unit, registers)
            return Self.stored(result, unit)
        }
    }

    private static func stored(_ result: InverterRegisters.WriteResult, _ unit: Int) -> Stored {
        switch result {
        case .refused(let exception): .refused(exception: exception)
        case .stored(let isSetpoint): .registers(unit: unit, setpointWritten: isSetpoint)
        }
    }
}
