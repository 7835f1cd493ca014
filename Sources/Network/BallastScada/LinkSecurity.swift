import LinuxIO
import NIOCore
import NIOEmbedded
import NIOSSL
import Signatures

/// What a link may agree on: the suites of TLS 1.2 with forward secrecy and authenticated encryption, by
/// their registered names, and TLS 1.3, whose own suites BoringSSL does not let anybody choose from.
public enum CipherSuite: String, Sendable, CaseIterable {
    case tls13 = "TLS_1_3"
    case ecdsaAES128 = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
    case ecdsaAES256 = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
    case rsaAES128 = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
    case rsaAES256 = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"

    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// `nil` = of TLS 1.3.
    fileprivate var cipher: NIOTLSCipher? {
        switch self {
        case .tls13: nil
        case .ecdsaAES128: .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
        case .ecdsaAES256: .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
        case .rsaAES128: .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
        case .rsaAES256: .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384
        }
    }
}

/// What both sides must show before a word of the protocol is heard: certificate against certificate, as the
/// profile of IEC 62351-3 asks.
struct LinkSecurity {
    fileprivate let context: NIOSSLContext
    /// Who must have signed what a master shows.
    let authority: [NIOSSLCertificate]
    /// Fingerprints of certificates that count no more.
    let revoked: Set<String>

    /// - Throws: what cannot be read, or does not belong together.
    init(_ files: ScadaConfig.TLS) throws {
        let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: files.key, format: .pem)))
        authority = try NIOSSLCertificate.fromPEMFile(files.authority)
        configuration.trustRoots = .certificates(authority)
        // Who the master is says its certificate, not its name: a link comes from a listed address.
        configuration.certificateVerification = .noHostnameVerification
        let older = files.suites.compactMap(\.cipher)
        configuration.minimumTLSVersion = older.isEmpty ? .tlsv13 : .tlsv12
        configuration.maximumTLSVersion = files.suites.contains(.tls13) ? .tlsv13 : .tlsv12
        if !older.isEmpty { configuration.cipherSuiteValues = older }
        context = try NIOSSLContext(configuration: configuration)
        revoked = try files.revoked.map { try Self.revoked($0) } ?? []
    }

    struct Unreadable: Error, CustomStringConvertible {
        var description: String
    }

    /// SHA-256 in hexadecimal digits, one in a line, colons allowed; `#` begins a remark.
    private static func revoked(_ path: String) throws -> Set<String> {
        guard let bytes = try DurableFile.read(path, limit: 1 << 20) else {
            throw Unreadable(description: "\(path): is not there; without a revoked one it is empty")
        }
        var prints: Set<String> = []
        let lines = String(decoding: bytes, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let word = line.prefix { $0 != "#" }.filter { $0 != ":" && !$0.isWhitespace }.lowercased()
            if word.isEmpty { continue }
            // One that is passed over would be let in.
            guard word.utf8.count == 64, word.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
                throw Unreadable(
                    description: "\(path):\(index + 1): expected a fingerprint of 64 hexadecimal digits")
            }
            prints.insert(word)
        }
        return prints
    }
}

/// The TLS of one link without its socket: octets of the wire in, octets of the protocol out, and back. The
/// handler lives in a channel that has no loop of its own; whoever owns the socket drives it, on one thread.
final class SecureEnd {
    /// Why the other side is not believed.
    struct Fault: Error {
        var reason: String
    }

    private let channel = EmbeddedChannel()
    private let handler: NIOSSLServerHandler
    private let fingerprint: String?
    private let revoked: Set<String>
    /// Of the certificate that was shown.
    private(set) var shown: String?
    /// Whether it has shown what it must.
    private(set) var isKnown = false

    /// - Parameter fingerprint: of the certificate that must be shown; `nil` = any one of the authority.
    init(_ security: LinkSecurity, fingerprint: String?) throws {
        self.fingerprint = fingerprint
        revoked = security.revoked
        handler = NIOSSLServerHandler(context: security.context)
        try channel.pipeline.syncOperations.addHandler(handler)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 0), promise: nil)
    }

    deinit {
        // A channel must be closed before it goes, and so must what its handler has planned.
        channel._channelCore.close0(error: ChannelError.eof, mode: .all, promise: nil)
        channel.embeddedEventLoop.advanceTime(by: .minutes(5))
    }

    /// Octets have come from the wire.
    ///
    /// - Returns: what they say; a fault ends the link, once what is left in `outgoing` has been sent.
    func received(_ octets: [UInt8]) -> Result<[UInt8], Fault> {
        do {
            try channel.writeInbound(ByteBuffer(bytes: octets))
            var read: [UInt8] = []
            while let buffer = try channel.readInbound(as: ByteBuffer.self) {
                read += buffer.readableBytesView
            }
            // Nothing comes out before the handshake is done and the certificate is the authority's.
            if !read.isEmpty && !isKnown { try recognise() }
            return .success(read)
        } catch let fault as Fault {
            return .failure(fault)
        } catch {
            let words = String("\(error)".prefix(200)).replacing("\n", with: " ")
            return .failure(Fault(reason: words))
        }
    }

    /// Why one that is revoked is not believed.
    static let isRevoked = "its certificate is revoked"
    /// Why one that was heard must show itself anew.
    static let isNewAuthority = "the authority of masters is another one now: it may come again"

    /// Whether the other side has closed the session.
    var isEnded: Bool { !channel.isActive }

    private func recognise() throws {
        guard let certificate = handler.peerCertificate else { throw Fault(reason: "no certificate") }
        let shown = Digest.sha256(of: try certificate.toDERBytes())
        self.shown = shown
        guard !revoked.contains(shown) else { throw Fault(reason: Self.isRevoked) }
        guard fingerprint == nil || shown == fingerprint else {
            throw Fault(reason: "its certificate is another one, SHA-256 \(shown)")
        }
        isKnown = true
    }

    /// Octets of the protocol to be sent; they wait for the handshake.
    func send(_ octets: [UInt8]) {
        channel.writeAndFlush(ByteBuffer(bytes: octets), promise: nil)
    }

    /// What the wire is to carry now.
    func outgoing() -> [UInt8] {
        var octets: [UInt8] = []
        // There is nothing but buffers in it.
        while let buffer = try? channel.readOutbound(as: ByteBuffer.self) {
            octets += buffer.readableBytesView
        }
        return octets
    }
}
