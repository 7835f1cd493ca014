import Glibc

/// What a command-line tool shows beside its result.
public enum Terminal {
    /// Whether a person watches standard error.
    public static var isErrorTerminal: Bool { isatty(2) == 1 }

    /// What does not fit is lost: it is only for watching.
    public static func writeError(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }
}
