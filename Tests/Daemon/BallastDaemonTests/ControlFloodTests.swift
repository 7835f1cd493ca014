import ControlSocket
import Foundation
import Glibc
import LinuxIO
import ProgramSupport
import Quantities
import Synchronization
import Testing

extension BallastDaemonTests {
    /// Whoever else asks, and however: a stop gets through.
    @Suite struct ControlFloodTests {
        private func stop(_ site: RunningSite) throws -> String {
            try site.runTool(["stop", "--reason", "now", "--socket", site.controlSocket], status: 0).output
        }

        @Test func `connections that say nothing keep nobody from a stop`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            var idle: [Int32] = []
            defer { for number in idle { close(number) } }
            for round in 0..<60 {
                let socket = try UnixSocket.connect(site.controlSocket)
                // Some of them begin a line.
                if round % 3 == 0 { try UnixSocket.send(Array("{\"comm".utf8), on: socket) }
                idle.append(dup(socket.number))
            }
            let begun = MonotonicTime.now()
            #expect(try stop(site).contains("is being taken out of service"))
            #expect(MonotonicTime.now() - begun < .seconds(5))
            try site.waitForMode("standby")

            // What is refused is told in its words, and forges no line of the log.
            let forged = "2020-01-01T00:00:00.000Z CRITICAL unit BESS_01: TRIP smoke"
            for request in [
                ControlRequest(.stop, reason: "x\n\(forged)"),
                ControlRequest(.reset, unit: "x\r\n\(forged)\u{1b}[2J", reason: "test"),
            ] {
                let answer = try ControlClient.ask(request, at: site.controlSocket)
                #expect(answer?.error != nil, "\(answer as Any)")
            }
            let daemon = try site.daemon
            try eventually("both are told") { daemon.log.components(separatedBy: forged).count >= 3 }
            let log = daemon.log
            #expect(!log.split(whereSeparator: \.isNewline).contains { $0.hasPrefix("2020") }, "\(log)")
            #expect(!log.contains("\u{1b}") && !log.contains("\r"))
        }

        /// What the askers and the test share.
        private final class Flood: Sendable {
            let isOver = Atomic<Bool>(false)
            let count = Atomic<Int>(0)
        }

        @Test func `a flood of requests disturbs neither the cycle nor a stop`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            let flood = Flood()
            let path = site.controlSocket
            // More than one account may have at once: what is beyond that gets an answer all the same.
            let threads = try (0..<20).map { _ in
                try SystemThread(name: "flood") {
                    while !flood.isOver.load(ordering: .relaxed) {
                        // Whether it is answered is all the same here.
                        if (try? ControlClient.ask(ControlRequest(.status), at: path)) != nil {
                            flood.count.add(1, ordering: .relaxed)
                        }
                    }
                }
            }
            let limit = MonotonicTime.now() + .seconds(30)
            while flood.count.load(ordering: .relaxed) < 1_000, MonotonicTime.now() < limit {
                _ = poll(nil, 0, 10)
            }
            #expect(try stop(site).contains("is being taken out of service"))
            try site.waitForMode("standby")
            flood.isOver.store(true, ordering: .relaxed)
            for thread in threads { thread.join() }
            #expect(flood.count.load(ordering: .relaxed) >= 1_000)
        }

        @Test func `while the cycle stands still a stop is kept, and what lets power flow lapses`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            let holder = try startPeer(
                "hold_thread.py", ["\(try site.daemon.number)", "cycle"], name: "holder", in: site.scratch)
            _ = try holder.ready()
            try holder.ask("hold")
            let request = ControlRequest(.setpoint, reason: "test", power_kw: 40, for_s: 60)
            let answer = try ControlClient.ask(request, at: site.controlSocket)
            #expect(answer?.error?.contains("the cycle did not answer in time") == true, "\(answer as Any)")
            try holder.ask("free")
            let seen = try site.status().cycle
            try site.waitForStatus("it turns again") { $0.cycle > seen + 50 }
            #expect(try site.status().base_point_by != "operator", "it was not carried out later")
            try holder.ask("hold")
            #expect(try stop(site).contains("received; the cycle stands still"))
            try holder.ask("free")
            try site.waitForMode("standby")
            let status = try site.status()
            let words = try #require(status.stopped_by)
            #expect(status.stopped && words.hasPrefix("by ") && words.hasSuffix(": now"), "\(words)")
        }
    }
}
