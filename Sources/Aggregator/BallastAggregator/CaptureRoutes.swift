import ConfigText
import CycleRecord
import Hummingbird
import Incident
import JSONText
import NIOCore
import YAMLText

/// Captures: brought by a site's link in pieces, handed out as they came, and shown as a page.
extension AggregatorRoutes {
    var captures: [Route] {
        [
            Route(
                .post, "/v1/edge/captures", .report,
                "Takes a piece of a capture; answers how much of it is here, from where the next is wanted.",
                query: [.site, .name, .sha256, .bytes, .offset], bodyLimit: CapturePart.sizeLimit,
                bodyType: "application/octet-stream", isFrequent: true, answer: takeCapture),
            Route(
                .get, "/v1/edge/captures", .report, "The site's captures, and how much of each is here.",
                query: [.site], isFrequent: true
            ) { call in try await list(try site(of: call)) },
            Route(.get, "/v1/sites/{site}/captures", .read, "A site's captures, the newest first.") { call in
                try await list(call.site)
            },
            Route(
                .get, "/v1/sites/{site}/capture", .read, "A capture as it came, for ballastctl replay.",
                query: [.name], answers: "application/octet-stream"
            ) { call in
                let bytes = try await capture(call)
                return Response(
                    status: .ok,
                    headers: [
                        .contentType: "application/octet-stream", .cacheControl: "no-store",
                        .xContentTypeOptions: "nosniff",
                    ], body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
            },
            Route(
                .get, "/v1/sites/{site}/incident", .read,
                "A capture as a page: what happened in which order, states, curves; what the site told, who asked for what.",
                query: [.name], answers: "text/html"
            ) { call in
                let trace = try await trace(call)
                return Answers.page(trace.page(beside: try await beside(trace, call.site)))
            },
            Route(
                .get, "/v1/sites/{site}/incident.json", .read, "What a capture tells, for programs.",
                query: [.name]
            ) { call in
                let trace = try await trace(call)
                return Answers.json(trace.json(beside: try await beside(trace, call.site)))
            },
        ]
    }

    private func takeCapture(_ call: Call) async throws -> Response {
        let site = try self.site(of: call)
        let part = try CapturePart(call)
        let (stored, dropped) = try await store.add(part, of: site)
        for name in dropped { log("site \(site): capture \(name) made room for \(part.name)") }
        if stored == part.total, part.offset + Int64(part.bytes.count) == stored {
            log("site \(site): capture \(part.name) is here, \(stored) bytes")
        }
        return Answers.json("{\"name\":\(JSONText.quoted(part.name)),\"stored\":\(stored)}")
    }

    private func list(_ site: String) async throws -> Response {
        let list = try await store.captures(of: site).map(\.json)
        return Answers.json("{\"captures\":[\(list.joined(separator: ","))]}")
    }

    private func capture(_ call: Call) async throws -> [UInt8] {
        guard let name = call.query[.name], CapturePart.isName(name) else {
            throw Refusal(.badRequest, "name: takes a name from the list of captures")
        }
        guard let bytes = try await store.capture(name, of: call.site) else {
            throw Refusal(.notFound, "there is no whole capture of that name")
        }
        return bytes
    }

    private func beside(_ trace: Trace, _ site: String) async throws -> [Beside] {
        let (begin, length) = (trace.beginMicroseconds / 1_000, Int64((trace.times.last ?? 0) * 1_000))
        let known = try await store.beside(site, from: begin, to: begin + length)
        return known + [trace.performance ?? Self.noPerformance]
    }

    private static let noPerformance = Beside(
        name: "performance", title: "How the site answered the frequency",
        content: .lines([]), note: "The capture carries no performance record.")

    private func trace(_ call: Call) async throws -> Trace {
        let bytes = try await capture(call)
        let site = call.site
        do { return try await painter.trace(bytes, of: site) } catch {
            throw Refusal(.unprocessableContent, "the capture cannot be shown: \(error)")
        }
    }
}

/// Reads captures one after the other: each may take much memory for a moment.
actor CapturePainter {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// Cycles times units and the site, which bounds what a page takes: 40 s of eight units at 1 kHz.
    static let longest = 400_000

    func trace(_ bytes: [UInt8], of site: String) throws -> Trace {
        var reader: RecordingReader
        do { reader = try RecordingReader(bytes) } catch { throw Failure(description: "\(error)") }
        let count = reader.unitCount
        var (cycles, units): (Int, [String]) = (0, [])
        // A fault ends the reading here as it does for the trace, which says so.
        while let record = try? reader.next() {
            switch record {
            case .cycle: cycles += 1
            case .file(_, let text) where units.isEmpty: units = Self.units(text)
            case _: break
            }
            guard cycles * (count + 1) <= Self.longest else {
                throw Failure(description: "it is too long for a page: fetch it, and ask ballastctl replay")
            }
        }
        if units.count != count { units = (0..<count).map { "unit \($0 + 1)" } }
        let trace = Trace(bytes, site: site, units: units)
        guard !trace.times.isEmpty else {
            throw Failure(description: trace.fault ?? "it holds no cycle")
        }
        return trace
    }

    /// The names in the site's file that it carries; empty where it has none.
    private static func units(_ text: [UInt8]) -> [String] {
        guard text.count < 1 << 20, let tree = try? YAMLText.parse(text, file: "site.yaml"),
            case .mapping(let keys) = tree.content,
            case .sequence(let units)? = keys.first(where: { $0.key == "bess_units" })?.value.content
        else { return [] }
        return units.compactMap { unit in
            guard case .mapping(let keys) = unit.content,
                case .scalar(let name, _)? = keys.first(where: { $0.key == "id" })?.value.content
            else { return nil }
            return name
        }
    }
}
