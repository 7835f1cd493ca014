import ProgramSupport
import Recorder
import Testing

@testable import BallastLink

/// What a link says beside its records: the present ahead of the backlog, and that the controller is silent.
@Suite struct `What a link says beside its records` {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    static let start = ContinuousClock.now

    // swift-format-ignore
    static let looks: [(seconds: Double, durable: UInt64, tells: Bool, isSilent: Bool, why: Comment)] = [
        ( 0.0, 7, false, false, "the first look"),
        ( 9.9, 7, false, false, "a controller pauses so long"),
        (10.0, 7, true,  true,  "silent, told at once"),
        (12.0, 7, false, true,  "told already"),
        (39.9, 7, false, true,  "not yet again"),
        (40.0, 7, true,  true,  "again, for an aggregator that has forgotten"),
        (41.0, 8, true,  false, "it writes again, told at once"),
        (42.0, 9, false, false, "and goes on"),
        (51.9, 9, false, false, "pauses"),
        (52.0, 9, true,  true,  "silent anew"),
        (53.0, 1, true,  false, "a spool that was made anew is written to"),
    ]

    @Test func `a spool that does not grow is a silent controller`() {
        var silence = ControllerSilence()
        for look in Self.looks {
            let tells = silence.look(look.durable, at: Self.start + .seconds(look.seconds))
            #expect(tells == look.tells && silence.isSilent == look.isSilent, look.why)
        }
    }

    static let day: Int64 = 86_400_000

    @Test func `a budget is a day's, whatever the clock does`() {
        var budget = DailyBudget(most: 1_000)
        func isSpent(_ budget: inout DailyBudget, at now: Int64) -> Bool { budget.isSpent(at: now) }
        func mayPass(_ budget: inout DailyBudget, at now: Int64) -> Bool { budget.mayPassOnce(at: now) }
        let noon = 20_000 * Self.day + Self.day / 2
        budget.spend(999, at: noon)
        #expect(!isSpent(&budget, at: noon))
        budget.spend(1, at: noon)
        #expect(isSpent(&budget, at: noon), "exactly as much as may")
        #expect(isSpent(&budget, at: noon + Self.day / 2 - 1), "the day's last millisecond")
        #expect(isSpent(&budget, at: noon - Self.day), "a clock set back does not give it anew")
        var kept = DailyBudget(most: 1_000, text: budget.text)
        #expect(isSpent(&kept, at: noon), "a restart is no new day")
        #expect(mayPass(&kept, at: noon) && !mayPass(&kept, at: noon + 899_999))
        #expect(mayPass(&kept, at: noon + 900_000) && mayPass(&kept, at: 0))
        #expect(!isSpent(&kept, at: noon + Self.day / 2), "the next day")
        #expect(!isSpent(&budget, at: noon - 9 * Self.day), "a clock that was days ahead was wrong")
        #expect(DailyBudget(most: 5, text: "x -1") == DailyBudget(most: 5))
        var none = DailyBudget(most: nil)
        none.spend(Int(1) << 60, at: noon)
        #expect(!isSpent(&none, at: noon))
    }

    private func session(
        _ traffic: Traffic? = nil, _ post: @escaping (String) -> ReportAnswer
    ) throws -> LinkSession {
        let text = """
            spool: \(scratch.path)/spool
            site: demo
            aggregator: {url: "http://127.0.0.1", token: t}
            batch_max_records: 10
            """
        return LinkSession(
            config: try `The link's configuration`.read(text), traffic: traffic, log: { _ in },
            post: { body, _, _ in post(String(decoding: body, as: UTF8.self)) })
    }

    private func fill(_ kinds: [String]) throws {
        let writer = try SpoolWriter(directory: scratch.path + "/spool")
        for kind in kinds { _ = try writer.append(Array("{\"v\":1,\"kind\":\"\(kind)\"}".utf8)) }
        try writer.sync()
    }

    /// The numbers in the list that follows `key`.
    private static func numbers(_ body: String, _ key: String) -> [Int] {
        let list = body.split(separator: "\"\(key)\":[", maxSplits: 1).dropFirst().first ?? ""
        return list.prefix { $0 != "]" }.split(separator: "{\"n\":").dropFirst().compactMap {
            Int($0.prefix { $0.isNumber })
        }
    }

    @Test func `what the site looks like now goes ahead of the backlog, once in a while, and comes again`()
        async throws
    {
        try fill(
            [String](repeating: "event", count: 150) + ["snapshot", "delta", "event", "delta", "delta"])
        var bodies: [String] = []
        var stored: UInt64 = 0
        var session = try session { body in
            bodies.append(body)
            stored = UInt64(Self.numbers(body, "records").last ?? Int(stored))
            return .stored(through: stored)
        }
        for _ in 0..<18 { _ = await session.step() }
        #expect(bodies.flatMap { Self.numbers($0, "records") } == Array(1...155), "each once, in order")
        let ahead = bodies.map { Self.numbers($0, "present") }
        #expect(ahead[1] == [151, 152, 154, 155], "with the first records that are due")
        #expect(ahead.filter { !$0.isEmpty }.count == 1, "not with each report")
        #expect(bodies.allSatisfy { $0.contains("\"controller\":\"running\"") })
    }

    @Test func `a hole behind the newest snapshot shows no state`() async throws {
        let writer = try SpoolWriter(directory: scratch.path + "/spool")
        for _ in 1...100 { _ = try writer.append(Array("{\"v\":1,\"kind\":\"event\"}".utf8)) }
        _ = try writer.append(Array("{\"v\":1,\"kind\":\"snapshot\"}".utf8))
        writer.skip(3)
        _ = try writer.append(Array("{\"v\":1,\"kind\":\"delta\"}".utf8))
        try writer.sync()
        #expect(try SpoolEnd.records(of: scratch.path + "/spool", epoch: writer.epoch) == [])
    }

    @Test func `a spent budget lets nothing out but the newest state, and the next day all`() async throws {
        try fill([String](repeating: "event", count: 5) + ["snapshot"])
        let traffic = Traffic(most: 1_500, path: scratch.path + "/today", figures: LinkFigures())
        traffic.sent(600)
        var bodies: [String] = []
        var session = try session(traffic) { body in
            bodies.append(body)
            return .stored(through: 0)
        }
        for _ in 0..<5 { _ = await session.step() }
        #expect(bodies.count == 1)
        #expect(Self.numbers(bodies[0], "records").isEmpty && Self.numbers(bodies[0], "present") == [6])
        #expect(traffic.figures.now.isBudgetSpent)
        traffic.save()
        let again = Traffic(most: 1_500, path: scratch.path + "/today", figures: LinkFigures())
        #expect(again.isSpent())
    }

    @Test func `packs what gains by it, and nothing that would look like a bomb`() {
        let packing = Packing()
        let text = Array((0..<400).map { "{\"n\":\($0),\"v\":\($0 &* 7919 % 1_000)}" }.joined().utf8)
        let packed = packing.pack(text)
        #expect((packed?.count ?? .max) * 2 < text.count)
        #expect(packing.pack(Array("short".utf8)) == nil)
        #expect(packing.pack([UInt8](repeating: 32, count: 100_000)) == nil, "more than 16 times")
        var generator = SystemRandomNumberGenerator()
        #expect(packing.pack((0..<2_000).map { _ in .random(in: 0...255, using: &generator) }) == nil)
        packing.stop()
        #expect(packing.pack(text) == nil, "the aggregator takes none")
    }

    @Test func `its figures have help and units`() {
        let figures = LinkFigures()
        figures.note {
            $0.sentBytes = 7
            $0.isControllerSilent = true
        }
        let text = figures.text(certificateEnd: 1_800_000_000_123)
        #expect(
            text.contains("# TYPE ballast_link_sent_bytes_total counter\nballast_link_sent_bytes_total 7\n"))
        #expect(text.contains("\nballast_link_controller_silent 1\n"))
        #expect(text.contains("\nballast_link_certificate_not_after_timestamp_seconds 1800000000\n"))
        let names = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.prefix { $0 != " " } }
        for name in names { #expect(text.contains("# HELP \(name) ") && text.contains("# TYPE \(name) ")) }
    }
}
