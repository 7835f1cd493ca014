/// A running ballastd, as `/proc` shows it.
public struct DaemonProcess: Sendable, Equatable {
    public struct Thread: Sendable, Equatable {
        public var name: String
        /// SCHED_FIFO or SCHED_RR priority; `nil` = normal scheduling.
        public var priority: Int?
    }

    public var id: Int
    public var threads: [Thread]
    /// Kilobytes that cannot be paged out.
    public var lockedKilobytes: Int64
    public var residentKilobytes: Int64
    /// Most open files; `nil` = unlimited or unknown.
    public var fileLimit: Int64?
    public var openFiles: Int

    /// The first ballastd that runs; `nil` where none does.
    public static func find(_ machine: some MachineTexts) -> DaemonProcess? {
        for name in machine.names(in: "/proc") {
            guard let id = Int(name), machine.word("/proc/\(id)/comm") == "ballastd" else { continue }
            return DaemonProcess(machine, id)
        }
        return nil
    }

    init(_ machine: some MachineTexts, _ id: Int) {
        self.id = id
        threads = machine.names(in: "/proc/\(id)/task").compactMap { task in
            machine.text("/proc/\(id)/task/\(task)/stat").flatMap(Self.thread)
        }
        let status = machine.text("/proc/\(id)/status") ?? ""
        lockedKilobytes = Self.kilobytes("VmLck:", status)
        residentKilobytes = Self.kilobytes("VmRSS:", status)
        let limits = (machine.text("/proc/\(id)/limits") ?? "").split(separator: "\n")
        fileLimit = limits.first { $0.hasPrefix("Max open files") }
            .flatMap { $0.split(separator: " ").dropFirst(3).first }.flatMap { Int64($0) }
        openFiles = machine.names(in: "/proc/\(id)/fd").count
    }

    private static func kilobytes(_ key: String, _ status: String) -> Int64 {
        status.split(separator: "\n").first { $0.hasPrefix(key) }
            .flatMap { $0.split(whereSeparator: \.isWhitespace).dropFirst().first }.flatMap { Int64($0) } ?? 0
    }

    /// Fields 40 and 41 of `proc(5)` stat: `rt_priority` and `policy`.
    static func thread(_ stat: String) -> Thread? {
        guard let open = stat.firstIndex(of: "("), let close = stat.lastIndex(of: ")"), open < close else {
            return nil
        }
        let fields = stat[stat.index(after: close)...].split(whereSeparator: \.isWhitespace)
        // The state, field 3, is the first of these.
        guard fields.count > 38, let priority = Int(fields[37]), let policy = Int(fields[38]) else {
            return nil
        }
        let isRealTime = policy == 1 || policy == 2
        return Thread(
            name: String(stat[stat.index(after: open)..<close]), priority: isRealTime ? priority : nil)
    }
}
