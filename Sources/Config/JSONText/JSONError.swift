/// Why a JSON text cannot be used.
public struct JSONError: Error, Equatable, CustomStringConvertible {
    /// Counts from 0.
    public var offset: Int
    /// `records[3].n`; empty where the text as a whole is wrong.
    public var path: String
    public var message: String

    public init(_ message: String, at offset: Int, path: String = "") {
        self.offset = offset
        self.path = path
        self.message = message
    }

    /// The same, found inside the value that `name` names.
    public func inside(_ name: String) -> JSONError {
        let separator = path.isEmpty || path.hasPrefix("[") ? "" : "."
        return JSONError(message, at: offset, path: name + separator + path)
    }

    /// `byte 812: records[3].n: expected a whole number`
    public var description: String { "byte \(offset): " + (path.isEmpty ? "" : path + ": ") + message }
}
