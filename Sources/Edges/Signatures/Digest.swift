import CSodium

/// Digests of bytes, by libsodium.
public enum Digest {
    /// SHA-256 (FIPS 180-4), as 64 lower-case hexadecimal digits.
    public static func sha256(of bytes: [UInt8]) -> String {
        var hash = [UInt8](repeating: 0, count: 32)
        // It fails for no input; what is no digest would be refused by whoever looks.
        _ = crypto_hash_sha256(&hash, bytes, UInt64(bytes.count))
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: hash.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
