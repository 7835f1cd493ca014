import LinuxIO
import ModbusBus
import Quantities
import Scenario

/// What answers under one unit id of a Modbus wire.
enum ModbusDevice {
    case inverter(unit: Int, InverterRegisters)
    case meter(unitID: UInt8)

    var unitID: UInt8 {
        switch self {
        case .inverter(_, let registers): registers.unitID
        case .meter(let unitID): unitID
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
            server.addBlock(unit: device.unitID, start: Self.base, registers: state(of: device).registers)
        }
    }

    func run(until stop: StopFlag) {
        while !stop.isRaised {
            for device in devices {
                let state = state(of: device)
                server.set(state.registers, unit: device.unitID, at: Self.base)
                server.setBehaviour(state.isSilent ? .silent : .answers, unit: device.unitID)
            }
            server.poll(timeout: Self.refresh) { store($0) }
        }
    }

    private func state(of device: ModbusDevice) -> (registers: [UInt16], isSilent: Bool) {
        switch device {
        case .inverter(let index, let registers):
            let (unit, frequency) = plant.with { ($0.site.units[index], $0.site.frequency) }
            return (registers.image(unit, frequency: frequency), unit.has(.inverterSilence))
        case .meter(let unitID):
            let (meter, isSilent) = plant.with {
                (
                    MeterRegisters(frequency: $0.site.frequency, power: $0.site.meterPower),
                    $0.site.isMeterSilent
                )
            }
            return (meter.image(unitID: unitID), isSilent)
        }
    }

    /// - Returns: the exception code with which the write is refused; `nil` = taken.
    private func store(_ write: ModbusWrite) -> UInt8? {
        guard let position = devices.firstIndex(where: { $0.unitID == write.unit }) else { return 2 }
        switch devices[position] {
        case .meter: return 2
        case .inverter(let unit, var registers):
            let now = MonotonicTime.now()
            let offset = Int(write.address) - Int(Self.base)
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
