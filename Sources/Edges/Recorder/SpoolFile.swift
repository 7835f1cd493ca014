import Glibc
import LinuxIO

/// One open file of a spool, a regular one: whatever else has its name is refused, and never waited for.
/// Reads and writes at offsets.
final class SpoolFile {
    let path: String
    private let descriptor: FileDescriptor

    init(path: String, flags: CInt) throws(SystemError) {
        let number = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0o640)
        if number < 0 { throw SystemError.last("open") }
        self.path = path
        descriptor = FileDescriptor(owning: number)
        var status = stat()
        if fstat(number, &status) < 0 { throw SystemError.last("fstat") }
        if status.st_mode & S_IFMT != S_IFREG { throw SystemError("open a regular file", code: EINVAL) }
    }

    var number: CInt { descriptor.number }

    func size() throws(SystemError) -> Int {
        var status = stat()
        if fstat(descriptor.number, &status) < 0 { throw SystemError.last("fstat") }
        return Int(status.st_size)
    }

    /// At most `count` bytes from `offset`; fewer only at the end of the file.
    func read(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = bytes.withUnsafeMutableBytes {
                pread(descriptor.number, $0.baseAddress.map { $0 + done }, count - done, off_t(offset + done))
            }
            if got == 0 { break }
            if got < 0 {
                let error = SystemError.last("pread")
                if error.code == EINTR { continue }
                throw error
            }
            done += got
        }
        bytes.removeLast(count - done)
        return bytes
    }

    /// Writes all of `bytes`, or throws; what stands behind `offset` is then not to be trusted.
    func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let put = bytes.withUnsafeBytes {
                pwrite(
                    descriptor.number, $0.baseAddress.map { $0 + done }, bytes.count - done,
                    off_t(offset + done))
            }
            if put < 0 {
                let error = SystemError.last("pwrite")
                if error.code == EINTR { continue }
                throw error
            }
            done += put
        }
    }

    /// Which file it is, whatever its name is by now.
    func identity() throws(SystemError) -> UInt64 {
        var status = stat()
        if fstat(descriptor.number, &status) < 0 { throw SystemError.last("fstat") }
        return UInt64(status.st_ino)
    }

    /// Whether its path still leads to it: somebody may have removed it, or put another one there. A disk
    /// that says nothing of it is no sign of that.
    var isInPlace: Bool {
        var (own, there) = (stat(), stat())
        guard fstat(descriptor.number, &own) == 0 else { return true }
        guard stat(path, &there) == 0 else { return errno != ENOENT && errno != ENOTDIR }
        return own.st_ino == there.st_ino && own.st_dev == there.st_dev
    }

    func truncate(to size: Int) throws(SystemError) {
        if ftruncate(descriptor.number, off_t(size)) < 0 { throw SystemError.last("ftruncate") }
    }

    func sync() throws(SystemError) {
        if fdatasync(descriptor.number) < 0 { throw SystemError.last("fdatasync") }
    }
}

/// What a spool does with its directory.
struct SpoolDirectory {
    let path: String

    var lockPath: String { path + "/lock" }
    var streamPath: String { path + "/stream" }
    var syncedPath: String { path + "/synced" }
    var deliveredPath: String { path + "/delivered" }

    /// Makes the delivery mark where there is none: the link writes it as a member of our group, and can make
    /// no file here.
    func letGroupDeliver() throws(SystemError) {
        let number = open(deliveredPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o660)
        if number < 0 {
            if errno == EEXIST { return }
            throw SystemError.last("open")
        }
        let descriptor = FileDescriptor(owning: number)
        // Whatever the process's mask is.
        if fchmod(descriptor.number, 0o660) < 0 { throw SystemError.last("fchmod") }
    }

    /// Makes a new or renamed or removed name durable.
    func sync() throws(SystemError) {
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if number < 0 { throw SystemError.last("open") }
        let descriptor = FileDescriptor(owning: number)
        if fsync(descriptor.number) < 0 { throw SystemError.last("fsync") }
    }

    /// The segments in the order they were made; names that are not a segment's are passed over, and so is
    /// what is no regular file.
    func segments() throws(SystemError) -> [SegmentName] {
        try names { $0 == S_IFREG }.compactMap { SegmentName($0) }.sorted { $0.index < $1.index }
    }

    /// What has the name of one of the stream's files and is no regular file.
    func others() throws(SystemError) -> [String] { try names { $0 != S_IFREG }.sorted() }

    /// Gives `others` another name, so that nothing waits for a pipe or follows a link.
    ///
    /// - Returns: the names that they had; without those that cannot be moved.
    func setOthersAside() throws(SystemError) -> [String] {
        try others().filter { rename(path + "/" + $0, path + "/" + $0 + ".aside") == 0 }
    }

    private func names(_ isWanted: (mode_t) -> Bool) throws(SystemError) -> [String] {
        try Folder.list(path).filter { name in
            var status = stat()
            return (SegmentName(name) != nil || ["lock", "stream", "synced", "delivered"].contains(name))
                && lstat(path + "/" + name, &status) == 0 && isWanted(status.st_mode & S_IFMT)
        }
    }

    /// Whether a segment says itself that it is another one than its name says: a copy under another name.
    /// One whose header is damaged says nothing.
    func isMisnamed(_ segment: SegmentName) -> Bool {
        let header = contents(of: path(of: segment), limit: SpoolFormat.segmentHeaderSize)
        return header.flatMap(SpoolFormat.first).map { $0 != segment.first } ?? false
    }

    func path(of segment: SegmentName) -> String { path + "/" + segment.text }

    func size(of segment: SegmentName) -> Int {
        var status = stat()
        return stat(path(of: segment), &status) == 0 ? Int(status.st_size) : 0
    }

    /// Whole small file; `nil` where it cannot be read.
    func contents(of path: String, limit: Int) -> [UInt8]? {
        // An absent and an unreadable mark mean the same to every caller: there is no mark.
        guard let file = try? SpoolFile(path: path, flags: O_RDONLY) else { return nil }
        return try? file.read(at: 0, count: limit)
    }
}

/// `0000000003-00000000000000001201.spool`: the third segment, whose first record is number 1201.
struct SegmentName: Equatable {
    let index: UInt64
    let first: UInt64

    init(index: UInt64, first: UInt64) {
        self.index = index
        self.first = first
    }

    init?(_ text: String) {
        guard text.hasSuffix(".spool") else { return nil }
        let parts = text.dropLast(6).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let index = UInt64(parts[0]), let first = UInt64(parts[1]), first > 0,
            SegmentName(index: index, first: first).text == text
        else { return nil }
        self.init(index: index, first: first)
    }

    var text: String { Self.padded(index, to: 10) + "-" + Self.padded(first, to: 20) + ".spool" }

    private static func padded(_ number: UInt64, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
