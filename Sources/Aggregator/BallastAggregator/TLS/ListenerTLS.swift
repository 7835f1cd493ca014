import Hummingbird
import HummingbirdTLS
import LinuxIO
import NIOSSL
import ServiceLifecycle
import Synchronization

/// The listener's own certificate and key, the authority of the sites' certificates, and which of those are
/// revoked.
///
/// Certificate, key and the revoked ones are read anew at each SIGHUP, and hold for the next connection and
/// the next request; another authority needs a start.
final class ListenerTLS: Sendable {
    private struct Held {
        var override: NIOSSLContextConfigurationOverride
        /// When the certificate ends, UTC, in milliseconds since 1970.
        var end: Int64
        /// Fingerprints.
        var revoked: Set<String>
    }

    /// So long before a certificate ends it is told each day.
    static let notice: Int64 = 30 * 86_400_000

    private let held: Mutex<Held>
    /// For every connection; what it says of certificate and key is what holds at that moment.
    let configuration: TLSConfiguration

    /// - Throws: what cannot be read, or does not belong together.
    init(_ files: AggregatorConfig.TLS) throws {
        let first = try Self.load(files)
        let held = Mutex(first)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: first.override.certificateChain ?? [],
            privateKey: try Self.key(of: first.override))
        configuration.minimumTLSVersion = .tlsv13
        if let authority = files.clientCA {
            configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authority))
            // People come without one: what a site needs is looked at request by request.
            configuration.certificateVerification = .optionalVerification
        }
        _ = try NIOSSLContext(configuration: configuration)
        self.held = held
        self.configuration = configuration
    }

    /// What is in force for a connection that begins now.
    var serving: TLSConfiguration {
        var serving = configuration
        serving.sslContextCallback = { [self] _, promise in
            promise.succeed(held.withLock(\.override))
        }
        return serving
    }

    /// From now on what the files say holds; where they cannot be used, what held goes on.
    func take(_ files: AggregatorConfig.TLS) throws {
        let new = try Self.load(files)
        var probe = configuration
        probe.certificateChain = new.override.certificateChain ?? []
        probe.privateKey = try Self.key(of: new.override)
        _ = try NIOSSLContext(configuration: probe)
        held.withLock { $0 = new }
    }

    /// When the certificate in force ends, UTC, in milliseconds since 1970.
    var end: Int64 { held.withLock(\.end) }

    func isRevoked(_ fingerprint: String) -> Bool { held.withLock { $0.revoked.contains(fingerprint) } }

    private static func key(of override: NIOSSLContextConfigurationOverride) throws -> NIOSSLPrivateKeySource
    {
        guard let key = override.privateKey else { throw Upkeep.Failure(description: "there is no key") }
        return key
    }

    private static func load(_ files: AggregatorConfig.TLS) throws -> Held {
        let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
        guard let own = chain.first else {
            throw Upkeep.Failure(description: "\(files.certificate): holds no certificate")
        }
        var override = NIOSSLContextConfigurationOverride()
        override.certificateChain = chain.map { .certificate($0) }
        override.privateKey = .privateKey(try NIOSSLPrivateKey(file: files.key, format: .pem))
        return Held(
            override: override, end: Int64(own.notValidAfter) * 1_000,
            revoked: try files.revoked.map { try RevokedCertificates.read($0) } ?? [])
    }
}

/// The file of certificates that count no more: a fingerprint (SHA-256) in each line, with or without colons;
/// what stands behind a # is for people.
enum RevokedCertificates {
    private static let longest = 1 << 20

    static func read(_ path: String) throws -> Set<String> {
        guard let bytes = try DurableFile.read(path, limit: longest) else {
            throw Upkeep.Failure(description: "\(path): is not there; without a revoked one it is empty")
        }
        return try parse(String(decoding: bytes, as: UTF8.self), file: path)
    }

    static func parse(_ text: String, file: String) throws -> Set<String> {
        var prints: Set<String> = []
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() {
            let word = line.prefix { $0 != "#" }.filter { $0 != ":" && $0 != " " && $0 != "\t" }.lowercased()
            if word.isEmpty { continue }
            // One that is passed over would be let in.
            guard word.utf8.count == 64, TokenDigest(hex: word) != nil else {
                throw Upkeep.Failure(
                    description: "\(file):\(index + 1): expected a fingerprint of 64 hexadecimal digits")
            }
            prints.insert(word)
        }
        return prints
    }
}

/// Tells each day that the listener's own certificate ends soon.
struct CertificateWatch: Service {
    let tls: ListenerTLS
    let audit: AuditLog
    let log: @Sendable (String) -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                look(at: WallClock.nowMilliseconds())
                // Ends early only where the program ends, which the loop looks at.
                try? await Task.sleep(for: .seconds(86_400))
            }
        }
    }

    func look(at now: Int64) {
        guard let words = CertificateWords.ending(tls.end, now: now) else { return }
        log("this aggregator's certificate \(words)")
        audit.note(
            AuditLog.Entry(
                who: "aggregator", address: "local", method: "CERTIFICATE", path: "", status: 200, why: words)
        )
    }
}

enum CertificateWords {
    /// `nil` where its end is far.
    static func ending(_ end: Int64, now: Int64) -> String? {
        let left = end - now
        if left > ListenerTLS.notice { return nil }
        let until = WallClock.text(milliseconds: end)
        return left <= 0 ? "ended at \(until)" : "ends in \(left / 86_400_000) days, at \(until)"
    }
}
