import ControlSocket
import DeviceCodecs
import LinuxIO
import ModbusBus
import Plant
import Quantities
import SiteConfig
import Synchronization

/// Takes a person's writes to Modbus devices to the owner of their link.
///
/// A device of a unit is written only while that unit is in maintenance, the meter only while all are. What
/// the driver drives, and what protects a device, the link's owner refuses always.
final class ModbusDesk: Sendable {
    struct Place: Sendable {
        var endpoint: ModbusEndpoint
        var unitID: UInt8
        /// Index of the unit; `nil` = the site's.
        var unit: Int?
    }

    private let places: [Place]
    private let units: [String]
    private let ports: [(endpoint: ModbusEndpoint, port: ModbusServicePort)]
    private let tickets = Atomic<UInt64>(0)

    /// Without any device.
    init() {
        places = []
        units = []
        ports = []
    }

    init(_ config: SiteConfig, ports: [(endpoint: ModbusEndpoint, port: ModbusServicePort)]) {
        var places: [Place] = []
        for (index, unit) in config.units.enumerated() {
            for modbus in [unit.inverter, unit.ioModule?.modbus].compactMap({ $0 }) {
                places.append(Place(endpoint: modbus.endpoint, unitID: modbus.unitID, unit: index))
            }
        }
        if let meter = config.gridMeter?.modbus {
            places.append(Place(endpoint: meter.endpoint, unitID: meter.unitID, unit: nil))
        }
        self.places = places
        self.ports = ports
        units = config.units.map(\.id)
    }

    /// - Parameter modes: of the units, as the status tells them.
    func write(_ request: ControlRequest, modes: [String]) -> ControlAnswer {
        guard let modbus = request.modbus else { return ControlAnswer(error: "modbus_write needs modbus") }
        let place = places.first { $0.unitID == modbus.unit_id && $0.endpoint.name == modbus.device }
        guard let place, let port = ports.first(where: { $0.endpoint == place.endpoint })?.port else {
            return ControlAnswer(
                error: "the site has no device \(modbus.unit_id) at \(modbus.device); while the daemon runs"
                    + " only its own devices are written")
        }
        if let refusal = refusal(place, modes) { return ControlAnswer(error: refusal) }
        let ticket = tickets.add(1, ordering: .relaxed).newValue
        let write = ModbusServiceWrite(
            unit: modbus.unit_id, isCoils: modbus.is_coils, address: modbus.address, values: modbus.values,
            ticket: ticket)
        guard let write, port.ask(write) else { return ControlAnswer(error: "the link takes no write now") }
        let deadline = MonotonicTime.now() + .seconds(4)
        while MonotonicTime.now() < deadline {
            if let outcome = port.outcome(of: ticket) { return Self.answer(outcome, modbus) }
            (MonotonicTime.now() + .milliseconds(2)).sleep()
        }
        return ControlAnswer(error: "the link has not got to it within 4 s; it may still be written")
    }

    private func refusal(_ place: Place, _ modes: [String]) -> String? {
        let concerned = place.unit.map { [$0] } ?? Array(units.indices)
        let others = concerned.filter { $0 >= modes.count || modes[$0] != "maintenance" }
        guard !others.isEmpty else { return nil }
        let names = others.map { units[$0] }.joined(separator: ", ")
        return "\(names) \(others.count > 1 ? "are" : "is") not in maintenance:"
            + " ballastctl mode UNIT maintenance --for 1h --reason ..."
    }

    private static func answer(
        _ outcome: ModbusServiceOutcome, _ write: ModbusWriteRequest
    ) -> ControlAnswer {
        switch outcome {
        case .written: return ControlAnswer(done: "written: \(write.summary)")
        case .failed(let error): return ControlAnswer(error: "not written: \(ExceptionText.text(error))")
        case .noSuchDevice: return ControlAnswer(error: "the link has no device \(write.unit_id)")
        case .notScanned:
            return ControlAnswer(
                error:
                    "the device's models are not known yet: what drives or protects it cannot be told apart")
        case .driven: return ControlAnswer(error: "the driver drives it: stop the daemon to write it by hand")
        case .standardModel(let id):
            return ControlAnswer(
                error: "it lies in SunSpec model \(id), which drives or protects the device: stop the daemon"
                    + " to write it by hand")
        case .protected:
            return ControlAnswer(
                error: "the device's driver file protects it: stop the daemon to write it by hand")
        }
    }
}
