import ControlSocket
import Foundation
import Glibc
import ProgramSupport
import Testing

/// Signed leases at the real daemon, signed by another program.
extension BallastDaemonTests {
    @Suite struct RemoteLeaseSiteTests {
        private static let seed = String(repeating: "42", count: 32)

        private func peer(_ site: RunningSite, _ arguments: [String]) throws -> String {
            let peer = try startPeer("lease.py", arguments, name: "lease", in: site.scratch)
            #expect(try peer.exitStatus() == 0, "\(peer.log)")
            return peer.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        private func lease(
            _ site: RunningSite, _ sequence: Int, watts: Int, seconds: Int = 600, site name: String = "test"
        ) throws -> String {
            let now = Int(Date().timeIntervalSince1970 * 1_000)
            return try peer(
                site,
                [
                    "sign", Self.seed, "1", "\(sequence)", "\(now)", "\(now)", "\(now + seconds * 1_000)",
                    "\(watts)", "k1", name, "-", "D-\(sequence)",
                ])
        }

        private func bring(_ site: RunningSite, _ lease: String, status: Int) throws -> String {
            let said = try site.runTool(["lease", lease, "--socket", site.controlSocket], status: status)
            return said.output + said.log
        }

        @Test
        func `a signed lease is the base point until its end, and can be used once, through every restart`()
            throws
        {
            let site = try RunningSite.small()
            let open = try peer(site, ["key", Self.seed])
            site.file.sections = ["remote_leases: {longest_s: 600, keys: [{id: k1, public_key: \(open)}]}"]
            try site.startInService()
            let first = try lease(site, 1, watts: 20_000)
            #expect(try bring(site, first, status: 0).contains("20.0 kW"))
            try site.waitForStatus("it is the base point") { $0.base_point_by == "aggregator" }
            try site.waitForSetpoints([20])
            #expect(try bring(site, first, status: 1).contains("refused: replayed"))
            let foreign = try lease(site, 2, watts: 1, site: "other")
            #expect(try bring(site, foreign, status: 1).contains("refused: other_site"))
            let long = try lease(site, 3, watts: 1, seconds: 700)
            #expect(try bring(site, long, status: 1).contains("refused: too_long"))
            #expect(try bring(site, "4242", status: 1).contains("refused: malformed"))
            try site.daemon.waitForLog("lease 1 of k1 (dispatch D-1) refused: replayed")

            try site.daemon.end(by: SIGKILL)
            try site.startDaemon()
            try site.waitForStatus("the daemon answers") { $0.cycle > 1 }
            #expect(
                try bring(site, first, status: 1).contains("refused: replayed"), "a restart forgets nothing")
            #expect(try site.status().base_point_by == "default", "and carries no lease on")

            try site.daemon.end(by: SIGTERM)
            try FileManager.default.removeItem(atPath: site.scratch.path + "/state/remote-leases")
            let early = try lease(site, 9, watts: 20_000)
            try site.startDaemon()
            try site.waitForStatus("the daemon answers") { $0.cycle > 1 }
            // The start after the loss draws the line: everything issued before counts as used.
            #expect(try bring(site, early, status: 1).contains("refused: sequence_lost"))
            _ = try site.runTool(
                ["resume", "--reason", "test", "--socket", site.controlSocket], status: 0)
            try site.waitForMode("running")
            let short = try lease(site, 10, watts: 20_000, seconds: 3)
            #expect(try bring(site, short, status: 0).contains("20.0 kW"))
            try site.waitForSetpoints([20])
            try site.waitForStatus("it ends by itself") { $0.base_point_by == "default" }
            try site.waitForSetpoints([0])
        }
    }
}
