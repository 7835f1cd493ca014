/// The registers of one SunSpec model while it is being filled: identifier, length, then its points by the
/// offsets of the model's definition (the identifier is offset 0).
struct SimulatedModel {
    private(set) var registers: [UInt16]

    /// All points begin as "not implemented" for unsigned types and enumerations; signed ones are to be
    /// named.
    init(_ identifier: UInt16, length: Int, signed: [ClosedRange<Int>] = [], texts: [ClosedRange<Int>] = []) {
        registers = [identifier, UInt16(length)] + Array(repeating: 0xFFFF, count: length)
        for range in signed { for offset in range { registers[offset] = 0x8000 } }
        for range in texts { for offset in range { registers[offset] = 0 } }
    }

    mutating func set(_ offset: Int, _ word: UInt16) { registers[offset] = word }

    /// Rounds to the nearest step of `10^exponent` and stays inside the type.
    mutating func set(_ offset: Int, unsigned value: Double, exponent: Int = 0) {
        registers[offset] = UInt16(clamping: Int64((value / power(exponent)).rounded()))
    }

    mutating func set(_ offset: Int, signed value: Double, exponent: Int = 0) {
        let number = Int16(clamping: Int64((value / power(exponent)).rounded()))
        registers[offset] = UInt16(bitPattern: number == .min ? -.max : number)
    }

    mutating func set(_ offset: Int, unsigned32 value: Double, exponent: Int = 0) {
        set(offset, long: UInt32(clamping: Int64((value / power(exponent)).rounded())))
    }

    mutating func set(_ offset: Int, signed32 value: Double) {
        set(offset, long: UInt32(bitPattern: Int32(clamping: Int64(value.rounded()))))
    }

    mutating func set(_ offset: Int, unsigned64 value: Double) {
        let number = UInt64(clamping: Int64(value.rounded()))
        set(offset, long: UInt32(truncatingIfNeeded: number >> 32))
        set(offset + 2, long: UInt32(truncatingIfNeeded: number))
    }

    mutating func set(_ offset: Int, float value: Double) { set(offset, long: Float(value).bitPattern) }

    /// A scale factor (sunssf).
    mutating func set(_ offset: Int, scale exponent: Int) {
        registers[offset] = UInt16(bitPattern: Int16(clamping: exponent))
    }

    mutating func set(_ offset: Int, long word: UInt32) {
        registers[offset] = UInt16(truncatingIfNeeded: word >> 16)
        registers[offset + 1] = UInt16(truncatingIfNeeded: word)
    }

    /// ASCII, cut to `count` registers and padded with zeros.
    mutating func set(_ offset: Int, text: String, registers count: Int) {
        let bytes = Array(text.utf8.prefix(2 * count))
        for index in 0..<count {
            let high = 2 * index < bytes.count ? UInt16(bytes[2 * index]) << 8 : 0
            let low = 2 * index + 1 < bytes.count ? UInt16(bytes[2 * index + 1]) : 0
            registers[offset + index] = high | low
        }
    }
}

/// Ten to a small whole power; beyond ±10 it stays there, as scale factors do.
func power(_ exponent: Int) -> Double {
    let table = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10]
    let size = Swift.min(exponent.magnitude, 10)
    return exponent < 0 ? 1 / table[Int(size)] : table[Int(size)]
}

/// The finest scale, 1 or coarser, at which `largest` with half of it to spare fits a signed register.
func scale(for largest: Double) -> Int {
    var exponent = 0
    while largest * 1.5 / power(exponent) > 32_000, exponent < 10 { exponent += 1 }
    return exponent
}

let sunSpecMarker: [UInt16] = [0x5375, 0x6E53]
let sunSpecEnd: [UInt16] = [0xFFFF, 0]

/// Model 1.
func commonModel(model: String, serial: String, unitID: UInt8) -> [UInt16] {
    var common = SimulatedModel(1, length: 66, texts: [2...65])
    common.set(2, text: "Ballast", registers: 16)
    common.set(18, text: model, registers: 16)
    common.set(42, text: "1.0", registers: 8)
    common.set(50, text: serial, registers: 16)
    common.set(66, UInt16(unitID))
    common.set(67, 0x8000)
    return common.registers
}
