import CANBus
import Control
import ControlSocket
import Glibc
import LinuxIO
import ModbusBus
import Plant
import Quantities
import Recorder
import SiteConfig
import SiteEvents
import YAMLText

/// The controller as a process.
public enum Daemon {
    /// Why the daemon did not start; one line for people.
    public struct StartFailure: Error, CustomStringConvertible {
        public let description: String
        /// The configuration is at fault: starting again will not help.
        public var isConfiguration = false
    }

    /// Says why the daemon does not start.
    public static func refuse(_ failure: StartFailure) {
        let journal = JournalThread.started(Onlookers())
        journal.write(
            LogRecord(.notStarted, "not started: \(failure.description)"))
        journal.flush(within: .seconds(2))
        ServiceManager.status("not started: \(failure.description)")
    }

    /// Reads and checks a configuration file.
    public static func load(_ path: String) throws(StartFailure) -> SiteConfig {
        try CheckedSite(path: path).config
    }

    /// What stands in a schedule's file.
    static func scheduleBytes(_ path: String) throws(StartFailure) -> [UInt8] {
        let bytes: [UInt8]?
        do {
            bytes = try DurableFile.read(path, limit: 16 << 20)
        } catch {
            throw StartFailure(description: "\(path): \(error)", isConfiguration: true)
        }
        guard let bytes else {
            throw StartFailure(description: "\(path): no such file", isConfiguration: true)
        }
        return bytes
    }

    /// Checks a schedule; a power beyond `limit` either way is refused.
    static func schedule(_ bytes: [UInt8], file: String, limit: Watts) throws(StartFailure) -> Schedule {
        do {
            return try Schedule.read(String(decoding: bytes, as: UTF8.self), file: file, limit: limit)
        } catch {
            throw StartFailure(description: "\(error)", isConfiguration: true)
        }
    }

    /// Runs a site until SIGTERM or SIGINT.
    ///
    /// - Parameter door: socket for `ballast-door` alone; `nil` = people ask at the configuration's socket.
    public static func run(_ checked: CheckedSite, behindDoor door: String? = nil) throws(StartFailure) {
        let config = checked.config
        let signals = SignalInbox(reloads: true)
        let onlookers = Onlookers()
        let outbox = EventOutbox(mode: config.mode.rawValue)
        let journal = JournalThread.started(onlookers, outbox: outbox)
        // A log that stands still keeps no process from ending.
        defer { journal.flush(within: .seconds(2)) }
        Accounts.learnNames()
        let directory = config.paths.stateDirectory
        let lock = try prepare(directory, mode: config.mode)
        guard ClockWatch.advances() else {
            throw StartFailure(description: "the monotonic clock does not advance: nothing would ever expire")
        }
        let search = LatchPlaces(config).search()
        let former = RunRecord.read(RunRecord.path(in: directory))
        let latches = Latches.restore(
            search.finding, path: LatchRecord.path(in: directory), config,
            hasRun: former != .missing || hasRun(in: directory), damage: search.damage)
        let restart = Restart.judge(
            former,
            hasRun: search.finding != .missing || hasRun(in: directory), doubt: search.doubt,
            resumes: config.control.resumesAfterRestart,
            wallSeconds: WallClock.nowMilliseconds() / 1_000)
        if search.isCopyAlone, let doubt = search.doubt {
            journal.write(LogRecord(.latchRecord, doubt, [.cause: doubt], as: .critical))
        }
        for note in latches.notes + restart.notes { journal.write(note) }
        for risk in config.accepted { journal.write(accepted(risk, site: config.siteID)) }
        let busStop = StopFlag()
        let epoch = MonotonicTime.now() + .milliseconds(50)
        let site: SiteAssembly
        do {
            site = try SiteAssembly(
                config, profiles: checked.profiles, drivers: checked.drivers, latches: latches.record,
                hold: restart.hold, epoch: epoch, stop: busStop)
        } catch {
            throw StartFailure(description: "a Modbus link cannot be made: \(error)")
        }
        let server = try controlServer(door ?? config.paths.controlSocket, isBehindDoor: door != nil)
        // Before anything may have power: a run that nobody knows of would not be missed.
        try write(restart.record, in: directory)
        let areLatchesSaved = try Threads.serve(
            site, server: server, journal: journal, outbox: outbox, onlookers: onlookers, busStop: busStop,
            latches: latches, search: search, checked: checked, signals: signals)
        end(restart.record, in: directory, areLatchesSaved: areLatchesSaved, journal)
        RecorderThread.keepLast(outbox, in: directory)
        withExtendedLifetime(lock) {}
    }

    private static func accepted(_ risk: AcceptedRisk, site: String) -> LogRecord {
        LogRecord(.riskAccepted, "RISK ACCEPTED: \(risk.text)", [.site: site, .cause: risk.risk.rawValue])
    }

    private static func controlServer(
        _ path: String, isBehindDoor: Bool
    ) throws(StartFailure) -> ControlServer {
        do {
            try DurableFile.createDirectories(folder(of: path))
            return try ControlServer(path: path, isBehindDoor: isBehindDoor)
        } catch {
            throw StartFailure(description: "control socket \(path): \(error)")
        }
    }

    /// Makes the state folder and keeps a second daemon away from it.
    private static func prepare(
        _ directory: String, mode: SiteConfig.Mode
    ) throws(StartFailure) -> ProcessLockBox {
        do {
            try DurableFile.createDirectories(directory)
            if mode.rules.isWhole, DiskProbe.isInMemory(directory) {
                throw StartFailure(
                    description: "state directory \(directory) is in memory: latched trips would be lost",
                    isConfiguration: true)
            }
            guard let lock = try ProcessLock.take(directory + "/lock") else {
                throw StartFailure(description: "another ballastd runs with \(directory)")
            }
            do throws(SystemError) { try lock.note(process: Int(getpid())) } catch {
                // On a full disk: a lock without a name holds as well.
            }
            return ProcessLockBox(lock)
        } catch let failure as StartFailure {
            throw failure
        } catch {
            throw StartFailure(description: "state directory \(directory): \(error)")
        }
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "." }
        return String(path[..<slash])
    }
}

/// Holds the lock until the process ends.
final class ProcessLockBox {
    private let lock: ProcessLock
    init(_ lock: consuming ProcessLock) { self.lock = lock }
}
