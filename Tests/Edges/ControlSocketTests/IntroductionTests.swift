import LinuxIO
import Testing

@testable import ControlSocket

@Suite struct IntroductionTests {
    static let who = Introduction(
        peer: PeerIdentity(userID: 1_000, groupID: 100, processID: 4_242), groups: [100, 901, 4_294_967_295])

    @Test func `the daemon reads of an asker what the door has written`() throws {
        for groups in [[], [100], Self.who.groups] {
            var who = Self.who
            who.groups = groups
            let read = try #require(Introduction.parse(who.line(Array(#"{"command":"stop"} x"#.utf8))))
            #expect(read.who == who)
            #expect(String(decoding: read.request, as: UTF8.self) == #"{"command":"stop"} x"#)
        }
    }

    // swift-format-ignore
    static let strange: [(line: String, why: String)] = [
        (#"{"command":"stop"}"#,            "a request without an introduction"),
        ("",                                "nothing"),
        ("1000 100 4242 100,901",           "no request"),
        ("-1 100 4242 100 {}",              "a sign"),
        ("+0 100 4242 100 {}",              "a sign that a number parser takes"),
        ("4294967296 100 4242 100 {}",      "a user beyond 32 bits"),
        ("1000 100 2147483648 100 {}",      "a process beyond 31 bits"),
        ("1000 100 4242 100,,901 {}",       "an empty group"),
        ("1000 100 4242 100,a {}",          "a group that is no number"),
        ("1000  100 4242 100 {}",           "two spaces"),
        ("\u{664} 100 4242 100 {}",        "a digit of another script"),
    ]

    @Test(arguments: strange)
    func `anything else introduces nobody`(row: (line: String, why: String)) {
        #expect(Introduction.parse(Array(row.line.utf8)) == nil, "\(row.why)")
    }

    @Test func `no bytes at all trap the reader of an introduction`() {
        var state: UInt64 = 7
        for _ in 0..<20_000 {
            var bytes: [UInt8] = []
            for _ in 0..<(state >> 60) + 3 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes.append(Array("0123456789, -{}\u{0}".utf8)[Int(state >> 33) % 16])
            }
            _ = Introduction.parse(bytes)
        }
    }
}
