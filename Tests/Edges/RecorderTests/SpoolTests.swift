import Glibc
import LinuxIO
import Testing

@testable import Recorder

@Suite struct `A spool` {
    let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    @Test func `computes CRC-32C as RFC 3720 does`() {
        // swift-format-ignore
        let rows: [(bytes: [UInt8], sum: UInt32, why: Comment)] = [
            ([UInt8](repeating: 0x00, count: 32), 0x8A91_36AA, "32 bytes of zeros, RFC 3720 B.4"),
            ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43, "32 bytes of ones, RFC 3720 B.4"),
            (Array(0..<32),                       0x46DD_794E, "32 bytes incrementing, RFC 3720 B.4"),
            (Array("123456789".utf8),             0xE306_9283, "the check value of the CRC catalogue"),
        ]
        for row in rows { #expect(CRC32C.checksum(of: row.bytes) == row.sum, row.why) }
    }

    @Test func `numbers from 1 and goes on with the next number after every reopening`() throws {
        var epochs: [String] = []
        for _ in 0..<5 {
            let writer = try SpoolWriter(directory: scratch.path)
            try fill(writer, 3)
            #expect(writer.takeReports().isEmpty)
            epochs.append(writer.epoch.description)
        }
        #expect(Set(epochs).count == 1)
        let all = try readAll(scratch.path)
        #expect(all.numbers == Array(1...15))
        #expect(all.gaps.isEmpty)
    }

    @Test func `shows the reader nothing that is not durable`() throws {
        let writer = try SpoolWriter(directory: scratch.path)
        try fill(writer, 2)
        _ = try writer.append(payload(3))
        #expect(try readAll(scratch.path).numbers == [1, 2])
        try writer.sync()
        #expect(try readAll(scratch.path).numbers == [1, 2, 3])
    }

    @Test func `cuts a tail torn at any byte of the last record and goes on`() throws {
        let whole: [UInt8]
        let beforeLast: Int
        do {
            let writer = try SpoolWriter(directory: scratch.path)
            try fill(writer, 3)
            beforeLast = try scratch.contents(scratch.segmentPaths()[0]).count
            _ = try writer.append(payload(4))
            whole = try scratch.contents(scratch.segmentPaths()[0])
        }
        let path = scratch.segmentPaths()[0]
        let mark = try scratch.contents(scratch.path + "/synced")
        for length in beforeLast..<whole.count {
            try scratch.replace(path, by: Array(whole[..<length]))
            try scratch.replace(scratch.path + "/synced", by: mark)
            let writer = try SpoolWriter(directory: scratch.path)
            #expect(writer.nextNumber == 4, "cut to \(length) bytes")
            let torn = length - beforeLast
            #expect(writer.takeReports() == (torn == 0 ? [] : [.tornTailCut(bytes: torn)]))
            try fill(writer, 2)
            #expect(try readAll(scratch.path).numbers == [1, 2, 3, 4, 5])
        }
    }

    @Test func `never gives a number again that a reader has seen, and says the gap`() throws {
        do {
            let writer = try SpoolWriter(directory: scratch.path)
            try fill(writer, 4)
        }
        let path = scratch.segmentPaths()[0]
        let whole = try scratch.contents(path)
        try scratch.replace(path, by: Array(whole.dropLast()))
        let writer = try SpoolWriter(directory: scratch.path)
        #expect(writer.nextNumber == 5)
        #expect(writer.takeReports().contains(.endLost(from: 4, to: 4)))
        try fill(writer, 1)
        let all = try readAll(scratch.path)
        #expect(all.numbers == [1, 2, 3, 5])
        #expect(all.gaps == [SpoolGap(from: 4, to: 4)])
    }

    @Test func `stands a flipped bit in any byte of a segment: every other record is still read`() throws {
        do {
            let writer = try SpoolWriter(directory: scratch.path)
            try fill(writer, 5)
        }
        let path = scratch.segmentPaths()[0]
        let whole = try scratch.contents(path)
        let recordSize = (whole.count - SpoolFormat.segmentHeaderSize) / 5
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= 0x10
            try scratch.replace(path, by: bytes)
            let all = try readAll(scratch.path, limitCount: 2)
            let hit = (index - SpoolFormat.segmentHeaderSize) / recordSize + 1
            let isHeader = index < SpoolFormat.segmentHeaderSize
            #expect(all.numbers == (1...5).filter { isHeader || $0 != UInt64(hit) }, "byte \(index)")
            #expect(all.gaps.count == (isHeader ? 0 : 1), "byte \(index)")
        }
    }

    @Test func `opens after a flipped bit in any byte, reports the number, and goes on behind it`() throws {
        do {
            let writer = try SpoolWriter(directory: scratch.path)
            try fill(writer, 3)
        }
        let path = scratch.segmentPaths()[0]
        let whole = try scratch.contents(path)
        let mark = try scratch.contents(scratch.path + "/synced")
        for index in whole.indices {
            for extra in scratch.segmentPaths().dropFirst() { unlink(extra) }
            var bytes = whole
            bytes[index] ^= 0x80
            try scratch.replace(path, by: bytes)
            try scratch.replace(scratch.path + "/synced", by: mark)
            let writer = try SpoolWriter(directory: scratch.path)
            #expect(writer.nextNumber == 4, "byte \(index)")
            let isHeader = index < SpoolFormat.segmentHeaderSize
            let isReported = writer.takeReports().contains {
                switch $0 {
                case .damaged, .endLost: true
                case _: false
                }
            }
            #expect(isReported != isHeader, "byte \(index)")
            try fill(writer, 1)
            let all = try readAll(scratch.path)
            #expect(all.numbers.last == 4)
            #expect(all.numbers.count == (isHeader ? 4 : 3), "byte \(index)")
        }
    }
}
