import CLinux
import Glibc
import LinuxIO

/// A pair of pseudo-terminals whose far end stands under a path of our choice, like a serial adapter's device
/// file.
struct PseudoTerminal: ~Copyable {
    let controller: FileDescriptor
    /// Held open, so that the line stays up while nobody else has it open.
    let device: FileDescriptor

    private init(controller: consuming FileDescriptor, device: consuming FileDescriptor) {
        self.controller = controller
        self.device = device
    }

    /// Makes the pair in raw mode, the folders above `path`, and a symbolic link at `path`. A link that
    /// stands there is replaced, anything else is left and refused.
    static func make(linkedAt path: String) throws(SystemError) -> PseudoTerminal {
        var controllerNumber: CInt = -1
        var deviceNumber: CInt = -1
        let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer -> String? in
            guard
                ballast_openpty(&controllerNumber, &deviceNumber, buffer.baseAddress, buffer.count) == 0,
                let base = buffer.baseAddress
            else { return nil }
            return String(cString: base)
        }
        guard let name else { throw SystemError.last("openpty") }
        let terminal = PseudoTerminal(
            controller: FileDescriptor(owning: controllerNumber), device: FileDescriptor(owning: deviceNumber)
        )
        var settings = termios()
        if tcgetattr(deviceNumber, &settings) != 0 { throw SystemError.last("tcgetattr") }
        cfmakeraw(&settings)
        if tcsetattr(deviceNumber, TCSANOW, &settings) != 0 { throw SystemError.last("tcsetattr") }
        makeParents(of: path)
        unlinkSymbolicLink(path)
        if symlink(name, path) != 0 { throw SystemError.last("symlink") }
        return terminal
    }
}

/// Removes `path` if it is a symbolic link; anything else is left.
func unlinkSymbolicLink(_ path: String) {
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { unlink(path) }
}

/// Creates the folders above `path`; what cannot be made shows itself when the path is used.
func makeParents(of path: String) {
    let bytes = Array(path.utf8)
    for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "/") && index > 0 {
        mkdir(String(decoding: bytes[..<index], as: UTF8.self), 0o755)
    }
}
