/// Whether a process that still holds something will ever run its program again.
public enum ProcessLife {
    /// A process that was killed while one of its threads waits in the kernel for a device keeps its files,
    /// and the locks on them, until that wait ends; none of its own code runs any more. `false` where it
    /// lives, where there is none of that number, and where nothing can be seen of it.
    public static func isOver(_ process: Int) -> Bool {
        // The main thread of a program of ours ends only with all of it.
        if let state = state("/proc/\(process)/stat") { if state == "Z" || state == "X" { return true } }
        let threads = Folder.names("/proc/\(process)/task")
        return !threads.isEmpty && threads.allSatisfy { isKilled("/proc/\(process)/task/\($0)") }
    }

    private static func state(_ path: String) -> Character? {
        guard let text = text(path), let end = text.lastIndex(of: ")") else { return nil }
        return text[text.index(after: end)...].first { $0 != " " }
    }

    /// A thread that waits with SIGKILL before it does not come back to its program.
    private static func isKilled(_ path: String) -> Bool {
        if let state = state(path + "/stat"), state == "Z" || state == "X" { return true }
        guard
            let line = text(path + "/status")?.split(separator: "\n").first(where: { $0.hasPrefix("SigPnd:") }
            ),
            let word = line.split(whereSeparator: { $0 == "\t" || $0 == " " }).last,
            let pending = UInt64(word, radix: 16)
        else { return false }
        return pending & 1 << 8 != 0
    }

    private static func text(_ path: String) -> String? {
        // What cannot be read tells nothing.
        let bytes = try? DurableFile.read(path, limit: 65_536)
        return bytes.flatMap { $0 }.map { String(decoding: $0, as: UTF8.self) }
    }
}
