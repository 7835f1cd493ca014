import BooksStore
import ConfigText

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
                guard let days else { return nil }
                return Books(people: people, dueDays: days)
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
                guard let name, let token, let next, let role, let party, let expires else { return nil }
                if !seen.insert(name).inserted { section.refuse("name", "\(name) stands here twice") }
                if ["settlement", "feed", "history"].contains(name) {
                    section.refuse("name", "\(name) is the books' own")
                }
                if party == nil, ![.admin, .gridOperator, .auditor].contains(role) {
                    section.refuse("party", "is missing: a \(role.rawValue) sees what is its party's")
                }
                return Person(
                    caller: BooksCaller(name: name, role: role, party: party),
                    tokens: [token] + [next].compactMap { $0 }, expires: expires)
            }
        }

        private static let party = ConfigKey<String?>.text(
            "party", allowed: "a party's name", .fixed(nil), shown: "none",
            "whose things are the person's own"
        ) { text in (1...64).contains(text.utf8.count) ? .some(text) : nil }
    }
}
