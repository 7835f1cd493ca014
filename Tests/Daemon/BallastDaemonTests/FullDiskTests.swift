import Foundation
import Glibc
import ProgramSupport
import Testing

/// A disk that takes nothing more while people ask and a unit trips, and a daemon that ends before it is well:
/// judged by the marks on the disk, by the tool, and by what the aggregator has in the end.
extension BallastDaemonTests {
    @Suite struct FullDiskTests {
        // swift-format-ignore
        static let ends: [(end: Int32?, why: Comment)] = [
            (SIGTERM, "in order"),
            (SIGKILL, "at once"),
            (nil,     "it lives until the disk is well"),
        ]

        /// Each setpoint has two events, of who asked and of what became of it.
        private static let requests = 12
        private static let told = 2 * requests + 1

        /// The two numbers of a writer's mark: what is on the disk, and what is taken.
        private func mark(_ folder: String) -> (synced: UInt64, taken: UInt64) {
            guard let bytes = FileManager.default.contents(atPath: folder + "/synced"), bytes.count == 24
            else {
                return (0, 0)
            }
            func number(_ place: Int) -> UInt64 {
                bytes[place..<place + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
            }
            return (number(0), number(12))
        }

        @Test(arguments: ends)
        func `what waits for a full disk has its numbers, and what of it is lost is declared`(
            row: (end: Int32?, why: Comment)
        ) async throws {
            let site = try RunningSite.small()
            site.file.id = "demo"
            let disk = try ShimmedDisk(in: site.scratch)
            try site.startPlant()
            try site.startDaemon(environment: disk.environment)
            try site.waitForMode("running")
            let (spool, audit) = (site.scratch.path + "/state/spool", site.scratch.path + "/state/audit")
            try eventually("something is on the disk") { mark(spool).synced >= 3 && mark(audit).synced >= 1 }
            try disk.become(Int64(ENOSPC) | ShimmedDisk.isFull)
            let audited = mark(audit).taken
            for number in 1...Self.requests {
                let request = ["setpoint", "\(number)", "--for", "1m", "--reason", "full-\(number)"]
                _ = try site.runTool(request + ["--socket", site.controlSocket], status: 0)
            }
            try site.simulate("fault bms_alarm BESS_01")
            try eventually("all have numbers: \(mark(audit)) of \(audited)") {
                mark(audit).taken >= audited + UInt64(Self.told)
            }
            let (last, taken) = mark(spool)
            #expect(taken >= last + UInt64(Self.told), row.why)
            if let end = row.end { try site.daemon.end(by: end) }
            try disk.become(0)
            if row.end != nil { try site.startDaemon() }
            try eventually("it goes on behind them") { mark(spool).synced > taken + 2 }
            try judgeAudit(site, isLost: row.end != nil)
            try await judgeAbove(site, spool, isLost: row.end == nil ? nil : last + 1...taken, row.why)
        }

        /// The tool says how many there are not, and so does the chain.
        private func judgeAudit(_ site: RunningSite, isLost: Bool) throws {
            let folder = ["--config", site.configuration]
            try eventually("it is whole, and says what it has not") {
                let said = try site.runTool(["audit", "verify"] + folder, status: 0).output
                guard isLost else { return !said.contains("MISSING") && said.contains("whole: ") }
                let count = said.firstMatch(of: /MISSING (\d+), told but never on the disk/)?.1
                return Int(count ?? "") ?? 0 >= Self.told
            }
            var entries = ""
            try eventually("the chain says it: \(entries)") {
                entries = try site.runTool(["audit", "export"] + folder, status: 0).output
                return entries.contains(/"text":"records \d+ to \d+ of the audit are lost/) == isLost
            }
            let requests = (1...Self.requests).filter { entries.contains("full-\($0)\"") }.count
            #expect(requests == (isLost ? 0 : Self.requests))
        }

        @Test func `an energy file that somebody damages is told at the start, and nothing is lost`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            try site.daemon.end(by: SIGTERM)
            let path = site.scratch.path + "/state/energy"
            var bytes = try #require(FileManager.default.contents(atPath: path))
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: URL(filePath: path))
            try site.startDaemon()
            try site.daemon.waitForLog(
                "energy, or its copy, is damaged or gone: energy is counted on from the other")
        }

        /// Each number is there or a gap, and what is a gap is what was lost.
        private func judgeAbove(
            _ site: RunningSite, _ spool: String, isLost: ClosedRange<UInt64>?, _ why: Comment
        ) async throws {
            let aggregator = try RunningAggregator(in: site.scratch)
            let config = """
                spool: \(spool)
                site: demo
                aggregator: {url: "\(aggregator.url)", token: demo-token}
                """
            let link = try RunningProgram(
                "ballast-link", ["--config", try site.scratch.write("link.yaml", config)])
            let before = mark(spool).synced
            try eventually("what was said last is on the disk") { mark(spool).synced > before + 1 }
            let end = mark(spool).synced
            try await aggregator.waitUntilStored(end)
            #expect(link.end(by: SIGTERM) == 0)
            let events = try await aggregator.get("/v1/sites/demo/events?limit=1000").body
            let told = (1...Self.requests).filter { events.contains("\"reason\":\"full-\($0)\"") }.count
            let gaps = try await aggregator.get("/v1/sites/demo/gaps").body
            let ranges = gaps.matches(of: /"from":(\d+),"to":(\d+)/).compactMap { match in
                UInt64(match.1).flatMap { from in UInt64(match.2).map { from...$0 } }
            }
            if let isLost {
                #expect(told == 0, why)
                let (from, to) = (isLost.lowerBound, isLost.upperBound)
                #expect(ranges.contains { $0.contains(from) && $0.contains(to) }, "\(gaps)")
                #expect(events.contains("of the spool are lost") && events.contains("of the audit are lost"))
            } else {
                #expect(told == Self.requests, "all came once the disk was well: \(events)")
            }
            #expect(aggregator.end(by: SIGTERM) == 0)
        }
    }
}
