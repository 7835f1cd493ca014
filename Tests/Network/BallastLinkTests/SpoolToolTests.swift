import Foundation
import Glibc
import ProgramSupport
import Recorder
import Testing

/// The real `ballastctl spool` on folders that somebody has had his hands in.
@Suite struct `The tool that looks at a spool` {
    let scratch: ScratchFolder
    let spool: String

    init() throws {
        scratch = try ScratchFolder()
        spool = scratch.path + "/spool"
    }

    private func run(_ command: String) throws -> (output: String, log: String, status: Int32) {
        let (process, output, errors) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: try RunningProgram.path(of: "ballastctl"))
        process.arguments = ["spool", command, "--spool", spool]
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        func text(_ pipe: Pipe) throws -> String {
            String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        }
        let texts = (try text(output), try text(errors))
        process.waitUntilExit()
        return (texts.0, texts.1, process.terminationStatus)
    }

    // swift-format-ignore
    static let damages: [(change: @Sendable (inout Data) -> Void, why: Comment)] = [
        ({ $0[0] ^= 1 },            "a bit of the number"),
        ({ $0[11] ^= 128 },         "a bit of the checksum"),
        ({ $0.removeLast(13) },     "one byte short of the number that is on the disk"),
        ({ $0 = Data() },           "empty"),
        ({ $0 = Data(count: 12) },  "zeros, as a power cut leaves them"),
    ]

    @Test func `says that its mark is lost or damaged, and not that nothing lies there`() throws {
        do {
            let writer = try SpoolWriter(directory: spool)
            for number in 1...5 { _ = try writer.append(Array("{\"was\":\(number)}".utf8)) }
            try writer.sync()
        }
        let mark = spool + "/synced"
        let good = try #require(FileManager.default.contents(atPath: mark))
        func expectTold(_ why: Comment) throws {
            for command in ["status", "verify", "export"] {
                let said = try run(command)
                #expect(said.status == 1, "\(why): \(command)")
                #expect(said.log.contains("synced is lost or damaged"), "\(why): \(command): \(said.log)")
                #expect(said.output.isEmpty, "\(why): \(command): \(said.output)")
            }
        }
        for row in Self.damages {
            var bad = good
            row.change(&bad)
            try bad.write(to: URL(fileURLWithPath: mark))
            try expectTold(row.why)
        }
        try #require(unlink(mark) == 0)
        try expectTold("removed")
        try good.write(to: URL(fileURLWithPath: mark))
        for command in ["status", "verify", "export"] { #expect(try run(command).status == 0) }
        #expect(try run("export").output.split(separator: "\n").count == 5)
    }

    @Test(.timeLimit(.minutes(1)))
    func `waits for no pipe, follows no link, and names them`() throws {
        do {
            let writer = try SpoolWriter(directory: spool)
            for number in 1...5 { _ = try writer.append(Array("{\"was\":\(number)}".utf8)) }
            try writer.sync()
        }
        let names = (7...9).map { "000000000\($0)-00000000000000009999.spool" }
        try #require(mkfifo(spool + "/" + names[0], 0o600) == 0)
        try #require(symlink("/dev/zero", spool + "/" + names[1]) == 0)
        try #require(mkdir(spool + "/" + names[2], 0o700) == 0)
        for command in ["status", "verify", "export"] {
            let said = try run(command)
            #expect(said.status == 0, "\(command): \(said.log)")
            for name in names {
                #expect(said.log.contains("\(name) is a copy, or no regular file"), "\(command): \(said.log)")
            }
        }
        #expect(try run("verify").output == "5 records are sound, 0 numbers are missing\n")
        #expect(try run("status").output.contains("in 1 segments"))
        #expect(try run("export").output.split(separator: "\n").count == 5)
    }

    @Test func `a young spool has nothing, and says so`() throws {
        let writer = try SpoolWriter(directory: spool)
        // As a start leaves it before anything was written, and before its first sync.
        for command in ["status", "verify", "export"] {
            let said = try run(command)
            #expect(said.status == 0, "\(command): \(said.log)")
        }
        #expect(try run("verify").output == "0 records are sound, 0 numbers are missing\n")
        _ = try writer.append(Array("{}".utf8))
        #expect(try run("verify").status == 0, "a segment whose records are not on the disk yet")
        try #require(unlink(spool + "/synced") == 0)
        #expect(try run("status").status == 1)
        for name in try FileManager.default.contentsOfDirectory(atPath: spool) where name.hasSuffix(".spool")
        {
            try #require(unlink(spool + "/" + name) == 0)
        }
        #expect(try run("status").status == 0, "no segment and no mark: nothing lies there")
    }
}
