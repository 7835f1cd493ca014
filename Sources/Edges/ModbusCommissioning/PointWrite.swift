import DeviceCodecs
import ModbusBus

/// What is to be written, worked out before anything is: registers or coils, and what they mean.
public struct PlannedWrite: Sendable, Equatable {
    public let unit: UInt8
    public let isCoils: Bool
    public let address: UInt16
    public let values: [UInt16]
    /// `704 WSetEna, register 40123`.
    public let name: String
}

/// Why a write cannot be worked out.
public struct WriteFault: Error, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
}

extension CommissioningClient {
    /// Works out the write of a SunSpec point: where it stands in this device, and its registers.
    ///
    /// - Parameters:
    ///   - path: as a scan shows it: `WSetEna`, `Crv[2].Pt[1].V`.
    ///   - number: in the point's unit, or the number of an enumeration.
    public mutating func plan(
        unit: UInt8, model: UInt16, path: String, _ number: Double
    ) throws -> PlannedWrite {
        guard case .sunSpec(let map) = try scan(unit: unit) else {
            throw WriteFault("unit \(unit) is no SunSpec device")
        }
        guard let place = map.first(model) else { throw WriteFault("unit \(unit) has no model \(model)") }
        let registers = try registers(
            .holding, unit: unit, address: place.start, count: Int(place.length) + 2)
        let points = SunSpecDefinition(model)?.placed(length: place.length) {
            $0 < registers.count ? registers[$0] : nil
        }
        guard let point = points?.first(where: { $0.path == path }) else {
            throw WriteFault("model \(model) of unit \(unit) has no point \(path)")
        }
        guard point.definition.isWritable else { throw WriteFault("\(path) can only be read") }
        let address = Int(place.start) + point.point.offset
        guard let values = point.registers(of: number, in: registers) else {
            throw WriteFault("\(path) cannot hold \(number)")
        }
        return PlannedWrite(
            unit: unit, isCoils: false, address: UInt16(clamping: address), values: values,
            name: "\(model) \(path), register \(address)")
    }

    /// What stands there now.
    public mutating func current(_ write: PlannedWrite) throws(ModbusError) -> [UInt16] {
        let count = write.values.count
        if write.isCoils {
            return try bits(.coils, unit: write.unit, address: write.address, count: count).map {
                $0 ? 1 : 0
            }
        }
        return try registers(.holding, unit: write.unit, address: write.address, count: count)
    }

    /// Writes.
    public mutating func perform(_ write: PlannedWrite) throws(ModbusError) {
        if write.isCoils {
            try writeCoils(unit: write.unit, address: write.address, write.values.map { $0 != 0 })
        } else {
            try self.write(unit: write.unit, address: write.address, write.values)
        }
    }
}

extension PlannedWrite {
    public init(unit: UInt8, isCoils: Bool, address: UInt16, values: [UInt16]) {
        self.unit = unit
        self.isCoils = isCoils
        self.address = address
        self.values = values
        let last = Int(address) + values.count - 1
        let kind = isCoils ? "coil" : "register"
        name = values.count > 1 ? "\(kind)s \(address) … \(last)" : "\(kind) \(address)"
    }
}

extension SunSpecPlacedPoint {
    /// The registers of a number, scaled as the device has it now; `nil` where the point cannot hold it.
    func registers(of number: Double, in model: [UInt16]) -> [UInt16]? {
        var scaled = number
        if let scale = point.scale {
            guard scale < model.count, let factor = SunSpecScale(register: model[scale]) else { return nil }
            scaled = factor.remove(number)
        }
        let whole = scaled.rounded()
        switch point.type {
        case .int16: return Int16(exactly: whole).map { [UInt16(bitPattern: $0)] }
        case .uint16, .enum16, .bitfield16: return UInt16(exactly: whole).map { [$0] }
        case .int32: return Int32(exactly: whole).map { Self.pair(UInt32(bitPattern: $0)) }
        case .uint32, .bitfield32: return UInt32(exactly: whole).map(Self.pair)
        case .float32: return number.isFinite ? Self.pair(Float(number).bitPattern) : nil
        case .uint64, .acc32, .acc64, .count, .scaleFactor, .string, .pad: return nil
        }
    }

    private static func pair(_ bits: UInt32) -> [UInt16] { [UInt16(bits >> 16), UInt16(bits & 0xFFFF)] }
}
