import Glibc

/// A system call said no.
public struct SystemError: Error, Equatable, CustomStringConvertible {
    public let call: StaticString
    public let code: CInt

    public init(_ call: StaticString, code: CInt) {
        self.call = call
        self.code = code
    }

    /// Reads `errno`; to be made in the statement right after the call.
    public static func last(_ call: StaticString) -> SystemError { SystemError(call, code: errno) }

    public static func timedOut(_ call: StaticString) -> SystemError { SystemError(call, code: ETIMEDOUT) }

    public static func == (a: SystemError, b: SystemError) -> Bool {
        a.code == b.code && a.call.description == b.call.description
    }

    /// Of a connection: no process listens there. Every other failure leaves that open.
    public var isNobodyThere: Bool { code == ENOENT || code == ECONNREFUSED }

    /// For example `connect: Connection refused`.
    public var description: String { "\(call): \(String(cString: strerror(code)))" }
}
