import ConfigText

/// What the link's file says.
public struct LinkConfig: Sendable, Equatable {
    public enum Token: Sendable, Equatable {
        case inline(String)
        /// Read at start, and again after each refusal.
        case file(String)
    }

    /// The directory that `ballastd` writes the spool to.
    public var spool: String
    public var site: String
    /// Without the path of the endpoint: `https://aggregator.example`.
    public var url: String
    public var token: Token
    public var batchRecords: Int
    public var batchBytes: Int

    public init(_ tree: ConfigNode, file: String) throws(ConfigErrors) {
        self = try ConfigReader.read(tree, file: file) { reader in
            let spool = reader.value(LinkKeys.spool)
            let site = reader.value(LinkKeys.site)
            let aggregator = reader.section("aggregator") { section in
                (url: section.value(LinkKeys.url), token: Self.token(section))
            }
            let records = reader.value(LinkKeys.batchRecords)
            let bytes = reader.value(LinkKeys.batchBytes)
            guard let spool, let site, let url = aggregator?.url, let token = aggregator?.token, let records,
                let bytes
            else { return nil }
            return LinkConfig(
                spool: spool, site: site, url: url, token: token, batchRecords: records, batchBytes: bytes)
        }
    }

    private init(
        spool: String, site: String, url: String, token: Token, batchRecords: Int, batchBytes: Int
    ) {
        self.spool = spool
        self.site = site
        self.url = url
        self.token = token
        self.batchRecords = batchRecords
        self.batchBytes = batchBytes
    }

    private static func token(_ section: ConfigReader) -> Token? {
        guard let inline = section.value(LinkKeys.token), let file = section.value(LinkKeys.tokenFile) else {
            return nil
        }
        switch (inline, file) {
        case (.some(let token), .none): return .inline(token)
        case (.none, .some(let path)): return .file(path)
        case (.none, .none), (.some, .some):
            section.refuse("token", "exactly one of token and token_file must be given")
            return nil
        }
    }
}

enum LinkKeys {
    static let spool = ConfigKey<String>.path("spool", .required, "the directory of the spool")
    static let site = ConfigKey<String>.identifier("site", .required, "the site's name at the aggregator")
    static let url = ConfigKey<String>.text(
        "url", allowed: "http://HOST[:PORT] or https://HOST[:PORT]", .required, "the aggregator"
    ) { text in
        let isWeb = text.hasPrefix("http://") || text.hasPrefix("https://")
        return isWeb && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } && !text.hasSuffix("/")
            ? text : nil
    }
    static let token = ConfigKey<String?>.text(
        "token", allowed: "printable ASCII characters without spaces", .fixed(nil), "the bearer token"
    ) { text in text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? .some(text) : nil }
    static let tokenFile = ConfigKey<String?>.text(
        "token_file", allowed: "a path", .fixed(nil), "a file that holds nothing but the bearer token"
    ) { text in .some(text) }
    static let batchRecords = ConfigKey<Int>.whole(
        "batch_max_records", 1...10_000, "", .fixed(500), "most records in one report"
    ) { $0 }
    static let batchBytes = ConfigKey<Int>.whole(
        "batch_max_kb", 1...4_096, "kB", .fixed(512), "most payload in one report"
    ) { $0 * 1_000 }
}
