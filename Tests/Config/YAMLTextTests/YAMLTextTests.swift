import ConfigText
import Glibc
import SiteConfig
import Testing
import YAMLText

@Suite struct YAMLTextTests {
    static func parse(_ text: String) throws(ConfigError) -> ConfigNode {
        try YAMLText.parse(Array(text.utf8), file: "a.yaml")
    }

    @Test func `every key and value knows its line and column`() throws {
        let tree = try Self.parse("a: 1\nb:\n  - \"x\"\n  - {c: ü}\n")
        let list = ConfigNode(
            .sequence([
                ConfigNode(.scalar("x", isQuoted: true), at: ConfigPosition(line: 3, column: 5)),
                ConfigNode(
                    .mapping([
                        ConfigEntry(
                            key: "c", keyPosition: ConfigPosition(line: 4, column: 6),
                            value: ConfigNode(
                                .scalar("ü", isQuoted: false), at: ConfigPosition(line: 4, column: 9)))
                    ]), at: ConfigPosition(line: 4, column: 5)),
            ]), at: ConfigPosition(line: 3, column: 3))
        let one = ConfigNode(.scalar("1", isQuoted: false), at: ConfigPosition(line: 1, column: 4))
        let expected = ConfigNode(
            .mapping([
                ConfigEntry(key: "a", keyPosition: ConfigPosition(line: 1, column: 1), value: one),
                ConfigEntry(key: "b", keyPosition: ConfigPosition(line: 2, column: 1), value: list),
            ]), at: ConfigPosition(line: 1, column: 1))
        #expect(tree == expected)
    }

    // swift-format-ignore
    static let refused: [(text: String, message: String, why: Comment)] = [
        ("",                          "1:1: the file is empty", "no bytes"),
        ("# only a comment\n",        "2:1: the file is empty", "no values"),
        ("---\n...\n",                "the file is empty", "an empty document"),
        ("a: &x 1\n",                 "1:4: anchors (&name) are not allowed", "anchor on a value"),
        ("a: &x [1]\n",               "1:4: anchors (&name) are not allowed", "anchor on a list"),
        ("a: *x\n",                   "1:4: aliases (*name) are not allowed", "alias"),
        ("*x : 1\n",                  "1:1: aliases (*name) are not allowed", "alias as a key"),
        ("a: 1\nb: !!int 1\n",        "2:4: tags (!name) are not allowed", "tag on a value"),
        ("a: !x {b: 1}\n",            "1:4: tags (!name) are not allowed", "tag on a mapping"),
        ("!x a: 1\n",                 "1:1: tags (!name) are not allowed", "tag on a key"),
        ("%YAML 1.1\n---\na: 1\n",    "directives (%YAML, %TAG) are not allowed", "directive"),
        ("a: 1\n---\nb: 2\n",         "2:1: a second document begins here", "two documents"),
        ("a: 1\nb: 2\na: 3\n",        "3:1: key \"a\" stands already in line 1", "the same key twice"),
        ("b:\n  c: 1\n  c: 1\n",      "3:3: key \"c\" stands already in line 2", "twice, deeper"),
        ("[1, 2]: x\n",               "1:1: a key must be a word", "a list as a key"),
        ("? {a: 1}\n: x\n",           "1:3: a key must be a word", "a mapping as a key"),
        ("\"\": x\n",                 "1:1: a key is missing before the colon", "an empty key"),
        (": x\n",                     "1:1: not YAML: did not find expected key", "no key"),
        ("? \n: x\n",                 "a key is missing before the colon", "no key, said at length"),
        ("a:\n\t- 1\n",               "2:1: not YAML: found character that cannot start any token", "a tab"),
        ("a: [1, 2\n",                "2:1: not YAML: did not find expected ',' or ']'", "an open list"),
        ("a: \"x\n",                  "2:1: not YAML: found unexpected end of stream", "an open quote"),
        ("a: 1\n b: 2\n",             "2:3: not YAML: mapping values are not allowed", "indent"),
        ("a: \u{0}\n",                "1:4: not YAML: control characters are not allowed", "a zero byte"),
    ]
    @Test(arguments: refused)
    func `what makes YAML surprising is refused with its place`(text: String, message: String, why: Comment) {
        let error = #expect(throws: ConfigError.self) { try Self.parse(text) }
        #expect(error?.description.contains(message) == true, "\(why): \(error?.description ?? "no error")")
    }

    @Test func `bytes that are not UTF-8 are refused with their line`() {
        let bytes = Array("a: 1\nb: ü".utf8) + [0xFF, 0x0A]
        let error = #expect(throws: ConfigError.self) { try YAMLText.parse(bytes, file: "a.yaml") }
        #expect(error?.description.hasPrefix("a.yaml:2:5: not YAML: invalid leading UTF-8 octet") == true)
    }

    @Test func `a text in UTF-16 is refused`() {
        let bytes: [UInt8] = [0xFF, 0xFE, 0x61, 0, 0x3A, 0, 0x20, 0, 0x31, 0]
        #expect(throws: ConfigError.self) { try YAMLText.parse(bytes, file: "a.yaml") }
    }

    @Test func `a text with a byte order mark is read`() throws {
        #expect(throws: Never.self) {
            try YAMLText.parse([0xEF, 0xBB, 0xBF] + Array("a: 1".utf8), file: "a")
        }
    }

    @Test(arguments: [(16, true), (17, false)])
    func `sixteen levels are read and seventeen refused`(depth: Int, isRead: Bool) {
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(((try? Self.parse(text)) != nil) == isRead)  // which error it is stands in the next test
    }

    @Test func `too deep a file is refused before its end`() {
        let error = #expect(throws: ConfigError.self) {
            try Self.parse(String(repeating: "[", count: 900_000))
        }
        #expect(error?.message == "more than 16 levels inside one another")
    }

    @Test(arguments: [(19_999, true), (20_000, false)])
    func `twenty thousand values are read and one more refused`(count: Int, isRead: Bool) {
        let text = "[" + String(repeating: "1,", count: count) + "]"
        do throws(ConfigError) {
            _ = try Self.parse(text)
            #expect(isRead)
        } catch {
            #expect(!isRead && error.message == "more than 20000 values")
        }
    }

    @Test func `more than a mebibyte is refused`() {
        let bytes = [UInt8](repeating: UInt8(ascii: "#"), count: YAMLText.sizeLimit + 1)
        let error = #expect(throws: ConfigError.self) { try YAMLText.parse(bytes, file: "a.yaml") }
        #expect(error?.message == "is larger than 1048576 bytes")
    }

    // swift-format-ignore
    static let unreadable: [(path: String, message: String, why: Comment)] = [
        ("/nowhere/a.yaml", "/nowhere/a.yaml:1:1: cannot be opened: No such file or directory", "absent"),
        ("/dev",               "/dev:1:1: is not a regular file", "a directory"),
        ("/dev/zero",          "/dev/zero:1:1: is not a regular file", "an endless device"),
    ]
    @Test(arguments: unreadable)
    func `a file that cannot be read says why`(path: String, message: String, why: Comment) {
        let error = #expect(throws: ConfigError.self) { try YAMLText.load(path: path) }
        #expect(error?.description == message, why)
    }
}
