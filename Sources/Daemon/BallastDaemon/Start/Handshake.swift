import LinuxIO
import Quantities
import Synchronization

/// What the kernel granted the cycle thread, told once to the main thread.
final class Handshake: Sendable {
    private let grant = Mutex<RealTimeGrant?>(nil)

    func answer(_ grant: RealTimeGrant) { self.grant.withLock { $0 = grant } }

    /// Waits for the answer.
    func wait() -> RealTimeGrant {
        while true {
            if let grant = grant.withLock({ $0 }) { return grant }
            (MonotonicTime.now() + .milliseconds(1)).sleep()
        }
    }
}
