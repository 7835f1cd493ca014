import LinuxIO
import ProgramSupport
import Quantities
import Recorder
import SiteEvents
import Testing

@testable import BallastDaemon

/// The recorder on a spool of 16 MB, of which a segment of 4 MiB is always kept free: 80 % of the rest are 9.4 MB.
@Suite struct `A spool that fills up` {
    // swift-format-ignore
    static let rows: [(records: Int, isDelivered: Bool, warns: Bool, why: Comment)] = [
        (230, false, false, "78 %"),
        (242, false, true,  "82 %"),
        (242, true,  false, "what is delivered waits for nobody"),
    ]

    @Test(arguments: rows)
    func `is told at 80 %, as an event that goes up`(
        records: Int, isDelivered: Bool, warns: Bool, why: Comment
    ) throws {
        let scratch = try ScratchFolder()
        let folder = scratch.path + "/spool"
        do {
            let writer = try SpoolWriter(
                directory: folder, options: SpoolOptions(totalBytes: 16_000_000))
            let payload = Array("{\"kind\":\"x\",\"x\":\"\(String(repeating: "x", count: 39_980))\"}".utf8)
            for _ in 0..<records { _ = try writer.append(payload) }
            try writer.sync()
            let mark = try DeliveryMark(directory: folder, epoch: writer.epoch)
            if isDelivered { try mark.store(writer.nextNumber - 1) }
        }
        let outbox = EventOutbox(mode: "production")
        let journal = Journal(outlet: { outbox.put($0) })
        // The second writes down what the first has said at its end.
        for _ in 0..<2 {
            let recorder = RecorderThread(
                directory: scratch.path, spoolMegabytes: 16, journal: journal, beat: Beat("recorder"),
                outbox: outbox)
            recorder.end()
            recorder.run()
        }
        let told = try SpoolReader(directory: folder).next(
            after: UInt64(records), limitBytes: 1 << 20, limitCount: 100
        ).records.map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(told.contains { $0.contains("\"event\":\"spool_nearly_full\"") } == warns, "\(why): \(told)")
    }
}
