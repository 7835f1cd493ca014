import AsyncHTTPClient
import Glibc
import LinuxIO
import NIOCore
import Quantities

/// The real `ballast-aggregator` with sites `demo` (token `demo-token`) and `other` (token `other-token`),
/// which can be killed and started again on the same port and database.
public final class RunningAggregator {
    public struct Answer {
        public var status: Int
        public var body: String
    }

    public enum Failure: Error { case conditionNeverMet(last: String) }

    // printf %s demo-token | sha256sum
    private static let demoDigest = "7c43ef5ae21d43ce2743f770c68e24def1a43ee2f416d2438410c8af7af2ff2c"
    private static let otherDigest = "6c67163bbed989f232b31acc4f04df54b31285bfc01bd022c735b71e041a4754"

    private let scratch: ScratchFolder
    private let extra: String
    private var port = 0
    private var program: RunningProgram?

    public var database: String { scratch.path + "/aggregator.sqlite" }
    public var url: String { "http://127.0.0.1:\(port)" }

    public init(in scratch: ScratchFolder, extra: String = "") throws {
        self.scratch = scratch
        self.extra = extra
        try start()
    }

    public func start() throws {
        let config = """
            listen: {host: 127.0.0.1, port: \(port)}
            database: \(database)
            sites:
              - {id: demo, token_sha256: "\(Self.demoDigest)"}
              - {id: other, token_sha256: "\(Self.otherDigest)"}
            \(extra)
            """
        let path = try scratch.write("aggregator.yaml", config)
        let started = try RunningProgram("ballast-aggregator", ["--config", path])
        let line = try started.waitForLine(containing: "listening on 127.0.0.1:")
        let digits = line.split(separator: ":").last?.prefix { $0.isNumber } ?? ""
        port = Int(digits) ?? 0
        program = started
    }

    /// - Returns: the exit status.
    @discardableResult
    public func end(by signal: CInt) -> Int {
        defer { program = nil }
        return program?.end(by: signal) ?? -1
    }

    public func post(_ body: String, token: String? = "demo-token") async throws -> Answer {
        try await ask("/v1/edge/report", .bytes(ByteBuffer(string: body)), token: token)
    }

    public func post(_ body: String, to path: String, token: String?) async throws -> Answer {
        try await ask(path, .bytes(ByteBuffer(string: body)), token: token)
    }

    public func get(_ path: String, token: String? = nil) async throws -> Answer {
        try await ask(path, nil, token: token)
    }

    public func ask(
        _ path: String, _ body: HTTPClientRequest.Body?, token: String?
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url + path)
        if let body {
            request.method = .POST
            request.body = body
        }
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 1 << 24)
        return Answer(status: Int(response.status.code), body: String(buffer: bytes))
    }

    /// The mark of site `demo` as the API gives it; 0 where it has never reported.
    public func storedThrough() async throws -> UInt64 {
        let body = try await get("/v1/sites/demo/state").body
        let parts = body.split(separator: "\"stored_through\":", maxSplits: 1)
        return UInt64((parts.last ?? "").prefix { $0.isNumber }) ?? 0
    }

    /// Asks again and again until the mark is at least `number`.
    public func waitUntilStored(_ number: UInt64) async throws {
        let limit = MonotonicTime.now() + .seconds(60)
        var looks = 0
        while true {
            let mark = try await storedThrough()
            looks += 1
            if mark >= number { return }
            // Other tests may hold every thread for longer than the limit: the time must have been ours.
            if MonotonicTime.now() > limit && looks >= 100 {
                throw Failure.conditionNeverMet(last: "\(mark) < \(number)")
            }
            await Task.yield()
        }
    }
}
