import Glibc
import Interlocks
import LinuxIO
import Recorder
import SiteEvents

/// What follows from how the run before this one has ended.
struct Restart {
    /// To be written before anything may have power.
    var record: RunRecord
    /// What keeps every unit from starting by itself.
    var hold: UnitHold
    /// What people must be told at the start.
    var notes: [LogRecord]

    /// So many in `window` seconds are too many to start by itself.
    static let most = 3
    static let window: Int64 = 600
    /// 2024-01-01: a clock before it has not been set.
    private static let epoch: Int64 = 1_704_067_200

    /// A start without a record is the first one, and a planned one, but not beside what a run leaves: a
    /// daemon has run here, and nobody knows how it ended.
    ///
    /// - Parameters:
    ///   - hasRun: whether latches stand there, or anything else that a run leaves.
    ///   - doubt: why the last run may have latched what stands nowhere: no setting helps then.
    ///   - resumes: whether units may run again by themselves (`resume_after_restart`).
    ///   - wallSeconds: now, seconds since 1970-01-01 00:00 UTC.
    static func judge(
        _ finding: RunRecord.Finding, hasRun: Bool = false, doubt: String? = nil, resumes: Bool,
        wallSeconds: Int64
    ) -> Restart {
        switch finding {
        case .missing where hasRun:
            return unplanned(
                [], hold: .afterRestart, "the run record is missing where a daemon has run", wallSeconds)
        case .missing:
            return Restart(record: RunRecord(isRunning: true, restarts: []), hold: .none, notes: [])
        case .read(let former) where !former.isRunning:
            return Restart(
                record: RunRecord(isRunning: true, restarts: former.restarts), hold: .none, notes: [])
        case .unreadable(let why):
            // How often it has happened is not known, so that no setting helps.
            return unplanned([], hold: .afterRestart, why, wallSeconds)
        case .read(let former):
            let count = 1 + former.restarts.count { counts($0, wallSeconds) }
            let why =
                "the last run did not end in order; time \(count) in \(window / 60) minutes"
                + (doubt.map { "; \($0)" } ?? "")
            let isTooOften = count >= most
            let mayResume = resumes && doubt == nil
            let hold: UnitHold = isTooOften ? .repeatedRestarts : (mayResume ? .none : .afterRestart)
            return unplanned(former.restarts, hold: hold, why, wallSeconds)
        }
    }

    /// Whether a restart lies in the window. One whose age the clock cannot tell, since it stood elsewhere
    /// then or now, does.
    private static func counts(_ restart: Int64, _ now: Int64) -> Bool {
        restart < epoch || now < epoch || restart > now || now - restart <= window
    }

    private static func unplanned(
        _ former: [Int64], hold: UnitHold, _ why: String, _ now: Int64
    ) -> Restart {
        let what =
            hold.isEmpty
            ? "units enter service by themselves (resume_after_restart)"
            : "units are held until 'ballastctl resume'"
        let note = LogRecord(.unplannedRestart, "unplanned restart: \(why); \(what)", [.cause: why])
        return Restart(
            record: RunRecord(isRunning: true, restarts: former + [now]), hold: hold, notes: [note])
    }
}

extension Daemon {
    /// Whether a run has left its counters or its spool here: those of a site that a person has just made
    /// are not there.
    static func hasRun(in directory: String) -> Bool {
        [EnergyBook.name, "spool"].contains { access(directory + "/" + $0, F_OK) == 0 }
    }

    /// Puts on disk that this run has ended in order, where all that it has latched is there too.
    static func end(_ record: RunRecord, in directory: String, areLatchesSaved: Bool, _ journal: Journal) {
        guard areLatchesSaved else {
            let text = "what is latched is not on disk, so the next start counts as unplanned"
            return journal.write(
                LogRecord(.latchesNotSaved, text, as: .error))
        }
        do throws(StartFailure) {
            try write(RunRecord(isRunning: false, restarts: record.restarts), in: directory)
        } catch {
            let text = "the orderly end is not on disk, the next start counts as unplanned: \(error)"
            journal.write(LogRecord(.latchesNotSaved, text, as: .error))
        }
    }

    /// Puts on disk that a daemon runs here, or that it has ended in order.
    static func write(_ record: RunRecord, in directory: String) throws(StartFailure) {
        do throws(SystemError) {
            try record.write(in: directory, wallSeconds: WallClock.nowMilliseconds() / 1_000)
        } catch {
            throw StartFailure(description: "state directory \(directory): \(error)")
        }
    }
}
