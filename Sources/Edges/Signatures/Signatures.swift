import CSodium

/// Ed25519 signatures (RFC 8032), made and looked at by libsodium.
public enum Signatures {
    /// Bytes of a public key.
    public static let publicKeyLength = 32
    /// Bytes of a seed, from which both keys follow.
    public static let seedLength = 32
    /// Bytes of a signature.
    public static let signatureLength = 64

    /// libsodium, set up once; `false` = it refuses to start, and nothing is signed or believed.
    private static let isReady = sodium_init() >= 0

    /// A new seed from the kernel's random numbers; `nil` where libsodium does not start.
    public static func seed() -> [UInt8]? {
        guard isReady else { return nil }
        var seed = [UInt8](repeating: 0, count: seedLength)
        randombytes_buf(&seed, seed.count)
        return seed
    }

    /// The public key that belongs to a seed; `nil` where the seed has another length.
    public static func publicKey(ofSeed seed: [UInt8]) -> [UInt8]? { keys(ofSeed: seed)?.open }

    /// Signs `message`; `nil` where the seed has another length.
    public static func sign(_ message: [UInt8], seed: [UInt8]) -> [UInt8]? {
        guard let keys = keys(ofSeed: seed) else { return nil }
        var signature = [UInt8](repeating: 0, count: signatureLength)
        let result = crypto_sign_detached(
            &signature, nil, message, UInt64(message.count), keys.secret)
        return result == 0 ? signature : nil
    }

    /// Whether `signature` is that of `message` by the key's owner; wrong lengths are no signature.
    public static func isValid(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
        guard isReady, signature.count == signatureLength, publicKey.count == publicKeyLength else {
            return false
        }
        return crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
    }

    /// Whether these bytes can be somebody's public key: a point of the curve in its one form, and of its
    /// large subgroup. Of zeros, of any other point of low order, or of one with a part of low order, a
    /// signature says little or nothing.
    public static func isPublicKey(_ bytes: [UInt8]) -> Bool {
        isReady && bytes.count == publicKeyLength && crypto_core_ed25519_is_valid_point(bytes) == 1
    }

    private static func keys(ofSeed seed: [UInt8]) -> (open: [UInt8], secret: [UInt8])? {
        guard isReady, seed.count == seedLength else { return nil }
        var open = [UInt8](repeating: 0, count: publicKeyLength)
        var secret = [UInt8](repeating: 0, count: Int(crypto_sign_secretkeybytes()))
        return crypto_sign_seed_keypair(&open, &secret, seed) == 0 ? (open, secret) : nil
    }
}
