import struct ExactAmounts.WholeWatts
import Fleet
import Testing

@Suite struct PeakLimitTests {
    /// At so many seconds: the meter, what the storage gives, what it could give.
    typealias Sample = (second: Int64, meter: Int64, storage: Int64, available: Int64)

    static func run(_ samples: [Sample], until end: Int64 = 60) throws -> PeakLimit.Verdict {
        var limit = try #require(PeakLimit(WholeWatts(100), from: 0, until: 60_000))
        for sample in samples {
            limit.note(
                meter: WholeWatts(sample.meter), storage: WholeWatts(sample.storage),
                available: WholeWatts(sample.available), at: sample.second * 1_000)
        }
        return limit.verdict(at: end * 1_000)
    }

    static func steady(_ meter: Int64, _ storage: Int64, _ available: Int64, from: Int64 = 0, to: Int64 = 59)
        -> [Sample]
    {
        (from...to).map { ($0, meter, storage, available) }
    }

    @Test func `what is wanted is what the load draws above the limit, and never a charge`() throws {
        let limit = try #require(PeakLimit(WholeWatts(100), from: 0, until: 1))
        // A load of 150: with nothing, with 30 and with all of it from the storage.
        for (meter, storage) in [(-150, 0), (-120, 30), (0, 150)] as [(Int64, Int64)] {
            #expect(limit.wanted(meter: WholeWatts(meter), storage: WholeWatts(storage)) == WholeWatts(50))
        }
        #expect(limit.wanted(meter: WholeWatts(-80), storage: WholeWatts(-40)) == WholeWatts(0))
    }

    @Test func `it says whether it held, and why not`() throws {
        #expect(try Self.run(Self.steady(-100, 50, 80)) == .held(peak: WholeWatts(100)))
        #expect(try Self.run(Self.steady(-100, 50, 80), until: 59) == .running)
        let short = Self.steady(-150, 0, 80, to: 4) + Self.steady(-100, 50, 80, from: 5)
        #expect(try Self.run(short) == .held(peak: WholeWatts(150)), "the storage has five seconds")
        let long = Self.steady(-150, 0, 80, to: 5) + Self.steady(-100, 50, 80, from: 6)
        #expect(try Self.run(long) == .notHeld(peak: WholeWatts(150), .notFollowed))
        #expect(try Self.run(Self.steady(-130, 20, 20)) == .notHeld(peak: WholeWatts(130), .storageExhausted))
        let blind = Self.steady(-90, 0, 80, to: 20) + Self.steady(-90, 0, 80, from: 32)
        #expect(
            try Self.run(blind) == .notHeld(peak: WholeWatts(90), .meterSilent), "nobody saw eleven seconds")
        #expect(try Self.run([]) == .notHeld(peak: WholeWatts(0), .meterSilent), "unknown is not held")
    }

    @Test func `no limit without a time`() {
        #expect(PeakLimit(WholeWatts(1), from: 1, until: 1) == nil)
        #expect(PeakLimit(WholeWatts(-1), from: 1, until: 2) == nil)
    }
}
