import Quantities
import Synchronization

/// One line on its way to the log, with where and when it was written.
public struct LogLine: Sendable {
    public let record: LogRecord
    public let file: StaticString
    public let line: UInt
    public let function: StaticString
    /// Milliseconds since 1970-01-01 00:00 UTC.
    public let wallMilliseconds: Int64
    /// The same moment on the clock that nobody sets.
    public let monotonic: MonotonicTime

    public init(
        record: LogRecord, file: StaticString, line: UInt, function: StaticString, wallMilliseconds: Int64,
        monotonic: MonotonicTime = .now()
    ) {
        self.record = record
        self.file = file
        self.line = line
        self.function = function
        self.wallMilliseconds = wallMilliseconds
        self.monotonic = monotonic
    }
}

/// Lines for a log that may stand still: who writes never waits, a thread of its own delivers. What finds no
/// room is counted by its event and said later; a line that must be kept always finds room.
public final class LogQueue: Sendable {
    /// A busy hour of a large site.
    public static let capacity = 1_024

    /// What found no room.
    public struct Lost: Sendable, Equatable {
        public internal(set) var count: UInt64 = 0
        /// By `BALLAST_EVENT`.
        public internal(set) var events: [String: UInt64] = [:]

        /// `12 lines: 10 mode, 2 link_down`, the most frequent first.
        public var text: String {
            let names = events.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            return "\(count) lines: " + names.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        }
    }

    private struct State: Sendable {
        var lines: [LogLine] = []
        /// Of those that may be dropped.
        var ordinary = 0
        var lost = Lost()
        var isDelivering = false
    }

    private let state = Mutex(State())

    public init() {}

    public func put(_ line: LogLine) {
        state.withLock { state in
            if !line.record.mustBeKept {
                guard state.ordinary < Self.capacity else {
                    state.lost.count += 1
                    let event = line.record.fields.first { $0.name == "BALLAST_EVENT" }?.value
                    state.lost.events[event ?? "other", default: 0] += 1
                    return
                }
                state.ordinary += 1
            }
            state.lines.append(line)
        }
    }

    /// Everything that waits, oldest first, and what found no room since the last call. The taker has
    /// delivered it once it calls again.
    public func take() -> (lines: [LogLine], lost: Lost) {
        state.withLock { state in
            let taken = (state.lines, state.lost)
            state.isDelivering = !state.lines.isEmpty || state.lost.count > 0
            (state.lines, state.ordinary, state.lost) = ([], 0, Lost())
            return taken
        }
    }

    /// Whether every line has been delivered.
    public var isIdle: Bool { state.withLock { $0.lines.isEmpty && $0.lost.count == 0 && !$0.isDelivering } }
}
