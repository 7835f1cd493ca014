import Crypto
import FoundationEssentials
import LinuxIO
import SwiftASN1
import X509

/// A small certificate authority of one's own: a key, its certificate, and what is issued with them. Files
/// in, files out; P-256, since every TLS stack has it.
struct CertificateAuthority {
    /// What a certificate is for.
    enum Subject: Equatable {
        /// An aggregator, by the names and addresses under which it is asked.
        case server(names: [String])
        /// A site, by its id.
        case site(String)
    }

    /// The name under which a certificate carries its site.
    static let siteScheme = "ballast:site:"

    static let longestFile = 64 << 10

    let key: Certificate.PrivateKey
    let certificate: Certificate

    /// Makes a new one.
    ///
    /// - Parameters:
    ///   - name: for people; it stands in every certificate.
    ///   - days: how long it lasts, from now on.
    init(name: String, days: Int, now: Int64) throws {
        key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let subject = try DistinguishedName { CommonName(name) }
        let identifier = SubjectKeyIdentifier(hash: key.publicKey)
        certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: key.publicKey,
            notValidBefore: Self.beginning(now), notValidAfter: Self.end(now, days: days), issuer: subject,
            subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                identifier
            }, issuerPrivateKey: key)
    }

    /// - Throws: where the two do not belong together.
    init(keyPEM: String, certificatePEM: String) throws {
        key = try Certificate.PrivateKey(pemEncoded: keyPEM)
        certificate = try Certificate(pemEncoded: certificatePEM)
        guard key.publicKey == certificate.publicKey else {
            throw Upkeep.Failure(description: "the authority's key and certificate do not belong together")
        }
    }

    func issue(_ subject: Subject, to publicKey: Certificate.PublicKey, days: Int, now: Int64) throws
        -> Certificate
    {
        let end = min(Self.end(now, days: days), certificate.notValidAfter)
        let usage: ExtendedKeyUsage
        let names: [GeneralName]
        let commonName: String
        switch subject {
        case .server(let hosts):
            usage = try ExtendedKeyUsage([.serverAuth])
            names = hosts.map { Self.name(ofHost: $0) }
            commonName = hosts.first ?? ""
        case .site(let id):
            usage = try ExtendedKeyUsage([.clientAuth])
            names = [.uniformResourceIdentifier(Self.siteScheme + id)]
            commonName = id
        }
        let authority = AuthorityKeyIdentifier(
            keyIdentifier: SubjectKeyIdentifier(hash: key.publicKey).keyIdentifier)
        return try Certificate(
            version: .v3, serialNumber: .init(), publicKey: publicKey, notValidBefore: Self.beginning(now),
            notValidAfter: end, issuer: certificate.subject,
            subject: try DistinguishedName { CommonName(commonName) }, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                usage
                SubjectAlternativeNames(names)
                SubjectKeyIdentifier(hash: publicKey)
                authority
            }, issuerPrivateKey: key)
    }

    /// The same key and names for another stretch of time: the key stays where it is, and only a certificate
    /// travels.
    func renew(_ old: Certificate, days: Int, now: Int64) throws -> Certificate {
        guard certificate.publicKey.isValidSignature(old.signature, for: old) else {
            throw Upkeep.Failure(description: "the certificate is not one of this authority")
        }
        return try issue(try Self.subject(of: old), to: old.publicKey, days: days, now: now)
    }

    /// What a certificate of ours is for.
    static func subject(of certificate: Certificate) throws -> Subject {
        let names = try certificate.extensions.subjectAlternativeNames.map { Array($0) } ?? []
        if let id = siteID(names) { return .site(id) }
        let hosts = names.compactMap { name -> String? in
            switch name {
            case .dnsName(let host): return host
            case .ipAddress(let bytes): return bytes.bytes.map(String.init).joined(separator: ".")
            case .otherName, .rfc822Name, .x400Address, .directoryName, .ediPartyName,
                .uniformResourceIdentifier, .registeredID:
                return nil
            }
        }
        guard !hosts.isEmpty else {
            throw Upkeep.Failure(description: "the certificate names neither a site nor a server")
        }
        return .server(names: hosts)
    }

    /// The one site that the names speak of; `nil` where it is none, or more than one name stands there.
    static func siteID(_ names: [GeneralName]) -> String? {
        guard names.count == 1, case .uniformResourceIdentifier(let text) = names[0],
            text.hasPrefix(siteScheme)
        else { return nil }
        let id = String(text.dropFirst(siteScheme.count))
        return isID(id) ? id : nil
    }

    /// As configuration has it: 1 … 64 of A-Z a-z 0-9 _ . -
    static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || $0 == 0x5F || $0 == 0x2E || $0 == 0x2D
            }
    }

    /// An address of IPv4 by its four bytes, everything else as a name of the DNS.
    private static func name(ofHost host: String) -> GeneralName {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        let bytes = parts.compactMap { $0 }
        return parts.count == 4 && bytes.count == 4
            ? .ipAddress(ASN1OctetString(contentBytes: bytes[...])) : .dnsName(host)
    }

    /// A clock that is a little behind does not refuse what was issued just now.
    private static func beginning(_ now: Int64) -> Date {
        Date(timeIntervalSince1970: Double(now / 1_000 - 300))
    }

    private static func end(_ now: Int64, days: Int) -> Date {
        Date(timeIntervalSince1970: Double(now / 1_000 + Int64(days) * 86_400))
    }

    /// SHA-256 of the whole certificate in hexadecimal digits, as `openssl x509 -fingerprint -sha256` has it
    /// without its colons.
    static func fingerprint(_ certificate: Certificate) throws -> String {
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return Fingerprint.sha256(serializer.serializedBytes)
    }
}
