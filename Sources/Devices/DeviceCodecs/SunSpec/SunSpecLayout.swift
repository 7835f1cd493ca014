/// A point at its place in one device's model.
public struct SunSpecPlacedPoint: Sendable {
    /// With its groups: `Crv[2].Pt[1].V`; the groups' numbers count from 1.
    public let path: String
    public let definition: SunSpecDefinition.Point
    /// Offset, type and scale factor for reading it.
    public let point: SunSpecPoint

    /// The names of the values, or bits, that stand in `bits`.
    public func names(of bits: UInt32) -> [String] {
        switch definition.type {
        case .bitfield16, .bitfield32:
            definition.symbols.filter { $0.number < 32 && bits >> $0.number & 1 == 1 }.map(\.name)
        case .enum16, .uint16: definition.symbols.filter { $0.number == bits }.map(\.name)
        case .int16, .int32, .uint32, .uint64, .float32, .acc32, .acc64, .count, .scaleFactor, .string, .pad:
            []
        }
    }
}

extension SunSpecDefinition {
    /// The points of a device's model, each group as often as the device says. Points beyond its length are
    /// absent, and so are pads.
    ///
    /// - Parameters:
    ///   - length: the L that the device states.
    ///   - register: what stands at an offset from the ID register.
    public func placed(length: UInt16, _ register: @escaping (Int) -> UInt16?)
        -> [SunSpecPlacedPoint]
    {
        var layout = SunSpecLayout(end: Int(length) + 2, register: register)
        layout.add(elements, path: "", isTop: true)
        return layout.points
    }
}

private struct SunSpecLayout {
    let end: Int
    let register: (Int) -> UInt16?
    var points: [SunSpecPlacedPoint] = []
    var offset = 2
    /// Where the points of the fixed block stand: scale factors and counts are looked up there.
    var top: [String: Int] = [:]

    init(end: Int, register: @escaping (Int) -> UInt16?) {
        self.end = end
        self.register = register
    }

    mutating func add(_ elements: [SunSpecDefinition.Element], path: String, isTop: Bool) {
        if isTop { placeTop(elements) }
        for element in elements where offset < end {
            switch element {
            case .point(let point):
                add(point, path)
            case .group(let group):
                let count = self.count(group.count)
                guard !group.elements.isEmpty else { continue }
                for index in 0..<count where offset < end {
                    let name = count == 1 ? "\(path)\(group.name)." : "\(path)\(group.name)[\(index + 1)]."
                    add(group.elements, path: name, isTop: false)
                }
            }
        }
    }

    private mutating func placeTop(_ elements: [SunSpecDefinition.Element]) {
        var place = offset
        for case .point(let point) in elements {
            top[point.name] = place
            place += point.type.size
        }
    }

    private mutating func add(_ point: SunSpecDefinition.Point, _ path: String) {
        let place = offset
        offset += point.type.size
        guard offset <= end, point.type != .pad else { return }
        let scale = point.scale.flatMap { top[$0] }
        points.append(
            SunSpecPlacedPoint(
                path: path + point.name, definition: point,
                point: SunSpecPoint("", place, point.type, scale: scale)))
    }

    /// A device that does not tell how many there are has none.
    private func count(_ text: String) -> Int {
        if let number = Int(text) { return number }
        guard let place = top[text], let value = register(place), value != 0xFFFF else { return 0 }
        return Int(value)
    }
}
