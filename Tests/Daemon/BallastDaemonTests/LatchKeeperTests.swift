import Control
import Glibc
import Interlocks
import LinuxIO
import Plant
import Quantities
import Recorder
import SiteEvents
import Synchronization
import Testing

@testable import BallastDaemon

/// The keeper's thread with a disk that does what the test says.
@Suite struct LatchKeeperTests {
    /// A disk that can be sick, and one that does not come back from a write until it is let go.
    private final class Disk: Sendable {
        struct State: Sendable {
            var bytes: [UInt8]?
            var code: CInt?
            var isHanging = false
        }
        let state = Mutex(State())

        var medium: SlotWriter.Medium {
            SlotWriter.Medium(
                write: { (bytes, offset, size) throws(SystemError) in
                    while self.state.withLock({ $0.isHanging }) {
                        (MonotonicTime.now() + .milliseconds(1)).sleep()
                    }
                    try self.state.withLock { (state) throws(SystemError) in
                        if let code = state.code { throw SystemError("pwrite", code: code) }
                        guard state.bytes?.count == size else { throw SystemError("open", code: ENOENT) }
                        state.bytes?.replaceSubrange(offset..<offset + bytes.count, with: bytes)
                    }
                },
                create: { bytes in self.state.withLock { $0.bytes = bytes } })
        }

        var record: LatchRecord? {
            state.withLock { $0.bytes }.flatMap { SlotPair(bytes: $0).newest }.flatMap {
                LatchRecord(bytes: $0.payload)
            }
        }
    }

    /// Waits on the condition itself; the bound is never reached where the code is right.
    private static func wait(_ condition: () -> Bool) -> Bool {
        let bound = MonotonicTime.now() + .seconds(20)
        while MonotonicTime.now() < bound {
            if condition() { return true }
            (MonotonicTime.now() + .milliseconds(2)).sleep()
        }
        return false
    }

    private static let clear = LatchRecord(entries: [.init(unit: "A", trips: 0, firstOut: nil)])

    private static func image(_ cycle: UInt64, _ latched: InterlockSet = .none) -> LatchImage {
        var image = LatchImage()
        image.cycle = cycle
        image.unitCount = 1
        image.units[0] = LatchImage.Unit(
            latched: latched, firstOut: latched == .none ? nil : .smoke, hold: .none)
        return image
    }

    // swift-format-ignore
    static let diseases: [(code: CInt?, isHanging: Bool, why: Comment)] = [
        (nil,    false, "a disk that works"),
        (ENOSPC, false, "full"),
        (EIO,    false, "sick"),
        (EROFS,  false, "mounted read-only by its file system"),
        (nil,    true,  "hangs"),
    ]

    @Test(arguments: diseases)
    func `what is confirmed stands on disk, and what is not is never said to`(
        row: (code: CInt?, isHanging: Bool, why: Comment)
    ) throws {
        let disk = Disk()
        let exchange = TripleBuffer(LatchImage())
        var cycle = exchange.writer()
        let keeper = LatchKeeper(Self.clear, beat: Beat("latches"))
        let proof = Disk()
        let place = Handover(
            LatchPlace(
                disk.medium, proof.medium, slotSize: 4_096, after: (nil, nil), file: 1, generation: 0))
        let thread = try SystemThread(name: "latches") {
            guard let place = place.take() else { return }
            keeper.run(exchange.reader(), place)
        }
        var reader = keeper.reader()
        func saved() -> LatchImage {
            reader.update()
            return reader.latest.pointee.saved
        }
        cycle.publish(Self.image(1))
        #expect(Self.wait { saved().cycle == 1 }, row.why)
        disk.state.withLock {
            $0.code = row.code
            $0.isHanging = row.isHanging
        }
        let isSick = row.code != nil || row.isHanging
        let tripped = InterlockSet(.smoke)
        let beats = keeper.beat.count
        for number in 2...40 {
            cycle.publish(Self.image(UInt64(number), tripped))
            (MonotonicTime.now() + .milliseconds(5)).sleep()
            let confirmed = saved()
            if confirmed.units[0].latched == tripped {
                #expect(disk.record?.entries[0].trips == tripped.rawValue, row.why)
                #expect(!isSick, row.why)
            }
        }
        if row.code != nil {
            #expect(
                Self.wait {
                    _ = saved(); return reader.latest.pointee.code == row.code
                }, row.why)
            #expect(keeper.beat.count > beats, "it goes round all the same")
        }
        #expect(disk.record?.entries[0].trips == (isSick ? 0 : tripped.rawValue), row.why)
        disk.state.withLock {
            $0.code = nil
            $0.isHanging = false
        }
        #expect(Self.wait { saved().units[0].latched == tripped }, "it comes back")
        #expect(disk.record?.entries[0].trips == tripped.rawValue, row.why)
        keeper.end()
        thread.join()
    }

    @Test func `a trip is told once it is saved, or as not saved after 100 ms, and lets none behind it pass`()
    {
        let log = EventLog(site: "S", units: ["A"], table: InterlockTable())
        let record = Self.clear
        let keeper = LatchKeeper(record, beat: Beat("latches"))
        let latches = Latches(record: record, isCommissioned: true, notes: [])
        let begun = MonotonicTime(nanoseconds: 1_000_000_000)
        func event(_ kind: Event.Kind, _ cycle: UInt64) -> Event {
            Event(unit: 0, kind: kind, cycle: cycle, at: begun)
        }
        for keeps in [true, false] {
            let desk = LatchDesk(latches, units: ["A"], keepers: keeps ? [keeper] : [])
            var teller = EventTeller(log, record)
            teller.saw(event(.stopRequested, 5), wallMilliseconds: 0)
            teller.saw(event(.tripped(.smoke), 5), wallMilliseconds: 0)
            teller.saw(event(.resumed, 6), wallMilliseconds: 0)
            #expect(teller.next(desk, at: begun)?.event == .stop)
            if keeps {
                #expect(teller.next(desk, at: begun + .milliseconds(99))?.event == nil)
                #expect(teller.isWaiting)
            }
            let trip = teller.next(desk, at: begun + .milliseconds(100))
            #expect(trip?.event == .trip && trip?.text.contains("NOT SAVED") == true)
            #expect(trip?.fields.contains { $0.name == "BALLAST_SAVED" && $0.value == "no" } == true)
            #expect(teller.next(desk, at: begun + .milliseconds(100))?.event == .resume)
            #expect(!teller.isWaiting)
        }
    }
}

@Suite struct LatchWatchTests {
    private static func image(_ cycle: UInt64, _ latched: InterlockSet = .none) -> LatchImage {
        var image = LatchImage()
        image.cycle = cycle
        image.unitCount = 1
        image.units[0].latched = latched
        return image
    }

    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0) + .milliseconds(1_000 + milliseconds)
    }

    @Test func `on its way is not saved, after 100 ms it is said, and once more when it is`() {
        var watch = LatchWatch()
        let tripped = InterlockSet(.smoke)
        var report = LatchKeeper.Report(saved: Self.image(1))
        #expect(watch.look(Self.image(1), report, at: Self.time(0)) == nil && watch.isSaved)
        #expect(watch.look(Self.image(2, tripped), report, at: Self.time(10)) == nil)
        #expect(!watch.isSaved && watch.mustWait(at: Self.time(10)), "on its way is not saved")
        #expect(watch.look(Self.image(3, tripped), report, at: Self.time(109)) == nil)
        #expect(
            watch.look(Self.image(4, tripped), report, at: Self.time(110))
                == .notSaved("the disk does not answer"))
        #expect(!watch.mustWait(at: Self.time(110)) && !watch.isSaved)
        #expect(watch.look(Self.image(5, tripped), report, at: Self.time(120)) == nil, "once")
        report.saved = Self.image(5, tripped)
        #expect(watch.look(Self.image(6, tripped), report, at: Self.time(130)) == .saved)
        #expect(watch.isSaved && watch.savedCycle == 5)
    }

    @Test func `a disk that refuses its proof, or says nothing, is told of before a trip needs it`() {
        var watch = LatchWatch()
        var report = LatchKeeper.Report(saved: Self.image(1))
        _ = watch.look(Self.image(1), report, at: Self.time(0))
        report.code = EIO
        report.saved = Self.image(2)
        #expect(
            watch.look(Self.image(2), report, at: Self.time(10)) == .notSaved("write: Input/output error"))
        #expect(!watch.isSaved)
        report.code = nil
        #expect(watch.look(Self.image(2), report, at: Self.time(20)) == .saved)
        // Somebody looks all the while: a standstill of our own would be no silence of the disk.
        for time in stride(from: 120, through: 4_920, by: 400) {
            #expect(watch.look(Self.image(9), report, at: Self.time(Int64(time))) == nil)
        }
        #expect(watch.look(Self.image(9), report, at: Self.time(5_009)) == nil)
        #expect(
            watch.look(Self.image(9), report, at: Self.time(5_010)) == .notSaved("the disk does not answer"))
    }
}
