import Foundation
import Quantities
import Synchronization
import Testing

@testable import BallastDaemon

@Suite struct CANRestartTests {
    final class Bus: Sendable {
        let isOff = Atomic<Bool>(false)
    }

    static func at(_ seconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: (1_000 + seconds) * 1_000_000_000)
    }

    @Test func `an interface that stays off is asked for, by a file and not too often`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "ballast-can-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // A folder left behind in the temporary directory harms nobody.
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "can-restart-can0")
        let bus = Bus()
        var restart = CANRestart(folder: folder.path)
        restart.watch("can0") { bus.isOff.load(ordering: .relaxed) }
        // swift-format-ignore
        let rows: [(time: Int64, isOff: Bool, asked: [String], why: Comment)] = [
            (0,   false, [],       "all is well"),
            (1,   true,  [],       "off: the driver restarts it first"),
            (10,  true,  [],       "not yet ten seconds"),
            (11,  true,  ["can0"], "ten seconds"),
            (12,  true,  [],       "asked already"),
            (70,  true,  [],       "not yet a minute"),
            (71,  true,  ["can0"], "a minute"),
            (72,  false, [],       "it is back"),
            (135, true,  [],       "off again: ten seconds anew"),
            (145, true,  ["can0"], "and they have passed"),
        ]
        for row in rows {
            bus.isOff.store(row.isOff, ordering: .relaxed)
            #expect(restart.tend(at: Self.at(row.time)) == row.asked, row.why)
            #expect(FileManager.default.fileExists(atPath: file.path) == (row.time >= 11), row.why)
        }
    }

    @Test func `without a directory of systemd nobody is asked`() {
        for folder in [nil, "/proc/none"] {
            var restart = CANRestart(folder: folder)
            restart.watch("can0") { true }
            #expect(restart.tend(at: Self.at(0)) == [] && restart.tend(at: Self.at(20)) == [])
        }
    }
}
