import ConfigText

/// What the link's file says.
public struct LinkConfig: Sendable, Equatable {
    public enum Token: Sendable, Equatable {
        case inline(String)
        /// Read at start, and again after each refusal.
        case file(String)

        /// The token as it stands now; `nil` where its file cannot be read.
        var text: String? {
            switch self {
            case .inline(let text): text
            case .file(let path): TokenFile.read(path)
            }
        }
    }

    /// Whom to believe, and with what to come.
    public struct TLS: Sendable, Equatable {
        /// PEM; `nil` = the authorities that the system trusts.
        public var authority: String?
        /// PEM: the site's own certificate and its key; both or none.
        public var certificate: String?
        public var key: String?
    }

    /// The directory that `ballastd` writes the spool to.
    public var spool: String
    public var site: String
    /// Without the path of the endpoint: `https://aggregator.example`.
    public var url: String
    public var token: Token
    /// `nil` = neither an authority nor a certificate of one's own.
    public var tls: TLS?
    public var batchRecords: Int
    public var batchBytes: Int
    /// Where leases from the aggregator are brought to; `nil` = none are fetched.
    public var controlSocket: String?
    /// The directory of the controller's captures; `nil` = none are delivered.
    public var captures: String?
    /// Bytes that may leave in a day, UTC; `nil` = as many as there are.
    public var dailyBudget: Int?
    /// Where a second link of the same spool keeps how far it is; `nil` = beside the spool.
    public var marks: String?
    /// Where `/metrics` is, on 127.0.0.1; `nil` = nowhere; 0 = any free port.
    public var metricsPort: Int?

    public init(_ tree: ConfigNode, file: String) throws(ConfigErrors) {
        self = try ConfigReader.read(tree, file: file) { Self.read($0) }
    }

    /// What a mapping says that has the keys of the link's file, within another file.
    public static func read(_ reader: ConfigReader) -> LinkConfig? {
        let spool = reader.value(LinkKeys.spool)
        let site = reader.value(LinkKeys.site)
        let aggregator = reader.section("aggregator") { section in
            let url = Self.url(section)
            return (url: url, token: Self.token(section), tls: Self.tls(section, url: url))
        }
        let records = reader.value(LinkKeys.batchRecords)
        let bytes = reader.value(LinkKeys.batchBytes)
        let socket = reader.value(LinkKeys.controlSocket)
        let captures = reader.value(LinkKeys.captures)
        let (budget, port) = (reader.value(LinkKeys.dailyBudget), reader.value(LinkKeys.metricsPort))
        let marks = reader.value(LinkKeys.marks)
        guard let marks, let spool, let site, let url = aggregator?.url, let token = aggregator?.token,
            let tls = aggregator?.tls, let records,
            let bytes, let socket, let captures, let budget, let port
        else { return nil }
        var link = LinkConfig(
            spool: spool, site: site, url: url, token: token, tls: tls == TLS() ? nil : tls,
            batchRecords: records, batchBytes: bytes, controlSocket: socket, captures: captures,
            dailyBudget: budget, metricsPort: port)
        link.marks = marks
        return link
    }

    private init(
        spool: String, site: String, url: String, token: Token, tls: TLS?, batchRecords: Int,
        batchBytes: Int, controlSocket: String?, captures: String?, dailyBudget: Int?, metricsPort: Int?
    ) {
        (self.dailyBudget, self.metricsPort) = (dailyBudget, metricsPort)
        self.tls = tls
        self.captures = captures
        self.controlSocket = controlSocket
        self.spool = spool
        self.site = site
        self.url = url
        self.token = token
        self.batchRecords = batchRecords
        self.batchBytes = batchBytes
    }

    /// Telemetry and tokens in clear text leave the machine only where somebody has said so.
    private static func url(_ section: ConfigReader) -> String? {
        guard let url = section.value(LinkKeys.url), let allowed = section.value(LinkKeys.plainText) else {
            return nil
        }
        let isLocal = ["127.0.0.1", "localhost", "[::1]"].contains { host in
            // `localhost:x@elsewhere` is elsewhere.
            let port = url.hasPrefix("http://" + host + ":") ? url.dropFirst(host.count + 8) : "x"
            return url == "http://" + host || !port.isEmpty && port.utf8.allSatisfy { (48...57).contains($0) }
        }
        if url.hasPrefix("http://") && !isLocal && !allowed {
            section.refuse(
                "url", "http:// carries the token in clear text: use https://, or say allow_plain_http: true")
        }
        return url
    }

    private static func tls(_ section: ConfigReader, url: String?) -> TLS? {
        guard let authority = section.value(LinkKeys.authority),
            let certificate = section.value(LinkKeys.certificate), let key = section.value(LinkKeys.key)
        else { return nil }
        if (certificate == nil) != (key == nil) {
            section.refuse("certificate", "certificate and key are given together")
        }
        if url?.hasPrefix("http://") ?? false, authority ?? certificate ?? key != nil {
            section.refuse("url", "ca_file, certificate and key have no effect over http://")
        }
        return TLS(authority: authority, certificate: certificate, key: key)
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
        guard isWeb, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        let place = text[text.index(text.startIndex, offsetBy: text.hasPrefix("https") ? 8 : 7)...]
        let colon = place.last == "]" ? nil : place.lastIndex(of: ":")
        let port = colon.map { Int(place[place.index(after: $0)...]) ?? 0 } ?? 1
        let isPort = (1...65_535).contains(port)
        return isPort && !place.isEmpty && !place.contains { "/?#@".contains($0) } ? text : nil
    }
    static let token = ConfigKey<String?>.text(
        "token", allowed: "printable ASCII characters without spaces", .fixed(nil), "the bearer token"
    ) { text in !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? .some(text) : nil }
    static let tokenFile = ConfigKey<String?>.text(
        "token_file", allowed: "a path", .fixed(nil), "a file that holds nothing but the bearer token"
    ) { text in .some(text) }
    static let authority = path(
        "ca_file",
        "PEM: the authority of the aggregator's certificate; without it those that the system trusts")
    static let certificate = path(
        "certificate", "PEM: the site's certificate; looked at anew when it changes")
    static let key = path("key", "PEM: the certificate's key")

    private static func path(_ name: String, _ note: String) -> ConfigKey<String?> {
        .text(name, allowed: "a path", .fixed(nil), shown: "none", note) { .some($0) }
    }

    static let plainText = ConfigKey<Bool>.flag(
        "allow_plain_http", .fixed("false"), "http:// to another machine: whoever listens has the token")
    static let controlSocket = ConfigKey<String?>.text(
        "control_socket", allowed: "a path", .fixed(nil),
        "ballastd's, for leases from the aggregator; without it none are fetched"
    ) { text in text.hasPrefix("/") || text.hasPrefix(".") ? .some(text) : nil }
    static let captures = ConfigKey<String?>.text(
        "captures", allowed: "a path", .fixed(nil),
        "the directory of the controller's captures; without it none are delivered"
    ) { text in text.hasPrefix("/") || text.hasPrefix(".") ? .some(text) : nil }
    static let marks = ConfigKey<String?>.text(
        "marks", allowed: "a path", .fixed(nil), shown: "the spool",
        "the folder in which a second link of the same spool keeps how far it is"
    ) { text in text.hasPrefix("/") || text.hasPrefix(".") ? .some(text) : nil }
    static let batchRecords = ConfigKey<Int>.whole(
        "batch_max_records", 1...10_000, "", .fixed(500), "most records in one report"
    ) { $0 }
    static let batchBytes = ConfigKey<Int>.whole(
        "batch_max_kb", 1...4_096, "kB", .fixed(512), "most payload in one report"
    ) { $0 * 1_000 }
    static let dailyBudget = whole(
        "daily_budget_mb", 1...100_000, "MB",
        "that may leave in a day (UTC); beyond it records wait, and the newest state leaves each quarter of an hour"
    ) { $0 * 1_000_000 }
    static let metricsPort = whole(
        "metrics_port", 0...65_535, "", "/metrics (Prometheus) on 127.0.0.1; 0 takes any free one"
    ) { $0 }

    private static func whole(
        _ name: String, _ range: ClosedRange<Int>, _ unit: String, _ note: String,
        convert: @escaping @Sendable (Int) -> Int
    ) -> ConfigKey<Int?> {
        .text(
            name, allowed: "\(range.lowerBound) … \(range.upperBound) \(unit)", .fixed(nil), shown: "none",
            note
        ) { text in
            Int(text).flatMap { range.contains($0) ? .some(.some(convert($0))) : nil }
        }
    }
}
