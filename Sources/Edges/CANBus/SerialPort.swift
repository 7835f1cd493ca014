import Glibc
import LinuxIO

/// A tty as a plain pipe of bytes.
enum SerialPort {
    /// Opens `path` raw, 8N1, 115200 baud (which a USB adapter or a pty ignores); what waited there is thrown
    /// away.
    static func open(_ path: String) throws(CANError) -> FileDescriptor {
        let number = Glibc.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { throw CANError.last(.open) }
        let descriptor = FileDescriptor(owning: number)
        // Two readers of one line would each get half of every frame.
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
            throw errno == EWOULDBLOCK ? CANError.inUse : CANError.last(.open)
        }
        try makeRaw(number)
        tcflush(number, TCIOFLUSH)
        return descriptor
    }

    static func makeRaw(_ number: CInt) throws(CANError) {
        var settings = termios()
        guard tcgetattr(number, &settings) == 0 else { throw CANError.last(.terminal) }
        cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL) | tcflag_t(CREAD)
        settings.c_cflag &= ~(tcflag_t(CSTOPB) | tcflag_t(CRTSCTS))
        guard cfsetspeed(&settings, speed_t(B115200)) == 0, tcsetattr(number, TCSANOW, &settings) == 0
        else { throw CANError.last(.terminal) }
    }
}
