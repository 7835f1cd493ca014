import CLinux
import Glibc
import LinuxIO
import Quantities

/// A program that runs beside us, with its output in a file. It is ended when its owner lets it go.
final class ChildProcess {
    let name: String
    private let identifier: pid_t
    private var status: CInt?

    /// - Parameters:
    ///   - arguments: the first is the program's path.
    ///   - output: file that takes standard output and error; replaced.
    ///   - folder: the program's working directory.
    init(_ name: String, _ arguments: [String], output: String, folder: String) throws(SystemError) {
        self.name = name
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        _ = ballast_spawn_change_directory(&actions, folder)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        // Our blocked signals are not theirs, and Ctrl-C is ours: we end them in order.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        var child: pid_t = 0
        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        let code = posix_spawn(&child, arguments[0], &actions, &attributes, pointers, environ)
        guard code == 0 else { throw SystemError("posix_spawn", code: code) }
        identifier = child
    }

    deinit { end(within: .seconds(5)) }

    /// Whether it has not ended; one that stands still has not.
    var isRunning: Bool { exitStatus() == nil }

    func send(_ signal: CInt) {
        if exitStatus() == nil { Glibc.kill(identifier, signal) }
    }

    /// Waits for its end.
    ///
    /// - Returns: as `exitStatus()`; `nil` where it still runs after `limit`.
    func wait(within limit: Duration) -> CInt? {
        let deadline = MonotonicTime.now() + limit
        while MonotonicTime.now() < deadline {
            if let status = exitStatus() { return status }
            (MonotonicTime.now() + .milliseconds(5)).sleep()
        }
        return exitStatus()
    }

    /// Exit status, or minus the signal's number; `nil` while it runs.
    func exitStatus() -> CInt? {
        if let status { return status }
        var raw: CInt = 0
        guard waitpid(identifier, &raw, WNOHANG) == identifier else { return nil }
        let signal = raw & 0x7f
        status = signal == 0 ? (raw >> 8) & 0xff : -signal
        return status
    }

    /// Asks it to end, waits, and kills it where it does not.
    ///
    /// - Returns: as `exitStatus()`.
    @discardableResult
    func end(within limit: Duration) -> CInt {
        if let status = exitStatus() { return status }
        kill(identifier, SIGTERM)
        if let status = wait(within: limit) { return status }
        kill(identifier, SIGKILL)
        var raw: CInt = 0
        waitpid(identifier, &raw, 0)
        status = -SIGKILL
        return -SIGKILL
    }
}
