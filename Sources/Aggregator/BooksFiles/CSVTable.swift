import ExactAmounts
import ConfigText

/// A text of rows with a header: commas, quotes as RFC 4180 has them, UTF-8. Read row by row,
/// so that a month is not kept
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
        guard let first = String(validating: bytes[begin..<end], as: UTF8.self) else {
            throw BooksErrors("\(file):1:1: is not UTF-8")
        }
        let header = first.split(separator: ",", omittingEmptySubsequences: false)
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
            let (start, line) = (place, line)
            guard var end = rowEnd(start) else {
                place = bytes.count
                throw BooksErrors("\(file):\(line):1: a quote is not closed")
            }
            place = end + 1
            self.line += bytes[start..<end].count { $0 == 0x0A }
            if end > start, bytes[end - 1] == 0x0D { end -= 1 }
            if end == start { continue }
            guard let text = String(validating: bytes[start..<end], as: UTF8.self) else {
                throw BooksErrors("\(file):\(line):1: is not UTF-8")
            }
            guard let parts = Self.parts(text) else {
                throw BooksErrors(
                    "\(file):\(line):1: a quote stands within a field: quote the field, and double its quotes"
                )
            }
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

    /// Where the row ends that begins at `start`: a line end between quotes is the field's. `nil` where they
    /// are not closed.
    private func rowEnd(_ start: Int) -> Int? {
        let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
        if !bytes[start..<end].contains(0x22) { return end }
        var isQuoted = false
        for place in start..<bytes.count {
            if bytes[place] == 0x22 { isQuoted.toggle() }
            if bytes[place] == 0x0A, !isQuoted { return place }
        }
        return isQuoted ? nil : bytes.count
    }

    /// The fields of a row; `nil` where a quote stands that neither opens, doubles nor closes.
    private static func parts(_ text: String) -> [Substring]? {
        var rest = text.utf8[...]
        guard rest.contains(0x22) else {
            return rest.split(separator: 0x2C, omittingEmptySubsequences: false).map { Substring($0) }
        }
        var parts: [Substring] = []
        while true {
            if rest.first == 0x22 {
                guard let field = unquoted(&rest), rest.isEmpty || rest.first == 0x2C else { return nil }
                parts.append(Substring(field))
            } else {
                let comma = rest.firstIndex(of: 0x2C) ?? rest.endIndex
                if rest[..<comma].contains(0x22) { return nil }
                parts.append(Substring(rest[..<comma]))
                rest = rest[comma...]
            }
            if rest.isEmpty { return parts }
            rest = rest.dropFirst()
        }
    }

    /// Takes a field in quotes from the beginning.
    private static func unquoted(_ rest: inout Substring.UTF8View) -> String? {
        var field: [UInt8] = []
        rest = rest.dropFirst()
        while let quote = rest.firstIndex(of: 0x22) {
            field += rest[..<quote]
            rest = rest[quote...].dropFirst()
            if rest.first != 0x22 { return String(decoding: field, as: UTF8.self) }
            field.append(0x22)
            rest = rest.dropFirst()
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
            let isPlain = !field.utf8.contains { [0x2C, 0x22, 0x0D, 0x0A].contains($0) }
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
