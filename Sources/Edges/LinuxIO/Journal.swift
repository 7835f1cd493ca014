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
    /// The numbers of the fields for machines, neither rounded nor with their unit behind them.
    public var measured: Measured?
    /// When it happened, where that is not when the line is written.
    public var happened: Instant?
    /// It is never dropped, however long the log stands still. For what comes seldom: a trip is latched.
    public var mustBeKept = false

    /// What was seen, the limit that it passed, and the unit of both.
    public struct Measured: Sendable {
        public var value: Double?
        public var limit: Double?
        public var symbol: String?

        public init(value: Double?, limit: Double?, symbol: String?) {
            self.value = value
            self.limit = limit
            self.symbol = symbol
        }
    }

    /// The same moment on both clocks.
    public struct Instant: Sendable {
        public var monotonic: MonotonicTime
        /// Since 1970-01-01 00:00 UTC.
        public var wallMilliseconds: Int64

        public init(monotonic: MonotonicTime, wallMilliseconds: Int64) {
            self.monotonic = monotonic
            self.wallMilliseconds = wallMilliseconds
        }
    }

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
    /// `nil` = each line is delivered by who writes it.
    private let queue: LogQueue?
    /// Gets each line as it is written; it must not wait.
    private let outlet: (@Sendable (LogLine) -> Void)?

    /// Looks once whether standard error leads to the journal, as systemd says in `JOURNAL_STREAM`: a daemon
    /// started by hand speaks to the person who started it.
    public init(
        messageIDs: [String: String] = [:], queue: LogQueue? = nil,
        outlet: (@Sendable (LogLine) -> Void)? = nil
    ) {
        self.outlet = outlet
        self.messageIDs = messageIDs
        self.queue = queue
        var status = stat()
        guard let stream = getenv("JOURNAL_STREAM"), fstat(2, &status) == 0 else {
            isConnected = false
            return
        }
        isConnected = String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Never waits where there is a queue; otherwise as long as the log does.
    public func write(
        _ record: LogRecord, file: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) {
        let entry = LogLine(
            record: record, file: file, line: line, function: function,
            wallMilliseconds: WallClock.nowMilliseconds())
        outlet?(entry)
        if let queue { queue.put(entry) } else { deliver(entry) }
    }

    /// Hands a line to the log, and waits for it.
    public func deliver(_ entry: LogLine) {
        let record = entry.record
        if isConnected && send(record, entry) { return }
        // When it happened, as the black box and `trips` have it too; else when it is written.
        let at = record.happened?.wallMilliseconds ?? entry.wallMilliseconds
        var text = WallClock.text(milliseconds: at)
        text += " \(record.priority.name) \(Self.continued(record.text))"
        if !record.fields.isEmpty {
            let fields = record.fields.map { "\($0.name)=\(Self.plain($0.value))" }
            text += " [" + fields.joined(separator: " ") + "]"
        }
        text += "\n"
        var bytes = Array(text.utf8)
        bytes.withUnsafeMutableBytes { _ = Glibc.write(2, $0.baseAddress, $0.count) }
    }

    /// Waits until every line has been delivered, at most about `time`: by the kernel's own count, since the
    /// clock may be what is to be told of.
    public func flush(within time: Duration) {
        guard let queue else { return }
        for _ in 0..<max(1, Int(time.milliseconds) / 2) where !queue.isIdle { _ = poll(nil, 0, 2) }
    }

    /// A text of several lines, none of which could be taken for another record: what was asked from outside
    /// is told in the words of whoever asked.
    private static func continued(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { plain(String($0)) }
            .joined(separator: "\n  ")
    }

    /// On one line, without what a terminal would obey: `\u{1b}` for an escape.
    private static func plain(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isObeyed) else { return text }
        return text.unicodeScalars.map { isObeyed($0) ? "\\u{\(String($0.value, radix: 16))}" : String($0) }
            .joined()
    }

    /// Controls, line and paragraph separators, and marks that turn the direction of writing.
    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        case _: false
        }
    }

    private func send(_ record: LogRecord, _ entry: LogLine) -> Bool {
        var entries = ["MESSAGE=\(record.text)", "PRIORITY=\(record.priority.rawValue)"]
        entries += record.fields.map { "\($0.name)=\($0.value)" }
        if let event = record.fields.first(where: { $0.name == "BALLAST_EVENT" })?.value,
            let identifier = messageIDs[event]
        {
            entries.append("MESSAGE_ID=\(identifier)")
        }
        // The journal stamps a line when it takes it.
        let at = record.happened?.wallMilliseconds ?? entry.wallMilliseconds
        if record.happened != nil || WallClock.nowMilliseconds() - at > 1_000 {
            entries.append("BALLAST_AT=\(WallClock.text(milliseconds: at))")
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
                "CODE_FILE=\(entry.file)", "CODE_LINE=\(entry.line)", "\(entry.function)", vectors,
                CInt(vectors.count)) >= 0
        }
    }
}
