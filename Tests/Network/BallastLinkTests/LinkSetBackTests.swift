import Foundation
import Glibc
import ProgramSupport
import Recorder
import Testing

@testable import BallastLink

/// What a link does where somebody has put older files back.
extension `A link session` {
    /// By now the spool ends before what was delivered, or has passed it with other records.
    @Test(arguments: [2, 30])
    func `a spool that is set back beside a living link begins anew, whole`(more: Int) async throws {
        let path = scratch.path + "/other"
        var epoch: SpoolEpoch?
        do {
            let writer = try SpoolWriter(directory: path)
            epoch = writer.epoch
            for number in 1...10 { _ = try writer.append(Array("{\"was\":\(number)}".utf8)) }
            try writer.sync()
            try #require(try copy(path, to: path + "-copy") == 0)
            for number in 11...20 { _ = try writer.append(Array("{\"was\":\(number)}".utf8)) }
            try writer.sync()
        }
        let aggregator = ScriptedAggregator([.stored(through: 0), .stored(through: 20)])
        var session = try session(aggregator, batch: 100, spool: path)
        for _ in 0..<2 { _ = await session.step() }
        #expect(aggregator.numbers(1) == Array(1...20))
        try #require(rename(path, path + "-gone") == 0)
        try #require(try copy(path + "-copy", to: path) == 0)
        let writer = try SpoolWriter(directory: path)
        #expect(writer.epoch == epoch && writer.nextNumber == 11)
        for number in 1...more { _ = try writer.append(Array("{\"late\":\(number)}".utf8)) }
        try writer.sync()
        _ = await session.step()
        #expect(aggregator.bodies.count == 2, "nothing of it goes up under numbers that were delivered")
        #expect(aggregator.log.last?.contains("was it set back?") == true, "\(aggregator.log)")
        #expect(try writer.renewIfSetBack(), "its writer hears of it")
        try writer.sync()
        aggregator.answers = [.stored(through: 0), .stored(through: UInt64(10 + more))]
        for _ in 0..<2 { _ = await session.step() }
        #expect(aggregator.bodies.last?.contains(writer.epoch.description) == true)
        #expect(aggregator.numbers(3) == Array(1...(10 + more)), "all of it, what was written last as well")
    }

    /// The whole state folder, mark and all, and the link comes only when the numbers have passed.
    @Test func `a spool that was set back with its mark, and is heard late, begins anew, whole`()
        async throws
    {
        let path = scratch.path + "/late"
        do {
            let writer = try SpoolWriter(directory: path)
            for number in 1...10 { _ = try writer.append(Array("{\"was\":\(number)}".utf8)) }
            try writer.sync()
            try DeliveryMark(directory: path, epoch: writer.epoch).store(10)
        }
        // The numbers 11 … 25 were delivered in a life of which nothing is left here.
        let writer = try SpoolWriter(directory: path)
        for number in 11...40 { _ = try writer.append(Array("{\"late\":\(number)}".utf8)) }
        try writer.sync()
        let old = writer.epoch
        let aggregator = ScriptedAggregator([
            .stored(through: 25), .stored(through: 25, differing: 11),
            .stored(through: 0), .stored(through: 40),
        ])
        var session = try session(aggregator, batch: 100, spool: path)
        _ = await session.step()
        let pause = await session.step()
        #expect(aggregator.numbers(1) == Array(11...25), "the rest stays for the new epoch")
        #expect(aggregator.log.last?.contains("has other records under numbers that were delivered") == true)
        #expect(pause > .seconds(10), "its writer looks each 10 s")
        #expect(try writer.renewIfSetBack() && writer.epoch != old, "its writer hears of it")
        try writer.sync()
        for _ in 0..<2 { _ = await session.step() }
        #expect(aggregator.bodies[3].contains(writer.epoch.description))
        #expect(aggregator.numbers(3) == Array(1...40))
    }

    @Test func `an aggregator that always says so gets one new epoch of a stream, and all that there is`()
        async throws
    {
        let answers =
            [.stored(through: 0)]
            + (1...10).map { number in
                ReportAnswer.stored(through: UInt64(number), differing: UInt64(number))
            }
        let aggregator = ScriptedAggregator([answers[0], answers[1], answers[0]] + answers.dropFirst())
        var session = try session(aggregator, batch: 1)
        for _ in 0..<13 { _ = await session.step() }
        #expect(aggregator.numbers(12) == [10])
        #expect(aggregator.log.count { $0.contains("was it set back?") } == 1, "\(aggregator.log)")
        // Of numbers that were not in the report it knows nothing.
        let other = ScriptedAggregator([.stored(through: 0), .stored(through: 1, differing: 7)])
        var second = try self.session(other, batch: 1)
        for _ in 0..<3 { _ = await second.step() }
        #expect(other.numbers(2) == [2] && !other.log.contains { $0.contains("set back") }, "\(other.log)")
    }

    @Test(.timeLimit(.minutes(1)))
    func `a pipe among the segments keeps nothing from leaving`() async throws {
        let aggregator = ScriptedAggregator([
            .stored(through: 0), .stored(through: 10), .stored(through: 11),
        ])
        for name in ["0000000009-00000000000000009999", "0000000000-00000000000000000001"] {
            try #require(mkfifo(scratch.path + "/spool/\(name).spool", 0o600) == 0)
        }
        var session = try session(aggregator, batch: 20)
        for _ in 0..<2 { _ = await session.step() }
        try #require(mkfifo(scratch.path + "/spool/0000000002-00000000000000000011.spool", 0o600) == 0)
        _ = try writer.append(Array("{\"was\":11}".utf8))
        try writer.sync()
        _ = await session.step()
        #expect(aggregator.numbers(1) == Array(1...10) && aggregator.numbers(2) == [11])
        #expect(!aggregator.bodies.contains { !$0.contains("\"gaps\":[]") })
    }

    /// - Returns: the exit status.
    private func copy(_ from: String, to: String) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/cp")
        process.arguments = ["-r", from, to]
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
