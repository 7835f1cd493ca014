import BooksStore
import JSONText
import RemoteLeases
import Signatures

/// Why a web token is not taken.
enum WebTokenRefusal: Error, Equatable {
    /// Not three parts of base64url, or no JSON in them.
    case malformed
    /// Anything but `EdDSA`: "none", HMAC, RSA, another curve.
    case algorithm
    /// A header that this program must understand and does not (RFC 7515, `crit`).
    case critical
    case unknownKey
    case signature
    case issuer
    case audience
    case expired
    case notYet
    /// It holds for longer than this aggregator takes.
    case tooLong
    case claim(String)

    var text: String {
        switch self {
        case .malformed: "this is no web token"
        case .algorithm: "this token is not signed by EdDSA"
        case .critical: "this token asks for an extension that is not known here"
        case .unknownKey: "this token's key is not known here"
        case .signature: "this token's signature is not right"
        case .issuer: "this token is another issuer's"
        case .audience: "this token is for somebody else"
        case .expired: "this token has expired"
        case .notYet: "this token does not hold yet"
        case .tooLong: "this token holds for longer than is taken here"
        case .claim(let name): "this token's \(name) is missing, or not what it may be"
        }
    }
}

/// Who may issue web tokens for the books, and what those must say.
struct WebTokenIssuer: Sendable, Equatable {
    struct Key: Sendable, Equatable {
        var id: String
        var publicKey: [UInt8]
        /// Those that its tokens may give.
        var roles: Set<BooksRole>
    }

    var issuer: String
    var audience: String
    /// The longest time from issue to end, in seconds.
    var longest: Int64
    var keys: [Key]
}

/// A JSON Web Token (RFC 7519) in compact form, signed by Ed25519 (`EdDSA`, RFC 8037) alone.
struct WebToken: Equatable {
    /// Longer ones are not looked at.
    static let limit = 4_096
    /// How far the issuer's clock may be ahead.
    private static let skew: Int64 = 60

    var caller: BooksCaller
    /// In seconds since 1970.
    var expires: Int64

    /// Whether a bearer token looks like one: hexadecimal and other tokens of the file have no two dots.
    static func isOne(_ text: some StringProtocol) -> Bool { text.utf8.count { $0 == 0x2E } == 2 }

    /// - Parameter now: in seconds since 1970.
    init(_ text: String, _ issuer: WebTokenIssuer, now: Int64) throws(WebTokenRefusal) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.limit, parts.count == 3, let head = Base64URL.bytes(parts[0]),
            let body = Base64URL.bytes(parts[1]), let signature = Base64URL.bytes(parts[2])
        else { throw .malformed }
        let header = try Header(head)
        guard header.algorithm == "EdDSA" else { throw .algorithm }
        if header.isCritical { throw .critical }
        let keys = issuer.keys.filter { header.key == nil || $0.id == header.key }
        if keys.isEmpty { throw .unknownKey }
        let signed = Array("\(parts[0]).\(parts[1])".utf8)
        let key = keys.first { Signatures.isValid(signature, of: signed, by: $0.publicKey) }
        guard let key else { throw .signature }
        // Nothing that the token says is looked at before its signature.
        let claims = try Claims(body)
        try claims.check(issuer, now: now)
        guard let role = claims.role.flatMap(BooksRole.init(rawValue:)), key.roles.contains(role) else {
            throw .claim("role")
        }
        let isOfAll = [.admin, .gridOperator, .auditor].contains(role)
        guard isOfAll || claims.party != nil else { throw .claim("party") }
        guard let subject = claims.subject, Self.isName(subject) else { throw .claim("sub") }
        // Beside the names of the file, so that nobody gets another's answers.
        caller = BooksCaller(
            name: "jwt:\(subject)", role: role, party: claims.party, scopes: try claims.scopes())
        expires = claims.expires ?? 0
    }

    static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private struct Header {
        var algorithm = ""
        var key: String?
        var isCritical = false

        init(_ bytes: [UInt8]) throws(WebTokenRefusal) {
            var made = (algorithm: "", key: String?.none, isCritical: false)
            var cursor = JSONCursor(bytes)
            do throws(JSONError) {
                try cursor.object { (name, cursor) throws(JSONError) in
                    switch name {
                    case "alg": made.algorithm = try cursor.string()
                    case "kid": made.key = try cursor.string()
                    case "crit":
                        made.isCritical = true
                        _ = try cursor.skipValue()
                    case _: _ = try cursor.skipValue()
                    }
                }
                try cursor.end()
            } catch { throw .malformed }
            (algorithm, key, isCritical) = made
        }
    }

    private struct Claims {
        var issuer: String?
        var audiences: [String] = []
        var subject: String?
        var expires: Int64?
        var notBefore: Int64?
        var issued: Int64?
        var role: String?
        var party: String?
        var scope: String?

        init(_ bytes: [UInt8]) throws(WebTokenRefusal) {
            var made = Self()
            var cursor = JSONCursor(bytes)
            do throws(JSONError) {
                try cursor.object { (name, cursor) throws(JSONError) in try made.read(name, &cursor) }
                try cursor.end()
            } catch { throw .malformed }
            self = made
        }

        private init() {}

        private mutating func read(_ name: String, _ cursor: inout JSONCursor) throws(JSONError) {
            switch name {
            case "iss": issuer = try cursor.string()
            case "aud" where cursor.isAtString: audiences = [try cursor.string()]
            case "aud":
                var list: [String] = []
                try cursor.array { (_, cursor) throws(JSONError) in list.append(try cursor.string()) }
                audiences = list
            case "sub": subject = try cursor.string()
            case "exp": expires = try cursor.integer()
            case "nbf": notBefore = try cursor.integer()
            case "iat": issued = try cursor.integer()
            case "role": role = try cursor.string()
            case "party": party = try cursor.string()
            case "scope": scope = try cursor.string()
            case _: _ = try cursor.skipValue()
            }
        }

        func check(_ wanted: WebTokenIssuer, now: Int64) throws(WebTokenRefusal) {
            guard issuer == wanted.issuer else { throw .issuer }
            guard audiences.contains(wanted.audience) else { throw .audience }
            let times = 0...Int64(253_402_300_799)
            guard let expires, times.contains(expires) else { throw .claim("exp") }
            guard let issued, times.contains(issued) else { throw .claim("iat") }
            if now >= expires { throw .expired }
            if issued > now + WebToken.skew { throw .notYet }
            if let notBefore, notBefore > now { throw .notYet }
            if expires - issued > wanted.longest { throw .tooLong }
        }

        /// Without the claim a token has all that its role may; with it, those that are named.
        func scopes() throws(WebTokenRefusal) -> Set<BooksScope>? {
            guard let scope else { return nil }
            var scopes: Set<BooksScope> = []
            for word in scope.split(separator: " ") {
                guard let one = BooksScope(rawValue: String(word)) else { throw .claim("scope") }
                scopes.insert(one)
            }
            return scopes
        }
    }
}

/// Base64 for URLs without padding (RFC 4648 §5), one text for each bytes.
enum Base64URL {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        var (text, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(digits[Int(bits >> UInt32(count) & 63)])
            }
        }
        if count > 0 { text.append(digits[Int(bits << UInt32(6 - count) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// `nil` for another digit, and for bits that belong to no byte.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var (bytes, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
        for digit in text.utf8 {
            guard let value = value(digit) else { return nil }
            bits = (bits << 6 | value) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        guard count < 6, bits & (1 << UInt32(count) - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt32? {
        switch digit {
        case 0x41...0x5A: UInt32(digit - 0x41)
        case 0x61...0x7A: UInt32(digit - 0x61 + 26)
        case 0x30...0x39: UInt32(digit - 0x30 + 52)
        case 0x2D: 62
        case 0x5F: 63
        default: nil
        }
    }
}

/// Makes web tokens, for who issues them here.
public enum WebTokenMaker {
    /// What a token is to say.
    public struct Wish: Sendable {
        public var issuer: String
        public var audience: String
        public var key: String
        public var subject: String
        public var role: String
        public var party: String?
        public var scope: String?
        /// In seconds since 1970.
        public var issued: Int64
        public var expires: Int64

        public init(
            issuer: String, audience: String, key: String, subject: String, role: String, party: String?,
            scope: String?, issued: Int64, expires: Int64
        ) {
            (self.issuer, self.audience, self.key, self.subject) = (issuer, audience, key, subject)
            (self.role, self.party, self.scope) = (role, party, scope)
            (self.issued, self.expires) = (issued, expires)
        }
    }

    /// Why no aggregator would take such a token; `nil` where one may.
    public static func complaint(
        subject: String, role: String, party: String?, scope: String?
    ) -> String? {
        guard WebToken.isName(subject) else { return "--subject takes 1 … 64 visible characters" }
        let roles = BooksRole.allCases.map(\.rawValue).joined(separator: ", ")
        guard let known = BooksRole(rawValue: role) else { return "--role takes \(roles)" }
        if party == nil, ![.admin, .gridOperator, .auditor].contains(known) {
            return "--party is missing: a \(role) sees what is its party's"
        }
        if let party, !(1...64).contains(party.utf8.count) { return "--party takes a party's name" }
        let unknown = (scope ?? "").split(separator: " ").first { BooksScope(rawValue: String($0)) == nil }
        guard scope == nil || (unknown == nil && scope?.isEmpty == false) else {
            let scopes = BooksScope.allCases.map(\.rawValue).joined(separator: " ")
            return "--scope takes words of \(scopes), with a space between"
        }
        return nil
    }

    /// `nil` where the seed is none.
    public static func token(_ wish: Wish, seed: [UInt8]) -> String? {
        var members = [
            ("iss", JSONText.quoted(wish.issuer)), ("aud", JSONText.quoted(wish.audience)),
            ("sub", JSONText.quoted(wish.subject)), ("role", JSONText.quoted(wish.role)),
            ("iat", "\(wish.issued)"), ("exp", "\(wish.expires)"),
        ]
        if let party = wish.party { members.append(("party", JSONText.quoted(party))) }
        if let scope = wish.scope { members.append(("scope", JSONText.quoted(scope))) }
        let body = "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
        let header = "{\"alg\":\"EdDSA\",\"typ\":\"JWT\",\"kid\":\(JSONText.quoted(wish.key))}"
        let signed = Base64URL.text(Array(header.utf8)) + "." + Base64URL.text(Array(body.utf8))
        guard let signature = Signatures.sign(Array(signed.utf8), seed: seed) else { return nil }
        return signed + "." + Base64URL.text(signature)
    }
}
