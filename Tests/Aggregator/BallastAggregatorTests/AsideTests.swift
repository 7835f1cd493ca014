import AsyncHTTPClient
import Deflate
import Glibc
import NIOCore
import ProgramSupport
import Testing

@testable import BallastAggregator

/// What comes beside a report's records, and packed bodies.
@Suite struct `Beside the records of a report` {
    let scratch: ScratchFolder
    static let epoch = String(repeating: "0a", count: 16)

    init() throws { scratch = try ScratchFolder() }

    private func post(
        _ bytes: [UInt8], coding: String, to aggregator: RunningAggregator
    ) async throws -> RunningAggregator.Answer {
        try await aggregator.ask(
            "/v1/edge/report", .bytes(ByteBuffer(bytes: bytes)), token: "demo-token",
            type: "application/json",
            coding: coding)
    }

    static func report(_ rest: String) -> String { "{\"site\":\"demo\",\"epoch\":\"\(epoch)\",\(rest)}" }

    static func snapshot(_ kilowatts: Int) -> String {
        #"{"v":1,"kind":"snapshot","mono_ms":1,"t_ms":1700000000000,"mode":"production","site":"demo","units":[],"#
            + #""values":{"setpoint_kw":[1,\#(kilowatts)]},"counters":{}}"#
    }

    @Test func `the newest state shows ahead of the records, and is stored in its turn alone`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        let first = Self.report(
            #""records":[{"n":1,"data":{"kind":"event","event":"x"}}],"#
                + #""present":[{"n":900,"data":\#(Self.snapshot(1))}],"controller":"running""#)
        #expect(try await aggregator.post(first).status == 200)
        let state = try await aggregator.get("/v1/sites/demo/state").body
        #expect(state.contains(#""stored_through":1,"#) && state.contains(#""telemetry":{"n":900,"#))
        #expect(state.contains(#""controller":null"#))
        // Another site's, and one of another epoch, show nothing of it.
        #expect(try await !aggregator.get("/v1/sites/other/state").body.contains("900"))
        let anew = Self.report(#""records":[{"n":1,"data":{"kind":"event"}}]"#)
            .replacing(Self.epoch, with: String(repeating: "0b", count: 16))
        #expect(try await aggregator.post(anew).status == 200)
        #expect(try await !aggregator.get("/v1/sites/demo/state").body.contains("900"))
        #expect(aggregator.end(by: SIGTERM) == 0)
    }

    @Test func `a silent controller is told, and that it speaks again`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        let silent = Self.report(#""records":[],"controller":"silent""#)
        #expect(try await aggregator.post(silent).status == 200)
        try aggregator.waitForLine(containing: "site demo: its controller writes nothing any more")
        #expect(try await aggregator.get("/v1/sites/demo/state").body.contains(#""controller":"silent""#))
        #expect(try await aggregator.metrics().contains("ballast_aggregator_silent_controllers 1"))
        #expect(try await aggregator.post(silent.replacing("silent", with: "running")).status == 200)
        try aggregator.waitForLine(containing: "site demo: its controller speaks again")
        #expect(try await aggregator.get("/v1/sites/demo/state").body.contains(#""controller":null"#))
        #expect(aggregator.end(by: SIGTERM) == 0)
    }

    @Test func `a packed report is as good as another; a bomb, rubbish and other codings are not`()
        async throws
    {
        let aggregator = try RunningAggregator(in: scratch)
        let before = try aggregator.residentBytes()
        let records = (1...200).map { "{\"n\":\($0),\"data\":{\"kind\":\"event\",\"v\":\($0 * 7919 % 997)}}" }
        let text = Array(Self.report("\"records\":[\(records.joined(separator: ","))]").utf8)
        let packed = try #require(Deflate.pack(text))
        let good = try await post(packed, coding: "deflate", to: aggregator)
        #expect(good.status == 200 && good.body.contains("\"stored_through\":200"))
        let bomb = try #require(Deflate.pack([UInt8](repeating: 32, count: 200 << 20)))
        let exploded = try await post(bomb, coding: "deflate", to: aggregator)
        #expect(exploded.status == 413 && exploded.body.contains("16 times its size at most"))
        #expect(try aggregator.residentBytes() - before < 100 << 20)
        #expect(try await post(Array(packed.dropLast()), coding: "deflate", to: aggregator).status == 400)
        #expect(try await post(text, coding: "deflate", to: aggregator).status == 400)
        #expect(try await post(packed, coding: "gzip", to: aggregator).status == 415)
        #expect(try await post(packed, coding: "deflate, deflate", to: aggregator).status == 415)
        #expect(aggregator.end(by: SIGTERM) == 0)
    }

    @Test func `more ahead of its turn than is looked at is refused`() throws {
        let one = #"{"n":1,"data":{"kind":"delta"}}"#
        let many = (1...601).map { one.replacing("1", with: "\($0)") }.joined(separator: ",")
        for (list, isGood) in [(one, true), (many, false), (one + "," + one, false)] {
            let bytes = Array(Self.report("\"records\":[],\"present\":[\(list)]").utf8)
            let report = try? EdgeReport(json: bytes)
            #expect((report != nil) == isGood)
        }
        let large = String(repeating: "x", count: 520 << 10)
        let bytes = Array(
            Self.report(#""records":[],"present":[{"n":1,"data":{"kind":"delta","x":"\#(large)"}}]"#).utf8)
        #expect(throws: (any Error).self) { try EdgeReport(json: bytes) }
    }

    // swift-format-ignore
    static let audits: [(heads: [String], isWell: Bool, why: Comment)] = [
        (["5a", "9b", "9b", "30c"], true,  "it grows, and is told again"),
        (["5a", "9b", "5a", "9b"],  true,  "a spool that was set back tells again what it has told"),
        (["5a", "9b", "7c"],        false, "cut, and grown again"),
        (["5a", "9b", "9c"],        false, "made anew"),
        (["5a", "9b", "5c", "40d"], false, "made anew, and longer now"),
    ]

    @Test(arguments: audits) func `an audit that a site has cut or made anew is found here`(
        heads: [String], isWell: Bool, why: Comment
    ) async throws {
        let aggregator = try RunningAggregator(in: scratch)
        var last = ""
        for (index, head) in heads.enumerated() {
            last = head.dropLast() + ":" + String(repeating: String(head.suffix(1)), count: 64)
            let record = #"{"n":\#(index + 1),"data":{"v":1,"kind":"audit","head":"\#(last)"}}"#
            #expect(try await aggregator.post(Self.report("\"records\":[\(record)]")).status == 200)
        }
        #expect(try await aggregator.get("/v1/sites/demo/state").body.contains("\"audit\":\"\(last)\""))
        let config = try aggregator.writeFile()
        #expect(aggregator.end(by: SIGTERM) == 0)
        // One site's audit keeps nobody's history from being kept.
        let copy = scratch.path + "/copy.sqlite"
        let told = try Upkeep.backup(config: config, to: copy)
        #expect(told.contains { $0.contains("remark: the history is whole; site demo") } != isWell, why)
        // It is apart from whether the history is whole, and keeps nothing from being compared.
        let found = try Upkeep.verify(config: config, head: nil, replay: true)
        #expect(found.remarks.isEmpty == isWell && found.lines.contains { $0.hasPrefix("minute: ") }, why)
        let program = try RunningProgram("ballast-aggregator", ["verify", "--replay", "--config", config])
        #expect(program.end(by: 0) == (isWell ? 0 : 2), why)
        if isWell {
            #expect(try Upkeep.verify(database: aggregator.database)[0].contains("holds"), why)
        } else {
            #expect(throws: Upkeep.Failure.self, why) { try Upkeep.verify(database: aggregator.database) }
        }
    }
}
