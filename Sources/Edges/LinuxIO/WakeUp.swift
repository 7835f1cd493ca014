import CLinux
import Glibc
import Quantities
import Synchronization

/// Wakes one waiting thread from another that may not wait itself.
///
/// `signal` is wait-free and bounded: one compare-and-exchange, and where nobody has signalled since the
/// waiter last looked, one `write` to an eventfd. That write cannot block: the descriptor is non-blocking,
/// and its counter, which only we add to, never nears its end, since a second signal before the look
/// writes nothing. In the kernel it takes the eventfd's own spin lock, which only its two ends share, for
/// a few instructions (on PREEMPT_RT a lock with priority inheritance).
public final class WakeUp: Sendable {
    private let descriptor: FileDescriptor
    /// When it was signalled, in nanoseconds; 0 = not since the last look.
    private let signalled = Atomic<Int64>(0)

    public init() throws(SystemError) {
        let number = ballast_eventfd()
        if number < 0 { throw SystemError.last("eventfd") }
        descriptor = FileDescriptor(owning: number)
    }

    /// - Parameter now: any instant but zero; the waiter learns of the first since it last looked.
    public func signal(at now: MonotonicTime) {
        let (isFirst, _) = signalled.compareExchange(
            expected: 0, desired: now.nanoseconds, ordering: .acquiringAndReleasing)
        guard isFirst else { return }
        var one: UInt64 = 1
        // It can only fail where the counter is full, and then the waiter wakes all the same.
        _ = Glibc.write(descriptor.number, &one, 8)
    }

    /// The first signal since the last look, without waiting.
    public func take() -> MonotonicTime? {
        if signalled.load(ordering: .relaxed) == 0 { return nil }
        var count: UInt64 = 0
        // The counter goes first: a signal that comes between leaves the instant standing, and the next
        // look finds it.
        _ = Glibc.read(descriptor.number, &count, 8)
        let time = signalled.exchange(0, ordering: .acquiringAndReleasing)
        return time == 0 ? nil : MonotonicTime(nanoseconds: time)
    }

    /// For who waits in `poll` for other things too, and calls `still` after it.
    var number: CInt { descriptor.number }

    /// Takes what there is, before the waiter looks at what it was signalled for.
    func still() {
        var count: UInt64 = 0
        // The counter goes here in any case: the write of a signal may come behind its instant.
        _ = Glibc.read(descriptor.number, &count, 8)
        signalled.store(0, ordering: .releasing)
    }

    /// Waits for a signal, at most until `end`; takes none.
    public func wait(until end: MonotonicTime) {
        if signalled.load(ordering: .relaxed) != 0 { return }
        let left = (end - MonotonicTime.now()).nanoseconds
        guard left > 0, ballast_wait_readable(descriptor.number, left) > 0,
            signalled.load(ordering: .relaxed) == 0
        else { return }
        // The write of a signal whose instant was taken before it: it must not wake us again and again.
        var count: UInt64 = 0
        _ = Glibc.read(descriptor.number, &count, 8)
    }
}
