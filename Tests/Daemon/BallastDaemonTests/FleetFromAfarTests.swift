import ControlSocket
import Foundation
import Glibc
import ProgramSupport
import Testing

/// A power asked for at the region, through the campus and the site's link into the plant: six real programs.
extension BallastDaemonTests {
    @Suite struct FleetFromAfarTests {
        private static let operatorToken = "operator-token"
        // printf %s operator-token | sha256sum
        private static let operatorDigest = "0850123315d21ab90f4f7236408a52ef6dbd6a02a6550e5c10dc73f4d993680e"

        private struct Stack {
            var site: RunningSite
            var region: RunningAggregator
            var campus: RunningAggregator
            var link: RunningProgram
        }

        private func key(_ folder: ScratchFolder) throws -> (file: String, open: String) {
            let file = folder.path + "/key"
            let made = try Program(
                Program.built("ballast-aggregator"), ["lease", "key", "--out", file], name: "key", in: folder)
            #expect(try made.exitStatus() == 0, "\(made.log)")
            let open = try #require(
                made.output.firstMatch(of: /public_key: ([0-9a-f]{64})/), "\(made.output)")
            return (file, String(open.1))
        }

        /// The region knows the campus as `other`, the campus knows the site as `demo`.
        private func start() throws -> Stack {
            let (above, below) = (try ScratchFolder(), try ScratchFolder())
            let (regionKey, campusKey) = (try key(above), try key(below))
            let site = try RunningSite.small()
            site.file.id = "demo"
            site.file.sections = ["remote_leases: {keys: [{id: campus, public_key: \(campusKey.open)}]}"]
            try site.startInService()
            let region = try RunningAggregator(
                in: above,
                extra: """
                    signing: {key_file: \(regionKey.file), key_id: region}
                    principals:
                      - {name: dispatcher, token_sha256: "\(Self.operatorDigest)", sites: all}
                    fleet:
                      role: region
                      place: IN
                      mode: simulation
                      places:
                        - {id: IN, level: country}
                        - {id: other, level: campus, parent: IN, nameplate_kw: 100, capacity_kwh: 250}
                    """)
            let campus = try RunningAggregator(
                in: below,
                extra: """
                    signing: {key_file: \(campusKey.file), key_id: campus}
                    principals:
                      - {name: dispatcher, token_sha256: "\(Self.operatorDigest)", sites: all}
                    fleet:
                      role: campus
                      place: other
                      mode: simulation
                      places:
                        - {id: IN, level: country}
                        - {id: other, level: campus, parent: IN}
                        - {id: demo, level: node, parent: other, nameplate_kw: 100, capacity_kwh: 250}
                      upward:
                        spool: \(below.path)/spool
                        site: other
                        aggregator: {url: "\(region.url)", token: other-token}
                        keys: [{id: region, public_key: \(regionKey.open)}]
                    """)
            let config = """
                spool: \(site.scratch.path)/state/spool
                site: demo
                aggregator: {url: "\(campus.url)", token: demo-token}
                control_socket: \(site.controlSocket)
                """
            let link = try RunningProgram(
                "ballast-link", ["--config", try site.scratch.write("link.yaml", config)])
            return Stack(site: site, region: region, campus: campus, link: link)
        }

        private func wait(_ aggregator: RunningAggregator, _ path: String, _ parts: String...) async throws {
            let limit = Date.now + 60
            var last = ""
            while Date.now < limit {
                last = try await aggregator.get(path, token: Self.operatorToken).body
                if parts.allSatisfy({ last.contains($0) }) { return }
                await Task.yield()
            }
            Issue.record("\(parts) is not in \(path): \(last)")
        }

        private func ask(
            _ aggregator: RunningAggregator, _ body: String, token: String = operatorToken
        ) async throws -> RunningAggregator.Answer {
            try await aggregator.post(body, to: "/v1/dispatches", token: token)
        }

        @Test
        func
            `a dispatch of the region flows in the plant, is traced to the register, and lapses with either level`()
            async throws
        {
            let stack = try start()
            try await wait(stack.region, "/v1/nodes/other", #""presence":"reporting""#, #""simulated":true"#)
            try await refuse(stack)
            let body = """
                {"dispatch":"D-1","place":"other","power_w":20000,"for_s":600,"priority":"market","reason":"test"}
                """
            let asked = try await ask(stack.region, body)
            #expect(asked.status == 201, "\(asked.body)")
            try stack.site.waitForSetpoints([20])
            #expect(try stack.site.status().base_point_by == "aggregator")
            #expect(try await ask(stack.region, body).status == 200, "asked twice is asked once")
            #expect(try await ask(stack.region, body.replacing("20000", with: "1")).status == 409)
            try await wait(stack.region, "/v1/dispatches/D-1", #""state":"active""#)
            // Back to what was delivered: the register of the inverter, two levels below.
            try await wait(
                stack.region, "/v1/dispatches/D-1/trace", #""place":"demo","presence":"reporting""#,
                #""registers":[{"unit":"BESS_01","setpoint_w":20000,"power_w":2"#)
            try await wait(
                stack.campus, "/v1/nodes/other", #""granted_w":20000"#, #""heard":1"#, #""power_w":2"#)
            try await lapse(stack)
        }

        /// The bad input of people and of other levels.
        private func refuse(_ stack: Stack) async throws {
            func body(_ change: String) -> String {
                #"{"dispatch":"X","place":"other","power_w":1,"for_s":60,"reason":"r""# + change + "}"
            }
            let token = "other-token"
            #expect(try await ask(stack.region, body(""), token: token).status == 403, "a level's own token")
            for (text, status) in [
                (body(#","priority":"king""#), 400), (body(#","until_ms":5"#), 400),
                (body("").replacing("\"other\"", with: "\"demo\""), 404),
                (body("").replacing("\"power_w\":1", with: "\"power_w\":100001"), 409),
            ] {
                let answer = try await ask(stack.region, text)
                #expect(answer.status == status, "\(text): \(answer.body)")
            }
            let direct = #"{"power_w":1,"for_s":60,"dispatch":"Y","reason":"r"}"#
            let answer = try await stack.campus.post(
                direct, to: "/v1/sites/demo/leases", token: Self.operatorToken)
            #expect(
                answer.status == 409, "a child of the fleet gets its power from the fleet: \(answer.body)")
            #expect(try await stack.region.get("/v1/dispatches/X/trace").status == 404)
            // A lease from the wrong level: the region signs one for the site, which knows the campus's key alone.
            let wrong = try await stack.region.post(
                direct, to: "/v1/sites/demo/leases", token: Self.operatorToken)
            #expect(wrong.status == 201, "\(wrong.body)")
            let waiting = try await stack.region.get("/v1/edge/commands?site=demo", token: "demo-token").body
            let lease = try #require(waiting.firstMatch(of: /"lease":"([0-9a-f]+)"/), "\(waiting)")
            let verdict = try ControlClient.ask(
                ControlRequest(.lease, lease: String(lease.1)), at: stack.site.controlSocket)
            #expect(verdict?.error?.contains("unknown_key") == true, "\(verdict?.done ?? "")")
        }

        /// Any level may die.
        private func lapse(_ stack: Stack) async throws {
            stack.region.end(by: SIGKILL)
            try stack.site.waitForSetpoints([0])
            #expect(try stack.site.status().base_point_by == "default")
            // What was under way goes on after a start.
            try stack.region.start()
            try stack.site.waitForSetpoints([20])
            stack.campus.end(by: SIGKILL)
            try stack.site.waitForSetpoints([0])
            // Nobody below is left: the dispatch is over, and the next one finds the way again.
            try await wait(stack.region, "/v1/dispatches/D-1", "expired: lapsed")
            try stack.campus.start()
            try await wait(stack.region, "/v1/nodes/other", #""presence":"reporting""#)
            let next = """
                {"dispatch":"D-2","place":"other","power_w":-15000,"for_s":600,"priority":"emergency","reason":"test"}
                """
            // What the site is able to do is known again a moment after its campus is.
            let limit = Date.now + 30
            var answer = try await ask(stack.region, next)
            while answer.status != 201, Date.now < limit { answer = try await ask(stack.region, next) }
            #expect(answer.status == 201, "\(answer.body)")
            try stack.site.waitForSetpoints([-15])
            let revoked = try await stack.region.post(
                #"{"reason":"enough"}"#, to: "/v1/dispatches/D-2/revoke", token: Self.operatorToken)
            #expect(revoked.status == 200, "\(revoked.body)")
            try stack.site.waitForSetpoints([0])
            try await wait(stack.region, "/v1/dispatches/D-2", #""state":"expired""#)
        }
    }
}
