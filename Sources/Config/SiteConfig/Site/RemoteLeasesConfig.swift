import ConfigText
import Quantities

/// Who may ask for the site's power from afar, by signature.
public struct RemoteLeasesConfig: Sendable, Equatable {
    public struct Key: Sendable, Equatable {
        /// The name that a lease carries.
        public var id: String
        /// Ed25519, 32 bytes.
        public var publicKey: [UInt8]
    }

    /// The longest that a lease may hold.
    public var longest: Duration
    /// 1 … 4; two at once while one replaces the other.
    public var keys: [Key]
}

extension SiteKeys {
    enum RemoteLeases {
        static let longest = ConfigKey.whole(
            "longest_s", 10...86_400, "s", .fixed(900), "the longest that a power from outside may hold"
        ) { Duration.seconds($0) }
        static let id = ConfigKey.identifier("id", .required, "the key's name, as leases carry it")
        static let publicKey = ConfigKey<[UInt8]>.text(
            "public_key", allowed: "64 hexadecimal digits", .required,
            "Ed25519: 'ballast-aggregator lease key'"
        ) { text in
            let digits = text.utf8.map { UInt8($0) }
            guard digits.count == 64 else { return nil }
            var bytes: [UInt8] = []
            for index in stride(from: 0, to: 64, by: 2) {
                let pair = String(decoding: digits[index..<(index + 2)], as: UTF8.self)
                guard pair.first != "+", pair.first != "-", let byte = UInt8(pair, radix: 16) else {
                    return nil
                }
                bytes.append(byte)
            }
            return bytes
        }

        static var reference: [any ReferenceEntry] { [longest] }
        static var keyReference: [any ReferenceEntry] { [id, publicKey] }
    }
}

extension SiteReader {
    /// `nil` where the site takes no power from outside.
    static func remoteLeases(_ reader: ConfigReader) -> RemoteLeasesConfig? {
        typealias Keys = SiteKeys.RemoteLeases
        guard reader.has("remote_leases") else { return nil }
        return reader.section("remote_leases") { reader in
            let longest = reader.value(Keys.longest)
            let keys = reader.list("keys", count: 1...4) { reader, _ -> RemoteLeasesConfig.Key? in
                let (id, publicKey) = (reader.value(Keys.id), reader.value(Keys.publicKey))
                guard let id, let publicKey else { return nil }
                return RemoteLeasesConfig.Key(id: id, publicKey: publicKey)
            }
            if Set(keys.map(\.id)).count < keys.count { reader.refuse("keys", "two keys have the same id") }
            if Set(keys.map(\.publicKey)).count < keys.count {
                reader.refuse("keys", "one key stands under two names: each lease could be played twice")
            }
            return longest.map { RemoteLeasesConfig(longest: $0, keys: keys) }
        }
    }
}
