import Foundation
import ProgramSupport
import Testing

@testable import BallastAggregator

/// The aggregator's own TLS, judged by Python's ssl, openssl, and certificates that `cryptography` makes.
@Suite struct `An aggregator with TLS` {
    let scratch: ScratchFolder
    let files: CertificateFiles

    init() throws {
        scratch = try ScratchFolder()
        files = try CertificateFiles(in: scratch)
    }

    private func judge(_ aggregator: RunningAggregator) throws -> [String: String] {
        let python = try #require(ProcessInfo.processInfo.environment["BALLAST_PYTHON"])
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [
            "Tests/Peers/tls_judge.py", files.folder, String(aggregator.port),
            String(aggregator.processID), files.revoked,
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        var found: [String: String] = [:]
        for line in String(decoding: output, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
            if parts.count == 2 { found[parts[0]] = parts[1] }
        }
        return found
    }

    // swift-format-ignore
    static let expected: [(name: String, answer: String)] = [
        ("its own certificate and token", "200"),
        ("no certificate", "403 a site comes with its certificate here, and there is none"),
        ("a person needs none", "200"),
        ("another site's certificate", "403 the certificate is the one of site \"other\", and the token is another's"),
        ("another site's token", "403 the certificate is the one of site \"demo\", and the token is another's"),
        ("the server's certificate", "no TLS"),
        ("signed by itself", "no TLS"),
        ("signed by another of the same name", "no TLS"),
        ("signed by another site", "no TLS"),
        ("ended", "no TLS"),
        ("not begun", "no TLS"),
        ("two names", "403 this certificate is no site's"),
        ("a name that looks alike", "403 this certificate is no site's"),
        ("TLS 1.2", "no TLS"),
        ("another host's name", "refused here"),
        ("in the clear", "not answered"),
        ("openssl", "True True True"),
        ("openssl's strict look", "OK"),
        ("open before", "200"),
        ("open when revoked", "403 this certificate is revoked"),
        ("anew when revoked", "403 this certificate is revoked"),
        ("a session taken up when revoked", "403"),
        ("another site's, still", "200"),
    ]

    @Test func `lets in whom it should, and nobody else`() throws {
        let aggregator = try RunningAggregator(in: scratch, extra: files.section, authority: files.authority)
        let found = try judge(aggregator)
        for (name, answer) in Self.expected { #expect(found[name] == answer, "\(name)") }
        #expect(aggregator.end(by: SIGTERM) == 0)
    }

    @Test func `tells when certificates end, in figures and as an entry of the audit`() async throws {
        try files.make(["device", "--site", "demo", "--days", "7"], out: "short")
        let aggregator = try RunningAggregator(in: scratch, extra: files.section, authority: files.authority)
        aggregator.certificate = (files.folder + "/short/demo.pem", files.folder + "/short/demo.key")
        let body = #"{"site":"demo","epoch":"00000000000000000000000000000000","records":[]}"#
        #expect(try await aggregator.post(body).status == 200)
        try aggregator.waitForLine(containing: "the certificate of site demo ends in 6 days")
        let metrics = try await aggregator.metrics()
        #expect(metrics.contains("ballast_aggregator_certificate_not_after_timestamp_seconds "))
        #expect(
            metrics.contains(
                "ballast_aggregator_site_certificate_not_after_timestamp_seconds{site=\"demo\"} "))
        #expect(aggregator.end(by: SIGTERM) == 0)
    }

    @Test
    func `takes a renewed certificate over at SIGHUP, and keeps the old one where the new one is wrong`()
        async throws
    {
        let aggregator = try RunningAggregator(in: scratch, extra: files.section, authority: files.authority)
        let folder = files.folder
        let good = try String(contentsOfFile: folder + "/127.0.0.1.pem", encoding: .utf8)
        // Another key's certificate.
        try String(contentsOfFile: folder + "/other.pem", encoding: .utf8)
            .write(toFile: folder + "/127.0.0.1.pem", atomically: true, encoding: .utf8)
        aggregator.signal(SIGHUP)
        try aggregator.waitForLine(containing: "are not taken over, what held goes on")
        #expect(try await aggregator.get("/v1/sites").status == 200)
        try good.write(toFile: folder + "/127.0.0.1.pem", atomically: true, encoding: .utf8)
        try files.run(
            ["renew", "--authority", folder, "--certificate", folder + "/127.0.0.1.pem", "--days", "20"])
        aggregator.signal(SIGHUP)
        try aggregator.waitForLine(containing: "certificate taken over, good until")
        #expect(try await aggregator.get("/v1/sites").status == 200)
        let metrics = try await aggregator.metrics()
        let end =
            metrics.split(separator: "\n").first {
                $0.hasPrefix("ballast_aggregator_certificate_not_after_timestamp_seconds ")
            }.flatMap { Double($0.split(separator: " ").last ?? "") } ?? 0
        let days = (end - Date.now.timeIntervalSince1970) / 86_400
        #expect((19.9...20.1).contains(days))
        #expect(aggregator.end(by: SIGTERM) == 0)
    }

    @Test func `holds no connection that does not come to its point: no handshake, or a head that drips`()
        throws
    {
        let extra = "limits: {body_s: 1}"
        let aggregator = try RunningAggregator(
            in: scratch, extra: files.section + "\n" + extra, authority: files.authority)
        let silent = try RawClient(port: aggregator.port)
        let dripping = try RawClient(port: aggregator.port)
        var looks = 0
        // The first bytes of a handshake, one at a time.
        let handshake: [UInt8] = [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03]
        while !dripping.receive(within: .milliseconds(200)), looks < 300 {
            if looks < handshake.count { _ = dripping.send([handshake[looks]]) }
            looks += 1
        }
        #expect(looks < 300 && looks >= 5)
        #expect(silent.receive(within: .seconds(60)))
        #expect(aggregator.end(by: SIGTERM) == 0)
        let plain = try RunningAggregator(in: scratch, extra: extra)
        let head = try RawClient(port: plain.port)
        looks = 0
        while !head.receive(within: .milliseconds(200)), looks < 300 {
            _ = head.send(Array(looks == 0 ? "GET / HTTP/1.1\r\nX: ".utf8 : "a".utf8))
            looks += 1
        }
        #expect(looks < 300)
        #expect(plain.end(by: SIGTERM) == 0)
    }

    @Test func `a list of revoked certificates that cannot be read as such is no empty one`() throws {
        let print = String(repeating: "aB", count: 32)
        let colons = stride(from: 0, to: 64, by: 2).map { _ in "AB" }.joined(separator: ":")
        let text = "# lost\n\n\(print) # demo\r\n  \(colons)\n"
        #expect(try RevokedCertificates.parse(text, file: "f") == [print.lowercased()])
        for bad in ["ab", print + "0", String(repeating: "zz", count: 32), "é"] {
            #expect(throws: Upkeep.Failure.self, "\(bad)") { try RevokedCertificates.parse(bad, file: "f") }
        }
    }
}
