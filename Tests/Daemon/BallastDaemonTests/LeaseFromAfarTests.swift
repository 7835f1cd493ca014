import ControlSocket
import Foundation
import Glibc
import ProgramSupport
import Testing

/// A power asked for at the aggregator, through the link, into the plant: five real programs.
extension BallastDaemonTests {
    @Suite struct LeaseFromAfarTests {
        private static let operatorToken = "operator-token"
        // printf %s operator-token | sha256sum
        private static let operatorDigest = "0850123315d21ab90f4f7236408a52ef6dbd6a02a6550e5c10dc73f4d993680e"

        private func ask(
            _ aggregator: RunningAggregator, _ body: String, token: String = operatorToken,
            site: String = "demo"
        ) async throws -> RunningAggregator.Answer {
            try await aggregator.post(body, to: "/v1/sites/\(site)/leases", token: token)
        }

        private func waitForLeases(_ aggregator: RunningAggregator, _ part: String) async throws {
            let limit = Date.now + 60
            var last = ""
            while Date.now < limit {
                last = try await aggregator.get("/v1/sites/demo/leases").body
                if last.contains(part) { return }
                await Task.yield()
            }
            Issue.record("\(part) is not in \(last)")
        }

        @Test
        func `a power asked for at the aggregator flows, is answered, and ends by itself with the link dead`()
            async throws
        {
            let site = try RunningSite.small()
            let key = site.scratch.path + "/key"
            let made = try Program(
                Program.built("ballast-aggregator"), ["lease", "key", "--out", key], name: "key",
                in: site.scratch)
            #expect(try made.exitStatus() == 0, "\(made.log)")
            let open = try #require(
                made.output.firstMatch(of: /public_key: ([0-9a-f]{64})/), "\(made.output)")
            site.file.id = "demo"
            site.file.sections = ["remote_leases: {keys: [{id: aggregator-1, public_key: \(open.1)}]}"]
            try site.startInService()
            let aggregator = try RunningAggregator(
                in: site.scratch,
                extra: """
                    signing: {key_file: \(key)}
                    principals:
                      - {name: dispatcher, token_sha256: "\(Self.operatorDigest)", sites: [demo]}
                    """)
            let config = """
                spool: \(site.scratch.path)/state/spool
                site: demo
                aggregator: {url: "\(aggregator.url)", token: demo-token}
                control_socket: \(site.controlSocket)
                """
            let link = try RunningProgram(
                "ballast-link", ["--config", try site.scratch.write("link.yaml", config)])

            let body = #"{"power_w":20000,"for_s":600,"dispatch":"D-1","reason":"test"}"#
            #expect(try await ask(aggregator, body, token: "demo-token").status == 403, "a site's token")
            #expect(try await ask(aggregator, body, site: "other").status == 403, "not its site")
            #expect(try await ask(aggregator, body, site: "nowhere").status == 404)
            #expect(try await ask(aggregator, #"{"power_w":1}"#).status == 400)
            let asked = try await ask(aggregator, body)
            #expect(asked.status == 201 && asked.body.contains(#""by":"dispatcher""#), "\(asked.body)")
            try site.waitForSetpoints([20])
            #expect(try site.status().base_point_by == "aggregator")
            try await waitForLeases(aggregator, #""state":"granted""#)
            #expect(try await ask(aggregator, body).status == 200, "asked twice is asked once")
            let other = body.replacing("20000", with: "30000")
            #expect(try await ask(aggregator, other).status == 409, "another power under the same name")

            // A restart carries no lease on, which is its fate and goes up.
            try site.daemon.end(by: SIGKILL)
            try site.startDaemon()
            try await waitForLeases(aggregator, #""ended_ms":1"#)
            #expect(try await ask(aggregator, body).body.contains(#""ended_ms":1"#), "who asks again is told")
            _ = try site.runTool(
                ["resume", "--reason", "test", "--socket", site.controlSocket], status: 0)
            try site.waitForMode("running")

            let release = #"{"power_w":null,"dispatch":"D-2","reason":"test"}"#
            #expect(try await ask(aggregator, release).status == 201)
            try site.waitForSetpoints([0])

            let short = #"{"power_w":-10000,"for_s":5,"dispatch":"D-3","reason":"test"}"#
            #expect(try await ask(aggregator, short).status == 201)
            try site.waitForSetpoints([-10])
            _ = link.end(by: SIGKILL)
            aggregator.end(by: SIGKILL)
            try site.waitForSetpoints([0])
            #expect(try site.status().base_point_by == "default")
        }
    }
}
