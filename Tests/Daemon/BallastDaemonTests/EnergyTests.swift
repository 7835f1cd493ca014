import Foundation
import Quantities
import Testing

@testable import BallastDaemon

@Suite struct `Energy in blocks` {
    static let quarter: Int64 = 1_763_859_600

    private func time(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64((seconds * 1e9).rounded()))
    }

    private func object(_ record: [UInt8]?) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(try #require(record)))
        return try #require(object as? [String: Any])
    }

    private func point(_ record: [String: Any], _ name: String) throws -> [String: Any] {
        let points = try #require(record["points"] as? [String: Any])
        return try #require(points[name] as? [String: Any])
    }

    @Test(arguments: [0.1, 0.25, 1.0])
    func `a sine over a whole block has the energy of its closed form`(_ step: Double) throws {
        // P sin(2πt/T): each half wave is PT/π.
        let (power, wave) = (100_000.0, 60.0)
        var count = EnergyCount()
        for index in 0...Int(900 / step) {
            let now = Double(index) * step
            count.add(
                Watts(power * sin(2 * .pi * now / wave)), at: time(now), within: .seconds(3))
        }
        let expected = power * wave / .pi * (900 / wave)
        #expect(abs(count.exported / expected - 1) < 1e-3, "\(count.exported) J, \(expected) J expected")
        #expect(abs(count.imported / expected - 1) < 1e-3, "\(count.imported) J, \(expected) J expected")
        #expect(count.measured == .seconds(900))
    }

    @Test func `a six-minute event is counted to a thousandth, with samples that come when they like`() {
        // 0 → 100 kW in 30 s, held for 300 s, back in 30 s: 100 kW · 330 s.
        func power(_ now: Double) -> Double { 100_000 * max(0, min(1, min(now / 30, (360 - now) / 30))) }
        var count = EnergyCount()
        var now = 0.0
        var index = 0
        while now < 360 {
            count.add(Watts(power(now)), at: time(now), within: .seconds(3))
            now += 0.07 + Double(index % 7) * 0.03
            index += 1
        }
        count.add(.zero, at: time(360), within: .seconds(3))
        #expect(abs(count.exported / 33_000_000 - 1) < 1e-3)
        #expect(count.imported == 0)
    }

    @Test func `what nobody measured has no energy, and is missing time`() {
        var count = EnergyCount()
        for second in 0...10 { count.add(Watts(1_000), at: time(Double(second)), within: .seconds(3)) }
        for second in 20...30 { count.add(Watts(1_000), at: time(Double(second)), within: .seconds(3)) }
        count.add(Watts(9_000), at: time(25), within: .seconds(3))
        #expect(count.exported == 20_000)
        #expect(count.measured == .seconds(20))
    }

    @Test func `blocks begin at quarters of an hour, and intervals add up to the counters`() throws {
        var book = EnergyBook(points: ["meter", "BESS_01"], mode: "hil")
        var intervals: (imported: Int64, exported: Int64) = (0, 0)
        var last: [String: Any] = [:]
        var blocks: [Int64] = []
        for second in 0...(3 * 900 + 60) {
            let now = time(Double(second))
            let wall = (Self.quarter + Int64(second)) * 1_000 + 5
            if let bytes = book.look(wallMilliseconds: wall, at: now, isClockSynchronised: true) {
                let record = try object(bytes)
                last = try point(record, "BESS_01")
                intervals.exported += try #require(last["export_wh"] as? Int64)
                intervals.imported += try #require(last["import_wh"] as? Int64)
                blocks.append(try #require(record["start_s"] as? Int64))
                #expect(record["clock"] as? String == "good")
                #expect(record["mode"] as? String == "hil")
                #expect(last["quality"] as? String == "measured")
                #expect(try point(record, "meter")["quality"] as? String == "partial", "never measured")
            }
            book.add(1, Watts(second < 1_000 ? 12_345 : -7_777), at: now, within: .seconds(3))
        }
        #expect(blocks == [Self.quarter, Self.quarter + 900, Self.quarter + 1_800])
        #expect(last["export_counter_wh"] as? Int64 == intervals.exported)
        #expect(last["import_counter_wh"] as? Int64 == intervals.imported)
        #expect(abs(Double(intervals.exported) - 12_345 * 1_000 / 3_600) < 10)
    }

    @Test func `counters go on over twenty restarts, a kill costs at most what was not on disk`() throws {
        var saved: [UInt8]?
        var now = 0.0
        var lastCounter: Int64 = 0
        for run in 0..<20 {
            var book = EnergyBook(points: ["meter"], mode: "production", saved: saved)
            for step in 0..<60 {
                _ = book.look(
                    wallMilliseconds: Self.quarter * 1_000 + Int64(now * 1_000), at: time(now),
                    isClockSynchronised: true)
                book.add(0, Watts(36_000), at: time(now), within: .seconds(3))
                now += 1
                // Killed in each second run ten seconds after the last look of the disk.
                if run % 2 == 0 || step < 50 { saved = book.bytes }
            }
        }
        var book = EnergyBook(points: ["meter"], mode: "production", saved: saved)
        let record = try object(
            book.look(
                wallMilliseconds: (Self.quarter + 1_800) * 1_000, at: time(now), isClockSynchronised: true))
        let meter = try point(record, "meter")
        lastCounter = try #require(meter["export_counter_wh"] as? Int64)
        // 36 kW are 10 Wh each second: 59 intervals in ten runs, 49 in the other ten.
        #expect(lastCounter == Int64(10 * (59 + 49) * 10))
        #expect(meter["quality"] as? String == "partial")
    }

    @Test func `a damaged book is none`() {
        var book = EnergyBook(points: ["meter"], mode: "hil")
        book.add(0, Watts(1_000), at: time(0), within: .seconds(3))
        book.add(0, Watts(1_000), at: time(1), within: .seconds(3))
        let empty = EnergyBook(points: ["meter"], mode: "hil").bytes
        #expect(EnergyBook(points: ["meter"], mode: "hil", saved: book.bytes).bytes == book.bytes)
        for index in book.bytes.indices where book.bytes[index] != UInt8(ascii: "\n") {
            var bytes = book.bytes
            bytes[index] ^= 1
            #expect(EnergyBook(points: ["meter"], mode: "hil", saved: bytes).bytes == empty)
        }
    }

    // swift-format-ignore
    static let copies: [(file: Int?, copy: Int?, isFault: Bool, counter: Int64, why: Comment)] = [
        (20,  10,  false, 200, "the file is the newer"),
        (10,  20,  false, 200, "the copy is: killed behind it, or somebody has put the file of before back"),
        (-1,  10,  true,  100, "the file is damaged"),
        (nil, 10,  true,  100, "or gone"),
        (20,  -1,  true,  200, "the copy is damaged"),
        (20,  nil, false, 200, "as the version before left it"),
        (-1,  -1,  true,  0,   "both"),
        (nil, nil, false, 0,   "a site that starts for the first time"),
    ]

    /// 36 kW are 10 Wh each second; -1 = damaged.
    @Test(arguments: copies)
    func `counters go on from the newest copy, and where there is none the block says it`(
        row: (file: Int?, copy: Int?, isFault: Bool, counter: Int64, why: Comment)
    ) throws {
        func bytes(_ seconds: Int?) -> [UInt8]? {
            guard let seconds else { return nil }
            var book = EnergyBook(points: ["meter"], mode: "hil")
            for step in 0...max(1, seconds) {
                book.add(0, Watts(36_000), at: time(Double(step)), within: .seconds(3))
            }
            var bytes = book.bytes
            if seconds < 0 { bytes[30] ^= 1 }
            return bytes
        }
        let found = EnergyBook.kept([bytes(row.file), bytes(row.copy)], points: ["meter"], mode: "hil")
        #expect((found.fault != nil) == row.isFault, row.why)
        #expect((found.book.counters(0)?.exported ?? 0) == row.counter, row.why)
        var book = found.book
        var told: [Bool] = []
        for block in 0..<3 {
            let record = book.look(
                wallMilliseconds: (Self.quarter + Int64(block) * 900) * 1_000, at: time(Double(block) * 900),
                isClockSynchronised: true)
            if let record {
                told.append(String(decoding: record, as: UTF8.self).contains("\"counters\":\"begun\""))
            }
        }
        #expect(told == [row.counter == 0, false], row.why)
    }

    @Test(arguments: [(true, 0, "good"), (false, 0, "unsynchronised"), (true, 250, "slewed")])
    func `a clock that is wrong or was set marks the block`(
        _ isSynchronised: Bool, _ slew: Int64, _ expected: String
    ) throws {
        var book = EnergyBook(points: ["meter"], mode: "hil")
        var record: [UInt8]?
        for second in 0...900 {
            let drift = slew * Int64(second) / 900
            record =
                book.look(
                    wallMilliseconds: (Self.quarter + Int64(second)) * 1_000 + drift,
                    at: time(Double(second)),
                    isClockSynchronised: isSynchronised) ?? record
        }
        #expect(try object(record)["clock"] as? String == expected)
    }

    @Test func `one second in ten that the clock is slewed changes no energy, and is said`() throws {
        var book = EnergyBook(points: ["meter"], mode: "production")
        var record: [String: Any]?
        var seconds = 0
        while record == nil, seconds < 2_000 {
            let wall = Self.quarter * 1_000 + Int64(seconds) * 1_100
            let bytes = book.look(
                wallMilliseconds: wall, at: time(Double(seconds)), isClockSynchronised: true)
            if let bytes { record = try object(bytes) }
            // 36 kW are 10 Wh in each true second, whatever the wall clock makes of it.
            if record == nil { book.add(0, Watts(36_000), at: time(Double(seconds)), within: .seconds(3)) }
            seconds += 1
        }
        let meter = try point(try #require(record), "meter")
        #expect(meter["measured_s"] as? Int == 818)
        #expect(meter["export_wh"] as? Int == 8_180)
        #expect(record?["clock"] as? String == "slewed")
        #expect(meter["quality"] as? String == "partial", "818 true seconds are no quarter of an hour")
    }
}
