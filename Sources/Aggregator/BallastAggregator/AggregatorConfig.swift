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

    public var host: String
    /// 0 asks the system for any free port.
    public var port: Int
    /// Path of the SQLite file.
    public var database: String
    public var sites: [Site]
    /// Who may read; everybody who reaches the port where it is `nil`.
    public var readToken: TokenDigest?

    public init(host: String, port: Int, database: String, sites: [Site], readToken: TokenDigest? = nil) {
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
            guard let host = listen?.host, let port = listen?.port, let database, let readToken else {
                return nil
            }
            return AggregatorConfig(
                host: host, port: port, database: database, sites: sites, readToken: readToken)
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

enum AggregatorKeys {
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
