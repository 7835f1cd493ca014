/// Reads a JSON text from front to back, without a tree: what is not asked for is checked and passed over,
/// and its bytes can be taken as they stand. Total: any bytes in, values or an error out.
///
/// - Source: RFC 8259.
public struct JSONCursor {
    /// Deeper texts are refused.
    public static let depthLimit = 64

    private let bytes: [UInt8]
    public private(set) var offset = 0
    private var depth = 0

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads an object; `member` must read or skip the value that follows its key.
    public mutating func object(
        _ member: (String, inout JSONCursor) throws(JSONError) -> Void
    ) throws(JSONError) {
        try open("{", "an object")
        var keys: Set<String> = []
        while try !isAtEnd("}", isFirst: keys.isEmpty) {
            let start = offset
            let key = try string()
            if !keys.insert(key).inserted { throw JSONError("the key \"\(key)\" comes twice", at: start) }
            try expect(":")
            skipSpace()
            do { try member(key, &self) } catch { throw error.inside(key) }
        }
    }

    /// Reads an array; `element` must read or skip one value. It is given the element's index.
    public mutating func array(
        _ element: (Int, inout JSONCursor) throws(JSONError) -> Void
    ) throws(JSONError) {
        try open("[", "an array")
        var index = 0
        while try !isAtEnd("]", isFirst: index == 0) {
            skipSpace()
            do { try element(index, &self) } catch { throw error.inside("[\(index)]") }
            index += 1
        }
    }

    /// A whole number from 0, without fraction or exponent.
    public mutating func whole() throws(JSONError) -> UInt64 {
        skipSpace()
        let start = offset
        try skipNumber("a whole number")
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        guard let number = UInt64(text), !text.hasPrefix("-") else {
            throw JSONError("\(text.prefix(40)) is not a whole number from 0", at: start)
        }
        return number
    }

    /// A whole number of either sign, without fraction or exponent.
    public mutating func integer() throws(JSONError) -> Int64 {
        skipSpace()
        let start = offset
        try skipNumber("a whole number")
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        guard let number = Int64(text) else {
            throw JSONError("\(text.prefix(40)) is not a whole number", at: start)
        }
        return number
    }

    public mutating func string() throws(JSONError) -> String {
        skipSpace()
        let start = offset
        try skipString()
        let inner = bytes[start + 1..<offset - 1]
        if !inner.contains(UInt8(ascii: "\\")) { return String(decoding: inner, as: UTF8.self) }
        return try Self.unescape(inner, at: start)
    }

    /// Checks one value of any kind.
    ///
    /// - Returns: where it stands in the bytes that were given.
    public mutating func skipValue() throws(JSONError) -> Range<Int> {
        skipSpace()
        let start = offset
        switch peek {
        case UInt8(ascii: "{"): try object { (_, cursor) throws(JSONError) in _ = try cursor.skipValue() }
        case UInt8(ascii: "["): try array { (_, cursor) throws(JSONError) in _ = try cursor.skipValue() }
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try skipNumber("a value")
        }
        return start..<offset
    }

    /// Whether the next value is an object.
    public var isAtObject: Bool { peek == UInt8(ascii: "{") }
    /// Whether the next value is an array.
    public var isAtArray: Bool { peek == UInt8(ascii: "[") }
    /// Whether the next value is null.
    public var isAtNull: Bool { peek == UInt8(ascii: "n") }
    /// Whether the next value is a string.
    public var isAtString: Bool { peek == UInt8(ascii: "\"") }

    /// Nothing but space may follow.
    public mutating func end() throws(JSONError) {
        skipSpace()
        if offset < bytes.count { throw JSONError("something follows the end of the JSON text", at: offset) }
    }
}

extension JSONCursor {
    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    private func unexpected(_ wanted: String) -> JSONError {
        guard let byte = peek else { return JSONError("the text ends where \(wanted) should be", at: offset) }
        let isPrintable = (0x21...0x7E).contains(byte)
        let found = isPrintable ? String(UnicodeScalar(byte)) : "byte 0x" + String(byte, radix: 16)
        return JSONError("expected \(wanted), found \(found)", at: offset)
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(JSONError) {
        skipSpace()
        guard peek == UInt8(ascii: character) else { throw unexpected("\"\(character)\"") }
        offset += 1
    }

    private mutating func open(_ character: Unicode.Scalar, _ what: String) throws(JSONError) {
        skipSpace()
        guard peek == UInt8(ascii: character) else { throw unexpected(what) }
        offset += 1
        depth += 1
        if depth > Self.depthLimit { throw JSONError("is nested deeper than \(Self.depthLimit)", at: offset) }
    }

    /// Takes the comma between two members or elements, or the closing bracket.
    private mutating func isAtEnd(_ closing: Unicode.Scalar, isFirst: Bool) throws(JSONError) -> Bool {
        skipSpace()
        if peek == UInt8(ascii: closing) {
            offset += 1
            depth -= 1
            return true
        }
        if isFirst { return false }
        guard peek == UInt8(ascii: ",") else { throw unexpected("\",\" or \"\(closing)\"") }
        offset += 1
        return false
    }

    private mutating func word(_ text: StaticString) throws(JSONError) {
        for scalar in text.description.utf8 {
            guard peek == scalar else { throw unexpected(text.description) }
            offset += 1
        }
    }

    private mutating func skipDigits(_ what: String) throws(JSONError) {
        let start = offset
        while let byte = peek, (0x30...0x39).contains(byte) { offset += 1 }
        if offset == start { throw unexpected(what) }
    }

    private mutating func skipNumber(_ what: String) throws(JSONError) {
        if peek == UInt8(ascii: "-") { offset += 1 }
        if peek == UInt8(ascii: "0") { offset += 1 } else { try skipDigits(what) }
        if peek == UInt8(ascii: ".") {
            offset += 1
            try skipDigits("a digit")
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            offset += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { offset += 1 }
            try skipDigits("a digit")
        }
    }

    private mutating func skipString() throws(JSONError) {
        guard peek == UInt8(ascii: "\"") else { throw unexpected("a string") }
        offset += 1
        while let byte = peek {
            if byte < 0x20 { throw unexpected("no control character in a string") }
            offset += 1
            if byte == UInt8(ascii: "\"") { return }
            if byte == UInt8(ascii: "\\") { try skipEscape() }
        }
        throw unexpected("the end of a string")
    }

    private mutating func skipEscape() throws(JSONError) {
        guard let byte = peek, Self.escapes[byte] != nil || byte == UInt8(ascii: "u") else {
            throw unexpected("an escape")
        }
        offset += 1
        if byte != UInt8(ascii: "u") { return }
        for _ in 0..<4 {
            guard let digit = peek, Character(UnicodeScalar(digit)).isHexDigit else {
                throw unexpected("a hexadecimal digit")
            }
            offset += 1
        }
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "\""): 0x22, UInt8(ascii: "\\"): 0x5C, UInt8(ascii: "/"): 0x2F, UInt8(ascii: "b"): 0x08,
        UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
    ]

    /// `inner` has been checked by `skipString`.
    private static func unescape(_ inner: ArraySlice<UInt8>, at offset: Int) throws(JSONError) -> String {
        var units: [UInt16] = []
        var rest = inner
        while let byte = rest.first {
            guard byte == UInt8(ascii: "\\") else {
                let plain = rest.prefix { $0 != UInt8(ascii: "\\") }
                units += Array(String(decoding: plain, as: UTF8.self).utf16)
                rest = rest.dropFirst(plain.count)
                continue
            }
            rest = rest.dropFirst()
            if let kind = rest.popFirst(), let value = escapes[kind] {
                units.append(UInt16(value))
            } else {
                let digits = String(decoding: rest.prefix(4), as: UTF8.self)
                units.append(UInt16(digits, radix: 16) ?? 0xFFFD)
                rest = rest.dropFirst(4)
            }
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw JSONError("half a surrogate pair in a string", at: offset)
        }
        return text
    }
}

/// Writes JSON text.
public enum JSONText {
    /// A string with its quotes and escapes.
    public static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Whether `bytes` are one JSON object in valid UTF-8, and nothing else.
    public static func isObject(_ bytes: [UInt8]) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil else { return false }
        var cursor = JSONCursor(bytes)
        do throws(JSONError) {
            try cursor.object { (_, cursor) throws(JSONError) in _ = try cursor.skipValue() }
            try cursor.end()
            return true
        } catch { return false }
    }
}
