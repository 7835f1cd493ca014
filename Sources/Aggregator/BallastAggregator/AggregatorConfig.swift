import ConfigText

/// What the aggregator's file says.
public struct AggregatorConfig: Sendable, Equatable {
    public struct Site: Sendable, Equatable {
        public var id: String
        public var token: TokenDigest

        public init(id: String, token: TokenDigest) {
            self.id = id
            self.token = token
        }
    }

    /// Somebody who may ask sites for a power.
    public struct Principal: Sendable, Equatable {
        public var name: String
        public var token: TokenDigest
        /// `["all"]` = every site.
        public var sites: [String]

        public init(name: String, token: TokenDigest, sites: [String]) {
            self.name = name
            self.token = token
            self.sites = sites
        }
    }

    /// With what leases are signed.
    public struct Signing: Sendable, Equatable {
        /// A file that holds the secret: `ballast-aggregator lease key`.
        public var keyFile: String
        /// The key's name, as the sites' files have it.
        public var keyID: String

        public init(keyFile: String, keyID: String) {
            self.keyFile = keyFile
            self.keyID = keyID
        }
    }

    public var host: String
    /// 0 asks the system for any free port.
    public var port: Int
    /// Path of the SQLite file.
    public var database: String
    public var sites: [Site]
    /// Who may read; everybody who reaches the port where it is `nil`.
    public var readToken: TokenDigest?
    /// Who may ask for a power; none = nobody.
    public var principals: [Principal]
    /// `nil` = nothing is signed.
    public var signing: Signing?

    public init(
        host: String, port: Int, database: String, sites: [Site], readToken: TokenDigest? = nil,
        principals: [Principal] = [], signing: Signing? = nil
    ) {
        self.principals = principals
        self.signing = signing
        self.host = host
        self.port = port
        self.database = database
        self.sites = sites
        self.readToken = readToken
    }

    public init(_ tree: ConfigNode, file: String) throws(ConfigErrors) {
        self = try ConfigReader.read(tree, file: file) { reader in
            let listen = reader.section("listen") { section in
                (host: section.value(AggregatorKeys.host), port: section.value(AggregatorKeys.port))
            }
            let database = reader.value(AggregatorKeys.database)
            let readToken = reader.value(AggregatorKeys.readToken)
            let sites = Self.sites(reader)
            let principals = Self.principals(reader, sites: sites.map(\.id))
            let signing = Self.signing(reader)
            guard let host = listen?.host, let port = listen?.port, let database, let readToken else {
                return nil
            }
            return AggregatorConfig(
                host: host, port: port, database: database, sites: sites, readToken: readToken,
                principals: principals, signing: signing)
        }
    }

    private static func sites(_ reader: ConfigReader) -> [Site] {
        var seen: Set<String> = []
        return reader.list("sites", count: 1...10_000) { section, _ in
            let id = section.value(AggregatorKeys.siteID)
            let token = section.value(AggregatorKeys.siteToken)
            guard let id, let token else { return nil }
            if !seen.insert(id).inserted {
                section.refuse("id", "\(ConfigWording.quoted(id)) stands here twice")
            }
            return Site(id: id, token: token)
        }
    }
}

extension AggregatorConfig {
    private static func principals(_ reader: ConfigReader, sites: [String]) -> [Principal] {
        var seen: Set<String> = []
        return reader.list("principals", count: 0...1_000) { section, _ in
            let (name, token) = (
                section.value(AggregatorKeys.name), section.value(AggregatorKeys.principalToken)
            )
            let list = section.value(AggregatorKeys.principalSites)
            guard let name, let token, let list else { return nil }
            if !seen.insert(name).inserted { section.refuse("name", "\(name) stands here twice") }
            for site in list where list != ["all"] && !sites.contains(site) {
                section.refuse("sites", "there is no site \(ConfigWording.quoted(site)) in this file")
            }
            return Principal(name: name, token: token, sites: list)
        }
    }

    private static func signing(_ reader: ConfigReader) -> Signing? {
        guard reader.has("signing") else { return nil }
        return reader.section("signing") { section in
            let (file, id) = (section.value(AggregatorKeys.keyFile), section.value(AggregatorKeys.keyID))
            guard let file, let id else { return nil }
            return Signing(keyFile: file, keyID: id)
        }
    }
}

enum AggregatorKeys {
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
    static let readToken = ConfigKey<TokenDigest?>.text(
        "read_token_sha256", allowed: "64 hexadecimal digits", .fixed(nil), shown: "open to all",
        "SHA-256 of the bearer token that the GET endpoints ask for"
    ) { text in TokenDigest(hex: text).map { .some($0) } }
}
