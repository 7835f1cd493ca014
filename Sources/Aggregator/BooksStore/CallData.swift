/// The bytes that a call of a contract's function carries: its selector and its arguments, as Solidity's ABI
/// encodes them. Nothing here sends them.
enum CallData {
    enum Argument: Equatable {
        /// `int256`
        case number(Int64)
        /// `string`
        case text(String)

        var type: String {
            switch self {
            case .number: "int256"
            case .text: "string"
            }
        }
    }

    /// `0x` and the bytes as hexadecimal digits.
    static func hexadecimal(_ name: String, _ arguments: [Argument]) -> String {
        "0x" + BooksHistory.hexadecimal(bytes(name, arguments))
    }

    static func bytes(_ name: String, _ arguments: [Argument]) -> [UInt8] {
        let signature = "\(name)(\(arguments.map(\.type).joined(separator: ",")))"
        var (head, tail): ([UInt8], [UInt8]) = ([], [])
        for argument in arguments {
            switch argument {
            case .number(let value): head += word(value)
            case .text(let text):
                head += word(Int64(arguments.count * 32 + tail.count))
                let bytes = Array(text.utf8)
                tail += word(Int64(bytes.count)) + bytes
                tail += [UInt8](repeating: 0, count: (32 - bytes.count % 32) % 32)
            }
        }
        return Keccak.digest(Array(signature.utf8)).prefix(4) + head + tail
    }

    /// 32 bytes, the highest first, in two's complement.
    private static func word(_ value: Int64) -> [UInt8] {
        [UInt8](repeating: value < 0 ? 0xFF : 0, count: 24)
            + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> Int64($0)) }
    }
}

/// Keccak-256, as Ethereum uses it: SHA-3 before its last change of padding.
///
/// - Source: the Keccak reference, version 3.0; c = 512, padding 0x01 … 0x80.
enum Keccak {
    private static let rate = 136

    static func digest(_ message: [UInt8]) -> [UInt8] {
        var padded = message + [0x01]
        padded += [UInt8](repeating: 0, count: (rate - padded.count % rate) % rate)
        padded[padded.count - 1] |= 0x80
        var state = [UInt64](repeating: 0, count: 25)
        for block in stride(from: 0, to: padded.count, by: rate) {
            for index in 0..<rate {
                state[index / 8] ^= UInt64(padded[block + index]) << UInt64(8 * (index % 8))
            }
            permute(&state)
        }
        return state.prefix(4).flatMap { lane in
            (0..<8).map { UInt8(truncatingIfNeeded: lane >> UInt64(8 * $0)) }
        }
    }

    private static let constants: [UInt64] = [
        0x0000_0000_0000_0001, 0x0000_0000_0000_8082, 0x8000_0000_0000_808A, 0x8000_0000_8000_8000,
        0x0000_0000_0000_808B, 0x0000_0000_8000_0001, 0x8000_0000_8000_8081, 0x8000_0000_0000_8009,
        0x0000_0000_0000_008A, 0x0000_0000_0000_0088, 0x0000_0000_8000_8009, 0x0000_0000_8000_000A,
        0x0000_0000_8000_808B, 0x8000_0000_0000_008B, 0x8000_0000_0000_8089, 0x8000_0000_0000_8003,
        0x8000_0000_0000_8002, 0x8000_0000_0000_0080, 0x0000_0000_0000_800A, 0x8000_0000_8000_000A,
        0x8000_0000_8000_8081, 0x8000_0000_0000_8080, 0x0000_0000_8000_0001, 0x8000_0000_8000_8008,
    ]
    private static let turns: [UInt64] = [
        1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44,
    ]
    private static let places = [
        10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1,
    ]

    private static func turned(_ value: UInt64, by count: UInt64) -> UInt64 {
        value << count | value >> (64 - count)
    }

    private static func permute(_ state: inout [UInt64]) {
        for constant in constants {
            var columns = [UInt64](repeating: 0, count: 5)
            for lane in 0..<25 { columns[lane % 5] ^= state[lane] }
            for x in 0..<5 {
                let change = columns[(x + 4) % 5] ^ turned(columns[(x + 1) % 5], by: 1)
                for y in stride(from: 0, to: 25, by: 5) { state[x + y] ^= change }
            }
            var moved = state[1]
            for (place, turn) in zip(places, turns) {
                (moved, state[place]) = (state[place], turned(moved, by: turn))
            }
            for y in stride(from: 0, to: 25, by: 5) {
                let row = Array(state[y..<y + 5])
                for x in 0..<5 { state[y + x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]) }
            }
            state[0] ^= constant
        }
    }
}
