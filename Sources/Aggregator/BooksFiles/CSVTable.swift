import ExactAmounts
import ConfigText

/// A text of rows with a header: commas, no quotes, UTF-8. Read row by row, so that a month is not kept
/// twice.
package struct CSVTable {
    /// One field and where it stands.
    package struct Field {
        package var text: Substring
        package var line: Int
        package var column: Int
    }

    /// One row, its fields by the number of the wanted column.
    package struct Row {
        let fields: [Field]
        package let line: Int

        /// The field as text; empty is empty.
        package subscript(_ index: Int) -> Field { fields[index] }
    }

    let file: String
    private let bytes: [UInt8]
    private var place: Int
    private var line = 1
    private let order: [Int]
    private let width: Int

    /// - Parameter columns: all of them must be in the header, in any order, and no other.
    package init(_ bytes: [UInt8], file: String, columns: [String]) throws(BooksErrors) {
        self.bytes = bytes
        self.file = file
        // Spreadsheets write a byte order mark before what they call UTF-8.
        let begin = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var end = bytes.firstIndex(of: 0x0A) ?? bytes.count
        place = min(end + 1, bytes.count)
        if end > begin, bytes[end - 1] == 0x0D { end -= 1 }
        let header = String(decoding: bytes[begin..<end], as: UTF8.self).split(
            separator: ",", omittingEmptySubsequences: false)
        var errors = BooksErrors()
        var order: [Int] = []
        for column in columns {
            guard let index = header.firstIndex(of: column[...]) else {
                errors.add(
                    "\(file):1:1: the column \(column) is missing; the header is \(columns.joined(separator: ","))"
                )
                continue
            }
            order.append(index)
        }
        var column = 1
        for name in header {
            if !columns.contains(String(name)) {
                let shown = ConfigWording.quoted(String(name))
                errors.add(
                    "\(file):1:\(column): unknown column \(shown); known here: \(columns.joined(separator: ","))"
                )
            }
            column += name.count + 1
        }
        if Set(header).count != header.count { errors.add("\(file):1:1: a column stands there twice") }
        if !errors.isEmpty { throw errors }
        self.order = order
        width = header.count
    }

    /// The next row that is not empty; `nil` at the end.
    package mutating func next() throws(BooksErrors) -> Row? {
        while place < bytes.count {
            line += 1
            var end = bytes[place...].firstIndex(of: 0x0A) ?? bytes.count
            let start = place
            place = end + 1
            if end > start, bytes[end - 1] == 0x0D { end -= 1 }
            if end == start { continue }
            let text = String(decoding: bytes[start..<end], as: UTF8.self)
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            if parts.count != width {
                throw BooksErrors("\(file):\(line):1: has \(parts.count) fields, the header has \(width)")
            }
            let fields = order.map { index in
                let column = parts[..<index].reduce(1) { $0 + $1.count + 1 }
                return Field(text: parts[index], line: line, column: column)
            }
            return Row(fields: fields, line: line)
        }
        return nil
    }

    /// What cannot be used about a field.
    package func complaint(_ field: Field, _ name: String, allowed: String) -> BooksErrors {
        BooksErrors(
            "\(file):\(field.line):\(field.column): \(name): \(ConfigWording.quoted(String(field.text)))"
                + " is not allowed (allowed: \(allowed))")
    }

    package func whole(_ field: Field, _ name: String, _ range: ClosedRange<Int64>) throws(BooksErrors)
        -> Int64
    {
        guard let value = FixedText.parse(field.text, decimals: 0), range.contains(value) else {
            throw complaint(field, name, allowed: "a whole number, \(range.lowerBound) … \(range.upperBound)")
        }
        return value
    }

    package func time(_ field: Field, _ name: String) throws(BooksErrors) -> UTCInstant {
        guard let time = UTCInstant(field.text) else { throw complaint(field, name, allowed: Words.time) }
        return time
    }

    package func word<Value: RawRepresentable & CaseIterable>(
        _ field: Field, _ name: String, _ type: Value.Type
    ) throws(BooksErrors) -> Value where Value.RawValue == String {
        guard let value = Value(rawValue: String(field.text)) else {
            let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw complaint(field, name, allowed: words)
        }
        return value
    }

    /// A row as it is written; fields with commas, quotes or line ends are quoted as RFC 4180 says.
    package static func row(_ fields: [String]) -> String {
        fields.map { field in
            let isPlain = !field.contains { ",\"\r\n".contains($0) }
            return isPlain ? field : "\"\(field.replacing("\"", with: "\"\""))\""
        }.joined(separator: ",") + "\n"
    }
}

/// Phrases that several messages use.
package enum Words {
    package static let time = "an instant with its offset, as 2026-11-01T00:00:00+05:30 or …Z"
    package static let name = "1 … 64 of a-z 0-9 -, not beginning with -"

    /// Records are hashed with each field on a line: a word with a line's end in it would be two.
    package static func isOneLine(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// Names end up in accounts, file names and references.
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "-")
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-")
            }
    }
}
