import DeviceCodecs
import Testing

@Suite struct `SunSpec model definitions` {
    static let wanted: [UInt16] =
        [1, 101, 102, 103, 111, 112, 113, 120, 121, 122, 123, 124, 160] + Array(201...204)
        + Array(211...214) + Array(701...715) + Array(802...805)

    /// The name that one definition alone has for a point; its place and type are the same.
    static let renamed = ["PPVphAB": "PhVphAB", "PPVphBC": "PhVphBC", "PPVphCA": "PhVphCA"]

    @Test func `every point of every model agrees with pysunspec2, and none is missing`() throws {
        #expect(Set(SunSpecDefinition.ids) == Set(Self.wanted))
        let judged = try `SunSpec model tables`.lines(
            "sunspec_definitions.py", Self.wanted.map { String($0) })
        let theirs = Set(judged.map { Self.ours($0) })
        let ours = Set(Self.wanted.flatMap(Self.lines(of:)))
        #expect(ours.count > 1_400)
        #expect(ours.subtracting(theirs).sorted() == [])
        #expect(theirs.subtracting(ours).sorted() == [])
    }

    private static func ours(_ line: Substring) -> String {
        var words = line.split(separator: " ").map(String.init)
        if words[0] == "201", let name = renamed[words[1]] { words[1] = name }
        return words.joined(separator: " ")
    }

    private static func lines(of id: UInt16) -> [String] {
        guard let definition = SunSpecDefinition(id) else { return [] }
        var offset = 2
        return lines(definition.elements, "\(id) ", &offset)
    }

    private static func lines(
        _ elements: [SunSpecDefinition.Element], _ path: String, _ offset: inout Int
    ) -> [String] {
        elements.flatMap { element -> [String] in
            switch element {
            case .group(let group): return lines(group.elements, "\(path)\(group.name).", &offset)
            case .point(let point):
                let place = offset
                offset += point.type.size
                let type = `SunSpec model tables`.text(point.type)
                let name = type == "scaleFactor" ? "sunssf" : type
                return [
                    "\(path)\(point.name) \(place) \(name):\(point.type.size) \(point.scale ?? "-") "
                        + "\(point.isWritable ? "RW" : "R") \(point.unit.isEmpty ? "-" : point.unit)"
                ]
            }
        }
    }

    @Test func `groups stand as often as the device says, and never beyond its length`() throws {
        let definition = try #require(SunSpecDefinition(705))
        var image = SunSpecImage(definition, counts: ["NPt": 2, "NCrv": 3])
        #expect(image.registers.count == 15 + 3 * (10 + 2 * 2))
        image.setScale("V_SF", -1)
        image.set("Crv[3].Pt[2].V", 104.5)
        let registers = image.registers
        let points = definition.placed(length: registers[1]) { registers[$0] }
        let last = try #require(points.last { $0.definition.name == "V" })
        #expect(last.path == "Crv[3].Pt[2].V" && registers[last.point.offset] == 1_045)
        registers.withUnsafeBufferPointer { buffer in
            #expect(SunSpecBlock(buffer, length: registers[1]).value(last.point) == .number(104.5))
        }
        for length in [UInt16(0), 5, 20, 30] {
            let cut = definition.placed(length: length) { _ in 0xFFFE }
            #expect(cut.allSatisfy { $0.point.offset + $0.point.type.size <= Int(length) + 2 })
        }
    }

    // swift-format-ignore
    static let sentinels: [(UInt16, String, [UInt16], String)] = [
        (701, "W",        [0x8000],                         "int16"),
        (701, "LNV",      [0xFFFF],                         "uint16"),
        (701, "InvSt",    [0xFFFF],                         "enum16"),
        (701, "Alrm",     [0xFFFF, 0xFFFF],                 "bitfield32"),
        (701, "Hz",       [0xFFFF, 0xFFFF],                 "uint32"),
        (701, "TotWhInj", [0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF], "uint64"),
        (704, "WSet",     [0x8000, 0],                      "int32"),
        (122, "ActWh",    [0, 0, 0, 0],                     "acc64"),
        (103, "WH",       [0, 0],                           "acc32"),
        (113, "W",        [0x7FC0, 0],                      "float32"),
        (124, "StorCtl_Mod", [0xFFFF],                      "bitfield16"),
        (160, "N",        [0xFFFF],                         "count"),
    ]
    @Test(arguments: sentinels)
    func `a point that was not set says so in the way of its type`(
        model: UInt16, path: String, expected: [UInt16], why: String
    ) throws {
        var image = SunSpecImage(try #require(SunSpecDefinition(model)))
        let place = try #require(image.place(path))
        let range = place.point.offset..<(place.point.offset + place.point.type.size)
        #expect(Array(image.registers[range]) == expected, "\(why)")
        for name in ["W_SF", "V_SF", "Hz_SF", "WSet_SF"] { image.setScale(name, 0) }
        let registers = image.registers
        registers.withUnsafeBufferPointer { buffer in
            #expect(
                SunSpecBlock(buffer, length: registers[1]).value(place.point) == .notImplemented, "\(why)")
        }
        image.set(path, 1e30)
        #expect(
            Array(image.registers[range]) == expected || path == "W" && model == 113,
            "a number that does not fit is no number")
    }

    @Test func `names are given to values and to bits`() throws {
        let points = try #require(SunSpecDefinition(701)).placed(length: 153) { _ in 0 }
        let state = try #require(points.first { $0.path == "InvSt" })
        let alarm = try #require(points.first { $0.path == "Alrm" })
        #expect(state.names(of: 3) == ["RUNNING"] && state.names(of: 99) == [])
        #expect(alarm.names(of: 1 << 3 | 1 << 16) == ["DC_DISCONNECT", "MANUFACTURER_ALRM"])
        #expect(SunSpecDefinition(64_001) == nil)
    }
}
