import Foundation
import ProgramSupport
import Recorder
import Testing

@testable import BallastLink

/// The real link and the real aggregator, with certificates of their own on both sides.
@Suite struct `The program ballast-link over TLS` {
    let scratch: ScratchFolder
    let writer: SpoolWriter
    let files: CertificateFiles

    init() throws {
        scratch = try ScratchFolder()
        writer = try SpoolWriter(directory: scratch.path + "/spool")
        files = try CertificateFiles(in: scratch)
        for number in 1...20 { _ = try writer.append(Array("{\"kind\":\"event\",\"was\":\(number)}".utf8)) }
        try writer.sync()
    }

    private func file(url: String, authority: String? = nil, certificate: String = "own") throws -> String {
        try scratch.write(
            "link.yaml",
            """
            spool: \(scratch.path)/spool
            site: demo
            aggregator:
              url: "\(url)"
              token: demo-token
              ca_file: \(authority ?? files.authority)
              certificate: \(files.folder)/\(certificate).pem
              key: \(files.folder)/\(certificate).key
            """)
    }

    private func put(_ name: String, as own: String = "own") throws {
        for end in ["key", "pem"] {
            let text = try String(contentsOfFile: "\(files.folder)/\(name).\(end)", encoding: .utf8)
            try text.write(toFile: "\(files.folder)/\(own).\(end)", atomically: true, encoding: .utf8)
        }
    }

    @Test func `delivers with its own certificate, is told where it has another's, and takes a new one up`()
        async throws
    {
        let aggregator = try RunningAggregator(in: scratch, extra: files.section, authority: files.authority)
        try put("other")
        let link = try RunningProgram("ballast-link", ["--config", try file(url: aggregator.url)])
        try link.waitForLine(
            containing: "refused with status 403: the certificate is the one of site \"other\"")
        try put("demo")
        try link.waitForLine(containing: "certificates taken over, good until")
        try await aggregator.waitUntilStored(20)
        // Renewed under way, and the old one revoked: nothing stands still.
        try files.run(["renew", "--authority", files.folder, "--certificate", files.folder + "/own.pem"])
        let old = try Link.check(configPath: try file(url: aggregator.url)).joined(separator: "\n")
        #expect(old.contains("comes with a certificate, good until"))
        for number in 21...40 { _ = try writer.append(Array("{\"kind\":\"event\",\"was\":\(number)}".utf8)) }
        try writer.sync()
        try await aggregator.waitUntilStored(40)
        #expect(link.end(by: SIGTERM) == 0)
        #expect(aggregator.end(by: SIGTERM) == 0)
    }

    @Test func `believes nobody who has no certificate of its authority for that name`() throws {
        // Another authority of the same name, and a site's certificate where the aggregator's should be.
        try files.run(["authority", "--out", files.folder + "/twin"])
        try put("demo")
        let aggregator = try RunningAggregator(in: scratch, extra: files.section, authority: files.authority)
        let twin = try RunningProgram(
            "ballast-link",
            ["--config", try file(url: aggregator.url, authority: files.folder + "/twin/ca.pem")])
        try twin.waitForLine(containing: "unreachable: ")
        #expect(!twin.log.contains("connected"))
        _ = twin.end(by: SIGKILL)
        aggregator.end(by: SIGTERM)
        let impostor = files.section.replacing("127.0.0.1", with: "other")
        let site = try RunningAggregator(in: scratch, extra: impostor, authority: files.authority)
        let link = try RunningProgram("ballast-link", ["--config", try file(url: site.url)])
        try link.waitForLine(containing: "unreachable: ")
        #expect(!link.log.contains("connected"))
        #expect(link.end(by: SIGTERM) == 0)
        #expect(site.end(by: SIGTERM) == 0)
    }

    @Test func `does not start with a key that belongs to another certificate`() throws {
        try put("demo")
        let text = try String(contentsOfFile: files.folder + "/other.key", encoding: .utf8)
        try text.write(toFile: files.folder + "/own.key", atomically: true, encoding: .utf8)
        let link = try RunningProgram("ballast-link", ["--config", try file(url: "https://127.0.0.1:1")])
        #expect(link.end(by: 0) == 78)
        #expect(link.log.contains("not started: ca_file, certificate or key cannot be used"))
    }
}
