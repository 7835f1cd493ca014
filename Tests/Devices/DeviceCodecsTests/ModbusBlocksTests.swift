import DeviceCodecs
import Quantities
import Testing

@Suite struct `Register ranges` {
    // swift-format-ignore
    static let rows: [(wanted: [ClosedRange<UInt16>], forbidden: [ClosedRange<UInt16>], limit: Int, overhead: Int, reads: [ClosedRange<UInt16>], why: Comment)] = [
        ([],                            [],        125, 20, [],                    "nothing"),
        ([7...7],                       [],        125, 20, [7...7],               "one register"),
        ([0...1, 12...13],              [],        125, 20, [0...1, 12...13],      "a hole of 10 costs as much as a frame: apart"),
        ([0...1, 11...12],              [],        125, 20, [0...12],              "one register less: together"),
        ([0...1, 11...12],              [],        125,  0, [0...1, 11...12],      "transactions that cost nothing"),
        ([10...11, 0...1, 1...3],       [],        125, 20, [0...11],              "in any order, overlapping"),
        ([0...1, 4...5],                [3...3],   125, 99, [0...1, 4...5],        "the hole may not be touched"),
        ([0...1, 4...5],                [1...1],   125, 99, [0...5],               "forbidden but wanted: no hole"),
        ([0...1, 4...5],                [6...9],   125, 99, [0...5],               "the barrier lies outside"),
        ([0...299],                     [],        125, 20, [0...124, 125...249, 250...299], "cut by the book's 125"),
        ([0...9, 120...129],            [],        125, 999, [0...9, 120...129],   "130 registers are too many"),
        ([0...0, 60...60, 124...124, 130...130], [], 125, 200, [0...60, 124...130], "least bytes, not greediest"),
        ([0...1, 2...3, 4...5],         [],        4,   20, [0...3, 4...5],        "a value of two registers is never split"),
        ([0...1, 2...3],                [],        125,  1, [0...3],               "what touches is one read"),
        ([65_530...65_535],             [],        125, 20, [65_530...65_535],     "up to the end of the map"),
        ([0...122, 123...124],          [],        123, 20, [0...122, 123...124],  "a write takes 123"),
    ]

    @Test(arguments: rows)
    func `are merged by what they cost`(
        wanted: [ClosedRange<UInt16>], forbidden: [ClosedRange<UInt16>], limit: Int, overhead: Int,
        reads: [ClosedRange<UInt16>], why: Comment
    ) {
        #expect(
            ModbusBlocks.merge(wanted, forbidden: forbidden, limit: limit, overhead: overhead) == reads, why)
    }

    @Test func `hold everything that is wanted, nothing that is forbidden, and stay within the limit`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SplitMix(seed: seed)
        print("seed \(seed)")
        for round in 0..<500 {
            func ranges(_ count: Int) -> [ClosedRange<UInt16>] {
                (0..<count).map { _ in
                    let start = generator.below(500)
                    return UInt16(start)...UInt16(start + generator.below(12))
                }
            }
            let (wanted, forbidden) = (ranges(1 + generator.below(20)), ranges(generator.below(5)))
            let limit = 1 + generator.below(125)
            let reads = ModbusBlocks.merge(
                wanted, forbidden: forbidden, limit: limit, overhead: generator.below(100))
            let all = Set(wanted.joined())
            let touched = Set(reads.joined())
            #expect(all.isSubset(of: touched), "seed \(seed), round \(round)")
            let barred = Set(forbidden.joined()).subtracting(all)
            #expect(touched.isDisjoint(with: barred), "seed \(seed), round \(round)")
            #expect(reads.allSatisfy { $0.count <= limit }, "seed \(seed), round \(round)")
            #expect(zip(reads, reads.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        }
    }

    @Test func `cost more bytes of overhead on a fast line, where the device's time counts more`() {
        let turnaround = Duration.milliseconds(5)
        let slow = SerialTiming(baud: 9_600, hasParity: false, stopBits: 1)
        let fast = SerialTiming(baud: 115_200, hasParity: false, stopBits: 1)
        #expect(ModbusBlocks.overhead(slow, turnaround: turnaround) == 13 + 12)
        #expect(ModbusBlocks.overhead(fast, turnaround: turnaround) == 13 + 98)
    }
}
