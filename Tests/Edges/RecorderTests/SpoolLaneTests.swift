import Glibc
import LinuxIO
import Testing

@testable import Recorder

@Suite struct `A spool with lanes` {
    let scratch: ScratchDirectory
    static let small = SpoolOptions(segmentBytes: 1_024, totalBytes: 4_096)

    init() throws { scratch = try ScratchDirectory() }

    @Test func `telemetry pushes no event out, and its own loss is declared`() throws {
        let writer = try SpoolWriter(directory: scratch.path, options: Self.small)
        var events: [UInt64] = []
        for turn in 0..<200 {
            let number = writer.nextNumber
            if turn % 40 == 0 {
                events.append(try writer.append(payload(number), lane: .kept))
            } else {
                _ = try writer.append(payload(number, padding: 100))
            }
            try writer.sync()
        }
        let all = try readAll(scratch.path)
        #expect(events.allSatisfy { all.numbers.contains($0) }, "\(events) of \(all.numbers)")
        let missing = all.gaps.reduce(0) { $0 + $1.to - $1.from + 1 }
        #expect(UInt64(all.numbers.count) + missing == 200, "every number is there or declared")
        #expect(writer.droppedUndelivered == missing)
        #expect(missing > 100)
    }

    @Test func `a reader that stands in a segment loses nothing of it when it makes room`() throws {
        let writer = try SpoolWriter(directory: scratch.path, options: Self.small)
        let reader = try SpoolReader(directory: scratch.path)
        // Telemetry first, so that what is kept moves towards the file's beginning.
        try fill(writer, 3, padding: 100)
        let kept = try writer.append(payload(4), lane: .kept)
        try fill(writer, 2, padding: 100)
        #expect(try reader.next(after: 0, limitBytes: 1, limitCount: 1).through == 1)
        try fill(writer, 60, padding: 100)
        var numbers: [UInt64] = []
        var position: UInt64 = 1
        while true {
            let batch = try reader.next(after: position, limitBytes: 4_096, limitCount: 7)
            if batch.isEmpty { break }
            numbers += batch.records.map(\.number)
            position = batch.through
        }
        #expect(numbers.contains(kept))
    }

    @Test func `events alone stay within the bound, and the oldest goes first`() throws {
        let writer = try SpoolWriter(directory: scratch.path, options: Self.small)
        for number in UInt64(1)...200 {
            _ = try writer.append(payload(number, padding: 100), lane: .kept)
            try writer.sync()
        }
        let size = try scratch.segmentPaths().reduce(0) { $0 + (try scratch.contents($1).count) }
        #expect(size <= 4_096)
        let all = try readAll(scratch.path)
        #expect(all.numbers.last == 200)
        #expect(all.gaps.count == 1)
        #expect(writer.droppedUndelivered == UInt64(200 - all.numbers.count))
    }

    @Test func `what was never written is a gap, also after a restart that comes at once`() throws {
        do {
            let writer = try SpoolWriter(directory: scratch.path)
            try fill(writer, 3)
            writer.skip(5)
            #expect(writer.takeReports() == [.neverWritten(from: 4, to: 8)])
        }
        #expect(try readAll(scratch.path).gaps == [SpoolGap(from: 4, to: 8)])
        let writer = try SpoolWriter(directory: scratch.path)
        try fill(writer, 1)
        let all = try readAll(scratch.path)
        #expect(all.numbers == [1, 2, 3, 9])
        #expect(all.gaps == [SpoolGap(from: 4, to: 8)])
    }

    @Test func `numbers of what waits for a disk are a gap to the next writer, told until one is written`()
        throws
    {
        let size: Int
        do {
            let writer = try SpoolWriter(directory: scratch.path)
            try fill(writer, 3)
            size = try scratch.contents(scratch.path + "/synced").count
            writer.reserve(2)
            writer.reserve(5)
            writer.reserve(1)
            let state = try SpoolReader(directory: scratch.path).state()
            #expect(state.last == 3 && state.taken == 8)
        }
        let now = try scratch.contents(scratch.path + "/synced").count
        #expect(now == size, "a full disk is asked for nothing")
        #expect(try readAll(scratch.path).gaps.isEmpty)
        for _ in 0..<2 {
            let writer = try SpoolWriter(directory: scratch.path)
            #expect(writer.takeReports() == [.endLost(from: 4, to: 8)] && writer.nextNumber == 9)
            #expect(try readAll(scratch.path).gaps == [SpoolGap(from: 4, to: 8)])
        }
        do { try fill(try SpoolWriter(directory: scratch.path), 1) }
        let writer = try SpoolWriter(directory: scratch.path)
        #expect(!writer.takeReports().contains(.endLost(from: 4, to: 8)))
        #expect(try readAll(scratch.path).numbers == [1, 2, 3, 9])
    }

    @Test func `what waits and is written after all has the numbers that were taken for it`() throws {
        let writer = try SpoolWriter(directory: scratch.path)
        try fill(writer, 3)
        writer.reserve(4)
        try fill(writer, 4)
        let state = try SpoolReader(directory: scratch.path).state()
        #expect(state.last == 7 && state.taken == 7)
        #expect(try readAll(scratch.path).gaps.isEmpty)
    }

    /// The mark of a version that knew nothing of numbers that are taken: twelve bytes.
    @Test func `a mark of the version before is read on`() throws {
        do { try fill(try SpoolWriter(directory: scratch.path), 3) }
        let mark = try scratch.contents(scratch.path + "/synced")
        try scratch.replace(scratch.path + "/synced", by: Array(mark.prefix(12)))
        let writer = try SpoolWriter(directory: scratch.path)
        #expect(writer.nextNumber == 4 && writer.takeReports().isEmpty)
    }

    @Test func `files that were set back begin anew, with all that is in them`() throws {
        let writer = try SpoolWriter(directory: scratch.path)
        let before = writer.epoch
        try fill(writer, 20)
        #expect(try !writer.renewIfSetBack())
        // The aggregator has 300 records of this epoch; a copy of the folder with 20 of them was put back.
        try DeliveryMark(directory: scratch.path, epoch: before).store(300)
        let reader = try SpoolReader(directory: scratch.path)
        #expect(try writer.renewIfSetBack())
        #expect(writer.epoch != before)
        #expect(!reader.isCurrent())
        try fill(writer, 5)
        #expect(try readAll(scratch.path).numbers == Array(1...25))
        #expect(try !writer.renewIfSetBack(), "under the new epoch nothing is delivered yet")
        let epoch = writer.epoch
        #expect(writer.takeReports() == [.setBack(delivered: 300, last: 20)])
        try DeliveryMark(directory: scratch.path, epoch: epoch).store(UInt64.max)
        #expect(try !writer.renewIfSetBack(), "a number that nobody ever writes is not believed")
    }

    @Test func `a second reader's mark in a folder of its own is nothing to the writer`() throws {
        let writer = try SpoolWriter(directory: scratch.path)
        try fill(writer, 20)
        let own = try ScratchDirectory()
        try DeliveryMark(directory: scratch.path, epoch: writer.epoch).store(5)
        try DeliveryMark(directory: scratch.path, epoch: writer.epoch, folder: own.path).store(300)
        #expect(try !writer.renewIfSetBack(), "it would take 300 for a spool that was set back")
        #expect(try SpoolReader(directory: scratch.path).state().delivered == 5)
        let again = try DeliveryMark(directory: scratch.path, epoch: writer.epoch, folder: own.path)
        #expect(again.deliveredThrough == 300)
    }

    @Test func `a renewed spool is opened again as it is`() throws {
        let epoch: SpoolEpoch
        do {
            let writer = try SpoolWriter(directory: scratch.path)
            try fill(writer, 20)
            try DeliveryMark(directory: scratch.path, epoch: writer.epoch).store(300)
            #expect(try writer.renewIfSetBack())
            epoch = writer.epoch
        }
        let writer = try SpoolWriter(directory: scratch.path)
        #expect(writer.epoch == epoch)
        #expect(writer.nextNumber == 21)
        try fill(writer, 2)
        #expect(try readAll(scratch.path).numbers == Array(1...22))
    }

    @Test func `says how much waits`() throws {
        let writer = try SpoolWriter(directory: scratch.path, options: Self.small)
        try fill(writer, 20, padding: 100)
        #expect(writer.occupancy.limit == 4_096)
        #expect(writer.occupancy.undelivered > 2_000)
        try DeliveryMark(directory: scratch.path, epoch: writer.epoch).store(20)
        #expect(writer.occupancy.undelivered == 0)
        let state = try SpoolReader(directory: scratch.path).state()
        #expect(state.last == 20)
        #expect(state.delivered == 20)
        #expect(state.thinned == 0)
    }
}
