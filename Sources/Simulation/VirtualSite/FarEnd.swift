import BallastSimulator
import ModbusBus
import Quantities
import Scenario

/// The plant, and what came to it over the wires.
struct FarPlant {
    var site: SimulatedSite
    /// Since the last sample: the setpoint that was written to each unit's inverter.
    var written: [Watts?]
    var writtenAt: [MonotonicTime?]
    /// The main contactor's coil as somebody wrote it last.
    var mainCoil: [Bool?]
    /// When inverter and module of each unit gave a whole answer last.
    var inverterAnsweredAt: [MonotonicTime?]
    var moduleAnsweredAt: [MonotonicTime?]
    /// So far the controller's clock is behind the plant's: what it asks is dated by it.
    var asleep = Duration.zero

    init(_ site: SimulatedSite) {
        self.site = site
        written = site.units.map { _ in nil }
        writtenAt = site.units.map { _ in nil }
        mainCoil = site.units.map { _ in nil }
        inverterAnsweredAt = site.units.map { _ in nil }
        moduleAnsweredAt = site.units.map { _ in nil }
    }

    /// An answer came while it was waited for.
    ///
    /// - Parameter time: when it was asked for.
    mutating func note(_ answer: FarLink.Answer, _ time: MonotonicTime) {
        guard answer.isWhole else { return }
        switch answer.role {
        case .inverter(let unit): inverterAnsweredAt[unit] = time + asleep
        case .module(let unit): moduleAnsweredAt[unit] = time + asleep
        case .meter: break
        }
    }
}

/// The simulated devices behind one link.
struct FarLink {
    private var end: ModbusFarEnd
    private var devices: [SimulatedModbusDevice]
    private let isSerial: Bool
    /// Devices that have been read once: what they have is known.
    private var shown: Set<UInt8> = []

    init(_ devices: [SimulatedModbusDevice], isSerial: Bool) {
        end = ModbusFarEnd(isSerial: isSerial)
        self.isSerial = isSerial
        self.devices = devices
    }

    /// What comes back for a request.
    struct Answer {
        var bytes: [UInt8]
        /// How much later than usual.
        var delay: Duration
        var role: SimulatedModbusDevice.Role
        /// It answers what was asked.
        var isWhole: Bool
    }

    /// What comes back for the bytes of a request; `nil` = silence.
    mutating func answer(
        _ bytes: [UInt8], unit: UInt8, of plant: inout FarPlant, at now: MonotonicTime
    ) -> Answer? {
        guard let index = devices.firstIndex(where: { $0.unitID == unit }) else { return nil }
        let behaviour = devices[index].behaviour(at: plant.site)
        if !isWrite(bytes) || !shown.contains(unit) { show(index, plant.site) }
        end.setBehaviour(behaviour, unit: unit)
        var device = devices[index]
        let answer = end.answer(bytes) { write in
            switch device.store(write, in: &plant.site) {
            case .refused(let exception): return exception
            case .coils(let unit):
                plant.mainCoil[unit] = plant.site.units[unit].module?.isOn(.mainContactor)
            case .registers(let unit, setpointWritten: true):
                plant.written[unit] = plant.site.units[unit].inverter.setpoint.value
                plant.writtenAt[unit] = now + plant.asleep
            case .registers(_, setpointWritten: false): break
            }
            return nil
        }
        devices[index] = device
        return answer.map {
            Answer(bytes: $0.bytes, delay: $0.delay, role: device.role, isWhole: isWhole(behaviour))
        }
    }

    /// What a device shows is made anew for each reading; a write asks for none of it.
    private mutating func show(_ index: Int, _ site: SimulatedSite) {
        let unit = devices[index].unitID
        shown.insert(unit)
        switch devices[index].look(at: site).content {
        case .registers(let registers):
            end.setRegisters(registers, at: SimulatedModbusDevice.base, unit: unit)
        case .tables(let tables):
            end.setTables(
                holding: tables.holding.map { ($0.start, $0.values) },
                input: tables.input.map { ($0.start, $0.values) }, unit: unit)
        case .bits(let inputs, let coils):
            end.setInputs(inputs.levels, at: inputs.first, unit: unit)
            end.setCoils(coils.levels, at: coils.first, unit: unit)
        }
    }

    /// Function codes 5, 6, 15 and 16.
    private func isWrite(_ bytes: [UInt8]) -> Bool {
        let place = isSerial ? 1 : 7
        return bytes.indices.contains(place) && [5, 6, 15, 16].contains(bytes[place])
    }

    private func isWhole(_ behaviour: ModbusServedBehaviour) -> Bool {
        switch behaviour {
        case .answers, .slow: true
        // 10 and 11 are a gateway's words of a device that does not answer.
        case .exception(let code): code < 10
        case .silent, .half, .wrongUnit: false
        }
    }
}
