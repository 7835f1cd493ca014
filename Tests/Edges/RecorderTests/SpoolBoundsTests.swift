import Glibc
import LinuxIO
import Testing

@testable import Recorder

@Suite struct `A spool with bounds` {
    let scratch: ScratchDirectory
    static let small = SpoolOptions(segmentBytes: 1_024, totalBytes: 4_096)

    init() throws { scratch = try ScratchDirectory() }

    func totalSize() throws -> Int {
        try scratch.segmentPaths().reduce(0) { $0 + (try scratch.contents($1).count) }
    }

    @Test func `stays within its size and shows the reader the gap when undelivered records had to go`()
        throws
    {
        let writer = try SpoolWriter(directory: scratch.path, options: Self.small)
        for _ in 0..<100 {
            try fill(writer, 1, padding: 100)
            #expect(try totalSize() <= 4_096)
        }
        let all = try readAll(scratch.path)
        let gap = try #require(all.gaps.first)
        #expect(all.gaps.count == 1)
        #expect(gap.from == 1)
        #expect(all.numbers == Array(gap.to + 1...100))
        #expect(writer.droppedUndelivered == gap.to)
        let dropped = writer.takeReports()
        #expect(dropped.first == .droppedUndelivered(from: 1, to: 6))
    }

    @Test func `removes delivered records without calling them lost`() throws {
        let writer = try SpoolWriter(directory: scratch.path, options: Self.small)
        let mark = try DeliveryMark(directory: scratch.path, epoch: writer.epoch)
        for number in UInt64(1)...100 {
            try fill(writer, 1, padding: 100)
            try mark.store(number)
        }
        #expect(writer.droppedUndelivered == 0)
        #expect(writer.takeReports().isEmpty)
        #expect(try totalSize() <= 4_096)
        #expect(try readAll(scratch.path, after: 95).numbers == [96, 97, 98, 99, 100])
    }

    @Test func `keeps the delivery mark when any byte of its newest slot is damaged`() throws {
        let epoch = try SpoolWriter(directory: scratch.path).epoch
        let path = scratch.path + "/delivered"
        for number in [7, 3, 9] as [UInt64] {
            try DeliveryMark(directory: scratch.path, epoch: epoch).store(number)
        }
        let whole = try scratch.contents(path)
        #expect(try DeliveryMark(directory: scratch.path, epoch: epoch).deliveredThrough == 9)
        #expect(try DeliveryMark(directory: scratch.path, epoch: .random()).deliveredThrough == 0)
        for index in 4_096..<4_132 {
            var bytes = whole
            bytes[index] ^= 1
            try scratch.replace(path, by: bytes)
            #expect(try DeliveryMark(directory: scratch.path, epoch: epoch).deliveredThrough == 3)
        }
    }

    @Test func `lets its group write the delivery mark and nothing else`() throws {
        let writer = try SpoolWriter(directory: scratch.path)
        try fill(writer, 1)
        func mode(_ path: String) throws -> mode_t {
            var status = stat()
            try #require(stat(path, &status) == 0, "\(path)")
            return status.st_mode & 0o777
        }
        #expect(try mode(scratch.path + "/delivered") == 0o660)
        for path in scratch.segmentPaths() + [scratch.path + "/stream", scratch.path + "/synced"] {
            #expect(try mode(path) & 0o022 == 0, "\(path)")
        }
    }

    @Test func `is written by one process only`() throws {
        let writer = try SpoolWriter(directory: scratch.path)
        #expect(throws: SpoolError.inUse(directory: scratch.path)) {
            try SpoolWriter(directory: scratch.path)
        }
        try fill(writer, 1)
    }

    @Test func `refuses a payload beyond its limit and takes no number for it`() throws {
        let writer = try SpoolWriter(directory: scratch.path)
        let limit = SpoolFormat.payloadLimit
        #expect(throws: SpoolError.tooLarge(size: limit + 1, limit: limit)) {
            try writer.append([UInt8](repeating: 0x20, count: limit + 1))
        }
        #expect(try writer.append([UInt8](repeating: 0x20, count: limit)) == 1)
    }

    @Test func `leaves a segment that cannot be synced, and loses nothing`() throws {
        let disk = FailingDisk()
        let writer = try SpoolWriter(directory: scratch.path, options: SpoolOptions()) {
            file throws(SystemError) in try disk.sync(file)
        }
        try fill(writer, 2)
        disk.failuresLeft = 1
        try fill(writer, 2)
        #expect(writer.takeReports() == [.segmentAbandoned(SystemError("fdatasync", code: EIO))])
        #expect(scratch.segmentPaths().count == 2)
        try fill(writer, 2)
        let all = try readAll(scratch.path)
        #expect(all.numbers == Array(1...6))
        #expect(all.gaps.isEmpty)
    }

    @Test func `keeps unsynced records while the disk says no, and writes them when it is well again`() throws
    {
        let disk = FailingDisk()
        let writer = try SpoolWriter(directory: scratch.path, options: SpoolOptions()) {
            file throws(SystemError) in try disk.sync(file)
        }
        try fill(writer, 1)
        disk.failuresLeft = 6
        _ = try writer.append(payload(2))
        for _ in 0..<3 { #expect(throws: SpoolError.self) { try writer.sync() } }
        #expect(try readAll(scratch.path).numbers == [1])
        disk.failuresLeft = 0
        try fill(writer, 1)
        #expect(try readAll(scratch.path).numbers == [1, 2, 3])
        #expect(scratch.segmentPaths().count == 2)
    }

    @Test func `finds its epoch in a segment when the stream file is gone`() throws {
        let epoch: SpoolEpoch
        do {
            let writer = try SpoolWriter(directory: scratch.path)
            epoch = writer.epoch
            try fill(writer, 2)
        }
        unlink(scratch.path + "/stream")
        let writer = try SpoolWriter(directory: scratch.path)
        #expect(writer.epoch == epoch)
        #expect(writer.nextNumber == 3)
        #expect(writer.takeReports() == [.streamRestored(epoch)])
    }

    @Test func `is read by another thread while it is written, every number once`() async throws {
        let path = scratch.path
        let count: UInt64 = 3_000
        let writing = Task.detached {
            let writer = try SpoolWriter(
                directory: path, options: SpoolOptions(segmentBytes: 8_192, totalBytes: 64 << 20))
            for number in 1...count {
                _ = try writer.append(payload(number))
                if number % 13 == 0 || number == count { try writer.sync() }
            }
        }
        var numbers: [UInt64] = []
        var reader: SpoolReader?
        while UInt64(numbers.count) < count {
            await Task.yield()
            // Until the writer has made the store there is nothing to open.
            guard let open = reader ?? (try? SpoolReader(directory: path)) else { continue }
            reader = open
            let batch = try open.next(after: numbers.last ?? 0, limitBytes: 4_096, limitCount: 50)
            try #require(batch.gaps.isEmpty)
            numbers += batch.records.map(\.number)
        }
        try await writing.value
        #expect(numbers == Array(1...count))
    }
}

/// Says no to the next few syncs.
final class FailingDisk {
    var failuresLeft = 0

    func sync(_ file: SpoolFile) throws(SystemError) {
        if failuresLeft > 0 {
            failuresLeft -= 1
            throw SystemError("fdatasync", code: EIO)
        }
        try file.sync()
    }
}
