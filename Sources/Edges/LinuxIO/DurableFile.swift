import Glibc

/// Small files that must be whole after a crash or a power cut.
public enum DurableFile {
    /// Replaces `path` by `bytes`: written beside it, synced, renamed, and the folder synced.
    public static func replace(_ path: String, with bytes: [UInt8]) throws(SystemError) {
        let temporary = path + ".new"
        // Where somebody has put a pipe there it is not waited for.
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
        let number = open(temporary, flags, 0o640)
        guard number >= 0 else { throw SystemError.last("open") }
        do {
            let file = FileDescriptor(owning: number)
            do throws(SystemError) {
                try writeAll(bytes, to: file)
                guard fsync(file.number) == 0 else { throw SystemError.last("fsync") }
            } catch {
                // A full disk must not be kept full by what did not fit.
                unlink(temporary)
                throw error
            }
        }
        try move(temporary, to: path)
    }

    /// Gives a synced file its name, over what had it before, and syncs the folder.
    public static func move(_ temporary: String, to path: String) throws(SystemError) {
        guard rename(temporary, path) == 0 else { throw SystemError.last("rename") }
        let folder = open(directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw SystemError.last("open") }
        let owned = FileDescriptor(owning: folder)
        guard fsync(owned.number) == 0 else { throw SystemError.last("fsync") }
    }

    /// The whole file; `nil` where there is none. Refuses what is longer than `limit` bytes, and what is no
    /// regular file: a pipe or a device would be waited for.
    public static func read(_ path: String, limit: Int) throws(SystemError) -> [UInt8]? {
        let number = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if number < 0 {
            let error = SystemError.last("open")
            if error.code == ENOENT { return nil }
            throw error
        }
        let file = FileDescriptor(owning: number)
        var status = stat()
        guard fstat(number, &status) == 0 else { throw SystemError.last("fstat") }
        if status.st_mode & S_IFMT == S_IFDIR { throw SystemError("read", code: EISDIR) }
        if status.st_mode & S_IFMT != S_IFREG { throw SystemError("read a regular file", code: EINVAL) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(limit, Int(status.st_size)))
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(file.number, &chunk, chunk.count)
            if count < 0 { throw SystemError.last("read") }
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            if bytes.count > limit { throw SystemError("read", code: EFBIG) }
        }
    }

    /// Creates a folder and those above it.
    public static func createDirectories(_ path: String) throws(SystemError) {
        var partial = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            partial += part + "/"
            if mkdir(partial, 0o750) != 0 {
                let error = SystemError.last("mkdir")
                if error.code != EEXIST { throw error }
            }
        }
    }

    /// A file that is written piece by piece, under a name that is not its last one (`move`).
    public struct Writer: ~Copyable {
        private let file: FileDescriptor
        public private(set) var written = 0

        public init(_ path: String) throws(SystemError) {
            let number = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o640)
            guard number >= 0 else { throw SystemError.last("open") }
            file = FileDescriptor(owning: number)
        }

        public mutating func append(_ bytes: [UInt8]) throws(SystemError) {
            try DurableFile.writeAll(bytes, to: file)
            written += bytes.count
        }

        public func sync() throws(SystemError) {
            guard fsync(file.number) == 0 else { throw SystemError.last("fsync") }
        }
    }

    fileprivate static func writeAll(_ bytes: [UInt8], to file: borrowing FileDescriptor) throws(SystemError)
    {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer -> Int in
                Glibc.write(file.number, buffer.baseAddress.map { $0 + done }, buffer.count - done)
            }
            if count < 0 { throw SystemError.last("write") }
            done += count
        }
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

/// A lock that one process holds until it ends, however it ends.
public struct ProcessLock: ~Copyable {
    private let file: FileDescriptor

    /// - Returns: `nil` where another process holds it.
    public static func take(_ path: String) throws(SystemError) -> ProcessLock? {
        var number = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
        // A disk that has made itself read-only still tells who holds the lock.
        if number < 0, errno == EROFS { number = open(path, O_RDONLY | O_CLOEXEC) }
        guard number >= 0 else { throw SystemError.last("open") }
        let file = FileDescriptor(owning: number)
        if flock(number, LOCK_EX | LOCK_NB) != 0 {
            let error = SystemError.last("flock")
            if error.code == EWOULDBLOCK { return nil }
            throw error
        }
        return ProcessLock(file: file)
    }

    private init(file: consuming FileDescriptor) { self.file = file }

    /// Writes into the file who holds it, for those who find it held.
    public func note(process: Int) throws(SystemError) {
        let text = Array("\(process)\n".utf8)
        let count = text.withUnsafeBytes { pwrite(file.number, $0.baseAddress, $0.count, 0) }
        guard count == text.count, ftruncate(file.number, count) == 0 else {
            throw SystemError.last("pwrite")
        }
    }

    /// Whether the lock is held by a process that will never run again: see `ProcessLife`.
    public static func isHeldByTheDead(_ path: String) -> Bool {
        // Who cannot be read is not dead.
        guard let bytes = try? DurableFile.read(path, limit: 64),
            let process = Int(String(decoding: bytes, as: UTF8.self).split(separator: "\n").first ?? "")
        else { return false }
        return ProcessLife.isOver(process)
    }
}
