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

        // swift-format-ignore
        static let noKeys: [(key: String, why: Comment)] = [
            (String(repeating: "00", count: 32), "of order 4: anybody's signature might do"),
            ("01" + String(repeating: "00", count: 31), "the neutral element"),
            ("ec" + String(repeating: "ff", count: 30) + "7f", "of order 2"),
            ("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "of order 8"),
            ("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", "of order 8"),
            ("ed" + String(repeating: "ff", count: 30) + "7f", "zero, written as the prime"),
            ("02" + String(repeating: "00", count: 31), "no point of the curve: a typing error"),
            ("9599999999999999999999999999999999999999999999999999999999999999", "with a part of order 2"),
        ]

        /// The points are those of RFC 8032's curve, worked out by themselves.
        @Test(arguments: noKeys)
        func `a key that was never anybody's is refused, with its place`(
            row: (key: String, why: Comment)
        ) throws {
            let site = try RunningSite.small()
            site.file.sections = ["remote_leases: {keys: [{id: k1, public_key: '\(row.key)'}]}"]
            _ = try site.scratch.write("site.yaml", site.file.yaml(in: site.scratch))
            let program = try site.runDaemon(["--check", "--config", site.configuration])
            #expect(try program.exitStatus() == 78, row.why)
            let place = /site.yaml:\d+:\d+: remote_leases.keys\[0\].public_key: is no public key/
            #expect(program.log.contains(place), "\(program.log)")
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
            try site.daemon.waitForLog("lease 1 of k1 (dispatch D-1) holds no more")
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

        @Test
        func `a record of sequences that somebody sets back has no lease played again`() throws {
            let site = try RunningSite.small()
            let open = try peer(site, ["key", Self.seed])
            site.file.sections = ["remote_leases: {longest_s: 600, keys: [{id: k1, public_key: \(open)}]}"]
            try site.startInService()
            let file = site.scratch.path + "/state/remote-leases"
            let first = try lease(site, 1, watts: 10_000)
            #expect(try bring(site, first, status: 0).contains("10.0 kW"))
            try FileManager.default.copyItem(atPath: file, toPath: file + ".copy")
            let (second, unused) = (try lease(site, 2, watts: 20_000), try lease(site, 3, watts: 20_000))
            #expect(try bring(site, second, status: 0).contains("20.0 kW"))
            let audit = ["audit", "export", "--config", site.configuration]
            try site.daemon.end(by: SIGKILL)
            #expect(try site.runTool(audit, status: 0).output.contains("lease 2 of k1 used (dispatch D-2)"))
            try FileManager.default.removeItem(atPath: file)
            try FileManager.default.moveItem(atPath: file + ".copy", toPath: file)
            try site.startDaemon()
            try site.waitForStatus("the daemon answers") { $0.cycle > 1 }
            for old in [second, unused] {
                #expect(try bring(site, old, status: 1).contains("refused: sequence_lost"))
            }
            #expect(try site.status().base_point_by == "default")
            try site.daemon.waitForLog("is older than the audit, which has lease 2 of k1 used")
            #expect(
                try bring(site, try lease(site, 4, watts: 5_000), status: 0).contains("5.0 kW"),
                "what is issued since is new")
        }

        /// The kill follows the line of the cycle's answer; the grant's own line comes later.
        @Test
        func `a daemon that is killed as a lease takes effect has it played no second time`() throws {
            let site = try RunningSite.small()
            let open = try peer(site, ["key", Self.seed])
            site.file.sections = ["remote_leases: {longest_s: 600, keys: [{id: k1, public_key: \(open)}]}"]
            try site.startInService()
            let file = site.scratch.path + "/state/remote-leases"
            let tool = try Program.built("ballastctl")
            _ = try bring(site, try lease(site, 1, watts: 1_000), status: 0)
            for sequence in 2...6 {
                let one = try lease(site, sequence, watts: sequence * 1_000)
                try FileManager.default.copyItem(atPath: file, toPath: file + ".copy")
                let daemon = try site.daemon
                let asked = try Program(
                    tool, ["lease", one, "--socket", site.controlSocket], name: "killed\(sequence)",
                    in: site.scratch)
                let limit = MonotonicTimeLimit()
                while !daemon.log.contains("the aggregator's lease: \(sequence).0 kW"), !limit.isOver {}
                daemon.send(SIGKILL)
                _ = try (daemon.exitStatus(), asked.exitStatus())
                try FileManager.default.removeItem(atPath: file)
                try FileManager.default.moveItem(atPath: file + ".copy", toPath: file)
                try site.startDaemon()
                try site.waitForStatus("the daemon answers") { $0.cycle > 1 }
                #expect(try bring(site, one, status: 1).contains("refused: sequence_lost"), "\(sequence)")
                #expect(try site.status().base_point_by == "default")
            }
        }

        @Test func `a lease that the audit's disk does not take has no effect`() throws {
            let site = try RunningSite.small()
            let disk = try ShimmedDisk(in: site.scratch)
            let open = try peer(site, ["key", Self.seed])
            site.file.sections = ["remote_leases: {longest_s: 600, keys: [{id: k1, public_key: \(open)}]}"]
            try site.startPlant()
            try site.startDaemon(environment: disk.environment)
            try site.waitForMode("running")
            try disk.become(Int64(ENOSPC) | ShimmedDisk.isFull)
            let said = try bring(site, try lease(site, 1, watts: 20_000), status: 1)
            #expect(said.contains("refused: not_saved: the audit's disk does not take it"), "\(said)")
            #expect(try site.status().base_point_by == "default")
            try disk.become(0)
            #expect(try bring(site, try lease(site, 2, watts: 20_000), status: 0).contains("20.0 kW"))
        }
    }
}
