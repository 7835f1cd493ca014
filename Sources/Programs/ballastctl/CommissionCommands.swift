import ArgumentParser
import ControlSocket
import LinuxIO
import Quantities
import Recorder
import SiteConfig
import SiteFile
import SiteEvents
import YAMLText

struct Commission: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put a site into operation.", subcommands: [Init.self, Reversion.self, Frequency.self])

    struct Init: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create the record of latched trips, once, after the site was inspected.",
            discussion: """
                Needs the role service. ballastd must not run. Without the record every unit counts as tripped, in \
                every mode but simulation. A record that exists is never replaced.
                """)
        @Option(help: "The site's configuration file (YAML).") var config: String
        @OptionGroup var reason: ReasonOption

        func run() throws {
            let asker = Asker(
                userID: Accounts.ownUserID,
                role: RoleGroups.ofThisMachine().role(
                    userID: Accounts.ownUserID, groups: Accounts.ownGroupIDs))
            if let refusal = asker.refusal(of: "commission init", needing: .service) {
                throw Refusal(refusal)
            }
            if let fault = ControlRequest(.stop, reason: reason.reason).reasonFault { throw Refusal(fault) }
            let site = try SiteConfig.read(YAMLText.load(path: config), file: config)
            let units = site.units.map(\.id).joined(separator: ", ")
            let path = LatchRecord.path(in: site.paths.stateDirectory)
            let record = LogRecord(
                .commission,
                "commission init (\(asker.name)): \(path) created for \(units): \(reason.reason)",
                [
                    .site: site.siteID, .reason: reason.reason, .userID: "\(Accounts.ownUserID)",
                    .role: "service", .asked: "commission init", .via: "ballastctl",
                ])
            try create(site, path, record)
            Journal(messageIDs: EventTable.messageIDs).write(record)
            print("\(path) created: no trip is latched on \(units)")
        }

        private func create(_ site: SiteConfig, _ path: String, _ record: LogRecord) throws {
            let directory = site.paths.stateDirectory
            try DurableFile.createDirectories(directory)
            guard let lock = try ProcessLock.take(directory + "/lock") else {
                throw Refusal("ballastd runs with \(directory): stop it first")
            }
            switch LatchRecord.read(path) {
            case .read: throw Refusal("\(path) exists: the site is commissioned; nothing was changed")
            case .unreadable(let why):
                throw Refusal("\(why); inspect the site, reset with ballastctl; nothing was changed")
            case .missing: break
            }
            let entries = site.units.map { LatchRecord.Entry(unit: $0.id, trips: 0, firstOut: nil) }
            let wall = WallClock.nowMilliseconds()
            try DurableFile.replace(
                path,
                with: LatchFile.bytes(
                    first: LatchRecord(entries: entries), file: UInt64(wall), wallSeconds: wall / 1_000))
            // Latches without a run record would be those of a run of which nobody knows how it ended.
            if RunRecord.read(RunRecord.path(in: directory)) == .missing {
                let record = RunRecord(isRunning: false, restarts: [])
                try record.write(in: directory, wallSeconds: wall / 1_000)
                try DurableFile.giveToOwnerOfFolder(RunRecord.path(in: directory))
            }
            // The daemon does not run as root and must be able to read them.
            try DurableFile.giveToOwnerOfFolder(path)
            try DurableFile.giveToOwnerOfFolder(directory + "/lock")
            // While the lock is held: no daemon writes there.
            do { try AuditOutsideDaemon.note(.commission, record, of: site) } catch {
                throw Refusal("\(path) created, but the site's audit has nothing of it: \(error)")
            }
            withExtendedLifetime(lock) {}
        }
    }

    struct Reversion: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prove that a unit's inverter or I/O module is safe by itself when nobody talks to it.",
            discussion: """
                Needs the role service; stay on site. The unit must run: it is given a power of its own, then no \
                setpoint any more, and its power is watched until it ends or ought to have ended. Whatever else is to be \
                written meanwhile, a trip or a stop, is written at once and ends the test. With --io-module the unit \
                goes to zero power, and its I/O module then hears nothing for a little longer than its watchdog: all its \
                coils must be off then. Nobody sees the emergency stop meanwhile, so the unit trips (lost_io); reset it \
                afterwards. Results are kept; in production no power is taken from outside the site before every \
                inverter, and every I/O module with coils, has proven itself.
                """)
        @Argument(help: "Identifier of the unit.", completion: Completion.units) var unit: String
        @Option(help: "The power to end, in kW; negative = charge. [a tenth of the unit's rating]")
        var power: Double?
        @Flag(help: "Test the unit's I/O module, not its inverter.") var ioModule = false
        @OptionGroup var reason: ReasonOption
        @OptionGroup var socket: SocketOption

        func run() throws {
            let request = ControlRequest(
                .reversion, unit: unit, reason: reason.reason, power_kw: power,
                io_module: ioModule ? true : nil)
            print(try socket.ask(request).done ?? "")
            var result = "testing"
            while result == "testing" {
                (MonotonicTime.now() + .milliseconds(500)).sleep()
                let units = try socket.ask(ControlRequest(.status)).status?.units ?? []
                let found = units.first { $0.id == unit }
                result = (ioModule ? found?.output_watchdog : found?.reversion) ?? "no result"
            }
            print("unit \(unit): \(result)")
            if !result.hasPrefix("proven") { throw ExitCode.failure }
        }
    }

    struct Frequency: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the response a frequency that the grid does not have, for a time (mode hil).",
            discussion: """
                For the acceptance of a real battery. Needs the role service; stay on site. Only what the site answers to \
                is simulated: limits, interlocks and the grid's supervision go by what is measured, and every setpoint \
                still expires. It ends by its time, by --end, by a stop, and as soon as the grid is not measured, not \
                good or more than 0.2 Hz from nominal. All that is recorded meanwhile is marked "frequency":"simulated"; \
                'ballastctl frequency report --tests' judges it. No other mode takes it.

                EXAMPLE
                  ballastctl commission frequency 49.7 --for 10m --reason "site acceptance, step 3"
                """)
        @Argument(help: "The frequency in Hz, at most 3 Hz from nominal.") var hertz: Double?
        @Option(name: .customLong("for"), help: "How long: 90s, 15m; at most 30m.") var time: String?
        @Flag(help: "End it now.") var end = false
        @OptionGroup var reason: ReasonOption
        @OptionGroup var socket: SocketOption

        func validate() throws {
            if end, hertz == nil, time == nil { return }
            guard !end, hertz != nil, time.flatMap({ DurationText.seconds($0) }) != nil else {
                throw ValidationError("give a frequency and --for 90s, or --end")
            }
        }

        func run() throws {
            var request = ControlRequest(
                .frequencyTest, reason: reason.reason, for_s: time.flatMap { DurationText.seconds($0) })
            request.frequency_hz = hertz
            print(try socket.ask(request).done ?? "")
        }
    }
}
