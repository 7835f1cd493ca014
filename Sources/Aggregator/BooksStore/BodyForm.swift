import ExactAmounts

/// What one key of a body may hold, as a JSON Schema says it.
struct BodyField: Sendable {
    let name: String
    let isRequired: Bool
    /// What it is, and its unit.
    let note: String
    /// The members of its schema beside the description.
    let members: [(String, String)]
    /// The keys of its elements, or of the mapping that it is.
    var fields: [BodyField] = []

    private init(
        _ name: String, _ isRequired: Bool, _ note: String, _ members: [(String, String)],
        fields: [BodyField] = []
    ) {
        self.name = name
        self.isRequired = isRequired
        self.note = note
        self.members = members
        self.fields = fields
    }

    /// The same key, which need not be there.
    var optional: BodyField { BodyField(name, false, note, members, fields: fields) }

    func defaulting(to value: String) -> BodyField {
        BodyField(name, false, note, members + [("default", value)], fields: fields)
    }

    var schema: String {
        JSONOut.object(members + (note.isEmpty ? [] : [("description", JSONOut.text(note))]))
    }

    // MARK: Kinds

    private static func text(_ least: Int, _ most: Int) -> [(String, String)] {
        [("type", "\"string\""), ("minLength", "\(least)"), ("maxLength", "\(most)")]
    }

    /// The name of something of the books.
    static func name(_ name: String, _ note: String) -> BodyField {
        BodyField(
            name, true, note, [("type", "\"string\""), ("pattern", "\"^[a-z0-9][a-z0-9-]{0,63}$\"")])
    }

    static func words(
        _ name: String, _ note: String, _ range: ClosedRange<Int> = 1...200
    ) -> BodyField {
        BodyField(
            name, true, note,
            text(range.lowerBound, range.upperBound)
                + [("pattern", "\"^[^\\u0000-\\u001f\\u007f-\\u009f]*$\"")])
    }

    static func instant(_ name: String, _ note: String) -> BodyField {
        BodyField(
            name, true, note + "; with its offset, as 2026-11-01T00:00:00+05:30",
            [("type", "\"string\""), ("format", "\"date-time\"")])
    }

    static func day(_ name: String, _ note: String) -> BodyField {
        BodyField(name, false, note, [("type", "\"string\""), ("format", "\"date\"")])
    }

    static func clock(_ name: String, _ note: String) -> BodyField {
        BodyField(
            name, true, note,
            [("type", "\"string\""), ("pattern", "\"^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$\"")])
    }

    /// A number that is read as the text that it is, never as floating point: it may be sent as one.
    static func decimal(
        _ name: String, _ least: String, _ most: String, decimals: Int, _ unit: String, _ note: String
    ) -> BodyField {
        BodyField(
            name, true, "\(note); in \(unit), \(least) … \(most), at most \(decimals) decimals, read exactly",
            [
                ("type", "[\"number\",\"string\"]"), ("minimum", least), ("maximum", most),
                ("pattern", "\"^[0-9]+([.][0-9]{1,\(decimals)})?$\""),
            ])
    }

    static func price(_ name: String, _ note: String) -> BodyField {
        decimal(name, "0", Price.limit.text, decimals: 6, "INR/kWh", note)
    }

    static func whole(_ name: String, _ range: ClosedRange<Int64>, _ unit: String, _ note: String)
        -> BodyField
    {
        BodyField(
            name, true, unit.isEmpty ? note : "\(note); in \(unit)",
            [
                ("type", "\"integer\""), ("minimum", "\(range.lowerBound)"),
                ("maximum", "\(range.upperBound)"),
            ])
    }

    static func numbers(_ name: String, _ values: [Int], _ unit: String, _ note: String) -> BodyField {
        BodyField(
            name, true, "\(note); in \(unit)",
            [("type", "\"integer\""), ("enum", "[\(values.map(String.init).joined(separator: ","))]")])
    }

    static func choice(_ name: String, _ words: [String], _ note: String) -> BodyField {
        BodyField(
            name, true, note,
            [("type", "\"string\""), ("enum", JSONOut.list(words.map { JSONOut.text($0) }))])
    }

    static func flag(_ name: String, _ note: String) -> BodyField {
        BodyField(name, false, note, [("type", "\"boolean\""), ("default", "false")])
    }

    static func list(
        _ name: String, _ count: ClosedRange<Int>, _ note: String, _ fields: [BodyField]
    ) -> BodyField {
        BodyField(
            name, count.lowerBound > 0, note,
            [
                ("type", "\"array\""), ("minItems", "\(count.lowerBound)"),
                ("maxItems", "\(count.upperBound)"), ("items", object(fields)),
            ], fields: fields)
    }

    static func mapping(_ name: String, _ note: String, _ fields: [BodyField]) -> BodyField {
        BodyField(name, false, note, objectMembers(fields), fields: fields)
    }

    // MARK: Whole bodies

    private static func objectMembers(_ fields: [BodyField]) -> [(String, String)] {
        let required = fields.filter(\.isRequired).map { JSONOut.text($0.name) }
        return [("type", "\"object\""), ("additionalProperties", "false")]
            + (required.isEmpty ? [] : [("required", JSONOut.list(required))])
            + [("properties", JSONOut.object(fields.map { ($0.name, $0.schema) }))]
    }

    static func object(_ fields: [BodyField]) -> String { JSONOut.object(objectMembers(fields)) }
}
