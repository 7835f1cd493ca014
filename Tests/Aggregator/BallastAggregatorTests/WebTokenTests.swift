import BooksStore
import Foundation
import Glibc
import LinuxIO
import ProgramSupport
import RemoteLeases
import Signatures
import Testing

@testable import BallastAggregator

/// Web tokens that another program makes, good and bad ones.
@Suite struct `Web tokens of the books` {
    static let seed = [UInt8](0..<32)
    static let now: Int64 = 1_900_000_000

    static func issuer(_ roles: Set<BooksRole> = [.prosumer]) throws -> WebTokenIssuer {
        let open = try #require(Signatures.publicKey(ofSeed: seed))
        return WebTokenIssuer(
            issuer: "https://id.example.org", audience: "ballast-books", longest: 86_400,
            keys: [WebTokenIssuer.Key(id: "issuer-1", publicKey: open, roles: roles)])
    }

    static func peer(_ arguments: [String]) throws -> String {
        let python = try #require(ProcessInfo.processInfo.environment["BALLAST_PYTHON"])
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try output(python, [tests.appendingPathComponent("Peers/jwt_peer.py").path] + arguments)
    }

    /// What a program that ends well says.
    static func output(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return text
    }

    /// By the names that the peer gives them.
    static func tokens(_ now: Int64) throws -> [String: String] {
        let lines = try peer([Hexadecimal.text(seed), "\(now)"]).split(separator: "\n")
        return Dictionary(
            uniqueKeysWithValues: lines.compactMap { line in
                let words = line.split(separator: " ", maxSplits: 1)
                return words.count == 2 ? (String(words[0]), String(words[1])) : nil
            })
    }

    // swift-format-ignore
    static let wanted: [String: WebTokenRefusal] = [
        "alg_none": .algorithm, "alg_none_with_signature": .algorithm, "alg_hs256_by_the_public_key": .algorithm,
        "alg_rs256": .algorithm, "alg_es256": .algorithm, "alg_in_small_letters": .algorithm, "another_key": .signature,
        "another_kid": .unknownKey, "critical": .critical, "unsigned": .signature, "cut": .signature, "padded": .malformed,
        "signature_changed": .signature, "body_changed": .signature, "role_twice": .signature, "expired": .expired,
        "no_exp": .claim("exp"), "exp_is_a_text": .malformed, "exp_of_ages": .malformed, "not_yet": .notYet,
        "issued_tomorrow": .notYet, "too_long": .tooLong, "audience_wrong": .audience, "no_audience": .audience,
        "issuer_wrong": .issuer, "role_above_the_key": .claim("role"), "no_party": .claim("party"),
        "no_subject": .claim("sub"), "unknown_scope": .claim("scope"), "two_parts": .malformed, "four_parts": .malformed,
        "garbage": .malformed, "too_large": .malformed,
    ]

    @Test func `are taken by EdDSA alone, and refused for what is wrong with them`() throws {
        let (tokens, issuer) = (try Self.tokens(Self.now), try Self.issuer())
        #expect(tokens.count == Self.wanted.count + 4)
        for (name, token) in tokens {
            do throws(WebTokenRefusal) {
                let taken = try WebToken(token, issuer, now: Self.now)
                #expect(name.hasPrefix("good"), "\(name)")
                #expect(taken.caller.name == "jwt:asha" && taken.caller.party == "asha")
                #expect(taken.caller.scopes == (name == "good_read" ? [.read] : nil))
            } catch {
                #expect(error == Self.wanted[name], "\(name)")
                #expect(!error.text.isEmpty)
            }
        }
    }

    @Test func `one that is changed by any bit is none`() throws {
        let token = try #require(try Self.tokens(Self.now)["good"])
        let issuer = try Self.issuer()
        for place in token.utf8.indices {
            for bit in 0..<7 {
                var bytes = Array(token.utf8)
                bytes[token.utf8.distance(from: token.utf8.startIndex, to: place)] ^= 1 << UInt8(bit)
                let changed = String(decoding: bytes, as: UTF8.self)
                #expect(throws: WebTokenRefusal.self, "\(changed)") {
                    try WebToken(changed, issuer, now: Self.now)
                }
            }
        }
    }

    @Test func `base64 for URLs has one text for each bytes`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) }
            let text = Base64URL.text(bytes)
            #expect(Base64URL.bytes(text) == bytes)
            #expect(
                text
                    == Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                    .replacing("=", with: ""))
        }
        #expect(Base64URL.bytes("AB") == nil, "four bits too many")
        #expect(Base64URL.bytes("A") == nil && Base64URL.bytes("A+==") == nil)
    }

    /// printf %s admin-token | sha256sum
    private static let admin = "10a4c7c9fc5206d6f36dc6944a81bb6f4a3cb0e25014ae3b12e6c3e52712292a"

    @Test
    func `at the door: a token of another program opens what its role, party and scope say, and no more`()
        async throws
    {
        let scratch = try ScratchFolder()
        let open = try #require(Signatures.publicKey(ofSeed: Self.seed))
        let aggregator = try RunningAggregator(
            in: scratch,
            extra: """
                books:
                  people:
                    - {name: admin, role: admin, token_sha256: \(Self.admin)}
                    - {name: clerk, role: admin, scopes: [books:read], token_sha256: \(Self.clerk)}
                  tokens:
                    issuer: https://id.example.org
                    audience: ballast-books
                    keys: [{id: issuer-1, public_key: \(Hexadecimal.text(open)), roles: [prosumer]}]
                """)
        for party in ["asha", "ravi"] {
            let body = "{\"id\": \"\(party)\", \"name\": \"\(party)\"}"
            let answer = try await aggregator.ask(
                "/v1/parties", .bytes(.init(string: body)), token: "admin-token", key: party)
            #expect(answer.status == 201, "\(answer.body)")
        }
        let tokens = try Self.tokens(WallClock.nowMilliseconds() / 1_000)
        let own = try await aggregator.get("/v1/parties", token: tokens["good"])
        #expect(own.status == 200 && own.body.contains("asha") && !own.body.contains("ravi"), "\(own.body)")
        #expect(try await aggregator.get("/v1/sites", token: tokens["good"]).status == 403)
        func transfer(_ token: String?) async throws -> Int {
            let body = #"{"transfers": [{"from": "asha", "to": "ravi", "amount": 1, "text": "t"}]}"#
            return try await aggregator.ask(
                "/v1/transfers", .bytes(.init(string: body)), token: token, key: "k"
            ).status
        }
        #expect(try await transfer(tokens["good"]) == 422, "an empty wallet")
        #expect(try await transfer(tokens["good_read"]) == 403)
        #expect(try await aggregator.get("/v1/parties", token: tokens["good_read"]).status == 200)
        #expect(try await transfer("clerk-token") == 403, "a token of the file has scopes too")
        #expect(try await aggregator.get("/v1/parties", token: "clerk-token").status == 200)
        for name in ["expired", "alg_none", "audience_wrong", "body_changed", "unsigned"] {
            let answer = try await aggregator.get("/v1/parties", token: tokens[name])
            #expect(answer.status == 401 && answer.body.contains("token"), "\(name) \(answer.body)")
        }
        #expect(aggregator.end(by: SIGTERM) == 0)
    }

    /// printf %s clerk-token | sha256sum
    private static let clerk = "6928eb94c15cb00c92def9c21d106cfae70f3ecc56d8e7ff4039cb619e39e5e5"

    @Test func `the program makes a key and a token, which another program finds right`() throws {
        let scratch = try ScratchFolder()
        let file = scratch.path + "/issuer.key"
        let program = try RunningProgram.path(of: "ballast-aggregator")
        let key = try Self.output(program, ["token", "key", "--out", file])
        let open = try #require(key.split(separator: "public_key: ").last?.prefix { $0 != "}" }.description)
        let issue = try Self.output(
            program,
            [
                "token", "issue", "--key", file, "--issuer", "i", "--audience", "a", "--subject", "asha",
                "--role", "prosumer", "--party", "asha", "--scope", "books:read",
            ])
        let token = try #require(issue.split(separator: "\n").last.map(String.init))
        let claims = try Self.peer(["check", token, open])
        for part in [
            "\"aud\": \"a\"", "\"iss\": \"i\"", "\"party\": \"asha\"", "\"role\": \"prosumer\"",
            "\"scope\": \"books:read\"",
        ] { #expect(claims.contains(part), "\(part) in \(claims)") }
        for (wrong, says) in Self.refusedWishes {
            let asked = try RunningProgram(
                "ballast-aggregator",
                ["token", "issue", "--key", file, "--issuer", "i", "--audience", "a"] + wrong)
            #expect(asked.end(by: 0) != 0 && asked.log.contains(says), "\(wrong): \(asked.log)")
        }
    }

    /// What no aggregator would take is not signed.
    private static let refusedWishes: [(arguments: [String], says: String)] = [
        (["--subject", "a", "--role", "root", "--party", "a"], "--role takes"),
        (["--subject", "a", "--role", "prosumer"], "--party is missing"),
        (["--subject", "a b", "--role", "admin"], "--subject takes"),
        (["--subject", "a", "--role", "admin", "--scope", "books:everything"], "--scope takes"),
    ]
}
