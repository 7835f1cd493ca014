import BooksStore
import Crypto
import LinuxIO
import Synchronization

/// SHA-256 of a bearer token. The token itself is never stored.
public struct TokenDigest: Sendable, Hashable {
    private let bytes: [UInt8]

    public init(of token: String) { bytes = Array(SHA256.hash(data: Array(token.utf8))) }

    /// As 64 hexadecimal digits.
    var hex: String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    /// From 64 hexadecimal digits.
    public init?(hex: String) {
        let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 64, hex.utf8.count == 64 else { return nil }
        bytes = stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }
}

/// What somebody may do.
public enum Role: String, Sendable, CaseIterable {
    /// Sees the sites.
    case read
    /// Asks sites for a power.
    case dispatch
    /// Is a site: sends reports, fetches leases. No principal has it.
    case report
    /// Asks the books, which have roles of their own. No principal has it: `books.people` do.
    case books
}

/// Whom a token belongs to, and what it may do for which sites.
struct Grant: Sendable, Equatable {
    var name: String
    var roles: Set<Role>
    /// `nil` = all sites.
    var sites: Set<String>?
    /// UTC, in milliseconds since 1970; `nil` = it does not end.
    var expires: Int64?
    /// What somebody is to the books.
    var books: BooksCaller?

    func covers(_ role: Role, _ site: String?) -> Bool {
        guard roles.contains(role) else { return false }
        guard let site, let sites else { return true }
        return sites.contains(site)
    }
}

/// Somebody whose token was right.
struct Caller: Sendable {
    var grants: [Grant]
    var digest: TokenDigest

    var name: String { grants.first?.name ?? "" }

    var isSite: Bool { grants.contains { $0.roles.contains(.report) } }

    /// Of `all`, those for which the caller has the role.
    func sites(_ role: Role, of all: [String]) -> [String] { all.filter { may(role, $0) } }

    /// Reads every site, also those that come.
    var seesAll: Bool { grants.contains { $0.roles.contains(.read) && $0.sites == nil } }

    func may(_ role: Role, _ site: String?) -> Bool { grants.contains { $0.covers(role, site) } }
}

/// Decides whose token a request carries. What the configuration says of tokens may change while it runs.
final class TokenGate: Sendable {
    private struct Table {
        var sites: [String]
        var grants: [TokenDigest: [Grant]]
        var issuer: WebTokenIssuer?
    }

    private let table: Mutex<Table>

    init(_ config: AggregatorConfig) { table = Mutex(Self.table(of: config)) }

    /// From now on what `config` says holds; requests that were let in before go on.
    func take(_ config: AggregatorConfig) {
        let new = Self.table(of: config)
        table.withLock { $0 = new }
    }

    var sites: [String] { table.withLock(\.sites) }

    private static func table(of config: AggregatorConfig) -> Table {
        var grants: [TokenDigest: [Grant]] = [:]
        for site in config.sites {
            let grant = Grant(name: "site \(site.id)", roles: [.report], sites: [site.id])
            for token in site.tokens { grants[token, default: []].append(grant) }
        }
        for person in config.principals {
            let sites = person.sites == ["all"] ? nil : Set(person.sites)
            let grant = Grant(
                name: person.name, roles: person.roles, sites: sites, expires: person.expires)
            for token in person.tokens { grants[token, default: []].append(grant) }
        }
        for person in config.books?.people ?? [] {
            let grant = Grant(
                name: person.caller.name, roles: [.books], sites: [], expires: person.expires,
                books: person.caller)
            for token in person.tokens { grants[token, default: []].append(grant) }
        }
        if let token = config.readToken {
            grants[token, default: []].append(Grant(name: "reader", roles: [.read]))
        }
        return Table(sites: config.sites.map(\.id), grants: grants, issuer: config.books?.tokens)
    }

    /// - Returns: `nil` where nobody has this token, or it has expired.
    func caller(_ digest: TokenDigest, now: Int64 = WallClock.nowMilliseconds()) -> Caller? {
        let grants = table.withLock { $0.grants[digest] ?? [] }.filter { $0.expires.map { $0 > now } ?? true }
        return grants.isEmpty ? nil : Caller(grants: grants, digest: digest)
    }

    /// Whose token it is: one of the file, or a web token.
    func known(_ digest: TokenDigest, _ header: String?) throws(Refusal) -> Caller {
        if let caller = caller(digest) { return caller }
        if let caller = try bearer(header) { return caller }
        throw Refusal(.unauthorized, "this token is not known here")
    }

    /// Whom a web token of the books speaks for.
    ///
    /// - Returns: `nil` where the header carries none, or none is taken here.
    func bearer(
        _ header: String?, now: Int64 = WallClock.nowMilliseconds()
    ) throws(Refusal) -> Caller? {
        guard let issuer = table.withLock({ $0.issuer }), let header,
            let text = header.split(separator: " ", maxSplits: 1).last, WebToken.isOne(text)
        else { return nil }
        do throws(WebTokenRefusal) {
            let token = try WebToken(String(text), issuer, now: now / 1_000)
            let grant = Grant(
                name: token.caller.name, roles: [.books], sites: [], expires: token.expires * 1_000,
                books: token.caller)
            return Caller(grants: [grant], digest: TokenDigest(of: String(text)))
        } catch { throw Refusal(.unauthorized, error.text) }
    }

    /// The token that a header carries.
    static func digest(authorization header: String?) throws(Refusal) -> TokenDigest {
        guard let header else {
            throw Refusal(.unauthorized, "there is no header \"Authorization: Bearer TOKEN\"")
        }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw Refusal(.unauthorized, "the header is not \"Authorization: Bearer TOKEN\"")
        }
        return TokenDigest(of: String(parts[1]))
    }

    func checkMay(_ role: Role, _ site: String, _ caller: Caller) throws(Refusal) {
        let name = String(site.prefix(64))
        guard sites.contains(site) else {
            throw Refusal(role == .report ? .forbidden : .notFound, "there is no site \"\(name)\" here")
        }
        if caller.may(role, site) { return }
        throw Refusal(
            .forbidden,
            role == .report
                ? "this token is not the one of site \"\(name)\""
                : "\(caller.name) has not the role \(role.rawValue) for site \"\(name)\"")
    }
}
