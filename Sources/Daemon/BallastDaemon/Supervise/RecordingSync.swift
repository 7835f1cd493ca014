import Glibc
import LinuxIO
import Quantities
import SiteEvents
import Synchronization

/// Brings what was written of a recording to the disk, once a second, on a thread of its own: a card that
/// takes its time holds neither the cycle nor the thread that writes.
final class RecordingSync: Sendable {
    private static let interval = Duration.seconds(1)
    /// What a power cut may take: the interval, what waits to be written, and this for the disk.
    private static let patience = Duration.milliseconds(900)

    private struct Desk: Sendable {
        /// Copies of the writer's descriptors, ours to close. The last one is written on.
        var files: [CInt] = []
        var count = 0
    }

    private let desk = Mutex(Desk())
    private let journal: Journal
    private let place: String
    private let stop = StopFlag()

    init(_ place: String, journal: Journal) {
        self.place = place
        self.journal = journal
    }

    /// The recording goes on in this file; `nil` = in none that is to be synced. What stands in those before
    /// is synced once more.
    func follow(_ file: CInt?) {
        let copy = file.map { fcntl($0, F_DUPFD_CLOEXEC, 0) } ?? -1
        desk.withLock { desk in
            if desk.files.isEmpty || desk.files.last != -1 || copy >= 0 { desk.files.append(copy) }
        }
    }

    /// How often a file was synced since this was asked last.
    func takeCount() -> Int {
        desk.withLock { desk in
            defer { desk.count = 0 }
            return desk.count
        }
    }

    func end() { stop.raise() }

    func run() {
        var isSlow = false
        while true {
            let isLast = stop.isRaised
            let (files, begun) = (desk.withLock { $0.files }, MonotonicTime.now())
            var synced = 0
            for file in files where file >= 0 {
                // A disk that fails is told by whoever writes to it.
                if fdatasync(file) == 0 { synced += 1 }
            }
            desk.withLock { desk in
                desk.count += synced
                desk.files.removeFirst(max(0, min(files.count, desk.files.count) - 1))
            }
            for file in files.dropLast() where file >= 0 { close(file) }
            let took = MonotonicTime.now() - begun
            if took > Self.patience, !isSlow {
                journal.write(
                    LogRecord(
                        .stateNotSaved,
                        "\(place): the disk took \(took.milliseconds) ms: so much more of the recording is lost with the power"
                    ))
            }
            isSlow = took > Self.patience
            if isLast { return }
            (begun + max(Self.interval, took)).sleep()
        }
    }
}
