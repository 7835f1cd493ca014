import Foundation
import Glibc
import LinuxIO
import ProgramSupport
import Quantities
import Testing

struct Failure: Error, CustomStringConvertible { let description: String }

/// Looks at `condition` again and again until it holds. The limit only ends a test that fails.
func eventually(
    _ what: @autoclosure () -> String, location: SourceLocation = #_sourceLocation,
    _ condition: () throws -> Bool
) throws {
    let limit = MonotonicTime.now() + .seconds(30)
    while MonotonicTime.now() < limit {
        if try condition() { return }
        _ = Glibc.poll(nil, 0, 10)
    }
    let text = what()
    Issue.record("did not come true: \(text)", sourceLocation: location)
    throw Failure(description: text)
}

/// A program as a child of the test; killed when it goes out of scope. What it prints goes to files.
final class Program {
    private let processID: pid_t
    private let outputFile: String
    private let logFile: String
    private let input: FileDescriptor
    private var status: Int?

    /// - Parameter name: of the files for its output; used once in a folder.
    init(
        _ path: String, _ arguments: [String], environment: [String] = [], name: String,
        in scratch: ScratchFolder
    ) throws {
        guard access(path, X_OK) == 0 else {
            throw Failure(description: "\(path) is not there: run hil/test")
        }
        outputFile = try scratch.write(name + ".out", "")
        logFile = try scratch.write(name + ".log", "")
        var ends: [CInt] = [-1, -1]
        if pipe(&ends) < 0 { throw SystemError.last("pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        input = FileDescriptor(owning: ends[1])
        let reading = FileDescriptor(owning: ends[0])
        processID = try Self.spawn(
            path, arguments, ["SWIFT_BACKTRACE=enable=no"] + environment, input: reading.number,
            output: outputFile, log: logFile)
    }

    deinit { if status == nil { _ = end(by: SIGKILL) } }

    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String], input: CInt, output: String,
        log: String
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_APPEND, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_APPEND, 0)
        // A worker thread of the tests blocks signals; its child must not.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let texts: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        let settings: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) }
        defer { for text in texts + settings { free(text) } }
        var processID: pid_t = 0
        let code = posix_spawn(&processID, path, &actions, &attributes, texts + [nil], settings + [nil])
        if code != 0 { throw SystemError("posix_spawn", code: code) }
        return processID
    }

    /// One of our own programs.
    static func built(_ name: String) throws -> String { try RunningProgram.path(of: name) }

    /// Standard error so far.
    var log: String { text(of: logFile) }
    /// Standard output so far.
    var output: String { text(of: outputFile) }

    private func text(of file: String) -> String {
        FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Waits until every part stands in the log, each after the one before it.
    func waitForLog(_ parts: String..., location: SourceLocation = #_sourceLocation) throws {
        try eventually("the log has, in order, \(parts):\n\(log)", location: location) {
            var rest = log[...]
            for part in parts {
                guard let range = rest.range(of: part) else { return false }
                rest = rest[range.upperBound...]
            }
            return true
        }
    }

    /// The first line of the log with `part` in it.
    func logLine(_ part: String) throws -> Substring {
        try #require(log.split(separator: "\n").first { $0.contains(part) }, "no '\(part)' in:\n\(log)")
    }

    /// Gives a peer a line, and waits for its answer: the next line of its output.
    @discardableResult
    func ask(_ line: String) throws -> String {
        let before = output.split(separator: "\n").count
        let bytes = Array((line + "\n").utf8)
        try bytes.withUnsafeBytes { _ = try input.write($0) }
        try eventually("an answer to '\(line)'") { output.split(separator: "\n").count > before }
        return String(output.split(separator: "\n")[before])
    }

    /// Gives the program a line, as a person would.
    func type(_ line: String) throws {
        let bytes = Array((line + "\n").utf8)
        try bytes.withUnsafeBytes { _ = try input.write($0) }
    }

    /// Of the process.
    var number: Int { Int(processID) }

    func send(_ signal: CInt) { kill(processID, signal) }

    /// Whether the kernel has it stopped.
    var isStopped: Bool {
        text(of: "/proc/\(processID)/stat").split(separator: ")").last?.hasPrefix(" T") ?? false
    }

    /// - Returns: the exit status, once it has ended; 128 + the signal's number where that ended it.
    func exitStatus() throws -> Int {
        try eventually("the end of the program; its log:\n\(log)") { hasEnded }
        return status ?? -1
    }

    @discardableResult
    func end(by signal: CInt) -> Int {
        if !hasEnded { kill(processID, signal) }
        // A program that does not end by itself is one more failure, not a test that hangs.
        if (try? exitStatus()) == nil {
            kill(processID, SIGKILL)
            while !hasEnded {}
        }
        return status ?? -1
    }

    private var hasEnded: Bool {
        if status != nil { return true }
        var code: CInt = 0
        guard waitpid(processID, &code, WNOHANG) == processID else { return false }
        let signal = Int(code & 0x7F)
        status = signal == 0 ? Int(code >> 8) & 0xFF : 128 + signal
        return true
    }
}

/// A script of Tests/Peers that prints READY first.
func startPeer(_ script: String, _ arguments: [String], name: String, in scratch: ScratchFolder) throws
    -> Program
{
    let python = try #require(
        ProcessInfo.processInfo.environment["BALLAST_PYTHON"],
        "BALLAST_PYTHON is not set: run hil/test, which installs the peers")
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    return try Program(
        python, ["-u", tests.appending(path: "Peers/\(script)").path] + arguments, name: name, in: scratch)
}

extension Program {
    /// Whether a peer's first line is `READY` and this, before so much time has passed.
    func isReady(_ state: String, within time: Duration) -> Bool {
        let limit = MonotonicTime.now() + time
        while !output.contains("\n"), MonotonicTime.now() < limit { _ = Glibc.poll(nil, 0, 10) }
        return output.hasPrefix("READY \(state)\n")
    }

    /// What follows `READY` in a peer's first line.
    func ready() throws -> String {
        try eventually("READY from the peer:\n\(log)") { output.contains("\n") }
        let line = output.split(separator: "\n")[0]
        try #require(line.hasPrefix("READY"))
        return String(line.dropFirst(6))
    }
}
