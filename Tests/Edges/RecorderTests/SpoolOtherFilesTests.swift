import Glibc
import LinuxIO
import Testing

@testable import Recorder

/// What is no regular file under the name of one: a reader or a writer that opened it would wait for ever, or
/// read what is nobody's. Judged by the time limit, by what is on the disk, and by what a reader finds.
@Suite(.timeLimit(.minutes(1))) struct `A spool with pipes and links among its files` {
    enum Kind: CaseIterable {
        case pipe, folder, socket, linkToSegment, linkToZeros, danglingLink

        func make(_ path: String, beside segment: String) throws {
            let result: CInt
            switch self {
            case .pipe: result = mkfifo(path, 0o600)
            case .folder: result = mkdir(path, 0o700)
            case .socket: result = mknod(path, S_IFSOCK | 0o600, 0)
            case .linkToSegment: result = symlink(segment, path)
            case .linkToZeros: result = symlink("/dev/zero", path)
            case .danglingLink: result = symlink("/nowhere/at/all", path)
            }
            try #require(result == 0, "\(self): \(errno)")
        }
    }

    /// Of a segment that nobody made, of the next one, of the oldest, and of the files beside.
    static let names = [
        "0000000009-00000000000000009999.spool", "0000000000-00000000000000000001.spool", "stream", "synced",
        "delivered",
    ]

    let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    @Test(arguments: Kind.allCases)
    func `hangs nobody, is read whole, and is put in order`(kind: Kind) throws {
        let writer = try SpoolWriter(directory: scratch.path)
        try fill(writer, 20)
        let reader = try SpoolReader(directory: scratch.path)
        #expect(try reader.next(after: 0, limitBytes: 1 << 20, limitCount: 100).through == 20)
        let segment = try #require(scratch.segmentPaths().first)
        try DeliveryMark(directory: scratch.path, epoch: writer.epoch).store(12)
        try writer.restoreAndSync()
        for name in Self.names {
            let path = scratch.path + "/" + name
            // A rename may not take a folder's place by something else.
            rmdir(path + ".aside")
            unlink(path + ".aside")
            unlink(path)
            try kind.make(path, beside: segment)
            let last = writer.nextNumber - 1
            if name.hasSuffix(".spool") {
                #expect(try readAll(scratch.path).numbers == Array(1...last))
                let looker = try SpoolReader(directory: scratch.path)
                #expect(looker.strangers() == [name] && looker.state().segments == 1)
            }
            _ = try writer.append(payload(last + 1))
            try writer.restoreAndSync()
            let told = writer.takeReports()
            #expect(told.contains(.stranger(name: name)), "\(kind): \(name): \(told)")
            #expect(try reader.next(after: last, limitBytes: 1 << 20, limitCount: 9).through == last + 1)
            #expect(try readAll(scratch.path).numbers == Array(1...last + 1))
            #expect(reader.state().delivered == 12 && reader.strangers() == [])
            var status = stat()
            #expect(lstat(path + ".aside", &status) == 0, "it is kept under another name")
        }
        // Folders are left to the test.
        for name in Self.names { rmdir(scratch.path + "/" + name + ".aside") }
    }

    @Test(arguments: Kind.allCases)
    func `at a start it is set aside, and numbers go on`(kind: Kind) throws {
        do {
            let writer = try SpoolWriter(directory: scratch.path)
            try fill(writer, 20)
        }
        let segment = try #require(scratch.segmentPaths().first)
        for name in Self.names.prefix(2) { try kind.make(scratch.path + "/" + name, beside: segment) }
        let writer = try SpoolWriter(directory: scratch.path)
        #expect(writer.takeReports() == Self.names.prefix(2).sorted().map { .stranger(name: $0) })
        try fill(writer, 5)
        let all = try readAll(scratch.path)
        #expect(all.numbers == Array(1...25) && all.gaps == [])
        for name in Self.names { rmdir(scratch.path + "/" + name + ".aside") }
    }

    @Test func `a segment that has become a pipe is a gap, and told`() throws {
        let writer = try SpoolWriter(directory: scratch.path)
        try fill(writer, 20)
        let segment = try #require(scratch.segmentPaths().first)
        unlink(segment)
        try Kind.pipe.make(segment, beside: segment)
        #expect(try readAll(scratch.path).gaps == [SpoolGap(from: 1, to: 20)])
        try writer.restoreAndSync()
        let told = writer.takeReports()
        #expect(told.contains(.removed(from: 1, to: 20, undelivered: 20)), "\(told)")
        try fill(writer, 5)
        #expect(try readAll(scratch.path).numbers == Array(21...25))
    }

    @Test func `a thousand gigabytes of nothing behind a segment hold up no start`() throws {
        do {
            let writer = try SpoolWriter(directory: scratch.path)
            try fill(writer, 20)
        }
        let segment = try #require(scratch.segmentPaths().first)
        try #require(truncate(segment, 1 << 40) == 0)
        let writer = try SpoolWriter(directory: scratch.path)
        #expect(writer.nextNumber == 21)
        try fill(writer, 5)
        #expect(try readAll(scratch.path).numbers == Array(1...25))
    }
}
