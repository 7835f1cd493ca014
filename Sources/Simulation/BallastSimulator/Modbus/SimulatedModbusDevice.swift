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
    }

    /// Whose it is; `unit` counts from 0.
    public enum Role: Sendable, Equatable {
        case inverter(unit: Int)
        case meter
        case module(unit: Int)
    }

    public var role: Role {
        switch kind {
        case .inverter(let unit, _): .inverter(unit: unit)
        case .meter: .meter
        case .module(let unit): .module(unit: unit)
        }
    }

    public typealias Levels = (first: UInt16, levels: [Bool])

    public enum Content: Sendable {
        case registers([UInt16])
        case bits(inputs: Levels, coils: Levels)
    }

    /// Where the registers of inverters and meters begin.
    public static let base: UInt16 = 40_000

    public let unitID: UInt8
    private(set) var kind: Kind
    /// What it showed last.
    private var shown: [UInt16]?

    init(unitID: UInt8, _ kind: Kind) {
        self.unitID = unitID
        self.kind = kind
    }

    /// The devices of a site with their endpoints: the meter, then inverter and module of each unit.
    ///
    /// - Parameters:
    ///   - isShort: inverters have only the models that are read and written all the time.
    ///   - hidesSetpoint: inverters have no model 704.
    public static func all(
        of site: SiteConfig, _ plant: SimulatedSite, isShort: Bool = false, hidesSetpoint: Bool = false
    ) -> [(endpoint: ModbusEndpoint, device: SimulatedModbusDevice)] {
        var devices: [(endpoint: ModbusEndpoint, device: SimulatedModbusDevice)] = []
        if let meter = site.gridMeter?.modbus {
            devices.append((meter.endpoint, SimulatedModbusDevice(unitID: meter.unitID, .meter)))
        }
        for (index, unit) in site.units.enumerated() {
            var registers = InverterRegisters(
                unitID: unit.inverter.unitID, unit: plant.units[index], isShort: isShort)
            registers.hidesSetpoint = hidesSetpoint
            devices.append(
                (
                    unit.inverter.endpoint,
                    SimulatedModbusDevice(
                        unitID: unit.inverter.unitID, .inverter(unit: index, registers))
                ))
            guard let modbus = unit.ioModule?.modbus else { continue }
            devices.append(
                (modbus.endpoint, SimulatedModbusDevice(unitID: modbus.unitID, .module(unit: index))))
        }
        return devices
    }

    /// How it answers now.
    public func behaviour(at site: SimulatedSite) -> ModbusServedBehaviour {
        switch kind {
        case .inverter(let index, _): Self.behaviour(site.units[index])
        case .meter: site.isMeterSilent ? .silent : .answers
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
            registers.voltage = site.terminals.voltage
            let behaviour = behaviour(at: site)
            if unit.has(.inverterStuck), let shown { return (.registers(shown), behaviour) }
            let image = registers.image(unit, frequency: site.terminals.frequency)
            shown = image
            return (.registers(image), behaviour)
        case .meter:
            let view = site.meter
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
        case .meter: return .refused(exception: 2)
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
            switch result {
            case .refused(let exception): return .refused(exception: exception)
            case .stored(let isSetpoint): return .registers(unit: unit, setpointWritten: isSetpoint)
            }
        }
    }
}
