import Glibc
import LinuxIO

/// A directory that goes away with the test.
public final class ScratchFolder: Sendable {
    public let path: String

    /// - Parameter place: where it is made; one that outlives a restart where the daemon asks for that.
    public init(in place: String = "/tmp") throws {
        var template = Array("\(place)/ballast-test-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw SystemError.last("mkdtemp") }
        path = String(cString: made)
    }

    deinit { Self.removeAll(path) }

    private static func removeAll(_ path: String) {
        if let stream = opendir(path) {
            while let entry = readdir(stream) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name != ".", name != ".." { removeAll(path + "/" + name) }
            }
            closedir(stream)
        }
        remove(path)
    }

    public func write(_ name: String, _ text: String) throws -> String {
        let file = path + "/" + name
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw SystemError.last("open") }
        let owned = FileDescriptor(owning: descriptor)
        let bytes = Array(text.utf8)
        let count = try bytes.withUnsafeBytes { try owned.write($0) }
        if count != bytes.count { throw SystemError("write", code: ENOSPC) }
        return file
    }
}
