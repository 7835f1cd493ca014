import AsyncHTTPClient
import Glibc
import LinuxIO
import NIOCore
import NIOHTTP1
import NIOSSL
import Quantities

/// The real `ballast-aggregator` with sites `demo` (token `demo-token`) and `other` (token `other-token`), and the
/// reader `read-token`, which can be killed and started again on the same port and database.
public final class RunningAggregator {
    public struct Answer {
        public var status: Int
        public var body: String
        /// By their names in lower case.
        public var headers: [String: String]
    }

    public enum Failure: Error { case conditionNeverMet(last: String) }

    // printf %s demo-token | sha256sum
    private static let demoDigest = "7c43ef5ae21d43ce2743f770c68e24def1a43ee2f416d2438410c8af7af2ff2c"
    private static let otherDigest = "6c67163bbed989f232b31acc4f04df54b31285bfc01bd022c735b71e041a4754"
    private static let readDigest = "0328587016f9e316b9c31c94f944a2c453e1494a564062b5eab68039c75b58bf"

    private let scratch: ScratchFolder
    public var extra: String
    public private(set) var port = 0
    /// Of the local listener, where `extra` asks for one.
    public private(set) var localPort = 0
    private var program: RunningProgram?
    /// PEM: whom to believe where it speaks TLS; `nil` = it speaks in the clear.
    private let authority: String?
    /// PEM, with its key: with what to come to it.
    public var certificate: (file: String, key: String)?

    public var database: String { scratch.path + "/aggregator.sqlite" }
    public var url: String { "\(authority == nil ? "http" : "https")://127.0.0.1:\(port)" }

    public var processID: pid_t { program?.processID ?? 0 }

    public init(in scratch: ScratchFolder, extra: String = "", authority: String? = nil) throws {
        self.scratch = scratch
        self.authority = authority
        self.extra = extra
        try start()
    }

    /// Writes the file anew, as `extra` is now.
    @discardableResult
    public func writeFile() throws -> String {
        let config = """
            listen: {host: 127.0.0.1, port: \(port), local_port: \(localPort)}
            read_token_sha256: "\(Self.readDigest)"
            database: \(database)
            sites:
              - {id: demo, token_sha256: "\(Self.demoDigest)"}
              - {id: other, token_sha256: "\(Self.otherDigest)"}
            \(extra)
            """
        return try scratch.write("aggregator.yaml", config)
    }

    public func start() throws {
        let started = try RunningProgram("ballast-aggregator", ["--config", try writeFile()])
        let local = try started.waitForLine(containing: "figures on 127.0.0.1:")
        localPort = Int(local.split(separator: ":").last?.prefix { $0.isNumber } ?? "") ?? 0
        let line = try started.waitForLine(containing: "listening on 127.0.0.1:")
        let digits = line.split(separator: ":").last?.prefix { $0.isNumber } ?? ""
        port = Int(digits) ?? 0
        program = started
    }

    /// What the program holds of the machine's memory, in bytes, as the kernel has it.
    public func residentBytes() throws -> Int { try program?.residentBytes() ?? 0 }

    public func signal(_ number: CInt) { program?.signal(number) }

    public func waitForLine(containing part: String) throws {
        _ = try program?.waitForLine(containing: part)
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

    public func get(_ path: String, token: String? = "read-token") async throws -> Answer {
        try await ask(path, nil, token: token)
    }

    public func ask(
        _ path: String, _ body: HTTPClientRequest.Body?, token: String?, method: String? = nil,
        type: String? = nil, coding: String? = nil, key: String? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: path.hasPrefix("http") ? path : url + path)
        if let body {
            request.method = .POST
            request.body = body
        }
        if let method { request.method = .init(rawValue: method) }
        if let coding { request.headers.add(name: "Content-Encoding", value: coding) }
        if let key { request.headers.add(name: "Idempotency-Key", value: key) }
        if let type { request.headers.add(name: "Content-Type", value: type) }
        if let authority { request.tlsConfiguration = try tls(authority) }
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 1 << 24)
        let headers = Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
        return Answer(status: Int(response.status.code), body: String(buffer: bytes), headers: headers)
    }

    private func tls(_ authority: String) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .file(authority)
        if let certificate {
            configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(certificate.file).map {
                .certificate($0)
            }
            configuration.privateKey = .privateKey(
                try NIOSSLPrivateKey(file: certificate.key, format: .pem))
        }
        return configuration
    }

    /// What the local listener gives.
    public func metrics() async throws -> String {
        try await ask("http://127.0.0.1:\(localPort)/metrics", nil, token: nil).body
    }

    /// The mark of site `demo` as the API gives it; 0 where it has never reported.
    public func storedThrough() async throws -> UInt64 {
        var answer = try await get("/v1/sites/demo/state")
        // Whoever asks as fast as it can is told to come again.
        while answer.status == 429 { answer = try await get("/v1/sites/demo/state") }
        let body = answer.body
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
