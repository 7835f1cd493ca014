import Crypto

/// What tells one content from another.
public enum Fingerprint {
    /// SHA-256 in hexadecimal digits.
    @Sendable public static func sha256(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = SHA256.hash(data: bytes).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
