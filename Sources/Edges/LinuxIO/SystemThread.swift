import CLinux
import Glibc
import Quantities
import Synchronization

/// A thread of the operating system: no Swift concurrency stands between it and the scheduler.
public final class SystemThread: Sendable {
    private let handle: pthread_t
    private let end: End

    private final class End: Sendable {
        let isReached = Atomic<Bool>(false)
        let isJoined = Atomic<Bool>(false)
    }

    private final class Body {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    /// Starts `body` on a thread called `name` (at most 15 bytes are kept). It takes over what it captures.
    public init(name: String, _ body: sending @escaping () -> Void) throws(SystemError) {
        var thread = pthread_t()
        let shortName = String(name.prefix(15))
        let end = End()
        let context = Unmanaged.passRetained(
            Body {
                _ = ballast_set_thread_name(shortName)
                body()
                end.isReached.store(true, ordering: .releasing)
            })
        let code = pthread_create(
            &thread, nil,
            { pointer in
                guard let pointer else { return nil }
                Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            throw SystemError("pthread_create", code: code)
        }
        handle = thread
        self.end = end
    }

    /// Waits until the thread has ended; once.
    public func join() {
        pthread_join(handle, nil)
        end.isJoined.store(true, ordering: .relaxed)
    }

    /// One that nobody has waited for goes on, and leaves nothing behind.
    deinit { if !end.isJoined.load(ordering: .relaxed) { pthread_detach(handle) } }

    /// The same, but not for ever.
    ///
    /// - Returns: whether it has ended.
    public func join(until limit: MonotonicTime) -> Bool {
        while !end.isReached.load(ordering: .acquiring) {
            if MonotonicTime.now() >= limit { return false }
            (MonotonicTime.now() + .milliseconds(2)).sleep()
        }
        join()
        return true
    }
}
