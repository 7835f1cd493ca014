import ConfigText
import SiteConfig
import Testing
import YAMLText

@testable import BallastAggregator

@Suite struct `The aggregator's configuration` {
    static let digest = "4bc1a5ff67a4c4e0bb1cf7bf0c2d2d2f7b5e0e3a9a1f3a59e0c9e5bb0a4f0001"

    static let site = "[{id: a, token_sha256: \"\(digest)\"}]"

    static func read(_ text: String) throws -> AggregatorConfig {
        try AggregatorConfig(try YAMLText.parse(Array(text.utf8), file: "a.yaml"), file: "a.yaml")
    }

    @Test func `has an example that can be used, for the token demo-token`() throws {
        let path = #filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 }
        let file = path + "/config/examples/aggregator.yaml"
        let config = try AggregatorConfig(try YAMLText.load(path: file), file: file)
        #expect(config.sites == [.init(id: "demo", tokens: [TokenDigest(of: "demo-token")])])
    }

    @Test func `has an example of the page on a gateway, with somebody who looks on`() throws {
        let path = #filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 }
        let file = path + "/config/examples/gateway-page.yaml"
        let config = try AggregatorConfig(try YAMLText.load(path: file), file: file)
        #expect(config.sites == [.init(id: "demo", tokens: [TokenDigest(of: "demo-token")])])
        #expect(config.principals.map(\.tokens) == [[TokenDigest(of: "look")]])
        #expect(config.principals.map(\.roles) == [[.read]])
        #expect(Set(config.retention.map(\.kind)) == Set(RetentionRule.Kind.allCases), "its disk never fills")
    }

    @Test func `needs little`() throws {
        let config = try Self.read("database: x.sqlite\nsites: \(Self.site)")
        #expect(config.host == "127.0.0.1")
        #expect(config.port == 8_080)
        #expect(config.readToken == nil)
    }

    static func principal(_ more: String) -> String {
        let sites = more.hasPrefix("sites") ? "" : "sites: all, "
        return "database: x\nsites: \(site)\n"
            + "principals: [{name: p, token_sha256: \"\(digest)\", \(sites)\(more)}]"
    }

    /// Two people of the books, with tokens that end so; that of the site ends with 1.
    static func people(_ first: String, _ second: String) -> String {
        let token = digest.dropLast()
        return "database: x\nsites: \(site)\nbooks:\n  people:\n"
            + "    - {name: a, role: admin, token_sha256: \"\(token)\(first)\"}\n"
            + "    - {name: b, role: auditor, token_sha256: \"\(token)\(second)\"}"
    }

    @Test func `knows days as milliseconds since 1970`() {
        #expect(CivilDay.milliseconds("1970-01-01") == 0)
        // date -u -d 2027-01-31 +%s; 2028-02-29; 2100-03-01
        #expect(CivilDay.milliseconds("2027-01-31") == 1_801_353_600_000)
        #expect(CivilDay.milliseconds("2028-02-29") == 1_835_395_200_000)
        #expect(CivilDay.milliseconds("2100-03-01") == 4_107_542_400_000)
        #expect(CivilDay.milliseconds("2100-02-29") == nil)
    }

    // swift-format-ignore
    static let refused: [(text: String, says: String, why: Comment)] = [
        ("sites: \(site)",          "database",            "no database"),
        ("database: x\nsites: []",                                 "0 elements",          "no site"),
        ("database: x\nsites: [{id: a}]",                          "sites[0].token_sha256", "no token"),
        ("database: x\nsites: [{id: a, token_sha256: secret}]",    "64 hexadecimal",      "the token itself"),
        ("database: x\nsites: [{id: \"a b\", token_sha256: \"\(digest)\"}]", "sites[0].id",
            "a space in a name"),
        ("database: x\nport: 1\nsites: \(site)", "unknown key", "at the wrong place"),
        ("database: x\nlisten: {port: 65536}\nsites: \(site)", "65535", "no port"),
        ("database: x\nlisten: {port: 7, local_port: 7}\nsites: \(site)", "listener's port", "one for two"),
        ("database: x\nsites: [{id: a, token_sha256: \"\(digest)\"}, {id: a, token_sha256: \"\(digest)\"}]",
            "twice", "the same site twice"),
        (principal("roles: [report]"), "read, dispatch", "nobody becomes a site by a role"),
        (principal("roles: []"), "read, dispatch", "somebody who may nothing"),
        (principal("expires: 2027-02-29"), "a day", "no such day"),
        (principal("sites: [b]"), "no site", "a site that is not there"),
        ("database: x\nlimits: {connections: 1}\nsites: \(site)", "16", "nobody could come in"),
        ("database: x\nread_token_sha256: secret\nsites: \(site)", "64 hexadecimal", "the token itself"),
        (people("0", "0"), "b and a have the same token", "one token for two people of the books"),
        (people("0", "1"), "b and site a have the same token", "a person with a site's token"),
    ]

    @Test(arguments: refused)
    func `is refused with the key that is wrong`(text: String, says: String, why: Comment) {
        let error = #expect(throws: ConfigErrors.self, why) { try Self.read(text) }
        #expect(error?.description.contains(says) == true, why)
    }
}
