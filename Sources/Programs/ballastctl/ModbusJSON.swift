import ControlSocket
import DeviceDrivers
import LinuxIO
import ModbusCommissioning

/// What the commands of `ballastctl modbus` print with `--json`.
protocol JSONPrinted: Encodable {}

extension JSONPrinted {
    func print() {
        guard let bytes = JSONLine.encode(self) else { return }
        Swift.print(String(decoding: bytes, as: UTF8.self), terminator: "")
    }
}

/// One thing that stands in a device. What does not belong to its kind is absent.
struct ModbusLine: JSONPrinted {
    /// device, model, point, register or failure.
    var kind: String
    var unit: UInt8
    var base: UInt16?
    var models: Int?
    var note: String?
    var model: UInt16?
    var title: String?
    var address: Int?
    var length: UInt16?
    var name: String?
    /// As a text, with the device's own number of decimals; absent where the device has none.
    var value: String?
    var symbol: String?
    var writable: Bool?
    /// A register or bit as it stands.
    var raw: UInt16?
    var failure: String?

    init(_ unit: UInt8, _ finding: ScanFinding) {
        self.unit = unit
        switch finding {
        case .device(let base, let models, let note):
            kind = "device"
            self.base = base
            self.models = models
            self.note = note.isEmpty ? nil : note
        case .model(let id, let title, let start, let length):
            kind = "model"
            (model, self.title, address, self.length) = (id, title, Int(start), length)
        case .point(let line):
            kind = "point"
            (address, name, value) = (Int(line.address), line.path, line.value)
            symbol = line.unit.isEmpty ? nil : line.unit
            writable = line.isWritable
        case .failure(let reason):
            kind = "failure"
            failure = reason
        }
    }

    init(_ unit: UInt8, _ value: DriverValue) {
        self.unit = unit
        kind = value.refusal == nil ? "point" : "failure"
        (address, name, self.value, failure) = (Int(value.address), value.name, value.value, value.refusal)
    }

    init(_ unit: UInt8, address: Int, raw: UInt16) {
        kind = "register"
        (self.unit, self.address, self.raw) = (unit, address, raw)
    }
}

/// What came of a write.
struct ModbusWritten: JSONPrinted {
    var unit: UInt8
    var done: String
    /// ballastd, or ballastctl where none runs.
    var written_by: String
}

/// What a driver file is.
struct DriverSummary: JSONPrinted {
    struct Register: Encodable {
        var name: String
        var address: UInt16
        var table: String
        var type: String
        var unit: String?
        var writable: Bool
    }

    var name: String
    var kind: String
    var driven: Bool
    var registers: [Register]

    init(_ map: DeviceDriver) {
        (name, kind, driven) = (map.name, map.kind.rawValue, map.control != nil)
        registers = map.registers.map { register in
            Register(
                name: register.name, address: register.address, table: register.table.rawValue,
                type: register.type.rawValue, unit: register.unit.isEmpty ? nil : register.unit,
                writable: register.isWritable)
        }
    }
}
