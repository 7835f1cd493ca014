import DeviceCodecs
import Testing

/// Streams of whole frames with some bytes changed, lost, doubled or put in.
@Suite struct StreamFuzzTests {
    static func damaged(_ stream: [UInt8], by generator: inout SeededGenerator) -> [UInt8] {
        var stream = stream
        for _ in 0..<Int(generator.next() % 6) where !stream.isEmpty {
            let place = Int(generator.next() % UInt64(stream.count))
            let byte = UInt8(truncatingIfNeeded: generator.next())
            switch generator.next() % 4 {
            case 0: stream[place] = byte
            case 1: stream.remove(at: place)
            case 2: stream.insert(byte, at: place)
            default: stream.insert(contentsOf: generator.bytes(1...40), at: place)
            }
        }
        return stream
    }

    static func frame(_ generator: inout SeededGenerator, isFlexible: Bool) -> CANFrame {
        let isExtended = generator.next() % 2 == 0
        let number = UInt32(truncatingIfNeeded: generator.next()) & (isExtended ? 0x1FFF_FFFF : 0x7FF)
        let kind: CANFrame.Kind = generator.next() % 8 == 0 ? .remote : .data
        var frame = CANFrame(
            number, isExtended: isExtended, kind: kind, isFlexible: isFlexible && kind == .data)
        if kind == .remote { return frame }
        for byte in generator.bytes(0...frame.capacity) { frame.append(byte) }
        return frame
    }

    static func check(_ frame: CANFrame) {
        #expect(frame.length == frame.validLength)
        #expect(frame.isExtended || frame.kind == .error || frame.identifier <= 0x7FF)
        #expect(frame.isExtended ? frame.identifier <= 0x1FFF_FFFF : true)
    }

    @Test func `an slcan line that is whole is read, whatever came before it`() {
        var generator = SeededGenerator(state: UInt64.random(in: 0...UInt64.max))
        print("seed \(generator.state)")
        for _ in 0..<3_000 {
            let frames = (0..<3).map { _ in Self.frame(&generator, isFlexible: false) }
            let noise = Self.damaged(
                frames.flatMap { SLCANEncoder.encode($0).map { bytes($0) } ?? [] }, by: &generator)
            let whole = Self.frame(&generator, isFlexible: false)
            let line = SLCANEncoder.encode(whole).map { bytes($0) } ?? []
            var decoder = SLCANDecoder()
            var last: CANFrame?
            for byte in noise + line {
                guard case .frame(let frame) = decoder.accept(byte) else { continue }
                Self.check(frame)
                last = frame
            }
            #expect(last.map(text) == text(whole))
            #expect(decoder.garbageBytes <= UInt64(noise.count))
        }
    }

    @Test func `a damaged cannelloni stream gives true frames or ends, and all before the damage is read`() {
        var generator = SeededGenerator(state: UInt64.random(in: 0...UInt64.max))
        print("seed \(generator.state)")
        for _ in 0..<3_000 {
            let good = (0..<3).map { _ in Self.frame(&generator, isFlexible: true) }
            let bad = Self.damaged(
                good.flatMap { bytes(CannelloniEncoder.encode($0)) }, by: &generator)
            var decoder = CannelloniDecoder()
            var read: [CANFrame] = []
            var isOver = false
            let stream =
                bytes(CannelloniEncoder.greeting) + good.flatMap { bytes(CannelloniEncoder.encode($0)) } + bad
            for byte in stream {
                switch decoder.accept(byte) {
                case .more, .greeted: #expect(!isOver, "after the end nothing is believed")
                case .frame(let frame):
                    #expect(!isOver)
                    Self.check(frame)
                    read.append(frame)
                case .desynchronised: isOver = true
                }
            }
            #expect(read.prefix(3).map(text) == good.map(text))
        }
    }
}
