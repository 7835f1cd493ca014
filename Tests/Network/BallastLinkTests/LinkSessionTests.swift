import Foundation
import Glibc
import ProgramSupport
import Recorder
import Testing

@testable import BallastLink

/// Answers by a script, and keeps what was posted and logged.
final class ScriptedAggregator {
    var answers: [ReportAnswer]
    var bodies: [String] = []
    var log: [String] = []

    init(_ answers: [ReportAnswer]) { self.answers = answers }

    func post(_ body: [UInt8]) -> ReportAnswer {
        bodies.append(String(decoding: body, as: UTF8.self))
        return answers.isEmpty ? .unreachable(reason: "the script is over") : answers.removeFirst()
    }

    /// The numbers of the records in report `index`.
    func numbers(_ index: Int) -> [Int] {
        bodies[index].split(separator: "{\"n\":").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) }
    }
}

@Suite struct `A link session` {
    let scratch: ScratchFolder
    let writer: SpoolWriter

    init() throws {
        scratch = try ScratchFolder()
        writer = try SpoolWriter(directory: scratch.path + "/spool")
        for number in 1...10 { _ = try writer.append(Array("{\"was\":\(number)}".utf8)) }
        try writer.sync()
    }

    func session(
        _ aggregator: ScriptedAggregator, batch: Int = 4, spool: String? = nil
    ) throws -> LinkSession {
        let text = """
            spool: \(spool ?? scratch.path + "/spool")
            site: demo
            aggregator: {url: "http://127.0.0.1", token: t}
            batch_max_records: \(batch)
            """
        return LinkSession(
            config: try `The link's configuration`.read(text), log: { aggregator.log.append($0) },
            post: { body, _, _ in aggregator.post(body) })
    }

    /// - Parameter sent: how far the mark says that it was delivered.
    private func run(
        _ answers: [ReportAnswer], steps: Int, sent: UInt64 = 0
    ) async throws -> ScriptedAggregator {
        try mark(sent)
        let aggregator = ScriptedAggregator(answers)
        var session = try session(aggregator)
        for _ in 0..<steps { _ = await session.step() }
        return aggregator
    }

    private func mark(_ sent: UInt64) throws {
        guard sent > 0 else { return }
        try DeliveryMark(directory: scratch.path + "/spool", epoch: writer.epoch).store(sent)
    }

    @Test func `asks for the mark first, and goes on behind it`() async throws {
        let aggregator = try await run(
            [.stored(through: 3), .stored(through: 7), .stored(through: 10)], steps: 4, sent: 3)
        #expect(aggregator.numbers(0).isEmpty)
        #expect(aggregator.numbers(1) == [4, 5, 6, 7])
        #expect(aggregator.numbers(2) == [8, 9, 10])
        #expect(aggregator.bodies.count == 3)
        #expect(aggregator.log == ["connected; the aggregator has all through 3"])
        let mark = try DeliveryMark(directory: scratch.path + "/spool", epoch: writer.epoch)
        #expect(mark.deliveredThrough == 10)
    }

    @Test func `goes back where the aggregator has lost what it had`() async throws {
        let aggregator = try await run(
            [.stored(through: 8), .rewind(to: 2), .stored(through: 6), .stored(through: 0)], steps: 5, sent: 8
        )
        #expect(
            (1...4).map { aggregator.numbers($0) } == [
                [9, 10], [3, 4, 5, 6], [7, 8, 9, 10], [1, 2, 3, 4],
            ])
        let mark = try DeliveryMark(directory: scratch.path + "/spool", epoch: writer.epoch)
        #expect(mark.deliveredThrough == 0)
    }

    @Test func `sends the same again after an answer that never came`() async throws {
        let aggregator = try await run(
            [.stored(through: 0), .unreachable(reason: "x"), .unreachable(reason: "y"), .stored(through: 4)],
            steps: 4)
        #expect(aggregator.bodies[1] == aggregator.bodies[2])
        #expect(aggregator.bodies[2] == aggregator.bodies[3])
        #expect(
            aggregator.log == [
                "connected; the aggregator has all through 0", "unreachable: x",
                "connected; the aggregator has all through 4",
            ])
    }

    @Test func `sends fewer records where the report was too large`() async throws {
        let aggregator = try await run(
            [.stored(through: 0), .tooLarge, .tooLarge, .tooLarge, .stored(through: 1)], steps: 6)
        #expect((1...5).map { aggregator.numbers($0).count } == [4, 2, 1, 1, 2])
        #expect(aggregator.log.contains("refused with status 413: a single record is too large for it"))
    }

    @Test func `says each refusal once and keeps trying with growing pauses`() async throws {
        let refusal = ReportAnswer.refused(status: 401, reason: "this token is not known here")
        let aggregator = ScriptedAggregator(Array(repeating: refusal, count: 12))
        var session = try session(aggregator)
        var pauses: [Duration] = []
        for _ in 0..<12 { pauses.append(await session.step()) }
        #expect(aggregator.bodies.count == 12)
        #expect(aggregator.log == ["refused with status 401: this token is not known here"])
        #expect(pauses[0] >= .seconds(0.1) && pauses[0] <= .seconds(0.2))
        #expect(pauses[11] >= .seconds(5) && pauses[11] <= .seconds(10))
    }

    @Test func `takes a busy aggregator for one that is not there: later, the same again`() {
        let body = Array(#"{"type":"about:blank","status":429,"detail":"busy","error":"busy"}"#.utf8)
        for status in [408, 429, 500, 503] as [UInt] {
            let answer = AggregatorClient.interpret(status: status, body, epoch: "e")
            #expect(answer == .unreachable(reason: "status \(status): busy"))
        }
        #expect(AggregatorClient.interpret(status: 413, body, epoch: "e") == .tooLarge)
    }

    @Test func `says where the aggregator's history stands, now and then, and only what is a head`()
        async throws
    {
        let head = "7:" + String(repeating: "0a", count: 32)
        let aggregator = try await run(
            [
                .stored(through: 0, history: head), .stored(through: 4, history: head),
                .stored(through: 8, history: head),
            ], steps: 3)
        #expect(aggregator.log.count { $0 == "the aggregator's history: head \(head)" } == 1)
        for (said, known) in [
            (head, head), ("7:0a", ""), ("7:" + head.dropFirst(2).uppercased(), ""), ("x" + head, ""),
        ] {
            let body = "{\"epoch\":\"e\",\"stored_through\":4,\"head\":\"\(said)\"}"
            let answer = AggregatorClient.interpret(status: 200, Array(body.utf8), epoch: "e")
            #expect(answer == .stored(through: 4, history: known))
        }
    }

    @Test func `sends a payload that is no JSON object as text`() async throws {
        _ = try writer.append(Array("say \"NaN\"".utf8))
        try writer.sync()
        let aggregator = try await run([.stored(through: 10)], steps: 2, sent: 10)
        #expect(aggregator.bodies[1].contains(#"{"n":11,"data":{"kind":"unreadable","text":"say \"NaN\""}}"#))
    }

    @Test func `believes no aggregator that claims what it was never given, and does not run hot`()
        async throws
    {
        let lies: [ReportAnswer] = [
            .rewind(to: 9_000_000_000_000_000_000), .rewind(to: 5), .rewind(to: 4), .stored(through: 4),
        ]
        try mark(4)
        for lie in lies {
            let aggregator = ScriptedAggregator([.stored(through: 4)] + Array(repeating: lie, count: 12))
            var session = try session(aggregator)
            _ = await session.step()
            var pauses: [Duration] = []
            for _ in 0..<11 { pauses.append(await session.step()) }
            #expect(aggregator.numbers(11).first == 5, "\(lie): every record is still offered")
            #expect(pauses.allSatisfy { $0 >= .milliseconds(100) } && pauses[10] >= .seconds(5), "\(lie)")
            #expect(aggregator.log.count == 2, "\(lie): said once: \(aggregator.log)")
            let mark = try DeliveryMark(directory: scratch.path + "/spool", epoch: writer.epoch)
            #expect(mark.deliveredThrough == 4, "\(lie)")
        }
        // Going back again and again is waited for as well.
        let aggregator = ScriptedAggregator(
            (0..<12).map { $0 % 2 == 0 ? .stored(through: 4) : .rewind(to: 0) })
        var session = try session(aggregator)
        var waited = Duration.zero
        for _ in 0..<12 { waited += await session.step() }
        #expect(waited > .seconds(0.5))
    }

    @Test func `a report is not believed to hold what was not in it`() async throws {
        let aggregator = try await run(
            [.stored(through: 4), .stored(through: 10), .stored(through: 10)], steps: 3, sent: 4)
        #expect(aggregator.numbers(1) == [5, 6, 7, 8] && aggregator.numbers(2) == [9, 10])
        #expect(aggregator.bodies.count == 3)
    }

    // swift-format-ignore
    static let firstWords: [(mark: UInt64, said: UInt64, next: [Int], why: Comment)] = [
        (0, 10, [1, 2, 3, 4],  "nothing was ever sent"),
        (0,  1, [1],           "not even one, and what it says it has goes apart"),
        (6, 10, [7, 8, 9, 10], "what an answer that never came spoke of goes again"),
        (6,  6, [7, 8, 9, 10], "as the mark says"),
        (6,  2, [3, 4, 5, 6],  "it has lost something"),
    ]

    @Test(arguments: firstWords)
    func `an aggregator's first word is believed as far as the mark`(
        mark sent: UInt64, said: UInt64, next: [Int], why: Comment
    ) async throws {
        let aggregator = try await run([.stored(through: said)], steps: 2, sent: sent)
        #expect(aggregator.numbers(1) == next, why)
        #expect(aggregator.log.contains { $0.contains("known of \(sent) only") } == (said > sent), why)
    }

    @Test func `what is not in the spool any more is not sent again, and is no gap where it was delivered`()
        async throws
    {
        let path = scratch.path + "/small"
        let small = try SpoolWriter(
            directory: path, options: SpoolOptions(segmentBytes: 1_024, totalBytes: 4_096))
        for _ in 1...200 {
            _ = try small.append(Array("{\"kind\":\"event\",\"was\":\(small.nextNumber)}".utf8))
            try small.sync()
            try DeliveryMark(directory: path, epoch: small.epoch).store(small.nextNumber - 1)
        }
        let first = try SpoolReader(directory: path).state().first
        #expect(first > 50)
        // The mark is lost.
        try #require(unlink(path + "/delivered") == 0)
        let aggregator = ScriptedAggregator([.stored(through: 200)])
        var session = try session(aggregator, spool: path)
        for _ in 0..<2 { _ = await session.step() }
        #expect(aggregator.numbers(1).first == Int(first))
        #expect(aggregator.bodies[1].contains("\"gaps\":[]"))
    }

    @Test func `an aggregator that agrees when asked, and claims more when given, gets the tail rarely`()
        async throws
    {
        try mark(4)
        let answers = (0..<24).map { ReportAnswer.stored(through: $0 % 2 == 0 ? 4 : 11) }
        let aggregator = ScriptedAggregator(answers)
        var session = try session(aggregator)
        var pauses: [Duration] = []
        for _ in 0..<24 { pauses.append(await session.step()) }
        #expect(pauses[23] >= .seconds(5), "\(pauses)")
        let kept = try DeliveryMark(directory: scratch.path + "/spool", epoch: writer.epoch)
        #expect(kept.deliveredThrough == 4)
        #expect(try writer.renewIfSetBack(), "its writer hears of it")
    }

    @Test func `a log line from afar stays one line`() {
        let text = "no\u{1b}[2J\nMon ballastd: TRIP\u{2028}" + String(repeating: "x", count: 300)
        let line = LinkState.refused(status: 403, reason: text).line
        #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x2028 })
        #expect(line.contains("no\\u{1b}[2J\\u{a}Mon") && line.hasSuffix("x…") && line.count < 260)
    }

    @Test func `a body is answered in whole, or not at all, by its deadline`() async {
        let answer = await Deadline.run(.milliseconds(50)) { () -> Int? in
            try? await Task.sleep(for: .seconds(60))
            return 1
        }
        #expect(answer == nil)
        #expect(await Deadline.run(.seconds(60)) { 2 } == 2)
    }

    @Test func `reads commands, and nothing else`() {
        let good = Array(#"{"commands":[{"sequence":7,"lease":"00ff"},{"sequence":8}],"more":1}"#.utf8)
        #expect(CommandCourier.commands(good) == [.init(sequence: 7, lease: "00ff")])
        for bad in ["", "{}", "[]", #"{"commands":7}"#, #"{"commands":[7]}"#, #"{"commands":[]} x"#] {
            #expect(CommandCourier.commands(Array(bad.utf8)) == nil, "\(bad)")
        }
    }

    @Test func `says so where the aggregator has more than the spool`() async throws {
        let aggregator = try await run([.stored(through: 99)], steps: 3)
        #expect(aggregator.log.first?.contains("through 99, the spool ends at 10") == true)
        #expect(aggregator.bodies.count >= 2)
    }

    @Test func `a spool that was set back begins anew, and nothing in it stays behind`() async throws {
        let aggregator = ScriptedAggregator([.stored(through: 99), .stored(through: 0), .stored(through: 10)])
        var session = try session(aggregator, batch: 20)
        let before = writer.epoch
        _ = await session.step()
        #expect(try writer.renewIfSetBack(), "the writer learns it by the mark")
        try writer.sync()
        _ = await session.step()
        _ = await session.step()
        #expect(aggregator.bodies[0].contains(before.description))
        #expect(aggregator.bodies[2].contains(writer.epoch.description))
        #expect(aggregator.numbers(2) == Array(1...10))
    }

    @Test func `a number that no spool reaches is not kept`() async throws {
        _ = try await run([.stored(through: 9_000_000_000_000_000_000)], steps: 2)
        #expect(try !writer.renewIfSetBack())
        #expect(
            try DeliveryMark(directory: scratch.path + "/spool", epoch: writer.epoch).deliveredThrough == 0)
    }
}
