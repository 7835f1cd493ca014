import Foundation
import Testing

/// A temporary copy of `systemd/` whose programs are the ones just built; gone when it is released.
final class UnitFolder {
    static let repository = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardizedFileURL

    /// Where `swift test` put the programs: next to this test. `BALLAST_PROGRAMS` names another folder.
    static var builtPrograms: URL {
        if let folder = ProcessInfo.processInfo.environment["BALLAST_PROGRAMS"] {
            return URL(filePath: folder)
        }
        return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    let folder: URL

    /// - Parameter programs: the folder that takes the place of `/usr/bin` in `ExecStart`.
    init(programs: URL) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "ballast-units-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let source = Self.repository.appending(path: "systemd")
        for name in try FileManager.default.contentsOfDirectory(atPath: source.path)
        where [".service", ".path", ".target"].contains(where: { name.hasSuffix($0) }) {
            let text = try String(contentsOf: source.appending(path: name), encoding: .utf8)
            try text.replacing("ExecStart=/usr/bin/", with: "ExecStart=\(programs.path)/")
                .write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
        }
    }

    deinit {
        // A folder left behind in the temporary directory harms nobody.
        try? FileManager.default.removeItem(at: folder)
    }

    /// The units, sorted by name.
    var units: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    func path(_ unit: String) -> String { folder.appending(path: unit).path }

    /// Changes one unit, to see that a check can fail.
    func replace(_ old: String, with new: String, in unit: String) throws {
        let url = folder.appending(path: unit)
        let text = try String(contentsOf: url, encoding: .utf8)
        try #require(text.contains(old), "\(unit) has no \(old)")
        try text.replacing(old, with: new).write(to: url, atomically: true, encoding: .utf8)
    }
}

/// What a tool said, and how it ended.
struct ToolResult {
    var status: Int32
    var output: String

    /// Runs a tool of Debian package `package`; a tool that is not there is a failure, not a skipped test.
    init(_ tool: String, package: String, _ arguments: [String]) throws {
        let candidates = ["/usr/bin/\(tool)", "/bin/\(tool)", "/usr/sbin/\(tool)"]
        let path = try #require(
            candidates.first { FileManager.default.isExecutableFile(atPath: $0) },
            "\(tool) is missing: run hil/test, or apt-get install \(package)")
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = ["LC_ALL": "C.UTF-8", "SYSTEMD_COLORS": "0", "SYSTEMD_PAGER": "cat"]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        status = process.terminationStatus
        output = String(decoding: bytes, as: UTF8.self)
    }
}
