import Glibc
import Synchronization

/// A file of fixed size that is written in place, each write through to the disk (`O_DSYNC`). The file
/// itself is kept open; one that was removed or replaced under its name is noticed before the next write.
public final class PlacedFile: Sendable {
    private let path: String
    private let file = Mutex<FileDescriptor?>(nil)

    public init(path: String) { self.path = path }

    /// Returns when the disk has the bytes. After a failure the next call opens the file anew.
    ///
    /// - Throws: ENOENT where no file of `size` bytes stands there.
    public func write(_ bytes: [UInt8], at offset: Int, size: Int) throws(SystemError) {
        try file.withLock { (file) throws(SystemError) in
            if !isInPlace(file.openNumber) { file = try Self.open(path, size: size) }
            guard let number = file.openNumber else { throw SystemError("open", code: ENOENT) }
            var done = 0
            while done < bytes.count {
                let count = bytes.withUnsafeBytes { buffer -> Int in
                    pwrite(number, buffer.baseAddress.map { $0 + done }, buffer.count - done, offset + done)
                }
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else {
                    let error = count < 0 ? SystemError.last("pwrite") : SystemError("pwrite", code: EIO)
                    file = nil
                    throw error
                }
                done += count
            }
        }
    }

    /// Whether the open file still is the one under the name.
    private func isInPlace(_ number: CInt?) -> Bool {
        guard let number else { return false }
        var (open, named) = (stat(), stat())
        return fstat(number, &open) == 0 && lstat(path, &named) == 0 && open.st_ino == named.st_ino
            && open.st_dev == named.st_dev
    }

    private static func open(_ path: String, size: Int) throws(SystemError) -> FileDescriptor {
        let number = Glibc.open(path, O_WRONLY | O_DSYNC | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw SystemError.last("open") }
        let file = FileDescriptor(owning: number)
        var status = stat()
        guard fstat(number, &status) == 0 else { throw SystemError.last("fstat") }
        // Of another size it is the record of a version before, or somebody has cut it.
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size == size else {
            throw SystemError("open", code: ENOENT)
        }
        return file
    }
}

extension SystemError {
    /// There is no such file.
    public var isAbsent: Bool { code == ENOENT }
    /// More than the place takes.
    public static var tooLarge: CInt { EFBIG }
}
