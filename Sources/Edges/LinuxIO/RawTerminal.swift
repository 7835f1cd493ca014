import Glibc

/// Standard input and output as a screen and its keys: keys come at once and unseen, the screen is another
/// one
/// than the shell's. Everything is as before when it ends.
public struct RawTerminal: ~Copyable {
    private var before = termios()

    /// - Returns: `nil` where nobody sits at a terminal.
    public init?() {
        guard isatty(0) == 1, isatty(1) == 1, tcgetattr(0, &before) == 0 else { return nil }
        var raw = before
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        raw.c_cc.6 = 0  // VMIN
        raw.c_cc.5 = 0  // VTIME
        guard tcsetattr(0, TCSANOW, &raw) == 0 else { return nil }
        // The other screen, without a cursor.
        Self.write("\u{1B}[?1049h\u{1B}[?25l")
    }

    deinit {
        Self.write("\u{1B}[?25h\u{1B}[?1049l")
        var before = before
        tcsetattr(0, TCSANOW, &before)
    }

    /// Columns and rows; 80 and 24 where the terminal does not tell. Standard output's, whoever sits there.
    public static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Keys that were pressed until `milliseconds` have passed, or the first came; `nil` where the terminal
    /// is gone: its window was closed, its connection lost.
    public borrowing func keys(within milliseconds: Int) -> [UInt8]? {
        var poll = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, CInt(milliseconds)) > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(0, &bytes, bytes.count)
        guard count > 0 || (count < 0 && errno == EINTR) else { return nil }
        return Array(bytes.prefix(max(0, count)))
    }

    public borrowing func show(_ text: String) { Self.write(text) }

    private static func write(_ text: String) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(1, $0.baseAddress?.advanced(by: sent), bytes.count - sent)
            }
            guard count > 0 || errno == EINTR else { return }
            sent += max(0, count)
        }
    }
}
