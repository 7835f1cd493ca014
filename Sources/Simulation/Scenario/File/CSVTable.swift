import ConfigText
import SiteConfig

/// A number as files for people have it: `12`, `-0.5`, `.5`, `1.2e1`. No hexadecimal, infinity or NaN.
enum CSVNumber {
    static func parse(_ text: String) -> Double? {
        let isDecimal = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
                true
            default: false
            }
        }
        guard isDecimal, text.utf8.count <= 64, let number = Double(text), number.isFinite else { return nil }
        return number
    }
}

/// What is wrong with a table, with its line, from 1; line 0 is the table as a whole.
public struct CSVError: Error, Equatable, CustomStringConvertible {
    public var line: Int
    public var message: String

    public init(line: Int, _ message: String) {
        self.line = line
        self.message = message
    }

    public var description: String { line == 0 ? message : "line \(line): \(message)" }
}

/// A table as text: one header line and rows; fields may stand in quotes (RFC 4180). Lines that begin with
/// `#` and empty lines are skipped.
public struct CSVTable: Sendable {
    /// One row, its fields found by the names of the header.
    public struct Row: Sendable {
        public let line: Int
        private let columns: [String]
        private let fields: [String]

        init(line: Int, columns: [String], fields: [String]) {
            self.line = line
            self.columns = columns
            self.fields = fields
        }

        /// Whether the row has as many fields as the header.
        public func checkWidth() throws(CSVError) {
            guard fields.count == columns.count else {
                throw CSVError(
                    line: line, "has \(fields.count) fields, the header \(columns.count)")
            }
        }

        /// The field's text; `nil` where the column is missing or the field is empty.
        public func text(_ column: String) -> String? {
            guard let index = columns.firstIndex(of: column), index < fields.count else { return nil }
            return fields[index].isEmpty ? nil : fields[index]
        }

        /// The field's text, which must be there.
        public func required(_ column: String) throws(CSVError) -> String {
            guard let text = text(column) else { throw fail(column, "is missing") }
            return text
        }

        /// The field's number if it is there.
        public func number(
            _ column: String, in range: ClosedRange<Double>
        ) throws(CSVError) -> Double? {
            guard let text = text(column) else { return nil }
            guard let number = CSVNumber.parse(text) else {
                throw fail(column, "\(ConfigWording.quoted(text)) is not a number")
            }
            guard range.contains(number) else {
                throw fail(
                    column,
                    "\(ConfigWording.shown(text)) is outside \(range.lowerBound) … \(range.upperBound)")
            }
            return number
        }

        /// The field's number, which must be there.
        public func required(
            _ column: String, in range: ClosedRange<Double>
        ) throws(CSVError) -> Double {
            guard let number = try number(column, in: range) else { throw fail(column, "is missing") }
            return number
        }

        public func fail(_ column: String, _ message: String) -> CSVError {
            CSVError(line: line, "\(column): \(message)")
        }
    }

    public let columns: [String]
    public let rows: [Row]

    /// - Parameter required: columns without which the table cannot be used.
    public init(_ text: String, required: [String]) throws(CSVError) {
        var scanner = CSVScanner(text)
        var columns: [String]?
        var rows: [Row] = []
        while let (line, fields) = try scanner.next() {
            if let columns {
                rows.append(Row(line: line, columns: columns, fields: fields))
                continue
            }
            for name in required where !fields.contains(name) {
                throw CSVError(line: line, "the header lacks the column \(name)")
            }
            for (index, name) in fields.enumerated() where fields[..<index].contains(name) {
                throw CSVError(line: line, "the header has \(ConfigWording.quoted(name)) twice")
            }
            columns = fields
        }
        guard let columns else {
            throw CSVError(line: 0, "is empty: a header line is expected")
        }
        self.columns = columns
        self.rows = rows
    }
}

/// Cuts a text into the fields of its records.
private struct CSVScanner {
    private let bytes: [UInt8]
    private var place = 0
    private var line = 1

    init(_ text: String) {
        bytes = Array(text.utf8)
        // A byte order mark is no letter of the first name.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
    }

    private static let (feed, comma, quote) = (UInt8(ascii: "\n"), UInt8(ascii: ","), UInt8(ascii: "\""))

    /// The next record that is neither empty nor a comment; `nil` at the end.
    mutating func next() throws(CSVError) -> (line: Int, fields: [String])? {
        while place < bytes.count {
            let first = line
            if bytes[place] == UInt8(ascii: "#") {
                while place < bytes.count, bytes[place] != Self.feed { place += 1 }
                skipFeed()
                continue
            }
            let fields = try record()
            if fields.count > 1 || fields.first?.isEmpty == false { return (first, fields) }
        }
        return nil
    }

    private mutating func skipFeed() {
        if place < bytes.count {
            place += 1
            line += 1
        }
    }

    private mutating func record() throws(CSVError) -> [String] {
        var fields: [String] = []
        while true {
            fields.append(try field())
            guard place < bytes.count, bytes[place] == Self.comma else { break }
            place += 1
        }
        skipFeed()
        return fields
    }

    /// One field; ends at the comma, the line's end or the text's end.
    private mutating func field() throws(CSVError) -> String {
        while place < bytes.count, bytes[place] == UInt8(ascii: " ") { place += 1 }
        guard place < bytes.count, bytes[place] == Self.quote else {
            let start = place
            skipToEnd()
            return String(decoding: bytes[start..<place], as: UTF8.self).trimmed
        }
        let first = line
        var content: [UInt8] = []
        place += 1
        while place < bytes.count {
            if bytes[place] == Self.quote {
                place += 1
                // Two quotes are one quote of the content; any other end of the quotes ends the field.
                guard place < bytes.count, bytes[place] == Self.quote else {
                    skipToEnd()
                    return String(decoding: content, as: UTF8.self)
                }
            }
            if bytes[place] == Self.feed { line += 1 }
            content.append(bytes[place])
            place += 1
        }
        throw CSVError(line: first, "a quoted field has no end")
    }

    private mutating func skipToEnd() {
        while place < bytes.count, bytes[place] != Self.comma, bytes[place] != Self.feed { place += 1 }
    }
}
