import DeviceCodecs
import ModbusBus

/// What answers under one unit number.
public enum ScannedUnit: Sendable, Equatable {
    case silent
    /// It answers, but has no SunSpec marker. The last refusal, where it refused.
    case notSunSpec(ModbusError?)
    case sunSpec(SunSpecMap)
}

extension CommissioningClient {
    /// Looks for a device and its chain of SunSpec models.
    ///
    /// - Parameter bases: where the marker is looked for.
    /// - Throws: what keeps every unit from being asked: no connection, no such port.
    public mutating func scan(
        unit: UInt8, bases: [UInt16] = SunSpecScan.bases
    ) throws(ModbusError) -> ScannedUnit {
        var scan = SunSpecScan(bases: bases)
        var (hasAnswered, refusal) = (false, ModbusError?.none)
        while case .read(let address, let count) = scan.next {
            do throws(ModbusError) {
                let answer = try registers(.holding, unit: unit, address: address, count: count)
                hasAnswered = true
                answer.withUnsafeBufferPointer { scan.answered($0) }
            } catch {
                switch error {
                case .exception(10), .exception(11), .timeout: break
                case .exception, .badAnswer: (hasAnswered, refusal) = (true, error)
                case .disconnected, .unusableAddress, .tooManyDescriptors, .system: throw error
                }
                scan.refused()
            }
        }
        if case .found(let map) = scan.next { return .sunSpec(map) }
        return hasAnswered ? .notSunSpec(refusal) : .silent
    }

    /// Everything that stands in one model.
    ///
    /// A long model comes in several answers; where a scale factor has changed between them, all is read
    /// again.
    public mutating func read(
        unit: UInt8, _ place: SunSpecModelPlace
    ) throws(ModbusError) -> SunSpecReading {
        let count = Int(place.length) + 2
        var registers = try registers(.holding, unit: unit, address: place.start, count: count)
        var reading = SunSpecReading(place, registers)
        guard registers.count > 125, let last = reading.scaleOffsets.max() else { return reading }
        for _ in 0..<3 {
            let head = try self.registers(
                .holding, unit: unit, address: place.start, count: min(125, last + 1))
            let isSteady = reading.scaleOffsets.allSatisfy { $0 >= head.count || head[$0] == registers[$0] }
            if isSteady { return reading }
            registers = try self.registers(.holding, unit: unit, address: place.start, count: count)
            reading = SunSpecReading(place, registers)
        }
        return reading
    }
}

/// One model of a device as it was read.
public struct SunSpecReading: Sendable {
    public struct Line: Sendable, Equatable {
        public let path: String
        /// Protocol address of the first register.
        public let address: Int
        /// The value in words: scaled, with names; `nil` where the point is not implemented.
        public let value: String?
        public let unit: String
        public let isWritable: Bool
    }

    public let place: SunSpecModelPlace
    /// `nil` where we know no model of that number.
    public let title: String?
    public let lines: [Line]
    let scaleOffsets: [Int]

    public init(_ place: SunSpecModelPlace, _ registers: [UInt16]) {
        self.place = place
        let definition = SunSpecDefinition(place.id)
        title = definition?.title
        let points =
            definition?.placed(length: place.length) { $0 < registers.count ? registers[$0] : nil } ?? []
        scaleOffsets = Array(Set(points.compactMap(\.point.scale)))
        lines = registers.withUnsafeBufferPointer { buffer in
            let block = SunSpecBlock(buffer, length: place.length)
            return points.map { point in
                Line(
                    path: point.path, address: Int(place.start) + point.point.offset,
                    value: Self.text(point, block),
                    unit: point.definition.unit.split(separator: "_").joined(separator: " "),
                    isWritable: point.definition.isWritable)
            }
        }
    }

    private static func text(_ point: SunSpecPlacedPoint, _ block: SunSpecBlock) -> String? {
        if case .string = point.point.type {
            let text = block.text(point.point).string
            return text.isEmpty ? nil : text
        }
        switch block.value(point.point) {
        case .notImplemented: return nil
        case .unusableScale: return "unusable: its scale factor is not -10 … 10"
        case .number(let number): return text(number, point, block)
        }
    }

    private static func text(
        _ number: Double, _ point: SunSpecPlacedPoint, _ block: SunSpecBlock
    ) -> String {
        let exponent = point.point.scale.flatMap(block.register).map { Int(Int16(bitPattern: $0)) } ?? 0
        let shown = point.point.type == .float32 ? "\(number)" : decimal(number, max(0, -exponent))
        let names = block.bits(point.point).map(point.names) ?? []
        return names.isEmpty ? shown : "\(shown) \(names.joined(separator: ", "))"
    }

    /// With so many digits behind the point as the scale factor has.
    static func decimal(_ number: Double, _ digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let whole = (number.magnitude * scale).rounded()
        guard whole < 9e18 else { return "\(number)" }
        var text = String(UInt64(whole))
        if digits > 0 {
            text = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
            text.insert(".", at: text.index(text.endIndex, offsetBy: -digits))
        }
        return number < 0 && whole > 0 ? "-" + text : text
    }
}
