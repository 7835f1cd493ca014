import DeviceCodecs

/// A request taken from a connection's input, and how its answer is wrapped.
struct ModbusServerRequest {
    let unit: UInt8
    /// Function code and data.
    let body: [UInt8]
    /// TCP: the transaction identifier to give back.
    let transaction: UInt16
}

/// Cuts requests out of received bytes, and frames answers: TCP (MBAP header) or RTU (CRC).
///
/// The server frames by itself because libmodbus's serial receive path passes requests for one unit id only,
/// and its TCP one waits inside a frame, so that one slow client would hold up the others.
enum ModbusServerFraming {
    case tcp
    case rtu

    enum Cut {
        case request(ModbusServerRequest)
        /// More bytes are needed.
        case incomplete
        /// Not Modbus: a TCP connection is closed, a serial line drops its input.
        case garbage
    }

    /// Removes one request from the front of `input`.
    func cut(_ input: inout [UInt8]) -> Cut {
        switch self {
        case .tcp: Self.cutTCP(&input)
        case .rtu: Self.cutRTU(&input)
        }
    }

    func frame(_ answer: [UInt8], to request: ModbusServerRequest) -> [UInt8] {
        switch self {
        case .tcp:
            let length = answer.count + 1
            return [
                UInt8(request.transaction >> 8), UInt8(request.transaction & 0xFF), 0, 0, UInt8(length >> 8),
                UInt8(length & 0xFF), request.unit,
            ] + answer
        case .rtu:
            let body = [request.unit] + answer
            let sum = body.withUnsafeBufferPointer { ModbusCRC.of($0) }
            return body + [UInt8(sum & 0xFF), UInt8(sum >> 8)]
        }
    }

    private static func cutTCP(_ input: inout [UInt8]) -> Cut {
        guard input.count >= 7 else { return .incomplete }
        let length = word(input, 4)
        guard word(input, 2) == 0, (2...254).contains(length) else { return .garbage }
        guard input.count >= 6 + length else { return .incomplete }
        let request = ModbusServerRequest(
            unit: input[6], body: Array(input[7..<(6 + length)]), transaction: UInt16(word(input, 0)))
        input.removeFirst(6 + length)
        return .request(request)
    }

    private static func cutRTU(_ input: inout [UInt8]) -> Cut {
        guard input.count >= 2 else { return .incomplete }
        let length: Int
        switch input[1] {
        case 1...6: length = 8
        case 15, 16:
            guard input.count >= 7 else { return .incomplete }
            length = 9 + Int(input[6])
        // The length of other functions is not known: drop what came and start anew at the next silence.
        default: return .garbage
        }
        guard length <= 256 else { return .garbage }
        guard input.count >= length else { return .incomplete }
        let sum = Int(input[length - 1]) << 8 | Int(input[length - 2])
        let computed = input.withUnsafeBufferPointer {
            ModbusCRC.of(UnsafeBufferPointer(rebasing: $0[0..<(length - 2)]))
        }
        guard sum == Int(computed) else { return .garbage }
        let request = ModbusServerRequest(
            unit: input[0], body: Array(input[1..<(length - 2)]), transaction: 0)
        input.removeFirst(length)
        return .request(request)
    }
}
