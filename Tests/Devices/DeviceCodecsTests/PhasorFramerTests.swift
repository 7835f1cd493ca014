import DeviceCodecs
import Testing

@Suite struct PhasorFramerTests {
    private static let frames = [
        PhasorFrames.configurationFrame(PhasorFrames.configuration()), PhasorFrames.floatData,
        PhasorFrames.integerData, PhasorFrames.dataOn,
    ]

    private func cut(_ bytes: [UInt8], piece: Int) -> (frames: [[UInt8]], framer: PhasorFramer) {
        var framer = PhasorFramer()
        var found: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            rest.prefix(piece).withUnsafeBytes { framer.append($0) }
            rest = rest.dropFirst(piece)
            while let frame = framer.next({ copy($0) }) { found.append(frame) }
        }
        return (found, framer)
    }

    private func copy(_ bytes: borrowing Span<UInt8>) -> [UInt8] {
        var all: [UInt8] = []
        for index in bytes.indices { all.append(bytes[index]) }
        return all
    }

    @Test(arguments: [1, 2, 3, 7, 13, 14, 16, 17, 40, 100, 10_000])
    func `a stream in pieces of any length gives its frames`(piece: Int) {
        let (found, framer) = cut(Self.frames.flatMap { $0 }, piece: piece)
        #expect(found == Self.frames)
        #expect(framer.garbageBytes == 0 && framer.badChecksums == 0 && !framer.isInsideFrame)
    }

    @Test func `garbage between frames costs only itself`() {
        let garbage: [UInt8] = [0xAA, 0xAA, 0x01, 0x00, 0x05, 0xFF, 0xAA]
        let (found, framer) = cut(garbage + Self.frames[1] + garbage + Self.frames[2], piece: 5)
        #expect(found == [Self.frames[1], Self.frames[2]])
        #expect(framer.garbageBytes == 14)
    }

    @Test func `a frame with a flipped bit is left out and the next one is found`() {
        let length = Self.frames[1].count
        for bit in 0..<length * 8 {
            // A length that grew waits for bytes to come; there are enough of them.
            let isLength = bit / 8 == 2 || bit / 8 == 3
            var flipped = Self.frames[1]
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            let follow = isLength ? [[UInt8]](repeating: Self.frames[2], count: 2_300) : [Self.frames[2]]
            let (found, framer) = cut(flipped + follow.flatMap { $0 }, piece: 70_000)
            #expect(found.count == follow.count && found.first == Self.frames[2], "bit \(bit)")
            #expect(framer.garbageBytes == UInt64(length), "bit \(bit)")
        }
    }

    @Test func `a frame that stops is given up and what is behind it is found`() {
        var framer = PhasorFramer()
        let half = Array(PhasorFrames.bytes("aa01 0400 0007") + PhasorFrames.floatData)
        half.withUnsafeBytes { framer.append($0) }
        #expect(framer.next { copy($0) } == nil)
        #expect(framer.isInsideFrame)
        framer.giveUp()
        #expect(framer.next { copy($0) } == PhasorFrames.floatData)
        #expect(!framer.isInsideFrame)
        framer.giveUp()
        #expect(framer.garbageBytes == 6)
    }

    @Test func `random bytes never trap, and a frame behind them is found`() {
        var random = SplitMix(seed: 7)
        for _ in 0..<200 {
            let noise = (0..<Int(random.next() % 2_000)).map { _ in
                random.next() % 4 == 0 ? 0xAA : UInt8(truncatingIfNeeded: random.next())
            }
            var framer = PhasorFramer(longest: 1_024)
            noise.withUnsafeBytes { framer.append($0) }
            while framer.next({ copy($0) }) != nil {}
            PhasorFrames.floatData.withUnsafeBytes { framer.append($0) }
            var found = framer.next { copy($0) }
            while found == nil && framer.isInsideFrame {
                framer.giveUp()
                found = framer.next { copy($0) }
            }
            #expect(found == PhasorFrames.floatData)
        }
    }

    @Test func `one who feeds and never takes does not fill the memory`() {
        var framer = PhasorFramer()
        let block = [UInt8](repeating: 0, count: 60_000)
        for _ in 0..<20 { block.withUnsafeBytes { framer.append($0) } }
        #expect(framer.garbageBytes >= 1_000_000)
    }
}
