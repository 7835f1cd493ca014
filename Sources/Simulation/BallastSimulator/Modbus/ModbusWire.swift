import LinuxIO
import ModbusBus
import Quantities
import Scenario

/// The simulated devices behind one Modbus endpoint. Belongs to one thread.
final class ModbusWire {
    /// How old the registers are at most when a request is answered: the plant has nothing newer in between.
    static let refresh = SimulatedPlant.step

    private let plant: SimulatedPlant
    private var devices: [SimulatedModbusDevice]
    private var server: ModbusServer
    /// Keeps a pseudo-terminal's line up.
    private let heldOpen: FileDescriptor?

    init(
        listeningOn host: String, port: UInt16, plant: SimulatedPlant, devices: [SimulatedModbusDevice]
    ) throws(SystemError) {
        server = try ModbusServer(listeningOn: host, port: port)
        heldOpen = nil
        self.plant = plant
        self.devices = devices
        addBlocks()
    }

    init(
        line terminal: consuming PseudoTerminal, plant: SimulatedPlant, devices: [SimulatedModbusDevice]
    ) throws(SystemError) {
        heldOpen = consume terminal.device
        server = try ModbusServer(serial: terminal.controller)
        self.plant = plant
        self.devices = devices
        addBlocks()
    }

    var port: UInt16 { server.port }

    private func addBlocks() {
        for index in devices.indices {
            let device = devices[index]
            switch look(index).content {
            case .registers(let registers):
                server.addBlock(
                    unit: device.unitID, start: SimulatedModbusDevice.base, registers: registers)
            case .tables(let tables): setTables(tables, unit: device.unitID)
            case .bits(let inputs, let coils):
                server.addBits(.discreteInputs, unit: device.unitID, start: inputs.first, inputs.levels)
                server.addBits(.coils, unit: device.unitID, start: coils.first, coils.levels)
            }
        }
    }

    func run(until stop: StopFlag) {
        while !stop.isRaised {
            for index in devices.indices {
                let seen = look(index)
                refresh(devices[index].unitID, seen.content)
                server.setBehaviour(seen.behaviour, unit: devices[index].unitID)
            }
            server.poll(timeout: Self.refresh) { store($0) }
        }
    }

    private typealias Seen = (content: SimulatedModbusDevice.Content, behaviour: ModbusServedBehaviour)

    private func look(_ index: Int) -> Seen {
        let site = plant.with { $0.site }
        return devices[index].look(at: site)
    }

    private func refresh(_ unitID: UInt8, _ content: SimulatedModbusDevice.Content) {
        switch content {
        case .registers(let registers):
            server.set(registers, unit: unitID, at: SimulatedModbusDevice.base)
        case .tables(let tables): setTables(tables, unit: unitID)
        case .bits(let inputs, let coils):
            server.setBits(.discreteInputs, unit: unitID, at: inputs.first, inputs.levels)
            server.setBits(.coils, unit: unitID, at: coils.first, coils.levels)
        }
    }

    private func setTables(_ tables: SimulatedModbusDevice.Tables, unit: UInt8) {
        server.setTables(
            unit: unit, holding: tables.holding.map { ($0.start, $0.values) },
            input: tables.input.map { ($0.start, $0.values) })
    }

    /// - Returns: the exception code with which the write is refused; `nil` = taken.
    private func store(_ write: ModbusWrite) -> UInt8? {
        guard let position = devices.firstIndex(where: { $0.unitID == write.unit }) else { return 2 }
        let now = MonotonicTime.now()
        var device = devices[position]
        defer { devices[position] = device }
        return plant.with { state in
            switch device.store(write, in: &state.site) {
            case .refused(let exception): return exception
            case .coils(let unit):
                let isOff = state.site.units[unit].module?.energised.isEmpty ?? true
                state.coilsOffSince[unit] = isOff ? state.coilsOffSince[unit] ?? now : nil
            case .registers(let unit, setpointWritten: true):
                let setpoint = state.site.units[unit].inverter.setpoint.value
                state.latency.setpointWritten(setpoint, unit: unit, at: now)
            case .registers(_, setpointWritten: false): break
            }
            return nil
        }
    }
}
