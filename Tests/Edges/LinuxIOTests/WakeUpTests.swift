import LinuxIO
import Quantities
import Synchronization
import Testing

@Suite struct `A wake-up` {
    private static func at(_ nanoseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }

    @Test func `is seen once, with the instant of the first signal`() throws {
        let wake = try WakeUp()
        #expect(wake.take() == nil)
        wake.signal(at: Self.at(5))
        wake.signal(at: Self.at(6))
        #expect(wake.take() == Self.at(5))
        #expect(wake.take() == nil)
        wake.signal(at: Self.at(7))
        #expect(wake.take() == Self.at(7))
    }

    @Test func `that came before the wait ends it at once, and the next wait lasts`() throws {
        let wake = try WakeUp()
        wake.signal(at: Self.at(5))
        // Where it did not, this would last an hour.
        wake.wait(until: .now() + .seconds(3_600))
        #expect(wake.take() == Self.at(5))
        let end = MonotonicTime.now() + .milliseconds(20)
        wake.wait(until: end)
        #expect(MonotonicTime.now() >= end, "nothing is left over")
    }

    private final class Counts: Sendable {
        let asked = Atomic<Int64>(0)
        let answered = Atomic<Int64>(0)
    }

    @Test func `is never lost between two threads`() throws {
        let wake = try WakeUp()
        let count: Int64 = 20_000
        let counts = Counts()
        let waiter = try SystemThread(name: "waiter") {
            while counts.answered.load(ordering: .acquiring) < count {
                // A lost signal would end the test after an hour.
                wake.wait(until: .now() + .seconds(3_600))
                if wake.take() != nil {
                    counts.answered.store(counts.asked.load(ordering: .acquiring), ordering: .releasing)
                }
            }
        }
        for number in 1...count {
            counts.asked.store(number, ordering: .releasing)
            wake.signal(at: Self.at(number))
            // In lockstep now and then, so that both orders of signal and wait happen.
            if number % 3 == 0 {
                while counts.answered.load(ordering: .acquiring) < number { _ = MonotonicTime.now() }
            }
        }
        waiter.join()
        #expect(counts.answered.load(ordering: .acquiring) == count)
    }
}
