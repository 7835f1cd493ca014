import DeviceCodecs
import Quantities
import Testing

@Suite struct `A Modbus frame` {
    static func encode(
        _ request: ModbusRequest, _ framing: ModbusFraming, unit: UInt8 = 1, transaction: UInt16 = 2,
        registers: [UInt16] = [], bits: [UInt8] = []
    ) -> [UInt8] {
        var frame = [UInt8](repeating: 0xEE, count: ModbusFraming.limit)
        let length = frame.withUnsafeMutableBufferPointer { frame in
            registers.withUnsafeBufferPointer { registers in
                bits.withUnsafeBufferPointer { bits in
                    framing.encode(
                        request, unit: unit, transaction: transaction, registers: registers, bits: bits,
                        into: frame)
                }
            }
        }
        return Array(frame[0..<length])
    }

    static func answer(
        _ bytes: [UInt8], to request: ModbusRequest, _ framing: ModbusFraming, unit: UInt8 = 1,
        transaction: UInt16 = 2
    ) -> ModbusAnswer {
        // Of exactly this size, so that a read beyond the end traps.
        bytes.withUnsafeBufferPointer {
            ModbusAnswer($0, to: request, unit: unit, transaction: transaction, framing: framing)
        }
    }

    static func rtu(_ body: [UInt8]) -> [UInt8] {
        let sum = body.withUnsafeBufferPointer { ModbusCRC.of($0) }
        return body + [UInt8(sum & 0xFF), UInt8(sum >> 8)]
    }

    static let read = ModbusRequest.readHoldingRegisters(at: 40_000, count: 2)
    static let write = ModbusRequest.writeRegisters(at: 40_095, count: 2)

    // swift-format-ignore
    static let requests: [(request: ModbusRequest, framing: ModbusFraming, registers: [UInt16], bits: [UInt8], bytes: [UInt8], why: Comment)] = [
        (.readHoldingRegisters(at: 0, count: 10), .rtu, [], [], [1, 3, 0, 0, 0, 10, 0xC5, 0xCD], "the book's example"),
        (read,  .tcp, [],         [], [0, 2, 0, 0, 0, 6, 1, 3, 0x9C, 0x40, 0, 2], "facts, test vectors"),
        (write, .tcp, [0, 5_000], [], [0, 2, 0, 0, 0, 11, 1, 16, 0x9C, 0x9F, 0, 2, 4, 0, 0, 0x13, 0x88], "facts"),
        (.writeCoil(at: 7, isOn: true), .tcp, [], [], [0, 2, 0, 0, 0, 6, 1, 5, 0, 7, 0xFF, 0], "function 5"),
        (.writeRegister(at: 7, value: 258), .tcp, [], [], [0, 2, 0, 0, 0, 6, 1, 6, 0, 7, 1, 2], "function 6"),
        (.writeCoils(at: 20, count: 9), .tcp, [], [1, 0, 0, 1, 0, 0, 0, 0, 7],
            [0, 2, 0, 0, 0, 9, 1, 15, 0, 20, 0, 9, 2, 9, 1], "function 15, low bit first; nothing is left over"),
    ]

    @Test(arguments: requests)
    func `is written as the book says`(
        request: ModbusRequest, framing: ModbusFraming, registers: [UInt16], bits: [UInt8], bytes: [UInt8],
        why: Comment
    ) {
        #expect(Self.encode(request, framing, registers: registers, bits: bits) == bytes, why)
    }

    // swift-format-ignore
    static let tcp: [(bytes: [UInt8], verdict: ModbusAnswer, why: Comment)] = [
        ([0, 2, 0, 0, 0, 7, 1, 3, 4, 0x53, 0x75, 0x6E, 0x53], .values(at: 9, count: 4), "SunS"),
        ([0, 2, 0, 0, 0, 7, 1, 3, 4, 0x53, 0x75, 0x6E],       .incomplete, "the last byte is missing"),
        ([0, 2, 0, 0, 0, 7],                                  .incomplete, "not even a header"),
        ([],                                                  .incomplete, "nothing"),
        ([0, 2, 0, 0, 0, 3, 1, 0x83, 2],                      .exception(2), "illegal address"),
        ([0, 2, 0, 0, 0, 3, 1, 0x80, 1],                      .exception(1), "pymodbus' bare 0x80"),
        ([0, 1, 0, 0, 0, 7, 1, 3, 4, 1, 2, 3, 4],             .stranger(.transaction, length: 13), "late"),
        ([0, 2, 0, 0, 0, 7, 9, 3, 4, 1, 2, 3, 4],             .stranger(.unit, length: 13), "another unit"),
        ([0, 2, 0, 0, 0, 7, 1, 4, 4, 1, 2, 3, 4],             .stranger(.function, length: 13), "another function"),
        ([0, 2, 0, 0, 0, 5, 1, 3, 2, 1, 2],                   .stranger(.length, length: 11), "one register of two"),
        ([0, 2, 0, 0, 0, 7, 1, 3, 6, 1, 2, 3, 4],             .stranger(.length, length: 13), "a count that lies"),
        ([0, 2, 0, 0, 0, 4, 1, 0x83, 2, 0],                   .stranger(.length, length: 10), "a long refusal"),
        ([0, 2, 0, 7, 0, 7, 1, 3, 4, 1, 2, 3, 4],             .broken(.protocolID), "no Modbus"),
        ([0, 2, 0, 0, 0, 1, 1],                               .broken(.length), "no function"),
        ([0, 2, 0, 0, 1, 0, 1],                               .broken(.length), "longer than the book allows"),
        ([0, 2, 0, 0, 0, 7, 1, 3, 4, 1, 2, 3, 4, 0xFF],       .values(at: 9, count: 4), "what follows is not ours yet"),
    ]

    @Test(arguments: tcp)
    func `over TCP answers only what was asked`(bytes: [UInt8], verdict: ModbusAnswer, why: Comment) {
        #expect(Self.answer(bytes, to: Self.read, .tcp) == verdict, why)
    }

    // swift-format-ignore
    static let serial: [(body: [UInt8], request: ModbusRequest, verdict: ModbusAnswer, why: Comment)] = [
        ([1, 3, 4, 1, 2, 3, 4],          read,  .values(at: 3, count: 4), "well"),
        ([1, 0x83, 11],                  read,  .exception(11), "a gateway's target is silent"),
        ([2, 3, 4, 1, 2, 3, 4],          read,  .stranger(.unit, length: 9), "another device, late"),
        ([1, 3, 2, 1, 2],                read,  .stranger(.length, length: 7), "the answer to a shorter question"),
        ([1, 16, 0x9C, 0x9F, 0, 2],      write, .values(at: 4, count: 2), "acknowledged"),
        ([1, 16, 0x9C, 0x9F, 0, 1],      write, .stranger(.acknowledgement, length: 8), "half of it"),
        ([1, 16, 0x9C, 0x9E, 0, 2],      write, .stranger(.acknowledgement, length: 8), "elsewhere"),
        ([1, 6, 0, 7, 9, 9], .writeRegister(at: 7, value: 1), .values(at: 4, count: 2), "the value as the device took it"),
        ([1, 5, 0, 7, 0, 0], .writeCoil(at: 7, isOn: true), .stranger(.acknowledgement, length: 8), "it stayed off"),
        ([1, 2, 1, 5],       .readDiscreteInputs(at: 0, count: 3), .values(at: 3, count: 1), "bits"),
    ]

    @Test(arguments: serial)
    func `over a serial line answers only what was asked`(
        body: [UInt8], request: ModbusRequest, verdict: ModbusAnswer, why: Comment
    ) {
        let frame = Self.rtu(body)
        #expect(Self.answer(frame, to: request, .rtu) == verdict, why)
        for length in 0..<frame.count {
            let part = Self.answer(Array(frame[0..<length]), to: request, .rtu)
            #expect(part == .incomplete, "cut after \(length) bytes")
        }
        for bit in 0..<(8 * frame.count) {
            var spoiled = frame
            spoiled[bit / 8] ^= 1 << UInt8(bit % 8)
            switch Self.answer(spoiled, to: request, .rtu) {
            case .incomplete, .broken: break
            case .values, .exception, .stranger: Issue.record("bit \(bit) turned over goes unnoticed: \(why)")
            }
        }
    }

    /// A good answer, then anything a line or a liar may make of it.
    private static func spoil(_ frame: [UInt8], _ generator: inout SplitMix) -> [UInt8] {
        var bytes = frame
        for _ in 0...generator.below(3) {
            let place = generator.below(max(1, bytes.count))
            switch generator.below(6) {
            case 0 where !bytes.isEmpty: bytes[place] ^= 1 << UInt8(generator.below(8))
            case 1 where !bytes.isEmpty: bytes[place] = UInt8(generator.below(256))
            case 2: bytes.removeLast(min(bytes.count, generator.below(9)))
            case 3:
                bytes.insert(
                    contentsOf: (0..<generator.below(9)).map { UInt8(truncatingIfNeeded: $0 * 37) }, at: place
                )
            case 4: bytes += bytes
            default: bytes = (0..<generator.below(300)).map { _ in UInt8(generator.below(256)) }
            }
            if bytes.count > 600 { bytes.removeLast(bytes.count - 600) }
        }
        return bytes
    }

    @Test func `any bytes have a verdict, and values only where the whole frame fits the request`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SplitMix(seed: seed)
        print("seed \(seed)")
        let requests: [ModbusRequest] = [
            Self.read, Self.write, .readCoils(at: 3, count: 11), .readDiscreteInputs(at: 0, count: 1),
            .readInputRegisters(at: 9, count: 125), .writeCoil(at: 7, isOn: true),
            .writeRegister(at: 7, value: 1), .writeCoils(at: 1, count: 17),
        ]
        for round in 0..<100_000 {
            let request = requests[generator.below(requests.count)]
            let framing: ModbusFraming = generator.below(2) == 0 ? .tcp : .rtu
            let bytes = Self.spoil(Self.goodAnswer(request, framing), &generator)
            let verdict = Self.answer(bytes, to: request, framing)
            if let found = Self.complaint(verdict, bytes, request, framing) {
                Issue.record("seed \(seed), round \(round): \(found)")
                return
            }
        }
    }

    private static func goodAnswer(_ request: ModbusRequest, _ framing: ModbusFraming) -> [UInt8] {
        let length = request.answerLength
        var body = [request.function]
        if request.function <= 4 {
            body.append(UInt8(length - 2))
            body += (0..<(length - 2)).map { UInt8(truncatingIfNeeded: $0) }
        } else {
            body += Array(
                encode(request, .tcp, registers: [1, 2], bits: [UInt8](repeating: 1, count: 17))[8..<12])
        }
        if framing == .rtu { return rtu([1] + body) }
        return [0, 2, 0, 0, 0, UInt8(body.count + 1), 1] + body
    }

    private static func complaint(
        _ verdict: ModbusAnswer, _ bytes: [UInt8], _ request: ModbusRequest, _ framing: ModbusFraming
    ) -> String? {
        let head = framing == .tcp ? 7 : 1
        switch verdict {
        case .incomplete:
            return bytes.count >= ModbusFraming.limit ? "waits for more than a whole frame" : nil
        case .values(let at, let count):
            if at + count > bytes.count { return "values beyond the end" }
            if bytes[head - 1] != 1 || bytes[head] != request.function { return "not our answer" }
            if request.function <= 4, count != request.answerLength - 2 { return "not as many as asked for" }
            if framing == .tcp, bytes[0] != 0 || bytes[1] != 2 { return "another transaction" }
            return nil
        case .exception:
            return bytes[head] & 0x80 == 0 ? "no refusal" : nil
        case .stranger(_, let length):
            return (1...bytes.count).contains(length) ? nil : "skips \(length) of \(bytes.count) bytes"
        case .broken: return nil
        }
    }

    @Test func `goes by the line's speed`() {
        // swift-format-ignore
        let rows: [(baud: Int, parity: Bool, stop: Int, bytes: Duration, gap: Duration, why: Comment)] = [
            (  9_600, false, 1, .nanoseconds(1_041_667), .nanoseconds(3_645_834), "8N1: 10 bits"),
            (  9_600, true,  1, .nanoseconds(1_145_834), .nanoseconds(4_010_417), "8E1: 11 bits, 4.01 ms by the book"),
            ( 19_200, true,  1, .nanoseconds(  572_917), .nanoseconds(2_005_209), "the last that counts characters"),
            ( 38_400, false, 1, .nanoseconds(  260_417), .nanoseconds(1_750_000), "from here on 1.75 ms"),
            (115_200, false, 2, .nanoseconds(   95_487), .nanoseconds(1_750_000), "8N2"),
        ]
        for row in rows {
            let timing = SerialTiming(baud: row.baud, hasParity: row.parity, stopBits: row.stop)
            #expect(timing.time(ofBytes: 1) == row.bytes, row.why)
            #expect(timing.frameGap == row.gap, row.why)
        }
    }
}

extension SplitMix {
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
