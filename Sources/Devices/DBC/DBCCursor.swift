/// Walks through the bytes of a DBC file and knows line and column.
struct DBCCursor {
    let bytes: [UInt8]
    let file: String
    /// The file is UTF-8; otherwise its texts are taken as Windows-1252, which most editors write.
    let isUTF8: Bool
    private(set) var index = 0
    private var line = 1
    private var lineStart = 0

    init(_ bytes: [UInt8], file: String) {
        self.bytes = bytes
        self.file = file
        isUTF8 = String(validating: bytes, as: UTF8.self) != nil
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    var isAtEnd: Bool { index >= bytes.count }
    var position: DBCPosition { DBCPosition(line: line, column: index - lineStart + 1) }
    /// The next byte; zero, which no DBC text holds, at the end.
    var next: UInt8 { index < bytes.count ? bytes[index] : 0 }

    private mutating func advance() {
        if bytes[index] == UInt8(ascii: "\n") {
            line += 1
            lineStart = index + 1
        }
        index += 1
    }

    /// Skips white space and `//` comments.
    mutating func skipSpace() {
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): advance()
            case UInt8(ascii: "/"):
                guard index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "/") else { return }
                while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
            default: return
            }
        }
    }

    func error(_ reason: String, at place: DBCPosition? = nil) -> DBCError {
        DBCError(file: file, position: place ?? position, message: "", reason: reason)
    }

    /// What stands here, for messages.
    var shown: String {
        if isAtEnd { return "the end of the file" }
        let word = bytes[index...].prefix { DBCCursor.isWord($0) }.prefix(40)
        if !word.isEmpty { return "\"" + String(decoding: word, as: UTF8.self) + "\"" }
        let isPrintable = (0x21...0x7E).contains(next)
        return isPrintable ? "\"\(Character(Unicode.Scalar(next)))\"" : "byte \(next)"
    }

    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Takes the byte if it comes next.
    mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard next == byte, !isAtEnd else { return false }
        advance()
        return true
    }

    mutating func expect(_ character: Unicode.Scalar) throws(DBCError) {
        if !take(UInt8(ascii: character)) { throw error("expected \"\(character)\", found \(shown)") }
    }

    /// The word that comes next, without taking it; empty where none does.
    mutating func peekWord() -> String {
        skipSpace()
        return String(decoding: bytes[index...].prefix { DBCCursor.isWord($0) }.prefix(256), as: UTF8.self)
    }

    /// A name: letters, digits and underscores, at most 256.
    mutating func word(_ what: String) throws(DBCError) -> String {
        skipSpace()
        let word = bytes[index...].prefix { DBCCursor.isWord($0) }
        guard !word.isEmpty else { throw error("expected \(what), found \(shown)") }
        guard word.count <= 256 else { throw error("\(what) is longer than 256 characters") }
        index = word.endIndex
        return String(decoding: word, as: UTF8.self)
    }

    private mutating func digits() -> ArraySlice<UInt8> {
        let digits = bytes[index...].prefix { DBCCursor.isDigit($0) }
        index = digits.endIndex
        return digits
    }

    /// A whole number within the range of `Int64`; a sign is allowed.
    mutating func integer(_ what: String) throws(DBCError) -> Int64 {
        skipSpace()
        let place = position
        let start = index
        if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") { index += 1 }
        guard !digits().isEmpty else { throw error("expected \(what), found \(shown)", at: place) }
        let text = String(decoding: bytes[start..<index].prefix(40), as: UTF8.self)
        guard let number = Int64(text) else {
            throw error("\(what) \(text) is beyond all limits", at: place)
        }
        return number
    }

    mutating func integer(_ what: String, in range: ClosedRange<Int64>) throws(DBCError) -> Int {
        skipSpace()
        let place = position
        let number = try integer(what)
        guard range.contains(number), let result = Int(exactly: number) else {
            throw error(
                "\(what) \(number) is outside \(range.lowerBound) … \(range.upperBound)", at: place)
        }
        return result
    }

    /// A decimal number as C writes it, finite.
    mutating func number(_ what: String) throws(DBCError) -> Double {
        skipSpace()
        let place = position
        let start = index
        if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") { index += 1 }
        guard !digits().isEmpty else { throw error("expected \(what), found \(shown)", at: place) }
        if next == UInt8(ascii: ".") {
            index += 1
            _ = digits()
        }
        skipExponent()
        let text = bytes[start..<index]
        guard text.count <= 400 else { throw error("\(what) has more than 400 digits", at: place) }
        guard let number = DBCCursor.double(text), number.isFinite else {
            throw error(
                "\(what) \(String(decoding: text.prefix(40), as: UTF8.self)) is beyond all limits", at: place)
        }
        return number
    }

    private mutating func skipExponent() {
        guard next == UInt8(ascii: "e") || next == UInt8(ascii: "E") else { return }
        let start = index
        index += 1
        if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") { index += 1 }
        if digits().isEmpty { index = start }
    }

    /// `1.` is a number in a DBC file and none in Swift.
    private static func double(_ text: ArraySlice<UInt8>) -> Double? {
        Double(String(decoding: text.last == UInt8(ascii: ".") ? text.dropLast() : text, as: UTF8.self))
            ?? Double(String(decoding: text, as: UTF8.self).replacing(".e", with: "e"))
    }

    /// A text in quotes, which may hold line ends, semicolons and `\"`.
    mutating func string(_ what: String) throws(DBCError) -> String {
        try skipString(what)
        return text(bytes[stringStart..<(index - 1)])
    }

    private var stringStart = 0

    /// Walks over a text in quotes.
    mutating func skipString(_ what: String) throws(DBCError) {
        skipSpace()
        let place = position
        guard take(UInt8(ascii: "\"")) else {
            throw error("expected \(what) in quotes, found \(shown)", at: place)
        }
        stringStart = index
        while index < bytes.count {
            let byte = bytes[index]
            advance()
            if byte == UInt8(ascii: "\"") { return }
            if byte == UInt8(ascii: "\\"), next == UInt8(ascii: "\""), !isAtEnd { advance() }
        }
        throw error("\(what) begins here and never ends", at: place)
    }

    private func text(_ slice: ArraySlice<UInt8>) -> String {
        let text = isUTF8 ? String(decoding: slice, as: UTF8.self) : DBCCursor.windows1252(slice)
        return text.contains("\\\"") ? text.replacing("\\\"", with: "\"") : text
    }

    /// Bytes 0x80 … 0x9F, typographic signs and the euro, appear as `?`.
    private static func windows1252(_ slice: ArraySlice<UInt8>) -> String {
        var text = ""
        for byte in slice {
            text.unicodeScalars.append((0x80...0x9F).contains(byte) ? "?" : Unicode.Scalar(byte))
        }
        return text
    }

    /// Skips a statement that we do not use, up to its semicolon.
    mutating func skipStatement(_ keyword: String, from place: DBCPosition) throws(DBCError) {
        while true {
            skipSpace()
            if isAtEnd { throw error("\(keyword) begins here and has no \";\"", at: place) }
            if next == UInt8(ascii: "\"") {
                try skipString("a text")
                continue
            }
            let isEnd = next == UInt8(ascii: ";")
            advance()
            if isEnd { return }
        }
    }
}
