import ConfigText
import SiteConfig
import Testing
import YAMLText

@testable import BallastLink

@Suite struct `The link's configuration` {
    static func read(_ text: String) throws -> LinkConfig {
        try LinkConfig(try YAMLText.parse(Array(text.utf8), file: "l.yaml"), file: "l.yaml")
    }

    @Test func `has an example that can be used`() throws {
        let path = #filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 }
        let file = path + "/config/examples/link.yaml"
        let config = try LinkConfig(try YAMLText.load(path: file), file: file)
        #expect(config.url == "http://127.0.0.1:15080")
        #expect(config.token == .inline("demo-token"))
        #expect(config.batchBytes == 512_000)
    }

    @Test func `has an example of a second link of the same spool`() throws {
        let path = #filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 }
        let file = path + "/config/examples/link-local.yaml"
        let config = try LinkConfig(try YAMLText.load(path: file), file: file)
        #expect(config.url == "http://127.0.0.1:15090" && config.marks == "./run")
    }

    static let base = "spool: s\nsite: a\naggregator: {url: "
    // swift-format-ignore
    static let refused: [(text: String, says: String, why: Comment)] = [
        ("site: a\naggregator: {url: \"http://h\", token: t}", "spool", "no spool"),
        ("spool: s\naggregator: {url: \"http://h\", token: t}", "site", "no site"),
        ("spool: s\nsite: a", "aggregator.url", "no aggregator"),
        (base + "\"ftp://h\", token: t}", "http://HOST",
            "another protocol"),
        (base + "\"https://h:99999\", token: t}", "https://HOST", "no such port"),
        (base + "\"https://user:word@h\", token: t}", "https://HOST", "a name of its own"),
        (base + "\"https://h/path?q=1\", token: t}", "https://HOST", "a path"),
        (base + "\"https://h\", token: ''}", "printable", "an empty token"),
        (base + "\"http://h\"}", "exactly one",
            "no token"),
        (base + "\"http://h\", token: t, token_file: f}", "exactly one",
            "two tokens"),
        (base + "\"http://h\", token: t}\nbatch: 1", "unknown key",
            "a wrong key"),
        (base + "\"http://h\", token: t}\nbatch_max_records: 0", "1 … 10000",
            "none"),
        (base + "\"http://h\", token: t}\nbatch_max_kb: 5000",   "1 … 4096",
            "more than the aggregator takes"),
    ]

    @Test(arguments: refused)
    func `is refused with the key that is wrong`(text: String, says: String, why: Comment) {
        let error = #expect(throws: ConfigErrors.self, why) { try Self.read(text) }
        #expect(error?.description.contains(says) == true, why)
    }
}

@Suite struct `An aggregator's answer` {
    static let foreign = "the answer is not an aggregator's: "
    // swift-format-ignore
    static let rows: [(status: UInt, body: String, meaning: ReportAnswer, why: Comment)] = [
        (200, "{\"epoch\":\"e\",\"stored_through\":7}", .stored(through: 7), "all is well"),
        (200, "{\"epoch\":\"e\",\"stored_through\":7,\"differing\":[4,5]}", .stored(through: 7, differing: 4),
         "it has others under two numbers"),
        (200, "{\"stored_through\":7}",
            .refused(status: 200, reason: foreign + "{\"stored_through\":7}"), "no epoch"),
        (200, "{\"epoch\":\"f\",\"stored_through\":7}",
            .refused(status: 200, reason: foreign + "{\"epoch\":\"f\",\"stored_through\":7}"),
            "another stream's mark must not become ours"),
        (200, "<html>",  .refused(status: 200, reason: foreign + "<html>"), "a portal"),
        (409, "{\"error\":\"x\",\"stored_through\":3}", .rewind(to: 3), "it has less than we thought"),
        (409, "{\"error\":\"x\"}", .refused(status: 409, reason: "x"), "a conflict without a mark"),
        (413, "",                  .tooLarge, "fewer records, please"),
        (401, "{\"error\":\"x\"}", .refused(status: 401, reason: "x"), "the token"),
        (400, "{\"error\":\"x\"}", .refused(status: 400, reason: "x"), "the report"),
        (302, "",                  .refused(status: 302, reason: ""), "we follow nobody with our token"),
        (503, "busy",              .unreachable(reason: "status 503: busy"), "later"),
        (429, "slow",              .unreachable(reason: "status 429: slow"), "later"),
    ]

    @Test(arguments: rows)
    func `is taken for what it says`(status: UInt, body: String, meaning: ReportAnswer, why: Comment) {
        #expect(AggregatorClient.interpret(status: status, Array(body.utf8), epoch: "e") == meaning, why)
    }
}
