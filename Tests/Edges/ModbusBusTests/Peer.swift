import Foundation
import Glibc
import Testing

struct PeerFailure: Error, CustomStringConvertible { let description: String }

/// A script of Tests/Peers, run as a process of its own; it obeys lines on its standard input.
final class Peer {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var received = ""

    /// What follows `READY` in the first line of a server: its port or tty.
    private(set) var name = ""

    init(_ script: String, _ arguments: [String], isServer: Bool = true) throws {
        guard let python = ProcessInfo.processInfo.environment["BALLAST_PYTHON"] else {
            throw PeerFailure(description: "BALLAST_PYTHON is not set: run hil/test")
        }
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [folder.appendingPathComponent("Peers/\(script)").path] + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard isServer else { return }
        let line = try nextLine()
        guard line.hasPrefix("READY ") else { throw PeerFailure(description: line) }
        name = String(line.dropFirst(6))
    }

    deinit {
        // Not SIGTERM: the child has inherited the mask of a test worker thread, which blocks it.
        // A process that never began has the number 0, which would be this test's whole group.
        guard process.processIdentifier > 0 else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    @discardableResult
    func ask(_ line: String) throws -> String {
        input.fileHandleForWriting.write(Data((line + "\n").utf8))
        return try nextLine()
    }

    func point(_ model: Int, _ name: String, unit: Int = 1) throws -> Int {
        let answer = try ask("get \(unit) \(model) \(name)")
        guard let number = Int(answer) else { throw PeerFailure(description: answer) }
        return number
    }

    /// `WSet` as a signed number.
    func setpoint(unit: Int = 1) throws -> Int {
        Int(Int32(truncatingIfNeeded: try point(704, "WSet", unit: unit)))
    }

    func nextLine() throws -> String {
        while true {
            if let end = received.firstIndex(of: "\n") {
                let line = String(received[..<end])
                received = String(received[received.index(after: end)...])
                return line
            }
            let part = output.fileHandleForReading.availableData
            guard !part.isEmpty else { throw PeerFailure(description: "the peer has ended") }
            received += String(decoding: part, as: UTF8.self)
        }
    }

    var isRunning: Bool { process.isRunning }

    /// What an ended script has printed.
    func remainingLines() throws -> [String] {
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }
}

/// Looks at `condition` again and again until it holds. The limit is generous: it only ends a test that fails.
func eventually(_ why: Comment, _ condition: () throws -> Bool) throws {
    let end = Date().timeIntervalSinceReferenceDate + 30
    while Date().timeIntervalSinceReferenceDate < end {
        if try condition() { return }
        _ = Glibc.poll(nil, 0, 5)
    }
    Issue.record("did not come true: \(why)")
    throw PeerFailure(description: "\(why)")
}
