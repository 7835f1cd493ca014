import LinuxIO
import ModbusBus
import Quantities
import Scenario

/// What answers under one unit id of a Modbus wire.
enum ModbusDevice {
    case inverter(unit: Int, InverterRegisters)
    case meter(unitID: UInt8)
    case module(unit: Int, unitID: UInt8)

    var unitID: UInt8 {
        switch self {
        case .inverter(_, let registers): registers.unitID
        case .meter(let unitID): unitID
        case .module(_, let unitID): unitID
        }
    }
}

/// The simulated devices behind one Modbus endpoint. Belongs to one thread.
final class ModbusWire {
    static let base: UInt16 = 40_000
    /// How old the registers are at most when a request is answered.
    static let refresh = Duration.milliseconds(2)

    private let plant: SimulatedPlant
    private var devices: [ModbusDevice]
    private var server: ModbusServer
    /// What each inverter showed last.
    private var stuck: [UInt8: [UInt16]] = [:]
    /// Keeps a pseudo-terminal's line up.
    private let heldOpen: FileDescriptor?

    init(
        listeningOn host: String, port: UInt16, plant: SimulatedPlant, devices: [ModbusDevice]
    ) throws(SystemError) {
        server = try ModbusServer(listeningOn: host, port: port)
        heldOpen = nil
        self.plant = plant
        self.devices = devices
        addBlocks()
    }

    init(
        line terminal: consuming PseudoTerminal, plant: SimulatedPlant, devices: [ModbusDevice]
    ) throws(SystemError) {
        heldOpen = consume terminal.device
        server = try ModbusServer(serial: terminal.controller)
        self.plant = plant
        self.devices = devices
        addBlocks()
    }

    var port: UInt16 { server.port }

    private func addBlocks() {
        for device in devices {
            switch state(of: device).content {
            case .registers(let registers):
                server.addBlock(unit: device.unitID, start: Self.base, registers: registers)
            case .bits(let inputs, let coils):
                server.addBits(.discreteInputs, unit: device.unitID, start: inputs.first, inputs.levels)
                server.addBits(.coils, unit: device.unitID, start: coils.first, coils.levels)
            }
        }
    }

    func run(until stop: StopFlag) {
        while !stop.isRaised {
            for device in devices {
                let state = state(of: device)
                refresh(device.unitID, state.content)
                server.setBehaviour(state.behaviour, unit: device.unitID)
            }
            server.poll(timeout: Self.refresh) { store($0) }
        }
    }

    private func refresh(_ unitID: UInt8, _ content: Content) {
        switch content {
        case .registers(let registers): server.set(registers, unit: unitID, at: Self.base)
        case .bits(let inputs, let coils):
            server.setBits(.discreteInputs, unit: unitID, at: inputs.first, inputs.levels)
            server.setBits(.coils, unit: unitID, at: coils.first, coils.levels)
        }
    }

    private typealias Levels = (first: UInt16, levels: [Bool])

    private enum Content {
        case registers([UInt16])
        case bits(inputs: Levels, coils: Levels)
    }

    private func state(of device: ModbusDevice) -> (content: Content, behaviour: ModbusServedBehaviour) {
        switch device {
        case .inverter(let index, var registers):
            let (unit, frequency) = plant.with { ($0.site.units[index], $0.site.frequency) }
            registers.isRescaled = unit.has(.inverterScale)
            if unit.has(.inverterStuck), let stuck = stuck[device.unitID] {
                return (.registers(stuck), Self.behaviour(unit))
            }
            let image = registers.image(unit, frequency: frequency)
            stuck[device.unitID] = image
            return (.registers(image), Self.behaviour(unit))
        case .meter(let unitID):
            let (meter, isSilent) = plant.with {
                (
                    MeterRegisters(frequency: $0.site.frequency, power: $0.site.meterPower),
                    $0.site.isMeterSilent
                )
            }
            return (.registers(meter.image(unitID: unitID)), isSilent ? .silent : .answers)
        case .module(let index, _):
            let unit = plant.with { $0.site.units[index] }
            let none: Levels = (0, [])
            return (
                .bits(inputs: unit.inputLevels ?? none, coils: unit.module?.coils ?? none),
                unit.has(.ioSilence) ? .silent : .answers
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
            case .inverterScale, .inverterStuck, .inverterDisobeys, .inverterFault, .inverterKeepsPower,
                .cellOverheat, .cellOvervoltage, .cellUndervoltage, .bmsAlarm, .bmsSilence, .bmsGarbage,
                .bmsFrozen, .bmsStuck, .bmsJitter, .bmsShortFrames, .bmsBadChecksum, .bmsBusOff,
                .meterSilence,
                .pmuSilence, .emergencyStop, .smoke, .gas, .door, .contactorWeld, .contactorRefuses,
                .ioSilence, .wireBreak:
                break
            }
        }
        return behaviour
    }

    /// - Returns: the exception code with which the write is refused; `nil` = taken.
    private func store(_ write: ModbusWrite) -> UInt8? {
        guard let position = devices.firstIndex(where: { $0.unitID == write.unit }) else { return 2 }
        switch devices[position] {
        case .meter: return 2
        case .module(let unit, _):
            if write.table != .coils { return 2 }
            let now = MonotonicTime.now()
            plant.with { state in
                state.site.units[unit].module?.write(write.values.map { $0 != 0 }, at: write.address)
                let isOff = state.site.units[unit].module?.energised.isEmpty ?? true
                state.coilsOffSince[unit] = isOff ? state.coilsOffSince[unit] ?? now : nil
            }
            return nil
        case .inverter(let unit, var registers):
            let now = MonotonicTime.now()
            let offset = Int(write.address) - Int(Self.base)
            registers.isRescaled = plant.with { $0.site.units[unit].has(.inverterScale) }
            let result = plant.with { state in
                let result = registers.write(
                    write.values, at: offset, to: &state.site.units[unit].inverter)
                if result == .stored(setpointWritten: true) {
                    let setpoint = state.site.units[unit].inverter.setpoint.value
                    state.latency.setpointWritten(setpoint, unit: unit, at: now)
                }
                return result
            }
            devices[position] = .inverter(unit: unit, registers)
            switch result {
            case .refused(let exception): return exception
            case .stored: return nil
            }
        }
    }
}
