import ControlSocket
import Foundation
import Glibc
import ProgramSupport
import Recorder
import Testing

extension BallastDaemonTests {
    @Suite struct LatchTests {
        private func latchFile(of site: RunningSite) -> String { site.scratch.path + "/state/latches" }

        /// What stands on disk, as text; the file itself has two slots.
        private func text(_ path: String) -> String {
            guard case .read(let record) = LatchRecord.read(path) else { return "" }
            return String(decoding: record.bytes, as: UTF8.self)
        }

        /// Whether the alarm came first; on a machine that stands still, others may have followed it.
        private func isTripOnDisk(_ site: RunningSite) -> Bool {
            guard let match = text(latchFile(of: site)).firstMatch(of: /trips ([0-9a-f]+) first 8 hold/),
                let trips = UInt64(match.1, radix: 16)
            else { return false }
            return trips & 0x100 != 0
        }

        private func reset(_ site: RunningSite, status: Int) throws -> (output: String, log: String) {
            try site.runTool(
                ["reset", "BESS_01", "--reason", "looked at it", "--socket", site.controlSocket],
                status: status)
        }

        @Test func `a trip outlives SIGKILL, and is reset only with a reason and without its cause`() throws {
            let site = try RunningSite.small()
            site.file.enterServiceSeconds = 2
            try site.startInService()
            try site.simulate("fault bms_alarm BESS_01")
            try site.daemon.waitForLog("TRIP bms_alarm", "→ tripped")
            let path = latchFile(of: site)
            try eventually("the trip is on disk: \(text(path))") { isTripOnDisk(site) }

            #expect(try site.daemon.end(by: SIGKILL) == 128 + Int(SIGKILL))
            try site.startDaemon()
            try site.waitForMode("tripped")
            #expect(try site.unit(0).trips.first == "bms_alarm")

            try site.waitForStatus("the alarm is seen again") { $0.units[0].soc_percent != nil }
            let refused = try reset(site, status: 1)
            let words = "the cause of a trip is still present, or not seen to be gone: bms_alarm"
            #expect(refused.log.contains(words), "\(refused.log)")
            try site.daemon.waitForLog("asks: reset BESS_01: looked at it", "reset refused")
            #expect(try site.unit(0).mode == "tripped")

            try site.simulate("clear bms_alarm BESS_01")
            try expectNoResetWithoutReason(site)
            try site.bringBack()
            try site.daemon.waitForLog("trips reset", "tripped → standby", "standby → running")
            try expectWait(site)
            try eventually("no trip is on disk: \(text(path))") { text(path).contains("trips 0 first -") }
            #expect(try reset(site, status: 1).log.contains("nothing is latched"))
        }

        @Test func `a trip is not reset while nobody sees whether its cause is gone`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            try site.simulate("fault bms_alarm BESS_01")
            try site.waitForMode("tripped")
            try eventually("the trip is on disk: \(text(latchFile(of: site)))") { isTripOnDisk(site) }
            try site.daemon.end(by: SIGKILL)
            try site.simulate("fault bms_silence BESS_01")
            try site.startDaemon()
            try site.waitForMode("tripped")
            _ = try reset(site, status: 1)
            #expect(try site.unit(0).trips.first == "bms_alarm")

            try site.simulate("clear bms_silence BESS_01")
            try site.simulate("clear bms_alarm BESS_01")
            try site.bringBack()
        }

        // swift-format-ignore
        static let strangers: [(mode: String, trips: [String], why: Comment)] = [
            ("hil",        ["latch_record"], "nobody knows what stood under its old name"),
            ("simulation", [],               "a simulation starts anew"),
        ]

        @Test(arguments: strangers)
        func `a unit that the record of trips does not know counts as tripped`(
            mode: String, trips: [String], why: Comment
        ) throws {
            let site = RunningSite(
                SiteFile(units: [try Unit.onNetwork("BESS_01")], meter: try Unit.freeModbus()),
                in: try ScratchFolder(in: NSHomeDirectory()))
            site.file.mode = mode
            try writeRecord(of: "OLD_NAME", for: site) { $0 }
            try site.startDaemon()
            try site.waitForStatus("a first cycle") { $0.cycle > 0 }
            #expect(try site.unit(0).trips == trips, why)
            #expect(
                try site.daemon.log.contains("unit BESS_01 is not in the latch record") == !trips.isEmpty, why
            )
        }

        /// A record whose checksum is right, until `damage` has gone over it.
        private func writeRecord(
            of unit: String, for site: RunningSite, _ damage: (String) -> String
        ) throws {
            mkdir(site.scratch.path + "/state", 0o750)
            let text = "ballast latches 1\nunit \(unit) \(Self.trip)\n"
            let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
                ($0 ^ UInt64($1)) &* 0x100_0000_01b3
            }
            let record = text + "checksum \(String(hash, radix: 16))\n"
            _ = try site.scratch.write("state/latches", damage(record))
        }

        private func expectNoResetWithoutReason(_ site: RunningSite) throws {
            for reason in [nil, ""] {
                let request = ControlRequest(.reset, unit: "BESS_01", reason: reason)
                let answer = try ControlClient.ask(request, at: site.controlSocket)
                #expect(answer?.error == "reset needs a reason")
            }
            let tool = try site.runTool(["reset", "BESS_01", "--socket", site.controlSocket], status: 64)
            #expect(tool.log.contains("--reason"))
        }

        /// The unit has waited for its 2 s; half of it, since the log is written a little after the fact.
        private func expectWait(_ site: RunningSite) throws {
            func time(_ part: String) throws -> Date {
                let stamp = try #require(try site.daemon.logLine(part).split(separator: " ").first)
                return try Date(
                    String(stamp), strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            }
            let wait = try time("standby → running").timeIntervalSince(time("tripped → standby"))
            #expect(wait > 1)
        }

        private static let trip = "trips 100 first 8"

        // swift-format-ignore
        static let damages: [(damage: @Sendable (String) -> String, why: Comment)] = [
            ({ String($0.dropLast(5)) },                        "cut short: a torn write"),
            ({ _ in "" },                                       "empty: a full disk"),
            ({ $0.replacing(trip, with: "trips 0 first -") },   "a trip taken out by hand"),
            ({ _ in "\u{0}\u{1}\u{2}" },                        "another file"),
        ]

        @Test(arguments: damages)
        func `where the record of trips is damaged, every unit is tripped until somebody has looked`(
            damage: @Sendable (String) -> String, why: Comment
        ) throws {
            let site = try RunningSite.small()
            try site.startPlant()
            try writeRecord(of: "BESS_01", for: site, damage)
            try site.startDaemon()
            try site.waitForMode("tripped")
            #expect(try site.unit(0).trips == ["latch_record"], why)
            let line = try site.daemon.logLine("every unit counts as tripped: ")
            #expect(
                line.contains("\(latchFile(of: site)): not a latch record, or its checksum is wrong"), why)

            try site.waitForStatus("the battery is seen") { $0.units[0].soc_percent != nil }
            let answer = try reset(site, status: 0)
            #expect(answer.output.contains("it is held, 'ballastctl resume BESS_01' starts it"), why)
            try site.bringBack()
        }
    }
}
