import Glibc
import LinuxIO
import Quantities
import Synchronization
import Testing

/// The ways from thread to thread. The threads run as fast as they can; nothing is timed.
@Suite struct ExchangeTests {
    /// Eight words that belong together: all the same, or the value is torn.
    struct Octet: BitwiseCopyable, Sendable {
        var words: InlineArray<8, UInt64>
        init(_ word: UInt64) { words = InlineArray(repeating: word) }
        var isWhole: Bool {
            for index in 1..<8 where words[index] != words[0] { return false }
            return true
        }
    }

    @Test func `a triple buffer never gives a torn value and never an older one than before`() throws {
        let count: UInt64 = 200_000
        let buffer = TripleBuffer(Octet(0))
        let handover = Handover(buffer.writer())
        let thread = try SystemThread(name: "writer") {
            guard var writer = handover.take() else { return }
            for word in 1...count { writer.publish(Octet(word)) }
        }
        var reader = buffer.reader()
        var last: UInt64 = 0
        var torn = 0
        var older = 0
        while last < count {
            reader.update()
            let octet = reader.latest.pointee
            if !octet.isWhole { torn += 1 }
            if octet.words[0] < last { older += 1 }
            last = octet.words[0]
        }
        thread.join()
        #expect(torn == 0 && older == 0 && last == count)
    }

    /// Counts turns without ordering anything: only the exchange itself may order the value.
    private final class Turns: Sendable {
        private let taken = Atomic<UInt64>(0)
        var count: UInt64 { taken.load(ordering: .relaxed) }
        func take() { taken.add(1, ordering: .relaxed) }
    }

    /// Each value crosses from thread to thread at once, so that ThreadSanitizer sees every crossing: with an
    /// exchange that orders too little `hil/sanitize thread` ends here.
    @Test func `a triple buffer orders each value by its exchange alone`() throws {
        let count: UInt64 = 20_000
        let buffer = TripleBuffer(Octet(0))
        let turns = Turns()
        let handover = Handover(buffer.writer())
        let thread = try SystemThread(name: "writer") {
            guard var writer = handover.take() else { return }
            for word in 1...count {
                writer.publish(Octet(word))
                while turns.count < word { sched_yield() }
            }
        }
        var reader = buffer.reader()
        var wrong = 0
        for word in 1...count {
            while !reader.update() { sched_yield() }
            let octet = reader.latest.pointee
            if !octet.isWhole || octet.words[0] != word { wrong += 1 }
            turns.take()
        }
        thread.join()
        #expect(wrong == 0)
    }

    @Test func `a triple buffer's reader is told once of each newest value`() {
        let buffer = TripleBuffer(Octet(7))
        var writer = buffer.writer()
        var reader = buffer.reader()
        let before = reader.update()
        #expect(!before && reader.latest.pointee.words[0] == 7)
        writer.publish(Octet(8))
        writer.pending.pointee = Octet(9)
        writer.commit()
        let fresh = reader.update()
        let again = reader.update()
        #expect(fresh && !again && reader.latest.pointee.words[0] == 9)
    }

    @Test func `a ring buffer keeps the order and counts what finds no room`() {
        let ring = RingBuffer<Int>(capacity: 3, filler: 0)
        #expect(ring.pop() == nil)
        for number in 1...5 { #expect(ring.push(number) == (number <= 3)) }
        #expect(ring.lost == 2)
        #expect(ring.pop() == 1)
        #expect(ring.push(6), "room again")
        #expect([ring.pop(), ring.pop(), ring.pop(), ring.pop()] == [2, 3, 6, nil])
    }

    @Test func `between two threads a ring buffer loses only what it counts`() throws {
        let count = 200_000
        let ring = RingBuffer<Int>(capacity: 64, filler: 0)
        let isDone = StopFlag()
        let thread = try SystemThread(name: "writer") {
            for number in 1...count { ring.push(number) }
            isDone.raise()
        }
        var taken = 0
        var last = 0
        var disordered = 0
        while true {
            let isLast = isDone.isRaised
            while let number = ring.pop() {
                if number <= last { disordered += 1 }
                last = number
                taken += 1
            }
            if isLast { break }
        }
        thread.join()
        #expect(disordered == 0)
        #expect(taken + Int(ring.lost) == count)
    }

    @Test func `a handover gives its value once`() {
        let handover = Handover(Octet(3))
        let first = handover.take()
        let second = handover.take()
        #expect(first?.words[0] == 3 && second == nil)
    }

    @Test func `a stop flag raised by one thread is seen by another and stays`() throws {
        let flag = StopFlag()
        #expect(!flag.isRaised)
        let thread = try SystemThread(name: "raises") { flag.raise() }
        thread.join()
        #expect(flag.isRaised)
    }

    @Test func `a fixed list gives back what was put in, in its order`() {
        let list = FixedList<Int>(capacity: 3)
        for number in [10, 20, 30] { list.append(number) }
        list[1].pointee += 1
        #expect(list.count == 3 && list[0].pointee == 10 && list[1].pointee == 21 && list[2].pointee == 30)
    }

    @Test func `a histogram's quantiles are right to the width of its steps`() {
        let histogram = Histogram()
        #expect(histogram.quantile(0.5) == nil && histogram.count == 0)
        for microseconds in 1...10_000 { histogram.record(Int64(microseconds) * 1_000) }
        for (share, expected) in [(0.5, 5_000_000.0), (0.9, 9_000_000), (0.99, 9_900_000)] {
            let value = Double(histogram.quantile(share) ?? 0)
            #expect(value >= expected && value <= expected * 1.07, "\(share)")
        }
        #expect(histogram.quantile(1) == 10_000_000 && histogram.maximum == 10_000_000)
        #expect(histogram.count == 10_000)
    }

    @Test(arguments: [Int64.min, -1, 0, 15, 16, 17, 1_000_000_000, 64_000_000_000, Int64.max])
    func `a histogram takes any duration`(nanoseconds: Int64) {
        let histogram = Histogram()
        histogram.record(nanoseconds)
        #expect(histogram.count == 1)
        #expect(histogram.maximum == max(0, nanoseconds))
        if nanoseconds < 17 {
            #expect(histogram.quantile(0.5) == max(0, nanoseconds), "the small ones are exact")
        }
    }

    @Test func `the smallest quantile is that of the smallest record and not zero`() {
        let histogram = Histogram()
        for _ in 0..<10 { histogram.record(12) }
        #expect(histogram.quantile(0) == 12)
    }
}
