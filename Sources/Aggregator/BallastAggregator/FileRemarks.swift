import Glibc
import LinuxIO
import X509

/// What the files that a configuration names say of themselves, where they cannot do what they are there for.
enum FileRemarks {
    static func all(_ config: AggregatorConfig) -> [String] {
        database(config.database) + secrets(config) + certificates(config.tls)
    }

    private static func facts(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    private static func database(_ path: String) -> [String] {
        if let status = facts(of: path), status.st_mode & S_IFMT == S_IFDIR {
            return ["\(path) is a folder: nothing starts with it"]
        }
        if let words = DatabaseLock.fault(of: path) { return ["\(path) \(words): nothing starts with it"] }
        let folder = path.lastIndex(of: "/").map { path[..<$0].isEmpty ? "/" : String(path[..<$0]) } ?? "."
        guard let status = facts(of: folder), status.st_mode & S_IFMT == S_IFDIR else {
            return ["the folder of \(path) is not there: nothing starts without it"]
        }
        // One that cannot be read is told by the start.
        if let later = try? TelemetryStore.laterMigrations(of: path), !later.isEmpty {
            return ["\(path): \(TelemetryStore.laterText(later)): nothing starts with it"]
        }
        return access(folder, W_OK) == 0
            ? [] : ["the folder of \(path) cannot be written by who runs this check"]
    }

    private static func secrets(_ config: AggregatorConfig) -> [String] {
        var remarks: [String] = []
        for path in [config.signing?.keyFile, config.tls?.key].compactMap({ $0 }) {
            guard let status = facts(of: path), status.st_mode & 0o077 != 0 else { continue }
            remarks.append("\(path) can be read by others: a secret is 0600")
        }
        // A file that cannot be read is told elsewhere.
        if let path = config.signing?.keyFile, let bytes = try? DurableFile.read(path, limit: 4_096),
            !bytes.isEmpty, bytes.allSatisfy({ $0 == 0x30 || $0 == 0x0A })
        {
            remarks.append("\(path) is a secret that everybody knows: make one of your own")
        }
        return remarks + tokens(config)
    }

    private static func tokens(_ config: AggregatorConfig) -> [String] {
        let empty = TokenDigest(of: "")
        var owners = config.sites.map { ("site \($0.id)", $0.tokens) }
        owners += config.principals.map { ($0.name, $0.tokens) }
        owners += (config.books?.people ?? []).map { ($0.caller.name, $0.tokens) }
        if let token = config.readToken { owners.append(("reader", [token])) }
        return owners.flatMap { name, own in
            own.compactMap { token -> String? in
                let nobody = "with which nobody comes in"
                if token == empty { return "\(name): its token is the empty text, \(nobody)" }
                return Set(token.hex).count > 1
                    ? nil : "\(name): its token_sha256 is a placeholder, \(nobody)"
            }
        }
    }

    private static func certificates(_ files: AggregatorConfig.TLS?) -> [String] {
        var remarks: [String] = []
        // One that cannot be read stops the check before.
        if let files, let own = certificate(files.certificate),
            case .site? = try? CertificateAuthority.subject(of: own)
        {
            remarks.append("\(files.certificate) is a site's certificate: no link and no browser takes it")
        }
        if let path = files?.clientCA, let authority = certificate(path) {
            switch try? authority.extensions.basicConstraints {
            case .isCertificateAuthority?: break
            case .notCertificateAuthority?, nil:
                remarks.append("\(path) is no authority: no site's certificate can come from it")
            }
        }
        return remarks
    }

    private static func certificate(_ path: String) -> Certificate? {
        guard let bytes = try? DurableFile.read(path, limit: 1 << 20) else { return nil }
        return try? Certificate(pemEncoded: String(decoding: bytes, as: UTF8.self))
    }
}
