import ArgumentParser
import ControlSocket
import LinuxIO
import Quantities
import Recorder
import SiteConfig
import SiteEvents
import YAMLText

struct Commission: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put a site into operation.", subcommands: [Init.self, Reversion.self])

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
            let path = try create(site)
            let units = site.units.map(\.id).joined(separator: ", ")
            Journal(messageIDs: EventTable.messageIDs).write(
                LogRecord(
                    .commission,
                    "commission init (\(asker.name)): \(path) created for \(units): \(reason.reason)",
                    [
                        .site: site.siteID, .reason: reason.reason, .userID: "\(Accounts.ownUserID)",
                        .via: "ballastctl",
                    ]))
            print("\(path) created: no trip is latched on \(units)")
        }

        /// - Returns: the record's path.
        private func create(_ site: SiteConfig) throws -> String {
            let directory = site.paths.stateDirectory
            let path = LatchRecord.path(in: directory)
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
            withExtendedLifetime(lock) {}
            return path
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
        @Argument(help: "Identifier of the unit.") var unit: String
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
}
