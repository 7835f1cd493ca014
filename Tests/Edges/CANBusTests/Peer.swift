import Foundation
import LinuxIO
import Quantities
import Testing

/// A Python script of `Tests/Peers`, or another program, as a separate process; ended when it goes out of
/// scope.
final class Peer {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var received: [UInt8] = []
    private var isAtEnd = false

    convenience init(_ script: String, _ arguments: [String] = []) throws {
        let interpreter = try #require(
            ProcessInfo.processInfo.environment["BALLAST_PYTHON"],
            "BALLAST_PYTHON is not set: run hil/test, which installs the peers")
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let path = tests.appendingPathComponent("Peers/\(script)").path
        try self.init(program: interpreter, ["-u", path] + arguments)
    }

    /// One of ours, as it was built beside these tests.
    convenience init(built program: String, _ arguments: [String]) throws {
        let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        try self.init(program: folder.appending(path: program).path, arguments)
    }

    private init(program: String, _ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        // A peer that dies shows itself in a failed write.
        signal(SIGPIPE, SIG_IGN)
        try process.run()
        let number = output.fileHandleForReading.fileDescriptor
        try #require(fcntl(number, F_SETFL, O_NONBLOCK) == 0)
    }

    deinit {
        // Not SIGTERM: the child has inherited the mask of a test worker thread, which blocks it.
        // A process that never began has the number 0, which would be this test's whole group.
        guard process.processIdentifier > 0 else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Sends `text`, closes the peer's input, and returns all it answers until it ends.
    func answers(to text: String) throws -> [String] {
        let number = input.fileHandleForWriting.fileDescriptor
        try #require(fcntl(number, F_SETFL, O_NONBLOCK) == 0)
        var left = Array(text.utf8)[...]
        var lines: [String] = []
        while !isAtEnd {
            if !left.isEmpty {
                let count = left.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
                try #require(count >= 0 || errno == EAGAIN, "the peer has died")
                left = left.dropFirst(max(0, count))
                if left.isEmpty { try input.fileHandleForWriting.close() }
            }
            var entry = pollfd(
                fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, left.isEmpty ? 1_000 : 1)
            lines += takeLines()
        }
        return lines
    }

    /// The whole lines that have come since the last call; never waits.
    func takeLines() -> [String] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let number = output.fileHandleForReading.fileDescriptor
        var count = read(number, &buffer, buffer.count)
        while count > 0 {
            received += buffer[..<count]
            count = read(number, &buffer, buffer.count)
        }
        if count == 0 { isAtEnd = true }
        guard let end = received.lastIndex(of: 0x0A) else { return [] }
        let lines = received[..<end].split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        received.removeSubrange(...end)
        return lines
    }

    /// The next object the peer writes that has `key`.
    func object(with key: String) throws -> [String: Any]? {
        for line in takeLines() {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            if let object, object[key] != nil { return object }
        }
        return nil
    }
}
