import Foundation
import Glibc
import ProgramSupport
import Testing

/// What a person does to the files beside a living daemon: judged by its journal, by the disk, and by what the
/// aggregator has in the end.
extension BallastDaemonTests {
    @Suite struct SpoolRemovedTests {
        private func names(_ folder: String) -> [String] {
            // A folder that is not there yet has none.
            (try? FileManager.default.contentsOfDirectory(atPath: folder).sorted()) ?? []
        }

        /// The last number that the spool's writer says is on the disk: the first eight bytes of its mark.
        private func written(_ spool: String) -> UInt64 {
            guard let bytes = FileManager.default.contents(atPath: spool + "/synced"), bytes.count == 24
            else {
                return 0
            }
            return bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }

        @Test func `spool and audit that somebody removes are told at once, and their losses are numbered`()
            async throws
        {
            let site = try RunningSite.small()
            site.file.id = "demo"
            try site.startInService()
            let (spool, audit) = (site.scratch.path + "/state/spool", site.scratch.path + "/state/audit")
            try eventually("something is on the disk") { written(spool) >= 3 && !names(audit).isEmpty }
            let (before, audited, daemon) = (written(spool), written(audit), try site.daemon)
            // At one stroke: the daemon puts files into what is being emptied.
            for folder in [spool, audit] { try #require(rename(folder, folder + "-gone") == 0) }
            let removed = Date.now
            try eventually("it is told: \(daemon.log)") {
                let log = daemon.log
                return log.contains("somebody has removed files of the spool: records 1 to ")
                    && log.contains("somebody has removed files of the audit: records 1 to ")
            }
            #expect(Date.now.timeIntervalSince(removed) < 20, "a loaded machine is no fault")
            try eventually("it goes on in new segments") {
                written(spool) > before + 2 && written(audit) > audited + 1
            }
            for name in ["lock", "stream", "synced", "delivered"] {
                #expect(names(spool).contains(name), "\(name) in \(names(spool))")
            }
            #expect(names(spool).contains { $0.hasSuffix(".spool") })
            let verify = try site.runTool(["audit", "verify", "--config", site.configuration], status: 1)
            #expect(verify.output.contains("were removed"), "\(verify.output)")
            try await deliver(site, spool, before)
        }

        /// The aggregator has a gap for what is gone, and everything since.
        private func deliver(_ site: RunningSite, _ spool: String, _ before: UInt64) async throws {
            let aggregator = try RunningAggregator(in: site.scratch)
            let config = """
                spool: \(spool)
                site: demo
                aggregator: {url: "\(aggregator.url)", token: demo-token}
                """
            let link = try RunningProgram(
                "ballast-link", ["--config", try site.scratch.write("link.yaml", config)])
            let end = written(spool)
            try await aggregator.waitUntilStored(end)
            #expect(link.end(by: SIGTERM) == 0)
            // It takes no number whose forerunners are neither here nor declared.
            let gaps = try await aggregator.get("/v1/sites/demo/gaps").body
            let gap = try #require(gaps.firstMatch(of: /"from":(\d+),"to":(\d+)/), "\(gaps)")
            #expect(gap.1 == "1" && UInt64(gap.2) ?? 0 >= before && UInt64(gap.2) ?? .max < end, "\(gaps)")
            let events = try await aggregator.get("/v1/sites/demo/events").body
            for place in ["spool", "audit"] {
                #expect(events.contains("somebody has removed files of the \(place)"), "\(events)")
            }
            #expect(aggregator.end(by: SIGTERM) == 0)
        }
    }
}
