/// CRC-32C (Castagnoli): reflected polynomial 0x82F63B78, start and final exclusive-or all ones.
///
/// - Source: RFC 3720 §12.1 and its test vectors in appendix B.4.
enum CRC32C {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? (value >> 1) ^ 0x82F6_3B78 : value >> 1 }
    }

    static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt32 {
        table.withUnsafeBufferPointer { table in
            var value = UInt32.max
            for byte in bytes { value = (value >> 8) ^ table[Int((value ^ UInt32(byte)) & 0xFF)] }
            return ~value
        }
    }

    static func checksum(of bytes: [UInt8]) -> UInt32 { bytes.withUnsafeBytes { checksum(of: $0) } }
}
