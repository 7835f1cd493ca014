import ConfigText
import Glibc
import LinuxIO
import Quantities
import SafeOutput
import SiteConfig
import SiteEvents
import SiteFile
import Synchronization
import YAMLText

/// `ballastd --safe-output`: takes every output to zero after a daemon has died. A small path of its own: it
/// starts no cycle, and needs neither a good configuration nor anything else but the plan that the daemon
/// left behind.
public struct SafeOutputRun: Sendable {
    /// How it ended, as an exit status.
    public enum Ending: Int32, Sendable {
        /// Every output was told to go to zero and said yes.
        case done = 0
        /// At least one did not answer.
        case incomplete = 1
        /// A daemon lives: the outputs are its own (EX_TEMPFAIL).
        case daemonAlive = 75
        /// Neither a plan nor a configuration (EX_CONFIG).
        case nothingKnown = 78
    }

    private static let standardDirectory = "/var/lib/ballast"
    private let start = MonotonicTime.now()
    /// Nothing waits for it before every output is at zero.
    private let journal = JournalThread.started(Onlookers())
    private let configuration: String

    /// - Parameter configuration: path of the site's file, which may be missing or wrong.
    public init(configuration: String) { self.configuration = configuration }

    /// How far the thread that asks the disk has come: it may never come back.
    private final class Progress: Sendable {
        let hasPlan = Atomic<Bool>(false)
        let ending = Mutex<Ending?>(nil)
        var hasAnswered: Bool { hasPlan.load(ordering: .acquiring) || ending.withLock { $0 != nil } }
    }

    /// A disk that does not answer for this long is not waited for.
    private static let diskPatience = Duration.seconds(1)

    public func run() -> Ending {
        defer { journal.flush(within: .seconds(2)) }
        let progress = Progress()
        do throws(SystemError) {
            _ = try SystemThread(name: "safe-plan") { [self] in
                let ending = runWithDisk(progress)
                progress.ending.withLock { $0 = ending }
            }
        } catch {
            return runWithDisk(progress)
        }
        let end = start + Self.diskPatience
        while !progress.hasAnswered, MonotonicTime.now() < end { pause() }
        if !progress.hasAnswered { runWithoutDisk() }
        let last = start + SafeOutput.patience
        while progress.hasAnswered || MonotonicTime.now() < last {
            if let ending = progress.ending.withLock({ $0 }) { return ending }
            pause()
        }
        return .incomplete
    }

    private func pause() { (MonotonicTime.now() + .milliseconds(5)).sleep() }

    /// Zero by the copy of the plan in memory, without the lock, which stands on the disk.
    private func runWithoutDisk() {
        let copy = WireBook.copy()
        let what = copy == nil ? "no copy of the plan: nobody was told" : "zero is written by the copy"
        say(.safeOutputFailed, "the disk does not answer; \(what)")
        guard let copy else { return }
        for outcome in SafeOutput.run(copy.withoutCoils, since: start) { report(outcome) }
    }

    private func runWithDisk(_ progress: Progress) -> Ending {
        let config = configurationNow()
        let endings = directories(config).map { settle($0, config, progress) }
        if endings.contains(.incomplete) { return .incomplete }
        if endings.contains(.daemonAlive) { return .daemonAlive }
        return endings.contains(.done) ? .done : .nothingKnown
    }

    private func configurationNow() -> SiteConfig? {
        do throws(ConfigErrors) {
            return try SiteConfig.load(path: configuration)
        } catch {
            say(
                .safeOutput, "\(configuration) cannot be used; the plan that the daemon left holds",
                as: .warning)
            return nil
        }
    }

    /// Where a daemon may have left its plan: the configuration may have changed since it was started.
    private func directories(_ config: SiteConfig?) -> [String] {
        var found = config.map { [$0.paths.stateDirectory] } ?? []
        if let given = getenv("STATE_DIRECTORY") {
            for path in String(cString: given).split(separator: ":").map(String.init)
            where !found.contains(path) {
                found.append(path)
            }
        }
        return found.isEmpty ? [Self.standardDirectory] : found
    }

    private func settle(_ directory: String, _ config: SiteConfig?, _ progress: Progress) -> Ending {
        let isOfConfig = config?.paths.stateDirectory == directory
        let saved = WireBook.saved(in: directory) ?? WireBook.copy()
        let isDamaged = saved == nil && access(WirePlan.path(in: directory), F_OK) == 0
        var plan = saved ?? WirePlan()
        if let config, isOfConfig { plan.fill(from: WirePlan(coilsOf: config)) }
        let lock: ProcessLock?
        do throws(SystemError) {
            lock = try ProcessLock.take(directory + "/lock")
        } catch {
            progress.hasPlan.store(true, ordering: .releasing)
            // No folder, no daemon: the lock is made before anything is driven. Beside a plan one has run:
            // what a sick disk cannot lock is driven to zero all the same.
            let isUnknown = plan.links.isEmpty && !isDamaged
            let what = isUnknown ? "no plan can be read: nothing is known" : "zero is written unlocked"
            say(.safeOutput, "\(directory): \(error): \(what)", as: .warning)
            if isUnknown { return .nothingKnown }
            return write(plan.withoutCoils, of: isOfConfig ? config : nil, isDamaged: isDamaged)
        }
        if lock == nil {
            // Killed, but a thread of it waits in the kernel for a device and keeps its files: nobody drives
            // the other links any more.
            guard ProcessLock.isHeldByTheDead(directory + "/lock") else {
                say(
                    .safeOutputIdle,
                    "a living ballastd holds \(directory)/lock and drives the outputs: nothing was written")
                return .daemonAlive
            }
            say(
                .safeOutput, "a ballastd that was killed keeps \(directory)/lock: it drives nothing",
                as: .warning)
        }
        progress.hasPlan.store(true, ordering: .releasing)
        if plan.links.isEmpty && !isDamaged {
            say(.safeOutput, "\(directory): no plan: no daemon has driven anything from here", as: .warning)
            return .nothingKnown
        }
        let ending = write(plan, of: isOfConfig ? config : nil, isDamaged: isDamaged)
        withExtendedLifetime(lock) {}
        return ending
    }

    /// - Parameter isDamaged: a daemon has left a plan that nobody can read.
    private func write(_ plan: WirePlan, of config: SiteConfig?, isDamaged: Bool) -> Ending {
        let outcomes = SafeOutput.run(plan, since: start)
        for outcome in outcomes { report(outcome) }
        sayUnmet(plan, config, isDamaged: isDamaged)
        return outcomes.allSatisfy(\.isComplete) && !isDamaged ? .done : .incomplete
    }

    /// One line for each link.
    private func report(_ outcome: SafeOutput.Outcome) {
        let first = outcome.firstWrite.map { "first write after \(milliseconds($0))" } ?? "no write went out"
        var text = "safe output, \(outcome.endpoint): "
        if !outcome.written.isEmpty {
            text += "zero acknowledged by \(outcome.written.joined(separator: ", ")); "
        }
        for opening in outcome.opened {
            text += "\(opening.owner) \(words(opening.why)) after \(milliseconds(opening.after)); "
        }
        for failure in outcome.failed {
            text += "\(failure.owner) (device \(failure.device)) \(failure.error); "
        }
        for owner in outcome.left {
            text +=
                "\(owner): its inverter may have power for longer, its contacts stay closed until its I/O"
                + " module's watchdog opens them; "
        }
        say(
            outcome.isComplete ? .safeOutput : .safeOutputFailed,
            text + "\(first), done after \(milliseconds(outcome.elapsed))")
    }

    private func words(_ why: SafeOutput.Opening) -> String {
        switch why {
        case .wereOpen: "had its coils off, seen"
        case .powerSeenAtZero: "has had its reversion and shows no power, coils off"
        case .reversionOver: "has had its reversion, coils off"
        }
    }

    /// An inverter that no daemon has ever commanded has none of our power; of one whose plan is damaged
    /// nobody knows.
    private func sayUnmet(_ plan: WirePlan, _ config: SiteConfig?, isDamaged: Bool) {
        let met = plan.links.flatMap(\.writes).filter { !$0.isCoils }
        for unit in config?.units ?? [] where !met.contains(where: { $0.owner == unit.id }) {
            let what =
                isDamaged
                ? "the plan is damaged: it was NOT told zero, its own timer ends its power"
                : "never commanded from here, left alone"
            say(isDamaged ? .safeOutputFailed : .safeOutput, "safe output, unit \(unit.id): \(what)")
        }
    }

    private func milliseconds(_ time: Duration) -> String {
        "\((Double(time.nanoseconds) / 1e5).rounded() / 10) ms"
    }

    private func say(_ event: EventName, _ text: String, as priority: LogRecord.Priority? = nil) {
        journal.write(LogRecord(event, text, as: priority))
    }
}

extension WirePlan {
    /// For those who do not know whether a daemon lives: zero harms nobody then, but a contact might part
    /// what it goes on to ask for.
    fileprivate var withoutCoils: WirePlan { filtered { _, write in !write.isCoils } }
}
