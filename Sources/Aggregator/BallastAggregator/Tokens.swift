import Crypto

/// SHA-256 of a bearer token. The token itself is never stored.
public struct TokenDigest: Sendable, Equatable {
    private let bytes: [UInt8]

    public init(of token: String) { bytes = Array(SHA256.hash(data: Array(token.utf8))) }

    /// From 64 hexadecimal digits.
    public init?(hex: String) {
        let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 64, hex.utf8.count == 64 else { return nil }
        bytes = stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }

    /// Takes the same time wherever the two differ.
    public static func == (a: TokenDigest, b: TokenDigest) -> Bool {
        zip(a.bytes, b.bytes).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// Decides whose token a request carries.
struct TokenGate {
    let sites: [AggregatorConfig.Site]
    let principals: [AggregatorConfig.Principal]
    let readToken: TokenDigest?

    /// The sites that the token of this header may speak for; looks at all of them, found or not.
    func sites(forAuthorization header: String?) throws(Refusal) -> [String] {
        let digest = TokenDigest(of: try Self.token(header))
        let matching = sites.filter { $0.token == digest }.map(\.id)
        if matching.isEmpty { throw Refusal(.unauthorized, "this token is not known here") }
        return matching
    }

    func checkMayWrite(_ site: String, of allowed: [String]) throws(Refusal) {
        if allowed.contains(site) { return }
        let isKnown = sites.contains { $0.id == site }
        let name = String(site.prefix(64))
        throw Refusal(
            .forbidden,
            isKnown ? "this token is not the one of site \"\(name)\"" : "there is no site \"\(name)\" here")
    }

    /// The name of whoever may ask `site` for a power; looks at all of them, found or not.
    func principal(authorization header: String?, for site: String) throws(Refusal) -> String {
        let digest = TokenDigest(of: try Self.token(header))
        let found = principals.filter { $0.token == digest }
        guard let principal = found.first else {
            throw Refusal(.unauthorized, "this token is not known here")
        }
        guard sites.contains(where: { $0.id == site }) else {
            throw Refusal(.notFound, "there is no site \"\(site.prefix(64))\" here")
        }
        guard principal.sites.contains(site) || principal.sites == ["all"] else {
            throw Refusal(.forbidden, "\(principal.name) may not ask site \"\(site.prefix(64))\"")
        }
        return principal.name
    }

    func checkMayRead(authorization header: String?) throws(Refusal) {
        guard let readToken else { return }
        if TokenDigest(of: try Self.token(header)) != readToken {
            throw Refusal(.unauthorized, "this token is not the one for reading")
        }
    }

    private static func token(_ header: String?) throws(Refusal) -> String {
        guard let header else {
            throw Refusal(.unauthorized, "there is no header \"Authorization: Bearer TOKEN\"")
        }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw Refusal(.unauthorized, "the header is not \"Authorization: Bearer TOKEN\"")
        }
        return String(parts[1])
    }
}
