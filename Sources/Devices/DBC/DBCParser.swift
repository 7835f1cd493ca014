/// Reads a DBC text, statement by statement, and puts together what belongs together at the end.
struct DBCParser {
    /// A statement about a signal that stands elsewhere in the file.
    struct Reference<Value> {
        var key: UInt32
        var signal: String
        var value: Value
        var position: DBCPosition
    }

    struct SwitchValues {
        var selector: String
        var ranges: [ClosedRange<Int64>]
    }

    var cursor: DBCCursor
    var database = DBCDatabase()
    var texts: [Reference<[DBCSignal.ValueText]>] = []
    var formats: [Reference<DBCSignal.Format>] = []
    var switchValues: [Reference<SwitchValues>] = []
    /// Comments and long names; without a signal's name, of the message.
    var comments: [Reference<String>] = []
    var longNames: [Reference<String>] = []
    var cycleTimes: [Reference<Double>] = []
    var defaultCycleTime = 0.0

    init(_ bytes: [UInt8], file: String) { cursor = DBCCursor(bytes, file: file) }

    /// Sections whose contents mean nothing to us; each ends in a semicolon.
    static let skipped: Set<String> = [
        "BO_TX_BU_", "SIG_GROUP_", "EV_", "ENVVAR_DATA_", "EV_DATA_", "BA_DEF_", "BA_DEF_REL_", "BA_REL_",
        "BA_DEF_DEF_REL_", "SGTYPE_", "SGTYPE_VAL_", "BA_DEF_SGTYPE_", "BA_SGTYPE_", "SIG_TYPE_REF_",
        "SIGTYPE_VALTYPE_", "CAT_DEF_", "CAT_", "FILTER", "VAL_TABLE_", "BU_SG_REL_", "BU_EV_REL_",
        "BU_BO_REL_",
    ]
    static let keywords: Set<String> = skipped.union([
        "VERSION", "NS_", "BS_", "BU_", "BO_", "SG_", "CM_", "BA_DEF_DEF_", "BA_", "VAL_", "SIG_VALTYPE_",
        "SG_MUL_VAL_",
    ])

    mutating func parse() throws(DBCError) -> DBCDatabase {
        while true {
            cursor.skipSpace()
            if cursor.isAtEnd { break }
            // Left over where a tool writes one semicolon too many.
            if cursor.take(UInt8(ascii: ";")) { continue }
            let place = cursor.position
            let keyword = cursor.peekWord()
            guard Self.keywords.contains(keyword) else {
                throw cursor.error("expected a statement, found \(cursor.shown)")
            }
            _ = try cursor.word("a statement")
            try statement(keyword, at: place)
        }
        resolve()
        return database
    }

    private mutating func statement(_ keyword: String, at place: DBCPosition) throws(DBCError) {
        switch keyword {
        case "VERSION": try cursor.skipString("the version")
        case "NS_": try newSymbols()
        case "BS_": try bitTiming()
        case "BU_": try nodes()
        case "BO_": try message(at: place)
        case "SG_": throw cursor.error("a signal outside any message", at: place)
        case "CM_": try comment()
        case "BA_DEF_DEF_": try attributeDefault(from: place)
        case "BA_": try attribute(from: place)
        case "VAL_": try valueTexts(from: place)
        case "SIG_VALTYPE_": try signalFormat()
        case "SG_MUL_VAL_": try multiplexRanges()
        default: try cursor.skipStatement(keyword, from: place)
        }
    }

    /// A list of keywords; the next section begins at the word that no other word follows.
    private mutating func newSymbols() throws(DBCError) {
        try cursor.expect(":")
        while true {
            guard !cursor.peekWord().isEmpty else { return }
            var ahead = cursor
            _ = try ahead.word("a keyword")
            ahead.skipSpace()
            guard ahead.isAtEnd || DBCCursor.isWord(ahead.next) && !DBCCursor.isDigit(ahead.next) else {
                return
            }
            cursor = ahead
        }
    }

    /// Unused since CAN networks are set up elsewhere: numbers up to the next word.
    private mutating func bitTiming() throws(DBCError) {
        try cursor.expect(":")
        while true {
            cursor.skipSpace()
            if DBCCursor.isDigit(cursor.next) {
                _ = try cursor.integer("a bit timing")
            } else if !cursor.take(UInt8(ascii: ":")) && !cursor.take(UInt8(ascii: ",")) {
                return
            }
        }
    }

    private mutating func nodes() throws(DBCError) {
        try cursor.expect(":")
        try skipNames()
    }

    /// Names of nodes, with or without commas between them.
    mutating func skipNames() throws(DBCError) {
        while true {
            let word = cursor.peekWord()
            if word.isEmpty || Self.keywords.contains(word) { return }
            _ = try cursor.word("a node")
            _ = cursor.take(UInt8(ascii: ","))
        }
    }

    mutating func problem(_ reason: String, at place: DBCPosition, in message: String = "") {
        guard database.problems.count < DBCLimits.problems else { return }
        database.problems.append(
            DBCError(file: cursor.file, position: place, message: message, reason: reason))
    }

    /// An identifier with bit 31 for 29 bits, as DBC writes it.
    mutating func key() throws(DBCError) -> UInt32 {
        UInt32(truncatingIfNeeded: try cursor.integer("a message's identifier", in: 0...0xFFFF_FFFF))
    }
}

extension DBCDatabase {
    /// Reads a DBC text; any bytes are allowed.
    ///
    /// - Parameter file: the name that errors carry.
    /// - Throws: the first place where the text is no DBC at all. What is only wrong in itself stands in
    ///   `problems`.
    public static func parse(_ bytes: [UInt8], file: String) throws(DBCError) -> DBCDatabase {
        var parser = DBCParser(bytes, file: file)
        guard bytes.count <= DBCLimits.size else {
            throw parser.cursor.error("is larger than \(DBCLimits.size) bytes")
        }
        return try parser.parse()
    }
}
