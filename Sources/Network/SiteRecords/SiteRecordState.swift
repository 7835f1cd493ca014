import JSONText

/// What a site looked like, put together again from its snapshots and the rows between them. Total: any bytes
/// in, a state or an error out.
///
/// A number that is missing (`gap`) makes every row worthless until the next snapshot: what it has changed
/// nobody knows.
public struct SiteRecordState: Sendable {
    private struct Column: Sendable {
        var name: String
        var value: Value
    }

    private enum Value: Sendable, Equatable {
        case number(Int64)
        case text(String)
        case unknown
    }

    public private(set) var site = ""
    public private(set) var mode = ""
    /// Of the newest row, UTC.
    public private(set) var wallMilliseconds: Int64 = 0
    public private(set) var monotonicMilliseconds: Int64 = 0
    /// Whether there is a state: a snapshot came, and nothing is missing since.
    public private(set) var isWhole = false
    /// The units' names, in the order of their channels.
    public private(set) var units: [String] = []
    private var columns: [Int: Column] = [:]
    /// As the snapshot has them, a JSON object.
    private var counters = "{}"

    public init() {}

    /// Numbers are missing in front of what comes next.
    public mutating func gap() { isWhole = false }

    /// Takes a record of any kind, in the order of the numbers; kinds that are no columns are passed over.
    ///
    /// - Parameter each: is shown the state behind each row of the record.
    public mutating func take(
        _ json: [UInt8], each: (borrowing SiteRecordState) -> Void = { _ in }
    ) throws(JSONError) {
        var record = Record()
        try record.read(json)
        guard record.version == ColumnEncoder.version else { return }
        switch record.kind {
        case "snapshot":
            columns = record.columns
            units = record.units
            counters = record.counters
            site = record.site
            isWhole = true
            note(record, record.start)
            each(self)
        case "delta" where isWhole:
            for row in record.rows {
                for (number, value) in row.values { columns[number]?.value = value }
                note(record, row.after)
                each(self)
            }
            if record.rows.isEmpty {
                note(record, 0)
                each(self)
            }
        case _: break
        }
    }

    private mutating func note(_ record: Record, _ after: Int64) {
        mode = record.mode
        // Times of no calendar are counted with nowhere: 1970 to 9999.
        wallMilliseconds = min(max(record.wall &+ after, 0), 253_402_300_799_999)
        monotonicMilliseconds = record.monotonic &+ after
    }

    /// What a channel says now, in the unit in which people read it.
    ///
    /// - Parameter unit: `nil` = the site's.
    public func value(_ key: String, ofUnit unit: Int? = nil) -> ChannelValue? {
        let base = unit.map { Channel.base(ofUnit: $0) } ?? 0
        guard let channel = (unit == nil ? Channel.ofSite : Channel.ofUnit).first(where: { $0.key == key }),
            let column = columns[base + channel.number]
        else { return nil }
        switch (channel.kind, column.value) {
        case (.number(let perUnit), .number(let number)): return .number(Double(number) / perUnit)
        case (.flag, .number(let number)): return .flag(number != 0)
        case (.name, .text(let text)): return .name(text)
        case (.list, .text(let text)): return .list(text.split(separator: "\n").map(String.init))
        case (.number, _), (.flag, _), (.name, _), (.list, _): return .unknown
        }
    }

    /// Every value that is a number now: its unit's name (empty = the site's), and its key as in the status.
    public func numbers(_ body: (_ unit: String, _ key: String, _ value: Double) -> Void) {
        func look(_ channels: [Channel], _ base: Int, _ unit: String) {
            for channel in channels {
                guard case .number(let perUnit) = channel.kind,
                    case .number(let number) = columns[base + channel.number]?.value
                else { continue }
                body(unit, channel.key, Double(number) / perUnit)
            }
        }
        look(Channel.ofSite, 0, "")
        for (index, unit) in units.enumerated() { look(Channel.ofUnit, Channel.base(ofUnit: index), unit) }
    }

    /// The status as people and pages know it, a JSON object; `nil` before the first snapshot.
    ///
    /// - Parameter at: the wall time of the newest row as text.
    public func status(at: String) -> String? {
        guard !columns.isEmpty else { return nil }
        var text =
            "{\"kind\":\"telemetry\",\"site\":\(JSONString.quoted(site)),\"mode\":\(JSONString.quoted(mode))"
        text += ",\"at\":\(JSONString.quoted(at)),\"whole\":\(isWhole)"
        let own = Channel.ofSite.compactMap { member($0, base: 0) }
        for member in own where !member.isInGrid { text += "," + member.text }
        let grid = own.filter(\.isInGrid).map(\.text)
        text += ",\"grid\":{\(Self.joined(grid))}"
        let list = units.enumerated().map { index, id in
            let members = Channel.ofUnit.compactMap { member($0, base: Channel.base(ofUnit: index))?.text }
            return "{" + Self.joined(["\"id\":\(JSONString.quoted(id))"] + members) + "}"
        }
        return text + ",\"units\":[\(Self.joined(list))],\"counters\":\(counters)}"
    }

    /// A value that nobody knows is left out, as in the status of the site itself.
    private func member(_ channel: Channel, base: Int) -> (text: String, isInGrid: Bool)? {
        guard let column = columns[base + channel.number] else { return nil }
        let isInGrid = channel.key.hasPrefix("grid.")
        let key = JSONString.quoted(String(isInGrid ? channel.key.dropFirst(5) : channel.key[...]))
        switch (channel.kind, column.value) {
        case (.number(let perUnit), .number(let number)):
            return ("\(key):\(Double(number) / perUnit)", isInGrid)
        case (.flag, .number(let number)): return ("\(key):\(number != 0)", isInGrid)
        case (.name, .text(let value)): return ("\(key):\(JSONString.quoted(value))", isInGrid)
        case (.list, .text(let value)):
            let names = value.split(separator: "\n").map { JSONString.quoted(String($0)) }
            return ("\(key):[\(Self.joined(names))]", isInGrid)
        case (.number, _), (.flag, _), (.name, _), (.list, _): return nil
        }
    }

    private static func joined(_ parts: [String]) -> String {
        var text = ""
        for part in parts { text += text.isEmpty ? part : "," + part }
        return text
    }

    /// A record as it was read.
    private struct Record {
        var version: Int?
        var kind = ""
        var monotonic: Int64 = 0
        var wall: Int64 = 0
        var mode = ""
        var site = ""
        var columns: [Int: Column] = [:]
        var units: [String] = []
        var counters = "{}"
        var rows: [(after: Int64, values: [(Int, Value)])] = []
        let start: Int64 = 0

        mutating func read(_ json: [UInt8]) throws(JSONError) {
            var cursor = JSONCursor(json)
            try cursor.object { (key, cursor) throws(JSONError) in
                switch key {
                case "v": version = Int(try cursor.integer())
                case "kind": kind = try cursor.string()
                case "mono_ms": monotonic = try cursor.integer()
                case "t_ms": wall = try cursor.integer()
                case "mode": mode = try cursor.string()
                case "site" where cursor.isAtString: site = try cursor.string()
                case "values": try Self.columns(&cursor, into: &columns)
                case "units":
                    try cursor.array { (_, cursor) throws(JSONError) in try unit(&cursor) }
                case "counters": counters = String(decoding: json[try cursor.skipValue()], as: UTF8.self)
                case "rows":
                    try cursor.array { (_, cursor) throws(JSONError) in rows.append(try Self.row(&cursor)) }
                case _: _ = try cursor.skipValue()
                }
            }
            try cursor.end()
        }

        private mutating func unit(_ cursor: inout JSONCursor) throws(JSONError) {
            try cursor.object { (key, cursor) throws(JSONError) in
                switch key {
                case "id": units.append(try cursor.string())
                case "values": try Self.columns(&cursor, into: &columns)
                case _: _ = try cursor.skipValue()
                }
            }
        }

        private static func columns(
            _ cursor: inout JSONCursor, into columns: inout [Int: Column]
        ) throws(JSONError) {
            try cursor.object { (name, cursor) throws(JSONError) in
                var number = -1
                var value = Value.unknown
                try cursor.array { (index, cursor) throws(JSONError) in
                    if index == 0 {
                        number = Int(try cursor.integer())
                    } else {
                        value = try Self.value(&cursor)
                    }
                }
                columns[number] = Column(name: name, value: value)
            }
        }

        private static func row(
            _ cursor: inout JSONCursor
        ) throws(JSONError) -> (after: Int64, values: [(Int, Value)]) {
            var after: Int64 = 0
            var number: Int?
            var values: [(Int, Value)] = []
            try cursor.array { (index, cursor) throws(JSONError) in
                if index == 0 {
                    after = try cursor.integer()
                } else if let known = number {
                    values.append((known, try Self.value(&cursor)))
                    number = nil
                } else {
                    number = Int(try cursor.integer())
                }
            }
            return (after, values)
        }

        private static func value(_ cursor: inout JSONCursor) throws(JSONError) -> Value {
            if cursor.isAtString { return .text(try cursor.string()) }
            if cursor.isAtNull {
                _ = try cursor.skipValue()
                return .unknown
            }
            return .number(try cursor.integer())
        }
    }
}
