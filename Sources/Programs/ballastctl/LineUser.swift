import Glibc
import LinuxIO

/// Another program that has a serial line open, as `/proc` shows it to who may look.
struct LineUser {
    var process: Int
    var program: String

    /// The first one; `nil` where none is seen: without the rights to see others' files nobody is.
    static func find(_ line: String) -> LineUser? {
        guard let place = realpath(line, nil) else { return nil }
        defer { free(place) }
        let path = String(cString: place)
        for process in numbers(in: "/proc") where process != Int(getpid()) {
            let files = numbers(in: "/proc/\(process)/fd")
            if files.contains(where: { target(of: "/proc/\(process)/fd/\($0)") == path }) {
                return LineUser(process: process, program: name(of: process))
            }
        }
        return nil
    }

    private static func numbers(in folder: String) -> [Int] {
        Folder.names(folder).compactMap { Int($0) }
    }

    private static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(link, &bytes, bytes.count)
        guard length > 0 else { return nil }
        return String(decoding: bytes.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func name(of process: Int) -> String {
        let program = target(of: "/proc/\(process)/exe") ?? "another program"
        return program.split(separator: "/").last.map(String.init) ?? program
    }
}
