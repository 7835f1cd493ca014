import JSONText

/// A batch of numbered records from one site, checked: its records and gaps cover their numbers without a
/// hole.
public struct EdgeReport: Sendable, Equatable {
    public struct Record: Sendable, Equatable {
        public var number: Int64
        /// `telemetry`, `event`, …; empty where the record does not say.
        public var kind: String
        /// The JSON object as the site wrote it.
        public var data: String
        /// What the site's clock said, UTC, in milliseconds since 1970; `nil` where the record does not say.
        public var time: Int64?
        /// Of an event, which; empty where the record does not say.
        public var event = ""
        /// Of one out of a history, when it came; `nil` = it comes now.
        var came: Came?
    }

    /// When a record came, as it is stored.
    struct Came: Sendable, Equatable {
        /// UTC, ISO 8601 with milliseconds, by the clock here.
        var at: String
        /// The history holds it.
        var isHeld: Bool
    }

    /// The largest report, in bytes.
    public static let sizeLimit = 8 << 20
    /// The largest record, in bytes: twice what a site's spool takes.
    public static let recordLimit = 512 << 10

    public var site: String
    /// 32 lower-case hexadecimal digits.
    public var epoch: String
    public var records: [Record]
    /// Numbers that the site cannot deliver.
    public var gaps: [ClosedRange<Int64>]
    /// All numbers that the report speaks for; `nil` where there is none, which asks for the mark only.
    public var covered: ClosedRange<Int64>?
    /// Records ahead of their turn: what the site looks like now. They come again, and are stored then.
    public var present: [Record]
    /// The site's controller writes nothing any more.
    public var isSilent: Bool

    /// The most records ahead of their turn, and their bytes.
    public static let presentLimit = (records: 600, bytes: 512 << 10)

    /// - Throws: what is wrong and where.
    public init(json bytes: [UInt8]) throws(JSONError) {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw JSONError("the text is not UTF-8", at: 0)
        }
        var draft = Draft()
        var cursor = JSONCursor(bytes)
        try cursor.object { (key, cursor) throws(JSONError) in try draft.read(key, &cursor, bytes) }
        try cursor.end()
        guard let site = draft.site else { throw JSONError("is missing", at: 0, path: "site") }
        guard let epoch = draft.epoch else { throw JSONError("is missing", at: 0, path: "epoch") }
        self.site = site
        self.epoch = epoch
        records = draft.records
        gaps = draft.gaps
        present = draft.present
        isSilent = draft.isSilent
        let bytes = present.reduce(0) { $0 + $1.data.utf8.count }
        guard present.count <= Self.presentLimit.records, bytes <= Self.presentLimit.bytes else {
            throw JSONError("holds more than is looked at", at: 0, path: "present")
        }
        covered = try Self.covered(by: records, and: gaps)
    }

    /// Puts records and gaps in one line and finds the first hole or overlap.
    private static func covered(
        by records: [Record], and gaps: [ClosedRange<Int64>]
    ) throws(JSONError) -> ClosedRange<Int64>? {
        var pieces = records.map { $0.number...$0.number } + gaps
        pieces.sort { $0.lowerBound < $1.lowerBound }
        guard let first = pieces.first else { return nil }
        var last = first.upperBound
        for piece in pieces.dropFirst() {
            if piece.lowerBound <= last {
                throw JSONError("overlap at \(piece.lowerBound)", at: 0, path: "gaps")
            }
            if piece.lowerBound != last &+ 1 {
                let hole = "\(last) is followed by \(piece.lowerBound), and no gap says why"
                throw JSONError(hole, at: 0, path: "records")
            }
            last = piece.upperBound
        }
        return first.lowerBound...last
    }
}

extension EdgeReport.Record {
    /// What a record says of itself, as it is read when it comes; `nil` where it is no JSON object.
    static func reading(_ data: String) -> EdgeReport.Record? {
        var cursor = JSONCursor(Array(data.utf8))
        var record = EdgeReport.Record(number: 0, kind: "", data: data)
        do throws(JSONError) { _ = try Draft.data(&cursor, into: &record) } catch { return nil }
        return record
    }
}

/// What has been read of a report so far.
private struct Draft {
    var site: String?
    var epoch: String?
    var records: [EdgeReport.Record] = []
    var gaps: [ClosedRange<Int64>] = []
    var present: [EdgeReport.Record] = []
    var isSilent = false

    mutating func read(_ key: String, _ cursor: inout JSONCursor, _ bytes: [UInt8]) throws(JSONError) {
        switch key {
        case "site": site = try cursor.string()
        case "epoch":
            let start = cursor.offset
            let text = try cursor.string()
            let isEpoch =
                text.utf8.count == 32 && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
            if !isEpoch { throw JSONError("expected 32 lower-case hexadecimal digits", at: start) }
            epoch = text
        case "records":
            try cursor.array { (_, cursor) throws(JSONError) in
                records.append(try Self.readRecord(&cursor, bytes, after: records.last))
            }
        case "present":
            try cursor.array { (_, cursor) throws(JSONError) in
                present.append(try Self.readRecord(&cursor, bytes, after: present.last))
            }
        case "controller" where cursor.isAtString: isSilent = try cursor.string() == "silent"
        case "gaps":
            try cursor.array { (_, cursor) throws(JSONError) in try readGap(&cursor) }
        default: _ = try cursor.skipValue()
        }
    }

    private static func readRecord(
        _ cursor: inout JSONCursor, _ bytes: [UInt8], after last: EdgeReport.Record?
    ) throws(JSONError) -> EdgeReport.Record {
        let start = cursor.offset
        var number: Int64?
        var data: Range<Int>?
        var record = EdgeReport.Record(number: 0, kind: "", data: "")
        try cursor.object { (key, cursor) throws(JSONError) in
            switch key {
            case "n": number = try Self.number(&cursor)
            case "data": data = try Self.data(&cursor, into: &record)
            default: _ = try cursor.skipValue()
            }
        }
        guard let number else { throw JSONError("is missing", at: start, path: "n") }
        guard let data else { throw JSONError("is missing", at: start, path: "data") }
        if let last, number <= last.number {
            throw JSONError("\(number) after \(last.number): numbers must increase", at: start, path: "n")
        }
        let text = String(decoding: bytes[data], as: UTF8.self)
        (record.number, record.data) = (number, text)
        return record
    }

    private mutating func readGap(_ cursor: inout JSONCursor) throws(JSONError) {
        let start = cursor.offset
        var from: Int64?
        var to: Int64?
        try cursor.object { (key, cursor) throws(JSONError) in
            switch key {
            case "from": from = try Self.number(&cursor)
            case "to": to = try Self.number(&cursor)
            default: _ = try cursor.skipValue()
            }
        }
        guard let from, let to, from <= to else {
            throw JSONError("needs \"from\" and \"to\", and \"to\" not below \"from\"", at: start)
        }
        if let last = gaps.last, from <= last.upperBound {
            throw JSONError("\(from) after \(last.upperBound): gaps must increase", at: start)
        }
        gaps.append(from...to)
    }

    private static func number(_ cursor: inout JSONCursor) throws(JSONError) -> Int64 {
        let start = cursor.offset
        guard let number = Int64(exactly: try cursor.whole()), number >= 1, number < Int64.max else {
            throw JSONError("is outside 1 … 9223372036854775806", at: start)
        }
        return number
    }

    fileprivate static func data(
        _ cursor: inout JSONCursor, into record: inout EdgeReport.Record
    ) throws(JSONError) -> Range<Int> {
        let start = cursor.offset
        try cursor.object { (key, cursor) throws(JSONError) in
            switch key {
            case "kind" where cursor.isAtString: record.kind = String(try cursor.string().prefix(32))
            case "event" where cursor.isAtString: record.event = String(try cursor.string().prefix(64))
            case "t_ms":
                // Another kind of value is kept as it is, and says no time.
                var probe = cursor
                let time = try? probe.integer()
                record.time = time.flatMap { (0..<253_402_300_800_000).contains($0) ? $0 : nil }
                _ = try cursor.skipValue()
            default: _ = try cursor.skipValue()
            }
        }
        return start..<cursor.offset
    }
}
