import CSystemd
import Glibc
import Quantities

/// One line for the journal: a text for people and fields for machines.
public struct LogRecord: Sendable {
    /// As in syslog: 0 emergency … 7 debug.
    public enum Priority: Int, Sendable {
        case alert = 1
        case critical = 2
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6

        var name: StaticString {
            switch self {
            case .alert: "ALERT"
            case .critical: "CRITICAL"
            case .error: "ERROR"
            case .warning: "WARNING"
            case .notice: "NOTICE"
            case .info: "INFO"
            }
        }
    }

    public var priority: Priority
    public var text: String
    /// Upper-case names with their values, for example `BALLAST_UNIT=BESS_02`.
    public var fields: [(name: String, value: String)]

    public init(_ priority: Priority, _ text: String, fields: [(name: String, value: String)] = []) {
        self.priority = priority
        self.text = text
        self.fields = fields
    }
}

/// The systemd journal where there is one; readable lines on standard error otherwise.
public struct Journal: Sendable {
    public let isConnected: Bool
    /// The `MESSAGE_ID` of each event, by the value of its field `BALLAST_EVENT`.
    private let messageIDs: [String: String]

    /// Looks once whether standard error leads to the journal, as systemd says in `JOURNAL_STREAM`: a daemon
    /// started by hand speaks to the person who started it.
    public init(messageIDs: [String: String] = [:]) {
        self.messageIDs = messageIDs
        var status = stat()
        guard let stream = getenv("JOURNAL_STREAM"), fstat(2, &status) == 0 else {
            isConnected = false
            return
        }
        isConnected = String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }

    public func write(
        _ record: LogRecord, file: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) {
        if isConnected && send(record, file, line, function) { return }
        var text = WallClock.text(milliseconds: WallClock.nowMilliseconds())
        text += " \(record.priority.name) \(record.text)"
        if !record.fields.isEmpty {
            text += " [" + record.fields.map { "\($0.name)=\($0.value)" }.joined(separator: " ") + "]"
        }
        text += "\n"
        var bytes = Array(text.utf8)
        bytes.withUnsafeMutableBytes { _ = Glibc.write(2, $0.baseAddress, $0.count) }
    }

    private func send(
        _ record: LogRecord, _ file: StaticString, _ line: UInt, _ function: StaticString
    ) -> Bool {
        var entries = ["MESSAGE=\(record.text)", "PRIORITY=\(record.priority.rawValue)"]
        entries += record.fields.map { "\($0.name)=\($0.value)" }
        if let event = record.fields.first(where: { $0.name == "BALLAST_EVENT" })?.value,
            let identifier = messageIDs[event]
        {
            entries.append("MESSAGE_ID=\(identifier)")
        }
        var bytes: [UInt8] = []
        var ends: [Int] = []
        for entry in entries {
            bytes.append(contentsOf: entry.utf8)
            ends.append(bytes.count)
        }
        return bytes.withUnsafeMutableBytes { buffer -> Bool in
            guard let base = buffer.baseAddress else { return false }
            var start = 0
            var vectors: [iovec] = []
            for end in ends {
                vectors.append(iovec(iov_base: base + start, iov_len: end - start))
                start = end
            }
            return sd_journal_sendv_with_location(
                "CODE_FILE=\(file)", "CODE_LINE=\(line)", "\(function)", vectors, CInt(vectors.count)) >= 0
        }
    }
}

/// Messages to the service manager; silent where there is none.
public enum ServiceManager {
    /// Everything is up. `status` is one line for `systemctl status`.
    public static func ready(status: String) { _ = sd_notify(0, "READY=1\nSTATUS=\(status)") }
    public static func status(_ status: String) { _ = sd_notify(0, "STATUS=\(status)") }
    /// The configuration is being read anew; `ready` ends it.
    public static func reloading() {
        _ = sd_notify(0, "RELOADING=1\nMONOTONIC_USEC=\(MonotonicTime.now().nanoseconds / 1_000)")
    }
    public static func feedWatchdog() { _ = sd_notify(0, "WATCHDOG=1") }
    public static func stopping() { _ = sd_notify(0, "STOPPING=1") }

    /// How often the manager wants to be fed, in microseconds; `nil` where no watchdog is set.
    public static func watchdogMicroseconds() -> UInt64? {
        var microseconds: UInt64 = 0
        return sd_watchdog_enabled(0, &microseconds) > 0 ? microseconds : nil
    }
}
