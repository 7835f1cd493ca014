import LinuxIO
import Quantities

/// Delivers the lines of all threads, on one that may wait for the log for ever; and says which threads stand
/// still, since it depends on none of them.
struct JournalThread {
    /// Without a queue: what it writes it delivers.
    private let journal: Journal
    private let queue: LogQueue
    private let onlookers: Onlookers
    private var told: UInt64 = 0

    init(_ journal: Journal, _ queue: LogQueue, _ onlookers: Onlookers) {
        self.journal = journal
        self.queue = queue
        self.onlookers = onlookers
    }

    /// Starts it; it ends with the process. Where there is no thread to be had each line is delivered by who
    /// writes it.
    static func started(_ onlookers: Onlookers) -> Journal {
        let queue = LogQueue()
        let direct = Journal(messageIDs: EventCatalog.messageIDs)
        do throws(SystemError) {
            _ = try SystemThread(name: "journal") {
                RealTime.leave()
                var thread = JournalThread(direct, queue, onlookers)
                thread.run()
            }
        } catch {
            return direct
        }
        return Journal(messageIDs: EventCatalog.messageIDs, queue: queue)
    }

    private mutating func run() {
        while true {
            onlookers.journal.turn()
            let (lines, lost) = queue.take()
            for line in lines {
                journal.deliver(line)
                onlookers.journal.turn()
            }
            if lost.count > 0 {
                journal.write(
                    LogRecord(
                        .error, "the log stood still and had no room for \(lost.text)",
                        fields: [("BALLAST_EVENT", "log_lost"), ("BALLAST_VALUE", "\(lost.count)")]))
            }
            sayStanding()
            (MonotonicTime.now() + .milliseconds(5)).sleep()
        }
    }

    private mutating func sayStanding() {
        let standing = onlookers.standing
        guard standing != told else { return }
        for (index, beat) in onlookers.all.enumerated() where (standing ^ told) & (1 << UInt64(index)) != 0 {
            let isStill = standing & (1 << UInt64(index)) != 0
            journal.write(
                isStill
                    ? LogRecord(
                        .critical,
                        "thread \(beat.name) stands still for more than \(Onlookers.patience) s; control goes on",
                        fields: [("BALLAST_EVENT", "thread_stalled"), ("BALLAST_CAUSE", beat.name)])
                    : LogRecord(
                        .notice, "thread \(beat.name) goes on",
                        fields: [("BALLAST_EVENT", "thread_back"), ("BALLAST_CAUSE", beat.name)]))
        }
        told = standing
    }
}
