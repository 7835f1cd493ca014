import Deflate
import Foundation
import Testing

/// What is packed here Python's zlib reads, and the other way round.
@Suite struct `Packed bodies` {
    private func python(_ program: String, _ input: [UInt8]) throws -> [UInt8] {
        let path = try #require(ProcessInfo.processInfo.environment["BALLAST_PYTHON"])
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = [
            "-c", "import sys, zlib; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(\(program))",
        ]
        let (input0, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input0, output)
        try process.run()
        try input0.fileHandleForWriting.write(contentsOf: Data(input))
        try input0.fileHandleForWriting.close()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Array(data)
    }

    static let text = Array(String(repeating: "[1000,17,-4],", count: 2_000).utf8)

    @Test func `are read by another implementation, and its are read here`() throws {
        let packed = try #require(Deflate.pack(Self.text))
        #expect(try python("zlib.decompress(d)", packed) == Self.text)
        let theirs = try python("zlib.compress(d, 9)", Self.text)
        #expect(try Deflate.unpack(theirs, limit: Self.text.count) == Self.text)
    }

    @Test func `end at their bound, and hold nothing else`() throws {
        let packed = try #require(Deflate.pack(Self.text))
        let count = Self.text.count
        #expect(try Deflate.unpack(packed, limit: count).count == count)
        for limit in [0, 1, count / 2, count - 1] {
            #expect(throws: Deflate.Failure.larger(than: limit)) { try Deflate.unpack(packed, limit: limit) }
        }
        #expect(throws: Deflate.Failure.damaged) { try Deflate.unpack(packed + [0], limit: count) }
        for end in [0, 1, packed.count / 2, packed.count - 1] {
            #expect(throws: Deflate.Failure.self) { try Deflate.unpack(Array(packed[..<end]), limit: count) }
        }
        let nothing = try #require(Deflate.pack([]))
        #expect(try Deflate.unpack(nothing, limit: 0) == [])
    }

    @Test func `no changed byte is taken for what was packed`() throws {
        let packed = try #require(Deflate.pack(Self.text))
        for index in packed.indices {
            for bit in 0..<8 {
                var changed = packed
                changed[index] ^= 1 << bit
                let found = try? Deflate.unpack(changed, limit: Self.text.count)
                // A changed level in the header changes nothing of the content.
                #expect(found == nil || found == Self.text, "byte \(index), bit \(bit)")
            }
        }
    }

    @Test func `a bomb costs what its bound says`() throws {
        let bomb = try python("zlib.compress(bytes(200 << 20), 9)", [])
        #expect(bomb.count < 300_000)
        #expect(throws: Deflate.Failure.larger(than: 16 * bomb.count)) {
            try Deflate.unpack(bomb, limit: 16 * bomb.count)
        }
    }
}
