import AsyncHTTPClient
import Glibc
import LinuxIO
import NIOCore
import NIOSSL
import Synchronization

/// How the aggregator is spoken with: the client, and the certificates in force.
struct EdgeConnection: Sendable {
    let client: HTTPClient
    /// `nil` = what the system trusts, and no certificate of our own.
    let certificates: LinkCertificates?
    let traffic: Traffic

    /// One question and its whole answer.
    ///
    /// - Parameters:
    ///   - body: `nil` = it only asks.
    ///   - limit: the most that is read of the answer, in bytes.
    func ask(
        _ url: String, token: String, _ body: [UInt8]?, type: String = "application/json",
        coding: String? = nil, answerLimit limit: Int
    ) async throws -> EdgeCall.Answer {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        if let body {
            request.method = .POST
            request.headers.add(name: "Content-Type", value: type)
            if let coding { request.headers.add(name: "Content-Encoding", value: coding) }
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        request.tlsConfiguration = certificates?.current()
        traffic.sent(body?.count ?? 0)
        do {
            let response = try await client.execute(request, timeout: .seconds(30))
            let bytes = Array((try await response.body.collect(upTo: limit)).readableBytesView)
            let status = UInt(response.status.code)
            traffic.received(bytes.count, isSuccess: (200..<300).contains(status))
            return EdgeCall.Answer(status: status, body: bytes)
        } catch {
            traffic.received(0, isSuccess: false)
            throw error
        }
    }
}

/// Whom the link believes to be the aggregator, and with which certificate it comes itself; the files are
/// looked at now and then, so that a renewed certificate holds from the next connection on.
final class LinkCertificates: Sendable {
    private struct Held {
        var configuration: TLSConfiguration
        var stamps: [FileStamp]
        /// When the certificate ends, UTC, in milliseconds since 1970; `nil` = there is none.
        var end: Int64?
        var looked: ContinuousClock.Instant
        /// When the end was told last.
        var told: Int64 = 0
        var complaint: String?
    }

    private static let pace = Duration.seconds(5)
    private static let day: Int64 = 86_400_000
    /// So long before a certificate ends it is told each day.
    private static let notice: Int64 = 30 * day

    private let files: LinkConfig.TLS
    private let log: @Sendable (String) -> Void
    private let held: Mutex<Held>

    /// - Throws: what cannot be read, or does not belong together.
    init(_ files: LinkConfig.TLS, log: @escaping @Sendable (String) -> Void) throws {
        self.files = files
        self.log = log
        let first = try Self.load(files, at: .now)
        held = Mutex(first)
        tellEnd(WallClock.nowMilliseconds())
    }

    /// When the link's own certificate ends, UTC, in milliseconds since 1970.
    var end: Int64? { held.withLock(\.end) }

    /// Whether it ends soon, or has ended.
    var isEnding: Bool { end.map { $0 - WallClock.nowMilliseconds() <= Self.notice } ?? false }

    /// What holds now.
    func current(at now: ContinuousClock.Instant = .now) -> TLSConfiguration {
        let (known, isDue) = held.withLock { held in
            let isDue = now - held.looked >= Self.pace
            if isDue { held.looked = now }
            return (held, isDue)
        }
        guard isDue else { return known.configuration }
        tellEnd(WallClock.nowMilliseconds())
        guard Self.stamps(files) != known.stamps else { return known.configuration }
        do {
            let new = try Self.load(files, at: now)
            held.withLock { $0 = new }
            let until = new.end.map { ", good until \(WallClock.text(milliseconds: $0))" }
            log("certificates taken over" + (until ?? ""))
            return new.configuration
        } catch {
            // A file that is half written now is whole at the next look.
            let words = LogText.plain("\(error)")
            if known.complaint != words {
                log("certificates are not taken over, what held goes on: \(words)")
            }
            held.withLock { $0.complaint = words }
            return known.configuration
        }
    }

    private func tellEnd(_ now: Int64) {
        let words = held.withLock { held -> String? in
            guard let end = held.end, end - now <= Self.notice, now - held.told >= Self.day else {
                return nil
            }
            held.told = now
            let until = WallClock.text(milliseconds: end)
            return end <= now ? "ended at \(until)" : "ends in \((end - now) / Self.day) days, at \(until)"
        }
        if let words { log("this site's certificate \(words)") }
    }

    private static func stamps(_ files: LinkConfig.TLS) -> [FileStamp] {
        [files.authority, files.certificate, files.key].map { FileStamp(path: $0 ?? "") }
    }

    private static func load(_ files: LinkConfig.TLS, at now: ContinuousClock.Instant) throws -> Held {
        // Before the files: what changes while they are read is read again.
        let stamps = stamps(files)
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv13
        if let authority = files.authority {
            configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authority))
        }
        var end: Int64?
        if let certificate = files.certificate, let key = files.key {
            let chain = try NIOSSLCertificate.fromPEMFile(certificate)
            configuration.certificateChain = chain.map { .certificate($0) }
            configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
            end = chain.first.map { Int64($0.notValidAfter) * 1_000 }
        }
        // Finds a key that belongs to another certificate.
        _ = try NIOSSLContext(configuration: configuration)
        return Held(configuration: configuration, stamps: stamps, end: end, looked: now)
    }
}

/// Tells one content of a file from another without reading it.
private struct FileStamp: Equatable {
    private var inode: UInt64 = 0
    private var bytes: Int = 0
    private var seconds: Int = 0
    private var nanoseconds: Int = 0

    /// What is not there has a stamp as well.
    init(path: String) {
        var facts = stat()
        guard !path.isEmpty, stat(path, &facts) == 0 else { return }
        (inode, bytes) = (UInt64(facts.st_ino), Int(facts.st_size))
        (seconds, nanoseconds) = (facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec)
    }
}
