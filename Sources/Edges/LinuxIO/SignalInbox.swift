import Glibc

/// The signals that end the process or tell it to read its configuration anew, taken by one thread in its own
/// time.
public struct SignalInbox: Sendable {
    private var set = sigset_t()

    /// Blocks SIGTERM and SIGINT in the calling thread and in those it starts later. To be made
    /// first.
    ///
    /// - Parameter reloads: SIGHUP comes too; otherwise it is ignored.
    public init(reloads: Bool = false) {
        sigemptyset(&set)
        for signal in [SIGTERM, SIGINT] + (reloads ? [SIGHUP] : []) { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A terminal that closes, or a peer that is gone, is no reason to end.
        if !reloads { signal(SIGHUP, SIG_IGN) }
        signal(SIGPIPE, SIG_IGN)
    }

    /// The next signal's number, or `nil` after `timeout` without one.
    public func wait(timeout: Duration) -> CInt? {
        var time = timespec(
            tv_sec: Int(timeout.components.seconds),
            tv_nsec: Int(timeout.components.attoseconds / 1_000_000_000))
        var waited = set
        let number = sigtimedwait(&waited, nil, &time)
        return number > 0 ? number : nil
    }
}
