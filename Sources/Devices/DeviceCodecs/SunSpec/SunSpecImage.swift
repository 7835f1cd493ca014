/// The registers of one model while they are filled, by the names of its points. Every point says "not
/// implemented" until it is set.
public struct SunSpecImage: Sendable {
    public private(set) var registers: [UInt16]
    private var places: [String: SunSpecPlacedPoint] = [:]

    /// - Parameter counts: how often each group stands there, by the name of the point that tells; 0 without.
    public init(_ definition: SunSpecDefinition, counts: [String: UInt16] = [:]) {
        let most = 1_024
        let fixed = definition.placed(length: UInt16(most)) { _ in 0 }
        let told = Dictionary(
            fixed.compactMap { place in counts[place.path].map { (place.point.offset, $0) } },
            uniquingKeysWith: { first, _ in first })
        let all = definition.placed(length: UInt16(most)) { told[$0] ?? 0 }
        let end = Self.end(of: definition, all)
        registers = [UInt16](repeating: 0x8000, count: end)
        registers[0] = definition.id
        registers[1] = UInt16(end - 2)
        for place in all {
            places[place.path] = place
            clear(place.point)
        }
        for (offset, count) in told { registers[offset] = count }
    }

    /// Behind the last point, pads included.
    private static func end(of definition: SunSpecDefinition, _ all: [SunSpecPlacedPoint]) -> Int {
        var pads = 0
        if case .point(let last)? = definition.elements.last, last.type == .pad {
            pads =
                definition.elements.reversed().prefix {
                    if case .point(let point) = $0 { return point.type == .pad }
                    return false
                }.count
        }
        return (all.last.map { $0.point.offset + $0.point.type.size } ?? 2) + pads
    }

    /// Where a point stands; `nil` where the model has none of that name.
    public func place(_ path: String) -> SunSpecPlacedPoint? { places[path] }

    /// The power of ten of a scale factor point.
    public mutating func setScale(_ path: String, _ exponent: Int) {
        guard let place = places[path], (-10...10).contains(exponent) else { return }
        registers[place.point.offset] = UInt16(bitPattern: Int16(exponent))
    }

    /// A number in the point's unit; `nil`, or what the type cannot hold, says "not implemented". Set its
    /// scale
    /// factor first.
    public mutating func set(_ path: String, _ number: Double?) {
        guard let place = places[path] else { return }
        guard let number, number.isFinite, let raw = raw(number, place.point) else {
            return clear(place.point)
        }
        put(raw, place.point)
    }

    /// ASCII, cut to the point's length and padded with zeros.
    public mutating func set(_ path: String, text: String) {
        guard let place = places[path] else { return }
        let bytes = Array(text.utf8.prefix(2 * place.point.type.size))
        for index in 0..<place.point.type.size {
            let high = 2 * index < bytes.count ? UInt16(bytes[2 * index]) << 8 : 0
            let low = 2 * index + 1 < bytes.count ? UInt16(bytes[2 * index + 1]) : 0
            registers[place.point.offset + index] = high | low
        }
    }

    /// The number that stands in a point, scaled; `nil` where it has none.
    public func number(_ path: String) -> Double? {
        guard let place = places[path] else { return nil }
        return registers.withUnsafeBufferPointer {
            SunSpecBlock($0, length: registers[1]).value(place.point).number
        }
    }

    /// Puts raw registers at an offset from the ID register, as a client's write does.
    ///
    /// - Returns: the points that were written; `nil` where one of them cannot be written, or only a part of
    ///   it was
    ///   to be: then nothing is changed.
    public mutating func store(_ values: [UInt16], at offset: Int) -> [String]? {
        let range = offset..<(offset + values.count)
        guard offset >= 2, range.upperBound <= registers.count else { return nil }
        var written: [String] = []
        var covered = 0
        for (path, place) in places {
            let end = place.point.offset + place.point.type.size
            guard range.overlaps(place.point.offset..<end) else { continue }
            guard place.definition.isWritable, range.lowerBound <= place.point.offset, end <= range.upperBound
            else { return nil }
            written.append(path)
            covered += place.point.type.size
        }
        guard covered == values.count else { return nil }
        registers.replaceSubrange(range, with: values)
        return written
    }

    private func raw(_ number: Double, _ point: SunSpecPoint) -> UInt64? {
        if point.type == .float32 { return UInt64(Float(number).bitPattern) }
        var scaled = number
        if let scale = point.scale {
            guard let factor = SunSpecScale(register: registers[scale]) else { return nil }
            scaled = factor.remove(number)
        }
        scaled.round()
        switch point.type {
        case .int16, .scaleFactor:
            return Int16(exactly: scaled).map { UInt64(UInt16(bitPattern: $0)) }
        case .int32: return Int32(exactly: scaled).map { UInt64(UInt32(bitPattern: $0)) }
        case .uint16, .enum16, .bitfield16, .count: return UInt16(exactly: scaled).map { UInt64($0) }
        case .uint32, .bitfield32, .acc32: return UInt32(exactly: scaled).map { UInt64($0) }
        case .uint64, .acc64: return UInt64(exactly: scaled)
        case .float32, .string, .pad: return nil
        }
    }

    private mutating func put(_ raw: UInt64, _ point: SunSpecPoint) {
        for index in 0..<point.type.size {
            let shift = UInt64(16 * (point.type.size - 1 - index))
            registers[point.offset + index] = UInt16(truncatingIfNeeded: raw >> shift)
        }
    }

    private mutating func clear(_ point: SunSpecPoint) {
        switch point.type {
        case .int16, .scaleFactor, .pad: put(0x8000, point)
        case .int32: put(0x8000_0000, point)
        case .float32: put(0x7FC0_0000, point)
        case .acc32, .acc64, .string:
            for index in 0..<point.type.size { registers[point.offset + index] = 0 }
        case .uint16, .uint32, .uint64, .enum16, .bitfield16, .bitfield32, .count: put(.max, point)
        }
    }
}
