import DeviceCodecs
import Testing

@Suite struct `SunSpec scan` {
    /// Runs a scan over a device with these registers; what is not there is refused.
    static func run(_ registers: [UInt16: UInt16]) -> SunSpecScan.Step {
        var scan = SunSpecScan()
        for _ in 0..<1_000 {
            guard case .read(let address, let count) = scan.next else { return scan.next }
            let answer = (0..<count).compactMap { offset in
                UInt16(exactly: Int(address) + offset).flatMap { registers[$0] }
            }
            if answer.count == count {
                answer.withUnsafeBufferPointer { scan.answered($0) }
            } else {
                scan.refused()
            }
        }
        return scan.next
    }

    static func device(base: UInt16, _ chain: [UInt16]) -> [UInt16: UInt16] {
        var registers: [UInt16: UInt16] = [:]
        for (index, value) in ([0x5375, 0x6E53] + chain).enumerated() {
            registers[base &+ UInt16(index)] = value
        }
        return registers
    }

    /// Header and body of a model.
    static func model(_ id: UInt16, _ length: Int) -> [UInt16] {
        [id, UInt16(length)] + [UInt16](repeating: 0xABCD, count: length)
    }

    struct Row: Sendable {
        let registers: [UInt16: UInt16]
        /// Model numbers; `nil` = not a SunSpec device.
        let models: [UInt16]?
        let end: SunSpecMap.End
        let why: Comment
    }

    static let one = model(1, 66)
    // swift-format-ignore
    static let rows: [Row] = [
        Row(registers: device(base: 40_000, one + model(103, 50) + [0xFFFF, 0]), models: [1, 103], end: .marker, why: "first base"),
        Row(registers: device(base: 0, one + [0xFFFF, 0]), models: [1], end: .marker, why: "second base"),
        Row(registers: device(base: 50_000, one + [0xFFFF, 0]), models: [1], end: .marker, why: "third base"),
        Row(registers: device(base: 40_000, model(1, 65) + model(701, 153) + [0xFFFF, 0]), models: [1, 701], end: .marker, why: "model 1 without its pad: the device's own length counts"),
        Row(registers: device(base: 40_000, one + model(64_001, 7) + model(704, 65) + [0xFFFF, 0]), models: [1, 64_001, 704], end: .marker, why: "unknown models are stepped over"),
        Row(registers: device(base: 40_000, one + model(160, 8) + model(160, 8) + [0xFFFF, 0]), models: [1, 160, 160], end: .marker, why: "a number may come twice"),
        Row(registers: device(base: 40_000, one + [0xFFFF]), models: [1], end: .marker, why: "no register after the end mark"),
        Row(registers: device(base: 40_000, one), models: [1], end: .refused, why: "no end mark at all"),
        Row(registers: device(base: 40_000, one + [0, 0]), models: [1], end: .refused, why: "the number 0 is no model"),
        Row(registers: device(base: 40_000, one + model(9, 0) + [0xFFFF, 0]), models: [1, 9], end: .marker, why: "an empty model"),
        Row(registers: device(base: 40_000, one + [103, 0xFFF0]), models: [1], end: .overflow, why: "a length beyond the address space"),
        Row(registers: device(base: 40_000, (0..<200).flatMap { _ in model(7, 0) }), models: [UInt16](repeating: 7, count: 100), end: .tooManyModels, why: "a chain without end"),
        Row(registers: device(base: 40_000, [103, 25_532]), models: [103], end: .overflow, why: "the model ends with the address space"),
        Row(registers: [40_000: 0x5375, 40_001: 0x6E54], models: nil, end: .marker, why: "almost the marker"),
        Row(registers: [:], models: nil, end: .marker, why: "refuses everything"),
    ]

    @Test(arguments: rows) func `the chain of models`(row: Row) {
        switch Self.run(row.registers) {
        case .found(let map):
            #expect(map.models.map(\.id) == row.models, row.why)
            #expect(map.end == row.end, row.why)
        case .notSunSpec: #expect(row.models == nil, row.why)
        case .read: Issue.record("the scan does not end: \(row.why)")
        }
    }

    @Test func `any answers end the scan`() {
        var seed: UInt64 = 0x5EED
        for _ in 0..<500 {
            var scan = SunSpecScan()
            var steps = 0
            while case .read(_, let count) = scan.next {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                steps += 1
                let answer: [UInt16] =
                    steps == 1
                    ? [0x5375, 0x6E53]
                    : (0..<count).map { UInt16(truncatingIfNeeded: seed >> (16 * ($0 + 1))) % 2_000 }
                if seed % 97 == 0 {
                    scan.refused()
                } else {
                    answer.withUnsafeBufferPointer { scan.answered($0) }
                }
                #expect(steps < 120)
                if steps >= 120 { break }
            }
        }
    }
}
