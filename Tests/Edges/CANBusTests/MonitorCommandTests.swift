import CANBus
import Foundation
import LinuxIO
import Quantities
import Testing

/// `ballastctl can monitor` as people start it, and python-can as the battery.
@Suite(.serialized) struct MonitorCommandTests {
    static let profile = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../config/profiles/pylontech-lv.yaml").standardizedFileURL.path

    /// The first picture that `condition` accepts.
    static func picture(
        of monitor: Peer, where condition: (CANMonitorRecord) -> Bool
    ) throws -> CANMonitorRecord? {
        let end = MonotonicTime.now() + Bench.patience
        while MonotonicTime.now() < end {
            for line in monitor.takeLines() {
                let record = try JSONDecoder().decode(CANMonitorRecord.self, from: Data(line.utf8))
                if condition(record) { return record }
            }
            (MonotonicTime.now() + .milliseconds(5)).sleep()
        }
        return nil
    }

    private static func expectBattery(_ record: CANMonitorRecord) throws {
        #expect(record.up && record.garbage_bytes == 0 && record.state == "active")
        let limits = try #require(record.identifiers.first { $0.id == "0x351" })
        #expect(limits.bytes == [0x14, 0x02, 0xC0, 0x12, 0xC0, 0x12, 0xC2, 0x01])
        #expect(limits.period_ms != nil && limits.jitter_ms != nil && limits.message != nil)
        #expect(limits.signals?.values.contains { ($0 - 53.2).magnitude < 1e-9 } == true)
    }

    @Test func `a battery behind cannelloni is shown with its values`() throws {
        let port = try freePort()
        let monitor = try Peer(
            built: "ballastctl",
            [
                "can", "monitor", "cannelloni-listen:127.0.0.1:\(port)", "--profile", Self.profile, "--json",
                "--interval-ms", "100",
            ])
        #expect(try Self.picture(of: monitor) { !$0.up } != nil, "it listens")
        let battery = try Peer("can_bms_cannelloni.py", ["127.0.0.1:\(port)"])
        let record = try Self.picture(of: monitor) { record in
            record.identifiers.first { $0.id == "0x351" }?.count ?? 0 >= 4 && record.load_percent > 0
        }
        try Self.expectBattery(try #require(record))
        #expect(try battery.object(with: "heard") == nil, "a monitor says nothing")
    }

    @Test func `a battery behind an slcan adapter is shown with its values`() throws {
        let battery = try Peer("can_bms_slcan.py")
        let end = MonotonicTime.now() + Bench.patience
        var device: String?
        while device == nil && MonotonicTime.now() < end {
            device = try battery.object(with: "device")?["device"] as? String
        }
        let monitor = try Peer(
            built: "ballastctl",
            [
                "can", "monitor", "slcan:" + (try #require(device)), "--profile", Self.profile, "--json",
                "--interval-ms", "100",
            ])
        let record = try Self.picture(of: monitor) { record in
            record.identifiers.first { $0.id == "0x351" }?.count ?? 0 >= 4 && record.load_percent > 0
        }
        try Self.expectBattery(try #require(record))
        #expect(try battery.object(with: "heard") == nil, "a monitor says nothing")
    }

    @Test func `plain lines end after the time that was asked for`() throws {
        let monitor = try Peer(
            built: "ballastctl",
            ["can", "monitor", "cannelloni-listen:127.0.0.1:\(try freePort())", "--seconds", "1"])
        let lines = try monitor.answers(to: "")
        #expect(lines.contains { $0.hasPrefix("cannelloni-listen:") && $0.contains("down") })
        #expect(lines.contains { $0.hasPrefix("ID") })
        #expect(!lines.joined().contains("\u{1B}"), "no terminal, no colours")
    }
}
