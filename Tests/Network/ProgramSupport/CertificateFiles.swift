import Glibc

/// What `ballast-aggregator certificate` makes: an authority, an aggregator on 127.0.0.1, the sites `demo` and
/// `other`.
public struct CertificateFiles {
    public let folder: String

    public var authority: String { folder + "/ca.pem" }
    public var revoked: String { folder + "/revoked" }

    /// The section `tls` of an aggregator's file.
    public var section: String {
        "tls: {certificate: \(folder)/127.0.0.1.pem, key: \(folder)/127.0.0.1.key, "
            + "client_ca: \(authority), revoked: \(revoked)}"
    }

    public init(in scratch: ScratchFolder) throws {
        folder = scratch.path + "/tls"
        try run(["authority", "--out", folder])
        try make(["server", "--name", "127.0.0.1", "--name", "localhost"])
        try make(["device", "--site", "demo"])
        try make(["device", "--site", "other"])
        _ = try scratch.write("tls/revoked", "# none yet\n")
    }

    /// Issues one more, in a folder of its own where `out` names one.
    public func make(_ arguments: [String], out: String? = nil) throws {
        try run(arguments + ["--authority", folder, "--out", out.map { "\(folder)/\($0)" } ?? folder])
    }

    public func run(_ arguments: [String]) throws {
        let program = try RunningProgram("ballast-aggregator", ["certificate"] + arguments)
        // No signal: only its end is waited for.
        guard program.end(by: 0) == 0 else {
            throw RunningProgram.Failure.lineMissing(wanted: "\(arguments)", log: program.log)
        }
    }
}
