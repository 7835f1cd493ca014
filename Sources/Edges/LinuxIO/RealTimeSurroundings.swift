import CLinux
import Glibc

/// What the machine says of real time, as far as the daemon's sandbox lets it see.
public enum RealTimeSurroundings {
    private static let raisesPriority: UInt64 = 1 << 23

    /// Whether this process has CAP_SYS_NICE.
    static var mayRaise: Bool {
        guard let line = line("CapEff:", in: "/proc/self/status"),
            let word = line.split(whereSeparator: \.isWhitespace).last,
            let set = UInt64(word, radix: 16)
        else { return geteuid() == 0 }
        return set & raisesPriority != 0
    }

    /// Microseconds of real time that the CPU control group gets; `nil` where the kernel has no such limit.
    static var groupRuntime: Int64? {
        for entry in (text("/proc/self/cgroup") ?? "").split(separator: "\n") {
            let parts = entry.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[1].split(separator: ",").contains("cpu") else { continue }
            for mount in ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/\(parts[1])"] {
                let found = text("\(mount)\(parts[2])/cpu.rt_runtime_us").flatMap(number)
                if let found { return found }
            }
        }
        return nil
    }

    /// What limits a thread that was granted real time.
    public static func notes() -> [String] {
        var notes: [String] = []
        if ballast_processor_count() == 1 { notes.append("one processor only: everything shares it") }
        let folder = "/proc/sys/kernel/"
        if let runtime = text(folder + "sched_rt_runtime_us").flatMap(number), runtime >= 0,
            let period = text(folder + "sched_rt_period_us").flatMap(number), period > 0
        {
            notes.append("throttled to \(runtime * 100 / period) % of each \(period / 1_000) ms")
        }
        if let runtime = groupRuntime { notes.append("control group: \(runtime) µs of real time a second") }
        return notes
    }

    private static func number(_ text: String) -> Int64? {
        text.split(whereSeparator: \.isWhitespace).first.flatMap { Int64($0) }
    }

    private static func line(_ prefix: String, in path: String) -> Substring? {
        text(path)?.split(separator: "\n").first { $0.hasPrefix(prefix) }
    }

    private static func text(_ path: String) -> String? { TextFile.read(path) }
}

/// A short file of the kernel's, which tells no size beforehand.
public enum TextFile {
    /// The text, at most `limit` bytes of it; `nil` where it cannot be read.
    public static func read(_ path: String, limit: Int = 1 << 20) -> String? {
        let number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let file = FileDescriptor(owning: number)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while bytes.count < limit {
            let count = Glibc.read(file.number, &chunk, chunk.count)
            if count < 0 { return nil }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
