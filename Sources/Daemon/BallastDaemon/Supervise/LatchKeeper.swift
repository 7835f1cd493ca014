import LinuxIO
import Quantities
import Recorder
import Synchronization

/// Keeps the latches in one slot file, on a thread of its own that logs nothing and waits for nobody but its
/// disk. Trips and holds come straight from the cycle; what else stands in the record, from the main thread.
final class LatchKeeper: Sendable {
    /// What is known of the disk.
    struct Report: Sendable, BitwiseCopyable {
        /// The newest that is on disk; a later cycle that says the same is on disk too.
        var saved = LatchImage()
        /// Of the last write; `nil` where it went well.
        var code: CInt?
        /// The newest of the main thread's records that is on disk; see `update`. `nil` before a first write.
        var version: UInt64?
    }

    private static let pause = Duration.milliseconds(5)
    /// What the disk refuses is tried again so often.
    static let retry = Duration.milliseconds(200)
    /// The proof beside the latches is renewed so often: it tells the next start that the disk took
    /// everything until then.
    static let proof = Duration.seconds(10)

    private struct Template: Sendable {
        var record: LatchRecord
        var version: UInt64 = 0
    }

    private let template: Mutex<Template>
    private let reports = TripleBuffer(Report())
    private let stop = StopFlag()
    let beat: Beat

    /// - Parameter record: its first entries are of the units of the site, in their order.
    init(_ record: LatchRecord, beat: Beat) {
        template = Mutex(Template(record: record))
        self.beat = beat
    }

    /// What the cycle does not tell: details, absences, the site's stop.
    ///
    /// - Returns: its number, by which the report says that it is on disk.
    @discardableResult
    func update(_ record: LatchRecord) -> UInt64 {
        template.withLock { template in
            guard template.record != record else { return template.version }
            template.record = record
            template.version += 1
            return template.version
        }
    }

    /// The main thread's end.
    func reader() -> TripleBufferReader<Report> { reports.reader() }

    /// Ends `run` after one more write of what is newest.
    func end() { stop.raise() }

    /// - Parameter images: the cycle's.
    func run(_ images: consuming TripleBufferReader<LatchImage>, _ place: consuming LatchPlace) {
        var told = reports.writer()
        var report = Report()
        var written: LatchRecord?
        var tried: LatchRecord?
        var due = MonotonicTime(nanoseconds: 0)
        while true {
            let isLast = stop.isRaised
            beat.turn()
            images.update()
            let image = images.latest.pointee
            let template = template.withLock { $0 }
            let now = MonotonicTime.now()
            if image.cycle > 0 {
                let record = image.applied(to: template.record)
                var isProofDue = now >= due || isLast
                // What was refused is tried again at once where it has changed, otherwise after a while.
                if written != record, tried != record || isProofDue {
                    report.code = place.write(record, order: image.cycle + template.version)
                    tried = record
                    isProofDue = report.code == nil
                    if isProofDue { written = record } else { due = now + Self.retry }
                }
                if written == record {
                    report.saved = image
                    report.version = template.version
                }
                // Nobody waits for the proof to hear what stands on disk.
                told.publish(report)
                if isProofDue {
                    report.code = place.prove()
                    due = now + (report.code == nil ? Self.proof : Self.retry)
                    told.publish(report)
                }
            }
            if isLast { return }
            (now + Self.pause).sleep()
        }
    }
}

/// Judges whether what the cycle has latched is on disk. A value type; the main thread asks it each turn.
struct LatchWatch {
    enum Outcome: Equatable {
        case notSaved(String)
        case saved
    }

    /// After it a trip is told as not saved.
    static let limit = Duration.milliseconds(100)
    /// A disk that has not answered for so long is told of though nothing new is latched.
    static let silence = Duration.seconds(5)

    /// Whether the newest that the cycle has latched is on disk, and the disk still answers.
    private(set) var isSaved = true
    /// The newest cycle whose latches are on disk.
    private(set) var savedCycle: UInt64 = 0
    private var differsSince: MonotonicTime?
    private var movedAt: MonotonicTime?
    private var lookedAt: MonotonicTime?
    private var isTold = false

    /// - Parameters:
    ///   - image: of the newest decision.
    ///   - report: the keeper's newest.
    /// - Returns: what people are to be told, once.
    mutating func look(
        _ image: LatchImage, _ report: LatchKeeper.Report, at now: MonotonicTime
    ) -> Outcome? {
        // Where nobody has looked meanwhile, the disk was not asked either.
        let hasStoodStill = lookedAt.map { now - $0 >= Self.limit * 5 } ?? true
        lookedAt = now
        if report.saved.cycle != savedCycle || hasStoodStill { movedAt = now }
        savedCycle = report.saved.cycle
        let isSame = report.saved.cycle > 0 && image.saysTheSame(as: report.saved)
        differsSince = isSame ? nil : hasStoodStill ? now : differsSince ?? now
        let isLate = differsSince.map { now - $0 >= Self.limit } ?? false
        let isSilent = movedAt.map { now - $0 >= Self.silence } ?? false
        // What stands there is whole; whether the next would come to stand there is what a refused proof
        // tells.
        isSaved = isSame && !isSilent && report.code == nil
        guard isLate || isSilent || report.code != nil else {
            guard isTold, isSame else { return nil }
            isTold = false
            return .saved
        }
        guard !isTold else { return nil }
        isTold = true
        let why = report.code.map { "\(SystemError("write", code: $0))" } ?? "the disk does not answer"
        return .notSaved(why)
    }

    /// Whether the status must wait: what the cycle has latched may yet be on disk in time.
    func mustWait(at now: MonotonicTime) -> Bool { differsSince.map { now - $0 < Self.limit } ?? false }
}
