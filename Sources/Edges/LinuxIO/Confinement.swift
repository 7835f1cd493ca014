import CLinux
import Glibc

/// Shuts this process in before it does something with what it cannot judge.
public enum Confinement {
    /// Processor time and memory that are left to it, and how much it may write to a file.
    private static let seconds: rlim_t = 600
    private static let bytes: rlim_t = 8 << 30
    private static let output: rlim_t = 64 << 20

    /// From here on the process can write to what it has open, take memory and end, and nothing else: it
    /// opens no file, sends nothing, starts nothing, and runs no code but its own. Nothing takes this back.
    public static func enter() throws(SystemError) {
        let limits: [(__rlimit_resource, rlim_t)] = [
            (RLIMIT_CPU, seconds), (RLIMIT_AS, bytes), (RLIMIT_FSIZE, output), (RLIMIT_CORE, 0),
        ]
        for (kind, most) in limits {
            let resource = __rlimit_resource_t(kind.rawValue)
            var limit = rlimit(rlim_cur: most, rlim_max: most)
            var now = rlimit()
            // Nothing is ever widened.
            guard getrlimit(resource, &now) == 0 else { throw SystemError.last("getrlimit") }
            limit.rlim_max = min(limit.rlim_max, now.rlim_max)
            limit.rlim_cur = min(limit.rlim_max, limit.rlim_cur)
            guard setrlimit(resource, &limit) == 0 else { throw SystemError.last("setrlimit") }
        }
        let answer = ballast_confine()
        // A positive number is a thread that could not be shut in.
        guard answer == 0 else { throw answer < 0 ? .last("seccomp") : SystemError("seccomp", code: ESRCH) }
    }
}
