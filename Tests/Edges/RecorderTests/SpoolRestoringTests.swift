import Glibc
import LinuxIO
import Testing

@testable import Recorder

/// What a person does with files beside a living writer; judged by what a reader finds on the disk.
@Suite struct `A spool whose files somebody removes` {
    let scratch: ScratchDirectory
    let writer: SpoolWriter

    init() throws {
        scratch = try ScratchDirectory()
        writer = try SpoolWriter(
            directory: scratch.path, options: SpoolOptions(segmentBytes: 1_024, totalBytes: 1 << 20))
    }

    @Test func `has every mark anew, with what it said, and nobody else gets in`() throws {
        let epoch = writer.epoch
        try fill(writer, 20)
        try DeliveryMark(directory: scratch.path, epoch: epoch).store(12)
        try writer.restoreRemoved()
        #expect(writer.takeReports() == [], "all is in its place")
        for name in ["lock", "stream", "synced", "delivered"] {
            unlink(scratch.path + "/" + name)
            try writer.restoreRemoved()
            #expect(writer.takeReports() == [.madeAnew(names: [name])])
            try fill(writer, 1)
            let state = try SpoolReader(directory: scratch.path).state()
            #expect(state.last == writer.nextNumber - 1 && state.delivered == 12, "\(name)")
        }
        #expect(throws: SpoolError.inUse(directory: scratch.path)) {
            try SpoolWriter(directory: scratch.path)
        }
        #expect(try SpoolReader(directory: scratch.path).epoch == epoch)
        #expect(try readAll(scratch.path).numbers == Array(1...24))
    }

    @Test func `what cannot be put in order keeps no record back`() throws {
        try fill(writer, 3)
        let reader = try SpoolReader(directory: scratch.path)
        // A folder stands where the stream's name is to be written, and cannot be moved away.
        unlink(scratch.path + "/stream")
        try scratch.replace(scratch.path + "/stream.aside", by: [])
        mkdir(scratch.path + "/stream", 0o755)
        _ = try writer.append(Array("late".utf8))
        #expect(throws: SpoolError.self) { try writer.restoreAndSync() }
        let batch = try reader.next(after: 3, limitBytes: 1 << 20, limitCount: 10)
        #expect(batch.records.map(\.payload) == [Array("late".utf8)])
        rmdir(scratch.path + "/stream")
        try writer.restoreAndSync()
        #expect(writer.takeReports() == [.madeAnew(names: ["stream"])])
    }

    // swift-format-ignore
    static let removals: [(delivered: UInt64, which: @Sendable (Int) -> Bool, undelivered: UInt64, why: Comment)] = [
        ( 0, { _ in true },   40, "all segments"),
        (25, { _ in true },   15, "all, some of them delivered"),
        (40, { _ in true },    0, "all, and all delivered"),
        ( 0, { $0 == 0 },      0, "the oldest alone"),
        ( 0, { $0 == 1 },      0, "one in between"),
    ]

    @Test(arguments: 0..<removals.count)
    func `numbers go on, and those that went are a gap and are told`(_ index: Int) throws {
        let row = Self.removals[index]
        try fill(writer, 40, padding: 100)
        if row.delivered > 0 {
            try DeliveryMark(directory: scratch.path, epoch: writer.epoch).store(row.delivered)
        }
        let before = try readAll(scratch.path).numbers
        #expect(before == Array(1...40))
        for (place, path) in scratch.segmentPaths().enumerated() where row.which(place) { unlink(path) }
        try writer.restoreRemoved()
        try fill(writer, 5)
        let all = try readAll(scratch.path)
        let missing = all.gaps.flatMap { Array($0.from...$0.to) }
        #expect((all.numbers + missing).sorted() == Array(1...45), row.why)
        var (told, undelivered): ([UInt64], UInt64) = ([], 0)
        for report in writer.takeReports() {
            guard case .removed(let from, let to, let count) = report else {
                Issue.record("\(report)")
                continue
            }
            told += from...to
            undelivered += count
        }
        #expect(told == missing && !missing.isEmpty, row.why)
        #expect(undelivered == UInt64(missing.count { $0 > row.delivered }), row.why)
        #expect(writer.droppedUndelivered == undelivered)
        try writer.restoreRemoved()
        #expect(writer.takeReports() == [], "told once")
    }

    @Test func `the whole folder: what was not on the disk yet is written, and the link finds its mark`()
        throws
    {
        try fill(writer, 20)
        let link = try DeliveryMark(directory: scratch.path, epoch: writer.epoch)
        try link.store(7)
        try writer.restoreRemoved()
        for number in UInt64(21)...23 { #expect(try writer.append(payload(number)) == number) }
        for name in scratch.names() { unlink(scratch.path + "/" + name) }
        rmdir(scratch.path)
        try writer.restoreRemoved()
        try writer.sync()
        let reports = writer.takeReports()
        #expect(
            reports == [
                .removed(from: 1, to: 20, undelivered: 13),
                .madeAnew(names: ["lock", "stream", "synced", "delivered"]),
            ])
        let all = try readAll(scratch.path)
        #expect(all.numbers == [21, 22, 23] && all.gaps == [SpoolGap(from: 1, to: 20)])
        #expect(try SpoolReader(directory: scratch.path).state().delivered == 7)
        // It still holds the file that is gone.
        try link.store(22)
        #expect(try SpoolReader(directory: scratch.path).state().delivered == 22)
    }

    @Test func `what it removes itself to make room is nobody's doing`() throws {
        let small = try ScratchDirectory()
        let writer = try SpoolWriter(
            directory: small.path, options: SpoolOptions(segmentBytes: 1_024, totalBytes: 4_096))
        for number in UInt64(1)...300 {
            _ = try writer.append(payload(number, padding: 100), lane: number % 9 == 0 ? .kept : .telemetry)
            try writer.restoreRemoved()
            try writer.sync()
            for report in writer.takeReports() {
                if case .droppedUndelivered = report { continue }
                if case .thinned = report { continue }
                Issue.record("\(number): \(report)")
            }
        }
    }

    @Test func `a claim beyond the end begins a new epoch, and delivers nothing`() throws {
        try fill(writer, 20)
        let before = writer.epoch
        let mark = try DeliveryMark(directory: scratch.path, epoch: before)
        try mark.store(4)
        try mark.note(claim: 21)
        try mark.note(claim: UInt64.max)
        // By now the spool is longer than what was claimed.
        try fill(writer, 10)
        #expect(try SpoolReader(directory: scratch.path).state().delivered == 4)
        #expect(try writer.renewIfSetBack())
        #expect(writer.takeReports() == [.setBack(delivered: 21, last: 30)])
        #expect(writer.epoch != before)
        #expect(try !writer.renewIfSetBack(), "it was of the other epoch")
    }

    /// Where a copy of the first segment is put, and whether it tells of itself there.
    static let copies: [(name: String, why: Comment)] = [
        ("0000000002-00000000000000000001.spool", "the same first number, as a copy by hand"),
        ("0000000000-00000000000000000001.spool", "the same, before it"),
        ("0000000002-00000000000000000015.spool", "a number in the midst of what is there"),
        ("0000000099-00000000000000000023.spool", "the number that comes next"),
    ]

    @Test(arguments: 0..<copies.count)
    func `a copy of a segment swallows nothing, is told, and is set aside`(_ index: Int) throws {
        let (name, why) = Self.copies[index]
        let other = try ScratchDirectory()
        let writer = try SpoolWriter(directory: other.path)
        try fill(writer, 22)
        let own = try #require(other.segmentPaths().first)
        let copy = other.path + "/" + name
        try other.replace(copy, by: try other.contents(own))
        // A reader that comes before the writer has looked.
        try fill(writer, 8)
        var all = try readAll(other.path)
        #expect(all.numbers == Array(1...30) && all.gaps == [], why)
        try writer.restoreRemoved()
        #expect(writer.takeReports() == [.stranger(name: name)], why)
        #expect(other.segmentPaths() == [own] && access(copy + ".aside", F_OK) == 0, why)
        try fill(writer, 5)
        all = try readAll(other.path)
        #expect(all.numbers == Array(1...35) && all.gaps == [], why)
    }

    @Test(arguments: 0..<copies.count)
    func `a copy that lies there at a start is told as well, and numbers go on`(_ index: Int) throws {
        let (name, why) = Self.copies[index]
        let other = try ScratchDirectory()
        do {
            let writer = try SpoolWriter(directory: other.path)
            try fill(writer, 22)
            let own = try #require(other.segmentPaths().first)
            try other.replace(other.path + "/" + name, by: try other.contents(own))
            try fill(writer, 18)
        }
        let writer = try SpoolWriter(directory: other.path)
        #expect(writer.takeReports() == [.stranger(name: name)] && writer.nextNumber == 41, why)
        try fill(writer, 5)
        let all = try readAll(other.path)
        #expect(all.numbers == Array(1...45) && all.gaps == [], why)
    }

    @Test(arguments: [false, true])
    func `a reader sees that files were set back, also where the numbers have passed`(inPlace: Bool) throws {
        let other = try ScratchDirectory()
        let reader: SpoolReader
        var before: [UInt8] = []
        do {
            let writer = try SpoolWriter(directory: other.path)
            try fill(writer, 10)
            before = try other.contents(try #require(other.segmentPaths().first))
            try fill(writer, 10)
            reader = try SpoolReader(directory: other.path)
            #expect(try reader.next(after: 0, limitBytes: 1 << 20, limitCount: 100).through == 20)
        }
        let path = try #require(other.segmentPaths().first)
        if !inPlace { unlink(path) }
        try other.replace(path, by: before)
        unlink(other.path + "/synced")
        let writer = try SpoolWriter(directory: other.path)
        #expect(writer.nextNumber == 11)
        for number in UInt64(11)...30 { _ = try writer.append(payload(number, padding: 3)) }
        try writer.sync()
        #expect(!reader.isSetBack)
        _ = try reader.next(after: 20, limitBytes: 1 << 20, limitCount: 100)
        #expect(reader.isSetBack)
    }
}
