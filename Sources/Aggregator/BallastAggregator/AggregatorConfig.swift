import BooksStore
import ConfigText
import FrequencyRecord

/// What the aggregator's file says.
public struct AggregatorConfig: Sendable, Equatable {
    public struct Site: Sendable, Equatable {
        public var id: String
        /// The one that holds, and the next one while a token is changed.
        public var tokens: [TokenDigest]
    }

    /// Somebody who may see sites, or ask them for a power.
    public struct Principal: Sendable, Equatable {
        public var name: String
        /// The one that holds, and the next one while a token is changed.
        public var tokens: [TokenDigest]
        public var roles: Set<Role>
        /// `["all"]` = every site.
        public var sites: [String]
        /// UTC, in milliseconds since 1970; `nil` = the token does not end.
        public var expires: Int64?
    }

    /// With what leases are signed.
    public struct Signing: Sendable, Equatable {
        /// A file that holds the secret: `ballast-aggregator lease key`.
        public var keyFile: String
        /// The key's name, as the sites' files have it.
        public var keyID: String
    }

    /// The listener's own certificate, and what sites must show.
    public struct TLS: Sendable, Equatable {
        /// PEM; the chain, its own first.
        public var certificate: String
        /// PEM.
        public var key: String
        /// PEM: the authority of the sites' certificates; `nil` = sites come with their token alone.
        public var clientCA: String?
        /// Fingerprints of certificates that count no more.
        public var revoked: String?
    }

    /// What peers together may take of the machine.
    public struct Limits: Sendable, Equatable {
        /// Open at once; more wait until one ends.
        public var connections = 2_048
        /// Those of one address that have not shown a token yet; where there are more, or half of all
        /// connections have not, those that took longer than five seconds are closed.
        public var strangersOfAddress = 512
        /// Those of one token, and never more than half of all: beyond it 429, and the connection is closed.
        public var connectionsOfOne = 512
        /// Bytes that the bodies of all requests may hold at once.
        public var bodies = 64 << 20
        /// Bytes that those of one token may hold, so that none takes the room of all.
        public var bodiesOfOne = 16 << 20
        /// How long a whole body may take: the largest report at 2.2 Mbit/s.
        public var bodyTime = Duration.seconds(30)
        /// Of one principal or site, over ten seconds.
        public var requestsPerSecond = 200

        public init() {}
    }

    public var host: String
    /// 0 asks the system for any free port.
    public var port: Int
    /// Where `/healthz` and `/metrics` are, on 127.0.0.1; `nil` = nowhere; 0 = any free port.
    public var localPort: Int?
    /// Path of the SQLite file.
    public var database: String
    public var sites: [Site]
    /// Who may read all sites; `nil` = principals only.
    public var readToken: TokenDigest?
    /// Who may see sites and ask them for a power.
    public var principals: [Principal]
    /// `nil` = nothing is signed.
    public var signing: Signing?
    public var limits = Limits()
    /// `nil` = the listener speaks in the clear.
    public var tls: TLS?
    /// `nil` = no books: no route, no table, no job.
    public var books: Books?
    var alarms = AlarmConfig()
    /// How long what is stored stays; what has no rule stays for ever.
    var retention: [RetentionRule] = []
    /// What sites' months are held against.
    var gridCodes = GridCodes()
    /// `nil` = this aggregator is no level of a fleet: no route, no table, no job.
    public var fleet: FleetSettings?

    public init(_ tree: ConfigNode, file: String) throws(ConfigErrors) {
        self = try ConfigReader.read(tree, file: file) { reader -> AggregatorConfig? in
            let listen = reader.section("listen") { section in Self.listen(section) }
            let database = reader.value(AggregatorKeys.database)
            let readToken = reader.value(AggregatorKeys.readToken)
            let sites = Self.sites(reader)
            let principals = Self.principals(reader, sites: sites.map(\.id))
            let signing = Self.signing(reader)
            let limits = Self.limits(reader)
            let tls = Self.tls(reader)
            let books = Books.read(reader)
            let alarms = AlarmReader.alarms(reader, sites: sites.map(\.id))
            let retention = Self.retention(reader)
            let codes = GridCodeFile.read(reader, beside: file)
            let fleet = FleetReader.read(reader, file: file, sites: sites.map(\.id))
            guard let host = listen?.host, let port = listen?.port, let local = listen?.local, let database,
                let readToken, let limits, let alarms
            else { return nil }
            var config = AggregatorConfig(
                host: host, port: port, localPort: local, database: database, sites: sites,
                readToken: readToken, principals: principals, signing: signing, limits: limits, tls: tls)
            config.books = books
            if let books { Self.checkTokens(books, config, reader) }
            config.alarms = alarms
            config.retention = retention
            config.gridCodes = codes ?? GridCodes()
            config.fleet = fleet
            if fleet != nil, signing == nil {
                reader.refuse("signing", "is missing: a level of a fleet signs what its children get")
            }
            return config
        }
    }

    private init(
        host: String, port: Int, localPort: Int?, database: String, sites: [Site], readToken: TokenDigest?,
        principals: [Principal], signing: Signing?, limits: Limits, tls: TLS?
    ) {
        self.tls = tls
        self.host = host
        self.port = port
        self.localPort = localPort
        self.database = database
        self.sites = sites
        self.readToken = readToken
        self.principals = principals
        self.signing = signing
        self.limits = limits
    }

    /// Who is in the books by a token must be told apart from everybody else by it: what is done there is
    /// noted under the name.
    private static func checkTokens(_ books: Books, _ config: AggregatorConfig, _ reader: ConfigReader) {
        var owners: [TokenDigest: String] = [:]
        for site in config.sites { for token in site.tokens { owners[token] = "site \(site.id)" } }
        if let token = config.readToken { owners[token] = "read_token_sha256" }
        for person in config.principals { for token in person.tokens { owners[token] = person.name } }
        for person in books.people {
            for token in person.tokens {
                let other = owners.updateValue(person.caller.name, forKey: token)
                guard let other, other != person.caller.name else { continue }
                reader.refuse("books", "\(person.caller.name) and \(other) have the same token")
            }
        }
    }

    private static func sites(_ reader: ConfigReader) -> [Site] {
        var seen: Set<String> = []
        return reader.list("sites", count: 1...10_000) { section, _ in
            let id = section.value(AggregatorKeys.siteID)
            let token = section.value(AggregatorKeys.siteToken)
            let next = section.value(AggregatorKeys.nextToken)
            guard let id, let token, let next else { return nil }
            if !seen.insert(id).inserted {
                section.refuse("id", "\(ConfigWording.quoted(id)) stands here twice")
            }
            return Site(id: id, tokens: [token] + [next].compactMap { $0 })
        }
    }
}

extension AggregatorConfig {
    private static func retention(_ reader: ConfigReader) -> [RetentionRule] {
        guard reader.has("retention") else { return [] }
        let rules = reader.section("retention") { section -> [RetentionRule]? in
            RetentionRule.Kind.allCases.compactMap { kind in
                section.value(AggregatorKeys.retention(kind)).flatMap { $0 }.map {
                    RetentionRule(kind: kind, days: $0)
                }
            }
        }
        return rules ?? []
    }

    private static func principals(_ reader: ConfigReader, sites: [String]) -> [Principal] {
        var seen: Set<String> = []
        let known = Set(sites)
        return reader.list("principals", count: 0...1_000) { section, _ in
            let (name, token) = (
                section.value(AggregatorKeys.name), section.value(AggregatorKeys.principalToken)
            )
            let next = section.value(AggregatorKeys.nextToken)
            let list = section.value(AggregatorKeys.principalSites)
            let roles = section.value(AggregatorKeys.roles)
            let expires = section.value(AggregatorKeys.expires)
            guard let name, let token, let next, let list, let roles, let expires else { return nil }
            if !seen.insert(name).inserted { section.refuse("name", "\(name) stands here twice") }
            for site in list where list != ["all"] && !known.contains(site) {
                section.refuse("sites", "there is no site \(ConfigWording.quoted(site)) in this file")
            }
            return Principal(
                name: name, tokens: [token] + [next].compactMap { $0 }, roles: roles, sites: list,
                expires: expires)
        }
    }

    private static func listen(_ section: ConfigReader) -> (host: String?, port: Int?, local: Int??) {
        let (host, port) = (section.value(AggregatorKeys.host), section.value(AggregatorKeys.port))
        let local = section.value(AggregatorKeys.localPort)
        let isHere = ["127.0.0.1", "localhost", "0.0.0.0", "::", "::1"].contains(host ?? "")
        if isHere, let port, port != 0, local == port {
            section.refuse("local_port", "is the listener's port as well: one of them cannot be had")
        }
        return (host, port, local)
    }

    private static func signing(_ reader: ConfigReader) -> Signing? {
        guard reader.has("signing") else { return nil }
        return reader.section("signing") { section in
            let (file, id) = (section.value(AggregatorKeys.keyFile), section.value(AggregatorKeys.keyID))
            guard let file, let id else { return nil }
            return Signing(keyFile: file, keyID: id)
        }
    }

    private static func tls(_ reader: ConfigReader) -> TLS? {
        guard reader.has("tls") else { return nil }
        return reader.section("tls") { section in
            let certificate = section.value(AggregatorKeys.certificate)
            let key = section.value(AggregatorKeys.certificateKey)
            let (authority, revoked) = (
                section.value(AggregatorKeys.clientCA), section.value(AggregatorKeys.revoked)
            )
            guard let certificate, let key, let authority, let revoked else { return nil }
            if revoked != nil, authority == nil {
                section.refuse("revoked", "has no effect without client_ca: no certificate is asked for")
            }
            return TLS(certificate: certificate, key: key, clientCA: authority, revoked: revoked)
        }
    }

    private static func limits(_ reader: ConfigReader) -> Limits? {
        reader.section("limits") { section in
            var limits = Limits()
            let connections = section.value(AggregatorKeys.connections)
            let strangers = section.value(AggregatorKeys.strangers)
            let ofOne = section.value(AggregatorKeys.connectionsOfOne)
            let (all, one) = (section.value(AggregatorKeys.bodies), section.value(AggregatorKeys.bodiesOfOne))
            let (time, pace) = (section.value(AggregatorKeys.bodyTime), section.value(AggregatorKeys.pace))
            guard let connections, let strangers, let ofOne, let all, let one, let time, let pace else {
                return nil
            }
            (limits.connections, limits.strangersOfAddress) = (connections, strangers)
            limits.connectionsOfOne = ofOne
            (limits.bodies, limits.bodiesOfOne) = (all, one)
            (limits.bodyTime, limits.requestsPerSecond) = (time, pace)
            return limits
        }
    }
}

enum AggregatorKeys {
    static let certificate = ConfigKey<String>.path(
        "certificate", .required, "PEM: the listener's certificate, and those between it and its authority")
    static let certificateKey = ConfigKey<String>.path("key", .required, "PEM: the certificate's key")
    static let clientCA = ConfigKey<String?>.text(
        "client_ca", allowed: "a path", .fixed(nil), shown: "none",
        "PEM: the authority of the sites' certificates; with it no site comes without its own"
    ) { .some($0) }
    static let revoked = ConfigKey<String?>.text(
        "revoked", allowed: "a path", .fixed(nil), shown: "none",
        "SHA-256 fingerprints of certificates that count no more, one in a line; read anew at SIGHUP"
    ) { .some($0) }
    static let name = ConfigKey<String>.identifier("name", .required, "who asks; it goes into the record")
    static let principalToken = ConfigKey<TokenDigest>.text(
        "token_sha256", allowed: "64 hexadecimal digits", .required, "SHA-256 of the person's bearer token",
        read: TokenDigest.init(hex:))
    static let principalSites = ConfigKey<[String]>(
        "sites", allowed: "a list of sites, or all", .required, "whom the person may ask for a power"
    ) { (node) throws(ConfigComplaint) in
        if case .scalar("all", _) = node.content { return ["all"] }
        guard case .sequence(let elements) = node.content, (1...10_000).contains(elements.count) else {
            throw ConfigComplaint("expected a list of sites, or all", at: node.position)
        }
        var list: [String] = []
        for element in elements { list.append(try element.text("a site")) }
        return list
    }
    static let keyFile = ConfigKey<String>.path("key_file", .required, "holds the secret, and nothing else")
    static let keyID = ConfigKey<String>.identifier(
        "key_id", .fixed("aggregator-1"), "the key's name, as the sites' files have it")
    static let host = ConfigKey<String>.host("host", .fixed("127.0.0.1"), "the address to listen on")
    static let port = ConfigKey<Int>.whole(
        "port", 0...65_535, "", .fixed(8_080), "the TCP port; 0 takes any free one"
    ) { $0 }
    static let database = ConfigKey<String>.path("database", .required, "the SQLite file; made if absent")
    static let siteID = ConfigKey<String>.identifier("id", .required, "the site's name in its reports")
    static let siteToken = ConfigKey<TokenDigest>.text(
        "token_sha256", allowed: "64 hexadecimal digits", .required, "SHA-256 of the site's bearer token",
        read: TokenDigest.init(hex:))
    static let readToken = digest(
        "read_token_sha256", shown: "none", "SHA-256 of a bearer token that reads every site")
    static let nextToken = digest(
        "next_token_sha256", shown: "none", "of the token that comes next; both hold until one is taken out")
    static let localPort = ConfigKey<Int?>(
        "local_port", allowed: "0 … 65535", .fixed(nil), shown: "none",
        "the port on 127.0.0.1 that has /healthz and /metrics; 0 takes any free one"
    ) { (node) throws(ConfigComplaint) in
        Int(try node.number(in: 0...65_535, "0 … 65535"))
    }
    static let roles = ConfigKey<Set<Role>>(
        "roles", allowed: "a list of read, dispatch", .fixed([.read, .dispatch]), shown: "[read, dispatch]",
        "read: sees its sites; dispatch: asks them for a power"
    ) { (node) throws(ConfigComplaint) in
        guard case .sequence(let elements) = node.content, !elements.isEmpty else {
            throw ConfigComplaint("expected a list of read, dispatch", at: node.position)
        }
        var roles: Set<Role> = []
        for element in elements {
            guard let role = Role(rawValue: try element.text("read, dispatch")),
                [.read, .dispatch].contains(role)
            else {
                throw ConfigComplaint("is not one of read, dispatch", at: element.position)
            }
            roles.insert(role)
        }
        return roles
    }
    static let expires = ConfigKey<Int64?>.text(
        "expires", allowed: "a day, 2027-01-31", .fixed(nil), shown: "never",
        "the day (UTC) at whose beginning the token ends"
    ) { text in CivilDay.milliseconds(text).map { .some($0) } }
    static func retention(_ kind: RetentionRule.Kind) -> ConfigKey<Int?> {
        let (least, note) =
            switch kind {
            case .values: (7, "snapshots and what moved between them")
            case .events: (30, "events of sites")
            case .energy: (400, "energy by quarters of an hour")
            case .requests: (30, "requests, refusals and log-ins")
            case .minutes: (30, "values by minutes, for trends")
            }
        return ConfigKey<Int?>(
            "\(kind.rawValue)_days", allowed: "\(least) … 36500", .fixed(nil), shown: "for ever",
            "how long they stay: \(note); the history declares what is cut"
        ) { (node) throws(ConfigComplaint) in
            Int(try node.number(in: Double(least)...36_500, "\(least) … 36500"))
        }
    }
    static let connections = ConfigKey<Int>.whole(
        "connections", 16...65_536, "", .fixed(2_048), "open at once; more wait"
    ) { $0 }
    static let strangers = ConfigKey<Int>.whole(
        "strangers_of_address", 1...65_536, "", .fixed(512),
        "connections of one address without a token yet; of more those older than 5 s are closed"
    ) { $0 }
    static let connectionsOfOne = ConfigKey<Int>.whole(
        "connections_of_one", 4...65_536, "", .fixed(512),
        "connections of one person's token; people's together have half of all, a site a 32nd; beyond: 429"
    ) { $0 }
    static let bodies = ConfigKey<Int>.whole(
        "bodies_mib", 8...4_096, "MiB", .fixed(64), "that bodies may hold at once; beyond: 503"
    ) { $0 << 20 }
    static let bodiesOfOne = ConfigKey<Int>.whole(
        "bodies_of_one_mib", 8...4_096, "MiB", .fixed(16), "that those of one token may hold; beyond: 429"
    ) { $0 << 20 }
    static let bodyTime = ConfigKey<Duration>.whole(
        "body_s", 1...600, "s", .fixed(30), "that a whole body may take; beyond: 408"
    ) { .seconds($0) }
    static let pace = ConfigKey<Int>.whole(
        "requests_per_s", 1...100_000, "", .fixed(200), "of one token, over ten seconds; beyond: 429"
    ) { $0 }

    private static func digest(_ name: String, shown: String, _ note: String) -> ConfigKey<TokenDigest?> {
        .text(name, allowed: "64 hexadecimal digits", .fixed(nil), shown: shown, note) { text in
            TokenDigest(hex: text).map { .some($0) }
        }
    }
}

/// Days of the calendar, as texts.
enum CivilDay {
    /// When a day begins, UTC, in milliseconds since 1970; `nil` where `text` is no day.
    static func milliseconds(_ text: String) -> Int64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
        guard text.utf8.count == 10, parts.count == 3, let year = parts[0], let month = parts[1],
            let day = parts[2], (1970...9_999).contains(year), (1...12).contains(month)
        else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...lengths[Int(month) - 1]).contains(day) else { return nil }
        let before = year - 1
        let ofYears = before * 365 + before / 4 - before / 100 + before / 400 - 719_162
        let ofMonths = lengths[..<Int(month - 1)].reduce(0, +)
        return (ofYears + ofMonths + day - 1) * 86_400_000
    }
}
