import BooksStore
import ConfigText
import RemoteLeases
import Signatures

extension AggregatorConfig {
    /// What the file says of the books.
    public struct Books: Sendable, Equatable {
        /// Somebody, or a device, who asks the books.
        public struct Person: Sendable, Equatable {
            public var caller: BooksCaller
            /// The one that holds, and the next one while a token is changed.
            public var tokens: [TokenDigest]
            /// UTC, in milliseconds since 1970; `nil` = the token does not end.
            public var expires: Int64?
        }

        public var people: [Person]
        /// Whose web tokens are taken beside those of the file.
        var tokens: WebTokenIssuer?
        /// After a run, until its bills are overdue.
        public var dueDays: Int

        static func read(_ reader: ConfigReader) -> Books? {
            guard reader.has("books") else { return nil }
            return reader.section("books") { section in
                let days = section.value(
                    ConfigKey<Int>.whole("due_days", 1...365, "", .fixed(15), "until a bill is overdue") {
                        $0
                    })
                let people = people(section)
                let hasTokens = section.has("tokens")
                let tokens = hasTokens ? section.section("tokens", Self.issuer) : nil
                guard let days, hasTokens == (tokens != nil) else { return nil }
                return Books(people: people, tokens: tokens, dueDays: days)
            }
        }

        private static func people(_ reader: ConfigReader) -> [Person] {
            var seen: Set<String> = []
            return reader.list("people", count: 1...10_000) { section, _ in
                let name = section.value(AggregatorKeys.name)
                let token = section.value(AggregatorKeys.principalToken)
                let next = section.value(AggregatorKeys.nextToken)
                let role = section.value(
                    ConfigKey<BooksRole>.choice("role", .required, "what the person may do"))
                let party = section.value(Self.party)
                let expires = section.value(AggregatorKeys.expires)
                let scopes = section.value(Self.scopes)
                guard let name, let token, let next, let role, let party, let expires, let scopes else {
                    return nil
                }
                if !seen.insert(name).inserted { section.refuse("name", "\(name) stands here twice") }
                if ["settlement", "feed", "history"].contains(name) {
                    section.refuse("name", "\(name) is the books' own")
                }
                if party == nil, ![.admin, .gridOperator, .auditor].contains(role) {
                    section.refuse("party", "is missing: a \(role.rawValue) sees what is its party's")
                }
                return Person(
                    caller: BooksCaller(name: name, role: role, party: party, scopes: scopes),
                    tokens: [token] + [next].compactMap { $0 }, expires: expires)
            }
        }

        private static func issuer(_ reader: ConfigReader) -> WebTokenIssuer? {
            let issuer = reader.value(words("issuer", "what the tokens' iss says"))
            let audience = reader.value(words("audience", "what the tokens' aud says"))
            let hours = reader.value(
                ConfigKey<Int64>.whole("max_hours", 1...8_760, "h", .fixed(24), "that a token may hold") {
                    Int64($0)
                })
            var seen: Set<String> = []
            let keys = reader.list("keys", count: 1...16) { section, _ -> WebTokenIssuer.Key? in
                let id = section.value(ConfigKey<String>.identifier("id", .required, "the tokens' kid"))
                let key = section.value(publicKey)
                let roles = section.value(roles)
                guard let id, let key, let roles else { return nil }
                if !seen.insert(id).inserted { section.refuse("id", "\(id) stands here twice") }
                return WebTokenIssuer.Key(id: id, publicKey: key, roles: roles)
            }
            guard let issuer, let audience, let hours else { return nil }
            return WebTokenIssuer(issuer: issuer, audience: audience, longest: hours * 3_600, keys: keys)
        }

        private static func words(_ name: String, _ note: String) -> ConfigKey<String> {
            .text(name, allowed: "1 … 200 characters", .required, note) {
                (1...200).contains($0.utf8.count) ? $0 : nil
            }
        }

        private static let publicKey = ConfigKey<[UInt8]>.text(
            "public_key", allowed: "64 hexadecimal digits", .required, "Ed25519, of who signs the tokens"
        ) { text in
            Hexadecimal.bytes(text).flatMap { $0.count == Signatures.publicKeyLength ? $0 : nil }
        }

        private static let roles: ConfigKey<Set<BooksRole>> = words(
            "roles", BooksRole.self, without: [.prosumer, .consumer, .vendor, .device],
            shown: "[prosumer, consumer, vendor, device]", "that tokens of this key may give"
        ) { $0 }

        private static let scopes: ConfigKey<Set<BooksScope>?> = words(
            "scopes", BooksScope.self, without: nil, shown: "all", "what the token is narrowed to"
        ) { .some($0) }

        /// A list of words of a kind.
        private static func words<Word: RawRepresentable & CaseIterable & Hashable & Sendable, Value>(
            _ name: String, _ kind: Word.Type, without fallback: Value, shown: String, _ note: String,
            _ take: @escaping @Sendable (Set<Word>) -> Value
        ) -> ConfigKey<Value> where Word.RawValue == String {
            let allowed = "a list of " + kind.allCases.map(\.rawValue).joined(separator: ", ")
            return ConfigKey<Value>(name, allowed: allowed, .fixed(fallback), shown: shown, note) {
                (node) throws(ConfigComplaint) in
                guard case .sequence(let elements) = node.content, !elements.isEmpty else {
                    throw ConfigComplaint("expected \(allowed)", at: node.position)
                }
                var found: Set<Word> = []
                for element in elements {
                    guard let word = Word(rawValue: try element.text(allowed)) else {
                        throw ConfigComplaint("is not in \(allowed)", at: element.position)
                    }
                    found.insert(word)
                }
                return take(found)
            }
        }

        private static let party = ConfigKey<String?>.text(
            "party", allowed: "a party's name", .fixed(nil), shown: "none",
            "whose things are the person's own"
        ) { text in (1...64).contains(text.utf8.count) ? .some(text) : nil }
    }
}
