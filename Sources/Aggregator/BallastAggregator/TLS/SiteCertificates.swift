import LinuxIO
import NIOCore
import NIOSSL
import Synchronization
import X509

/// Whether the certificate of a connection speaks for the site whose token a request carries; looked at with
/// each request, so that a certificate that is revoked or ends counts no more on a connection that is open.
final class SiteCertificates: Sendable {
    private struct Known {
        /// `nil` where it is no site's.
        var site: String?
        /// UTC, in milliseconds since 1970.
        var end: Int64
        /// When its end was told last.
        var told: Int64
    }

    /// What is remembered of certificates; beyond it begins anew.
    private static let most = 20_000
    private static let day: Int64 = 86_400_000

    private let tls: ListenerTLS
    private let audit: AuditLog
    private let log: @Sendable (String) -> Void
    private let known = Mutex<[String: Known]>([:])

    init(_ tls: ListenerTLS, audit: AuditLog, log: @escaping @Sendable (String) -> Void) {
        self.tls = tls
        self.audit = audit
        self.log = log
    }

    /// What `caller` may do as a site, over a connection with this certificate.
    func narrow(_ caller: Caller, on channel: any Channel, from address: String) async throws -> Caller {
        guard let certificate = try await channel.nioSSL_peerCertificate().get() else {
            throw Refusal(.forbidden, "a site comes with its certificate here, and there is none")
        }
        return try narrow(
            caller, der: try certificate.toDERBytes(), from: address, now: WallClock.nowMilliseconds())
    }

    func narrow(_ caller: Caller, der: [UInt8], from address: String, now: Int64) throws(Refusal) -> Caller {
        let fingerprint = Fingerprint.sha256(der)
        if tls.isRevoked(fingerprint) { throw Refusal(.forbidden, "this certificate is revoked") }
        let known = recall(fingerprint, der, now)
        guard let site = known.site else {
            throw Refusal(.forbidden, "this certificate is no site's")
        }
        guard now < known.end else { throw Refusal(.forbidden, "the certificate of site \(site) has ended") }
        guard let narrowed = caller.narrowed(to: site) else {
            throw Refusal(
                .forbidden, "the certificate is the one of site \"\(site)\", and the token is another's")
        }
        tellEnd(of: known, site, fingerprint, address, now)
        return narrowed
    }

    private func recall(_ fingerprint: String, _ der: [UInt8], _ now: Int64) -> Known {
        if let found = known.withLock({ $0[fingerprint] }) { return found }
        var new = Known(site: nil, end: 0, told: 0)
        // One that cannot be read is no site's.
        if let certificate = try? Certificate(derEncoded: der) {
            new.end = Int64(certificate.notValidAfter.timeIntervalSince1970) * 1_000
            let names = try? certificate.extensions.subjectAlternativeNames
            new.site = names.flatMap { CertificateAuthority.siteID(Array($0)) }
        }
        known.withLock { known in
            if known.count >= Self.most { known = [:] }
            known[fingerprint] = new
        }
        return new
    }

    private func tellEnd(
        of found: Known, _ site: String, _ fingerprint: String, _ address: String, _ now: Int64
    ) {
        guard let words = CertificateWords.ending(found.end, now: now), now - found.told >= Self.day else {
            return
        }
        known.withLock { $0[fingerprint]?.told = now }
        log("the certificate of site \(site) \(words)")
        audit.note(
            AuditLog.Entry(
                who: "site \(site)", address: address, method: "CERTIFICATE", path: "", status: 200,
                why: words)
        )
    }

    /// Lines for `/metrics`: when each site's certificate ends, by the one that it came with last.
    func metrics() -> String {
        let name = "ballast_aggregator_site_certificate_not_after_timestamp_seconds"
        var ends: [String: Int64] = [:]
        for one in known.withLock({ Array($0.values) }) {
            if let site = one.site { ends[site] = max(ends[site] ?? 0, one.end) }
        }
        let lines = ends.sorted { $0.key < $1.key }.map {
            "\(name){site=\"\($0.key)\"} \($0.value / 1_000)\n"
        }
        return "# HELP \(name) When the certificate that a site has come with ends, in seconds since 1970.\n"
            + "# TYPE \(name) gauge\n" + lines.joined()
    }
}

extension Caller {
    /// The caller with what it may do as `site`, and as no other; `nil` where its token is not that one's.
    fileprivate func narrowed(to site: String) -> Caller? {
        var narrowed = self
        narrowed.grants = grants.compactMap { grant in
            guard grant.roles.contains(.report) else { return grant }
            guard grant.covers(.report, site) else { return nil }
            var one = grant
            one.sites = [site]
            return one
        }
        return narrowed.may(.report, site) ? narrowed : nil
    }
}
