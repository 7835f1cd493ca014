import Glibc

/// Another program, run for its answer.
enum OtherProgram {
    /// Beside this one.
    static func beside(_ name: String) -> String {
        var own = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &own, own.count - 1)
        let path = String(decoding: own[..<max(0, length)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return (path.lastIndex(of: "/").map { String(path[...$0]) } ?? "") + name
    }

    /// Becomes it; comes back only where that fails.
    static func become(_ words: [String]) throws -> Never {
        var pointers = words.map { strdup($0) } + [nil]
        execvp(words[0], &pointers)
        let reason = String(cString: strerror(errno))
        pointers.forEach { free($0) }
        throw Refusal("\(words[0]) cannot be started: \(reason)")
    }

    /// Runs it to its end, and hands on each line that it says.
    ///
    /// - Returns: its exit status; 128 and more where a signal ended it.
    static func read(_ words: [String], line take: ([UInt8]) -> Void) throws -> Int32 {
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw Refusal("a pipe: \(String(cString: strerror(errno)))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        let child: pid_t
        do {
            defer { close(ends[1]) }
            child = try spawn(words, &actions)
        } catch {
            close(ends[0])
            throw error
        }
        defer { close(ends[0]) }
        var (line, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while true {
            let count = Glibc.read(ends[0], &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            for byte in buffer[..<count] {
                if byte != UInt8(ascii: "\n") {
                    line.append(byte)
                } else {
                    take(line)
                    line.removeAll(keepingCapacity: true)
                }
            }
        }
        return try wait(for: child, words[0])
    }

    /// Runs it to its end.
    ///
    /// - Parameter output: a file for what it says; `nil` = where this program says it.
    /// - Returns: its exit status; 128 and more where a signal ended it.
    static func run(_ words: [String], output: String? = nil) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let output {
            posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o640)
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        }
        return try wait(for: try spawn(words, &actions), words[0])
    }

    private static func spawn(_ words: [String], _ actions: inout posix_spawn_file_actions_t) throws -> pid_t
    {
        var pointers = words.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        var child: pid_t = 0
        let failed = posix_spawnp(&child, words[0], &actions, nil, &pointers, environ)
        guard failed == 0 else {
            throw Refusal("\(words[0]) cannot be started: \(String(cString: strerror(failed)))")
        }
        return child
    }

    private static func wait(for child: pid_t, _ name: String) throws -> Int32 {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw Refusal("\(name): \(String(cString: strerror(errno)))") }
        }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
    }
}
