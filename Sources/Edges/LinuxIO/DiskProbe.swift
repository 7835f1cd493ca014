import CLinux
import Glibc
import Quantities

/// How much room a disk has and how long it takes to keep a record.
public struct DiskProbe: Sendable, Equatable {
    public var freeBytes: Int64
    public var totalBytes: Int64
    public var freeFiles: Int64
    /// The slowest of ten writes of 4 KiB with `fdatasync`; `nil` where nothing could be written.
    public var slowestSync: Duration?

    /// Looks at the disk under `folder`; writes one nameless file there. `nil` where there is no such folder.
    public init?(_ folder: String) {
        var room = statvfs()
        guard statvfs(folder, &room) == 0 else { return nil }
        freeBytes = Int64(clamping: UInt64(room.f_bavail) &* UInt64(room.f_frsize))
        totalBytes = Int64(clamping: UInt64(room.f_blocks) &* UInt64(room.f_frsize))
        freeFiles = Int64(clamping: UInt64(room.f_favail))
        slowestSync = Self.slowestSync(in: folder)
    }

    /// Whether what stands in `folder` is gone when the machine goes off: a file system in memory, wherever
    /// links lead. `false` too where nobody can tell.
    public static func isInMemory(_ folder: String) -> Bool {
        // TMPFS_MAGIC and RAMFS_MAGIC of linux/magic.h.
        let kind = ballast_file_system(folder)
        return kind == 0x0102_1994 || kind == 0x8584_58F6
    }

    private static func slowestSync(in folder: String) -> Duration? {
        var template = Array("\(folder)/probe-XXXXXX".utf8CString)
        let number = mkstemp(&template)
        guard number >= 0 else { return nil }
        unlink(template)
        let file = FileDescriptor(owning: number)
        let block = [UInt8](repeating: 0x5a, count: 4_096)
        var slowest = Duration.zero
        for _ in 0..<10 {
            let begun = MonotonicTime.now()
            let count = block.withUnsafeBytes { Glibc.write(file.number, $0.baseAddress, $0.count) }
            guard count == block.count, fdatasync(file.number) == 0 else { return nil }
            slowest = max(slowest, MonotonicTime.now() - begun)
        }
        return slowest
    }
}

/// The kernel's discipline of the wall clock.
public struct ClockDiscipline: Sendable, Equatable {
    public var isSynchronised: Bool
    public var maximumErrorMicroseconds: Int64

    /// `nil` where the kernel gives no answer.
    public init?() {
        var error: Int64 = 0
        let state = ballast_clock_state(&error)
        guard state >= 0 else { return nil }
        isSynchronised = state == 1
        maximumErrorMicroseconds = error
    }
}

/// The names in a folder, sorted, without `.` and `..`.
public enum Folder {
    /// None where it cannot be read.
    public static func names(_ path: String) -> [String] { (try? list(path)) ?? [] }

    public static func list(_ path: String) throws(SystemError) -> [String] {
        guard let stream = opendir(path) else { throw .last("opendir") }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
