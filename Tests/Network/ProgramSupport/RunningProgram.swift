import Glibc
import LinuxIO
import Quantities

/// One of our own programs, from the folder that the tests were built into, as a child of the test.
public final class RunningProgram {
    public enum Failure: Error {
        case notBuilt(String)
        case cannotStart(CInt)
        /// The line did not come; this is what came.
        case lineMissing(wanted: String, log: String)
    }

    private static let patience = Duration.seconds(60)

    public let name: String
    public let processID: pid_t
    private let errorOutput: FileDescriptor
    private var isRunning = true
    /// All that came from standard error so far.
    public private(set) var log = ""

    public init(_ name: String, _ arguments: [String]) throws {
        let path = try Self.path(of: name)
        var ends: [CInt] = [-1, -1]
        if pipe(&ends) < 0 { throw SystemError.last("pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        errorOutput = FileDescriptor(owning: ends[0])
        let writing = FileDescriptor(owning: ends[1])
        self.name = name
        processID = try Self.spawn(path, arguments, standardError: writing.number)
        try errorOutput.setNonBlocking()
    }

    deinit { if isRunning { _ = end(by: SIGKILL) } }

    private static func spawn(_ path: String, _ arguments: [String], standardError: CInt) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, standardError, STDERR_FILENO)
        let texts: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        let settings: [UnsafeMutablePointer<CChar>?] = [strdup("SWIFT_BACKTRACE=enable=no")]
        defer { for text in texts + settings { text.map { free($0) } } }
        var processID: pid_t = 0
        let code = posix_spawn(&processID, path, &actions, nil, texts + [nil], settings + [nil])
        if code != 0 { throw Failure.cannotStart(code) }
        return processID
    }

    /// Where the built program of that name is.
    public static func path(of name: String) throws -> String {
        let path = try buildFolder() + "/" + name
        guard access(path, X_OK) == 0 else { throw Failure.notBuilt(path) }
        return path
    }

    /// Where the programs are: those that the tests were built with, or those of the folder that
    /// `BALLAST_PROGRAMS` names.
    public static func buildFolder() throws -> String {
        if let folder = getenv("BALLAST_PROGRAMS") { return String(cString: folder) }
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        if count < 0 { throw SystemError.last("readlink") }
        let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
    }

    /// Reads standard error until a line with `part` has come.
    ///
    /// - Returns: that line.
    @discardableResult
    public func waitForLine(containing part: String, from start: Int = 0) throws -> String {
        let limit = MonotonicTime.now() + Self.patience
        while true {
            let lines = log.split(separator: "\n", omittingEmptySubsequences: false).dropLast().dropFirst(
                start)
            if let line = lines.first(where: { $0.contains(part) }) { return String(line) }
            let isOver = MonotonicTime.now() > limit
            if isOver || !readSome() { throw Failure.lineMissing(wanted: part, log: log) }
        }
    }

    /// - Returns: whether more may come.
    private func readSome() -> Bool {
        guard errorOutput.wait(timeout: .seconds(1)) else { return true }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(errorOutput.number, &bytes, bytes.count)
        if count > 0 { log += String(decoding: bytes.prefix(count), as: UTF8.self) }
        return count != 0
    }

    public func signal(_ number: CInt) { kill(processID, number) }

    /// As the kernel has it: `VmRSS`.
    public func residentBytes() throws -> Int {
        let file = open("/proc/\(processID)/status", O_RDONLY | O_CLOEXEC)
        if file < 0 { throw SystemError.last("open") }
        let owned = FileDescriptor(owning: file)
        var bytes = [UInt8](repeating: 0, count: 8_192)
        let count = read(owned.number, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) * 1_024
    }

    /// Sends the signal and waits for the end.
    ///
    /// - Returns: the exit status; 128 + the signal's number where that ended it.
    public func end(by signal: CInt) -> Int {
        guard isRunning else { return -1 }
        isRunning = false
        kill(processID, signal)
        var status: CInt = 0
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
        while readSome(), errorOutput.wait(timeout: .zero) {}
        let terminating = Int(status & 0x7F)
        return terminating == 0 ? Int(status >> 8) & 0xFF : 128 + terminating
    }
}
