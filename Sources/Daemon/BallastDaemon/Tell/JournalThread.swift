import LinuxIO
import Quantities
import SiteEvents

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
    ///
    /// - Parameter outbox: gets every event as it is written, whether the log stands still or not.
    static func started(_ onlookers: Onlookers, outbox: EventOutbox? = nil) -> Journal {
        let queue = LogQueue()
        let outlet: @Sendable (LogLine) -> Void = { line in outbox?.put(line) }
        let direct = Journal(messageIDs: EventTable.messageIDs, outlet: outlet)
        do throws(SystemError) {
            _ = try SystemThread(name: "journal") {
                RealTime.leave()
                var thread = JournalThread(direct, queue, onlookers)
                thread.run()
            }
        } catch {
            return direct
        }
        return Journal(messageIDs: EventTable.messageIDs, queue: queue, outlet: outlet)
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
                        .logLost, "the log stood still and had no room for \(lost.text)",
                        [.value: "\(lost.count)"]))
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
                        .threadStalled,
                        "thread \(beat.name) stands still for more than \(Onlookers.patience) s; control goes on",
                        [.cause: beat.name])
                    : LogRecord(.threadBack, "thread \(beat.name) goes on", [.cause: beat.name]))
        }
        told = standing
    }
}
