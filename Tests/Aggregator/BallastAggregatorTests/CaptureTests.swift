import AsyncHTTPClient
import CycleRecord
import Foundation
import Glibc
import GRDB
import Incident
import LinuxIO
import NIOCore
import ProgramSupport
import Testing

@testable import BallastAggregator

/// What a site has kept of an incident, brought in pieces and shown.
@Suite struct `Captures at the aggregator` {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    static let recording: [UInt8] = {
        let folder = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
        let path = folder + "/Simulation/VirtualSiteTests/recordings/020-cell-too-full.cycles"
        return (try? DurableFile.read(path, limit: 1 << 24)) ?? nil ?? []
    }()

    private func sha256(_ bytes: [UInt8]) throws -> String {
        // Another program's word for it.
        let path = try scratch.write("digest", "")
        try DurableFile.replace(path, with: bytes)
        let result = try #require(popen("sha256sum \(path)", "r"))
        defer { pclose(result) }
        var line = [CChar](repeating: 0, count: 200)
        fgets(&line, 200, result)
        return String(decoding: line.prefix(64).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func bring(
        _ aggregator: RunningAggregator, _ bytes: [UInt8], from offset: Int, to end: Int,
        as name: String = "20261123T140307Z-trip.cycles", digest: String, token: String = "demo-token",
        type: String = "application/octet-stream"
    ) async throws -> RunningAggregator.Answer {
        let path =
            "/v1/edge/captures?site=demo&name=\(name)&sha256=\(digest)&bytes=\(bytes.count)&offset=\(offset)"
        let body = HTTPClientRequest.Body.bytes(ByteBuffer(bytes: bytes[offset..<end]))
        return try await aggregator.ask(path, body, token: token, type: type)
    }

    @Test func `a capture comes in pieces across a kill, and what is handed out is the file`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        let (bytes, digest) = (Self.recording, try sha256(Self.recording))
        #expect(bytes.count > 50_000)
        let name = "20261123T140307Z-trip.cycles"
        var answer = try await bring(aggregator, bytes, from: 0, to: 40_000, digest: digest)
        #expect(answer.status == 200 && answer.body.contains("\"stored\":40000"), "\(answer.body)")
        aggregator.end(by: SIGKILL)
        try aggregator.start()
        // What is half here is neither handed out nor shown.
        let page = "/v1/sites/demo/incident?name=\(name)"
        #expect(try await aggregator.get(page).status == 404)
        // Another place changes nothing, and is told where to go on.
        answer = try await bring(aggregator, bytes, from: 45_000, to: 50_000, digest: digest)
        #expect(answer.status == 200 && answer.body.contains("\"stored\":40000"))
        answer = try await bring(aggregator, bytes, from: 40_000, to: bytes.count, digest: digest)
        #expect(answer.body.contains("\"stored\":\(bytes.count)"))
        // It came before: the same again is no other.
        answer = try await bring(aggregator, bytes, from: 0, to: 40_000, digest: digest)
        #expect(answer.status == 200 && answer.body.contains("\"stored\":\(bytes.count)"))

        var request = HTTPClientRequest(url: aggregator.url + "/v1/sites/demo/capture?name=\(name)")
        request.headers.add(name: "Authorization", value: "Bearer read-token")
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        let back = Array(try await response.body.collect(upTo: 1 << 24).readableBytesView)
        #expect(back == bytes)

        let shown = try await aggregator.get(page)
        #expect(shown.status == 200 && shown.headers["content-type"] == "text/html; charset=utf-8")
        #expect(shown.body.contains("BESS_01") && shown.body.contains("first out"))
        #expect(shown.body.contains("cell_overvoltage"))
        #expect(!shown.body.contains("<script"))
        let json = try await aggregator.get("/v1/sites/demo/incident.json?name=\(name)")
        #expect(json.status == 200 && json.body.contains("cell_overvoltage"))
        let list = try await aggregator.get("/v1/sites/demo/captures")
        #expect(list.body.contains("\"sha256\":\"\(digest)\""))
    }

    @Test
    func `a page of an incident has what the site told, who asked it for what, and who asked the aggregator`()
        async throws
    {
        let aggregator = try RunningAggregator(in: scratch)
        let (bytes, digest) = (Self.recording, try sha256(Self.recording))
        let name = "20261123T140307Z-trip.cycles"
        let answer = try await bring(aggregator, bytes, from: 0, to: bytes.count, as: name, digest: digest)
        #expect(answer.status == 200)
        let begin = Trace(bytes, site: "demo", units: ["BESS_01", "BESS_02"]).beginMicroseconds / 1_000
        let events = [(-400_000, "long before"), (-200_000, "Füße & <b>Käse</b> 電池"), (1_000, "in it")]
        let records = events.enumerated().map { number, event in
            "{\"n\":\(number + 1),\"data\":{\"kind\":\"event\",\"event\":\"reset\",\"t_ms\":\(begin + Int64(event.0)),"
                + "\"by\":\"alice\",\"unit\":\"BESS_01\",\"text\":\"\(event.1)\"}}"
        }
        let report =
            "{\"site\":\"demo\",\"epoch\":\"00112233445566778899aabbccddeeff\",\"gaps\":[],\"records\":[\(records.joined(separator: ","))]}"
        #expect(try await aggregator.post(report).status == 200)
        let page = try await aggregator.get("/v1/sites/demo/incident?name=\(name)")
        #expect(page.body.contains("Füße &amp; &lt;b&gt;Käse&lt;/b&gt; 電池") && page.body.contains("alice"))
        #expect(page.body.contains("in it") && !page.body.contains("long before"))
        #expect(page.body.contains("Who asked the aggregator"))
        let json = try await aggregator.get("/v1/sites/demo/incident.json?name=\(name)")
        let object = try JSONSerialization.jsonObject(with: Data(json.body.utf8)) as? [String: Any]
        let told = try #require(object?["site_events"] as? [[String: String]])
        #expect(told.map { $0["text"] } == ["Füße & <b>Käse</b> 電池", "in it"])
        #expect(told.first?["who"] == "alice" && object?["leases"] != nil && object?["audit"] != nil)
        #expect(page.body.contains("The capture carries no performance record"))
    }

    @Test func `a page of an incident has the performance record that its capture carries`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        let note = CaptureNote(trigger: "TRIP a of BESS_01", wallMicroseconds: 1_760_000_000, cycle: 1)
        var splice = RecordingSplice(unitCount: 2, about: "a test", note: note)
        splice.add(Self.recording)
        let rows = (0..<10).map { "[\($0 * 1_000),49800000,10000,10000,0,10000,\(9_000 + $0),5000]" }
        let record =
            "{\"kind\":\"frequency\",\"t_ms\":1760000000000,\"rated_w\":200000,\"in_service_w\":200000,"
            + "\"soc_limit\":\"none\",\"rows\":[\(rows.joined(separator: ","))]}\nno record\n"
        splice.carry(CarriedPerformance.path, Array(record.utf8))
        splice.end()
        let bytes = splice.bytes
        let name = "20261123T140308Z-trip.cycles"
        let digest = try sha256(bytes)
        let answer = try await bring(aggregator, bytes, from: 0, to: bytes.count, as: name, digest: digest)
        #expect(answer.status == 200)
        let page = try await aggregator.get("/v1/sites/demo/incident?name=\(name)").body
        #expect(page.contains("How the site answered the frequency") && page.contains("srcdoc="))
        let json = try await aggregator.get("/v1/sites/demo/incident.json?name=\(name)")
        let object = try JSONSerialization.jsonObject(with: Data(json.body.utf8)) as? [String: Any]
        let told = try #require(object?["performance"] as? String)
        #expect(told.contains("49.8") && told.hasPrefix("<!DOCTYPE html>"))
    }

    @Test func `what is not what it says, or somebody else's, is refused`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        let (bytes, digest) = (Self.recording, try sha256(Self.recording))
        var answer = try await bring(
            aggregator, bytes, from: 0, to: bytes.count, digest: String(digest.reversed()))
        #expect(answer.status == 400 && answer.body.contains("taken anew from 0"), "\(answer.body)")
        // Nothing is left of it: the right one comes after it.
        answer = try await bring(aggregator, bytes, from: 0, to: bytes.count, digest: digest)
        #expect(answer.status == 200)
        let other = Array(bytes.dropLast(8))
        answer = try await bring(aggregator, other, from: 0, to: 100, digest: try sha256(other))
        #expect(answer.status == 409)
        answer = try await bring(aggregator, bytes, from: 0, to: 100, digest: digest, token: "other-token")
        #expect(answer.status == 403)
        answer = try await bring(aggregator, bytes, from: 0, to: 100, digest: digest, token: "read-token")
        #expect(answer.status == 403)
        for name in ["..%2Fx.cycles", ".cycles", "a%20b", ""] {
            answer = try await bring(aggregator, bytes, from: 0, to: 100, as: name, digest: digest)
            #expect(answer.status == 400, "\(name)")
        }
        answer = try await bring(
            aggregator, bytes, from: 0, to: 100, digest: digest, type: "application/json")
        #expect(answer.status == 415)
        #expect(try await aggregator.get("/v1/sites/demo/captures", token: "demo-token").status == 403)
    }

    @Test func `bytes that are no recording are kept, and told as such`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        let bytes = Array("not a recording".utf8)
        let answer = try await bring(
            aggregator, bytes, from: 0, to: bytes.count, digest: try sha256(bytes))
        #expect(answer.status == 200)
        let page = try await aggregator.get("/v1/sites/demo/incident?name=20261123T140307Z-trip.cycles")
        #expect(page.status == 422 && page.body.contains("cannot be shown"), "\(page.body)")
    }

    private static func text(_ line: [CChar]) -> String {
        String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Chromium opens the page as people do: on a desk, on a telephone, in the dark; each check has a name.
    @Test func `people see sites, their alarms and an incident in a browser`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        let (bytes, digest) = (Self.recording, try sha256(Self.recording))
        let name = "20261123T140307Z-trip.cycles"
        let answer = try await bring(aggregator, bytes, from: 0, to: bytes.count, as: name, digest: digest)
        #expect(answer.status == 200)
        let page = try scratch.write(
            "incident.html", try await aggregator.get("/v1/sites/demo/incident?name=\(name)").body)
        let recording = try scratch.write("recording.cycles", "")
        try DurableFile.replace(recording, with: bytes)
        let own = try ScratchFolder()
        let python = ProcessInfo.processInfo.environment["BALLAST_PYTHON"] ?? "python3"
        let judge =
            #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
            + "/Peers/browser_judge.py"
        let program = try RunningProgram.path(of: "ballast-aggregator")
        let command = "\(python) \(judge) \(program) \(own.path) \(recording) \(page) 2>&1"
        let result = try #require(popen(command, "r"))
        var (failures, last) = ([String](), "")
        var line = [CChar](repeating: 0, count: 4_096)
        while fgets(&line, 4_096, result) != nil {
            last = Self.text(line)
            if !last.hasPrefix("pass  ") { failures.append(last) }
        }
        let status = pclose(result)
        #expect(status == 0, "\(failures.joined())")
        #expect(
            Int(last.prefix { $0 != " " }) ?? 0 >= 40 && last.hasSuffix("checks pass, 0 fail\n"), "\(last)")
    }

    /// Every body of a real recording with random words in it and all checks right again: whoever crafts one
    /// gets a page, or a reason, and never the program's end.
    @Test func `no crafted recording ends the program that shows it`() async throws {
        var generator = SeededGenerator(seed: 17)
        let painter = CapturePainter()
        let site = "demo"
        for _ in 0..<60 {
            let crafted = Self.crafted(Self.recording, using: &generator)
            let trace = try? await painter.trace(crafted, of: site)
            if let trace { #expect(trace.page.hasSuffix("</html>\n") && !trace.json.isEmpty) }
        }
    }

    private static func crafted(
        _ recording: [UInt8], using generator: inout SeededGenerator
    ) -> [UInt8] {
        var bytes = recording
        var check = Checksum()
        check.add(bytes[..<16])
        var place = 16
        var touched = 0
        while place + 13 <= bytes.count {
            let length = (0..<4).reduce(0) { $0 | Int(bytes[place + 1 + $1]) << (8 * $1) }
            let end = place + 5 + length
            guard end + 8 <= bytes.count else { break }
            // Not the site's files, which a parser of its own reads.
            if bytes[place] != 2, length > 0, generator.next() % 4 == 0 {
                for _ in 0...(generator.next() % 3) {
                    let at = place + 5 + Int(generator.next() % UInt64(length))
                    bytes[at] = UInt8(truncatingIfNeeded: generator.next())
                }
                touched += 1
            }
            check.add(bytes[place..<end])
            for index in 0..<8 { bytes[end + index] = UInt8(truncatingIfNeeded: check.value >> (8 * index)) }
            place = end + 8
        }
        #expect(touched > 0)
        return bytes
    }
}

/// xorshift64*, so that a failure can be repeated.
private struct SeededGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
