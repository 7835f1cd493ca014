import Crypto
import FoundationEssentials
import Glibc
import LinuxIO
import SwiftASN1
import X509

/// What `ballast-aggregator certificate` does; each gives back lines for people.
public enum CertificateUpkeep {
    /// Makes `ca.key` and `ca.pem` in `folder`.
    public static func authority(in folder: String, name: String, days: Int) throws -> [String] {
        let authority = try CertificateAuthority(name: name, days: days, now: WallClock.nowMilliseconds())
        let (key, certificate) = (folder + "/ca.key", folder + "/ca.pem")
        try checkAbsent([key, certificate])
        try DurableFile.createDirectories(folder)
        try write(try authority.key.serializeAsPEM().pemString, to: key, mode: 0o600)
        try write(try authority.certificate.serializeAsPEM().pemString, to: certificate, mode: 0o644)
        return [
            "\(certificate): the authority's certificate, for client_ca here and ca_file at each site",
            "\(key): its key; who has it speaks for every site: keep it off this machine's network",
        ]
    }

    /// Makes `NAME.key` and `NAME.pem` of an aggregator that is asked under `names`.
    public static func server(
        authority folder: String, names: [String], days: Int, to out: String
    ) throws -> [String] {
        guard let first = names.first, names.allSatisfy(CertificateAuthority.isID) else {
            throw Upkeep.Failure(description: "--name takes host names and addresses of IPv4")
        }
        return try issue(.server(names: names), named: first, authority: folder, days: days, to: out)
    }

    /// Makes `SITE.key` and `SITE.pem` of a site; with `request`, a PKCS #10 file of the site's own key, the
    /// certificate alone.
    public static func device(
        authority folder: String, site: String, days: Int, request: String?, to out: String
    ) throws -> [String] {
        guard CertificateAuthority.isID(site) else {
            throw Upkeep.Failure(description: "--site takes 1 … 64 of A-Z a-z 0-9 _ . -")
        }
        guard let request else {
            return try issue(.site(site), named: site, authority: folder, days: days, to: out)
        }
        let asked = try CertificateSigningRequest(pemEncoded: try text(request))
        guard asked.publicKey.isValidSignature(asked.signature, for: asked) else {
            throw Upkeep.Failure(description: "\(request): is not signed by its own key")
        }
        // What else it wants to be called has no say: the site's name is the one that was given here.
        let issued = try load(folder).issue(
            .site(site), to: asked.publicKey, days: days, now: WallClock.nowMilliseconds())
        let file = "\(out)/\(site).pem"
        try checkAbsent([file])
        try write(try issued.serializeAsPEM().pemString, to: file, mode: 0o644)
        return [try line(file, issued)]
    }

    /// Writes a certificate anew for the same key and names, in place.
    public static func renew(
        authority folder: String, certificate file: String, days: Int
    ) throws -> [String] {
        let old = try Certificate(pemEncoded: try text(file))
        let new = try load(folder).renew(old, days: days, now: WallClock.nowMilliseconds())
        try DurableFile.replace(file, with: Array((try new.serializeAsPEM().pemString + "\n").utf8))
        return [
            try line(file, new),
            "the one before, still good until \(ending(old)): SHA-256 "
                + (try CertificateAuthority.fingerprint(old)),
        ]
    }

    /// Says what a certificate is for, until when, and its fingerprint.
    public static func show(certificate file: String) throws -> [String] {
        [try line(file, try Certificate(pemEncoded: try text(file)))]
    }

    // MARK: Files

    private static func issue(
        _ subject: CertificateAuthority.Subject, named name: String, authority folder: String, days: Int,
        to out: String
    ) throws -> [String] {
        let authority = try load(folder)
        let (keyFile, file) = ("\(out)/\(name).key", "\(out)/\(name).pem")
        try checkAbsent([keyFile, file])
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let issued = try authority.issue(
            subject, to: key.publicKey, days: days, now: WallClock.nowMilliseconds())
        try DurableFile.createDirectories(out)
        try write(try key.serializeAsPEM().pemString, to: keyFile, mode: 0o600)
        try write(try issued.serializeAsPEM().pemString, to: file, mode: 0o644)
        return [try line(file, issued), "\(keyFile): its key"]
    }

    private static func line(_ file: String, _ certificate: Certificate) throws -> String {
        let what: String
        switch try CertificateAuthority.subject(of: certificate) {
        case .site(let id): what = "site \(id)"
        case .server(let names): what = names.joined(separator: ", ")
        }
        let print = try CertificateAuthority.fingerprint(certificate)
        return "\(file): \(what), until \(ending(certificate)), SHA-256 \(print)"
    }

    private static func ending(_ certificate: Certificate) -> String {
        WallClock.text(milliseconds: Int64(certificate.notValidAfter.timeIntervalSince1970) * 1_000)
    }

    private static func load(_ folder: String) throws -> CertificateAuthority {
        try CertificateAuthority(
            keyPEM: try text(folder + "/ca.key"), certificatePEM: try text(folder + "/ca.pem"))
    }

    private static func text(_ path: String) throws -> String {
        guard let bytes = try DurableFile.read(path, limit: CertificateAuthority.longestFile) else {
            throw Upkeep.Failure(description: "\(path): is not there")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func checkAbsent(_ paths: [String]) throws {
        for path in paths where access(path, F_OK) == 0 {
            throw Upkeep.Failure(description: "\(path): is there already, and is not written over")
        }
    }

    private static func write(_ text: String, to path: String, mode: mode_t) throws {
        let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard number >= 0 else { throw Upkeep.Failure(description: "\(path): \(SystemError.last("open"))") }
        let file = FileDescriptor(owning: number)
        let bytes = Array((text + "\n").utf8)
        guard Glibc.write(file.number, bytes, bytes.count) == bytes.count, fsync(file.number) == 0 else {
            throw Upkeep.Failure(description: "\(path): \(SystemError.last("write"))")
        }
    }
}
