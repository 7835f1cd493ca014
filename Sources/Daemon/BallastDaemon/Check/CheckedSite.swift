import BatteryProfiles
import ConfigText
import LinuxIO
import Signatures
import SiteAudit
import SiteConfig
import SiteFile
import YAMLText

/// A configuration that was read and found good, with the names and hashes of the files it came from.
public struct CheckedSite: Sendable {
    public let config: SiteConfig
    /// `nil` where the site has none.
    let schedule: Schedule?
    /// By unit; `nil` for the built-in one.
    let profiles: [BatteryProfile?]
    let drivers: DriverFiles
    let files: [File]
    /// Of the site's file; `nil` where none was read.
    let path: String?

    /// One file, as it was read.
    struct File: Sendable, Equatable {
        var path: String
        var bytes: [UInt8]
        var sha256: String

        init(path: String, bytes: [UInt8]) {
            self.path = path
            self.bytes = bytes
            sha256 = SHA256.hex(of: bytes)
        }
    }

    /// Tells one configuration from another: SHA-256 of the lines in which `--check` names the files.
    var digest: String {
        SHA256.hex(of: Array(files.map { "sha256 \($0.sha256)  \($0.path)\n" }.joined().utf8))
    }

    /// Reads and checks a configuration file.
    public init(path: String) throws(Daemon.StartFailure) {
        var files: [File] = []
        let site: SiteConfig
        do throws(ConfigErrors) {
            site = try SiteConfig.load(path: path) { path, bytes in
                files.append(File(path: path, bytes: bytes))
            }
        } catch {
            throw Daemon.StartFailure(description: "\(error)", isConfiguration: true)
        }
        if let name = site.schedule {
            let file = SiteConfig.beside(path, name)
            let bytes = try Daemon.scheduleBytes(file)
            files.append(File(path: file, bytes: bytes))
            schedule = try Daemon.schedule(bytes, file: file, limit: site.ratedPower)
        } else {
            schedule = nil
        }
        let places = files.first.map { SitePlaces(file: $0.path, bytes: $0.bytes) } ?? SitePlaces()
        try Self.checkKeys(site, places)
        profiles = try ProfileFiles.load(site, path: path, places) { path, bytes in
            files.append(File(path: path, bytes: bytes))
        }
        drivers = try DriverFiles(site, path: path, places) { path, bytes in
            files.append(File(path: path, bytes: bytes))
        }
        config = drivers.loaded(site.paced(by: profiles))
        if let refusal = config.busLoads.lazy.compactMap(\.refusal).first {
            let place = config.busLoads.first { $0.refusal != nil }?.devices.first?.path ?? "bess_units"
            throw Daemon.StartFailure(
                description: "\(places.text(place + ".poll_ms")): \(refusal)", isConfiguration: true)
        }
        if let device = config.realDevices.first {
            throw Daemon.StartFailure(
                description:
                    "\(path): \(device) is not simulated on this machine, and mode simulation drives no real device",
                isConfiguration: true)
        }
        self.files = files
        self.path = path
    }

    /// A key of low order, or one that is no point of the curve, was never made by anybody.
    private static func checkKeys(_ site: SiteConfig, _ places: SitePlaces) throws(Daemon.StartFailure) {
        let keys = site.remoteLeases?.keys ?? []
        for (index, key) in keys.enumerated() where !Signatures.isPublicKey(key.publicKey) {
            let place = places.text("remote_leases.keys[\(index)].public_key")
            throw Daemon.StartFailure(
                description:
                    "\(place): is no public key of Ed25519: 'ballast-aggregator lease key' makes one",
                isConfiguration: true)
        }
    }

    /// For tests: no file was read.
    init(config: SiteConfig, files: [File]) {
        self.config = config
        schedule = nil
        profiles = config.units.map { _ in nil }
        drivers = DriverFiles()
        self.files = files
        path = nil
    }

    /// Every key that a configuration may hold, one line each.
    public static var reference: String { SiteConfig.reference }

    /// What the configuration means, for a terminal of 120 columns.
    public var text: String {
        let lines =
            [Daemon.summary(of: config, schedule)] + batteries + inverters + bounds + [
                InterlockMatrix(self).text, remarksText,
            ]
        return lines.joined(separator: "\n")
    }

    /// Which profile each unit's battery has, and what it does not tell.
    private var batteries: [String] {
        zip(config.units, profiles).compactMap { unit, profile in
            guard let profile else { return nil }
            let lacks = profile.lacks.map(\.name)
            let without = lacks.isEmpty ? "" : "; it does not tell: \(lacks.joined(separator: ", "))"
            return "  battery \(unit.id): \(profile.name)\(without)"
        }
    }

    /// How each inverter is driven, and what it does when nobody drives it any more.
    private var inverters: [String] {
        config.units.flatMap { unit in
            let after = "after \(Int(unit.reversion.seconds)) s of silence"
            guard let map = drivers.map(of: unit.inverter), let control = map.control else {
                let alone =
                    config.mode.rules.inverter == .proven
                    ? "it is not driven before commission reversion has measured it"
                    : "it has no safe reversion"
                return [
                    "  inverter \(unit.id): SunSpec; with model 704 it goes to zero \(after);",
                    "    with 124 and not 704 \(alone)",
                ]
            }
            let hold = control.hold.map { "after \(Int($0.seconds)) s of silence" } ?? after
            let what =
                switch control.reversion {
                case .zero: "goes to zero \(hold)"
                case .disables: "is on its own \(hold): no safe reversion"
                case .absent: "goes on for ever: no safe reversion"
                }
            return ["  inverter \(unit.id): \(map.name); by its driver it \(what)"]
        }
    }

    /// What is shorter than what anybody here can see, and slower than what it bears.
    private var bounds: [String] {
        config.units.flatMap { unit in answerBound(unit) + scaleBound(unit) + pressBound(unit) }
    }

    /// A reading, a write, a look at the scale and the next reading, within three polls and a cycle.
    private func answerBound(_ unit: UnitConfig) -> [String] {
        let modbus = unit.inverter
        guard modbus.driver == nil else { return [] }
        let each = Int((modbus.poll * 3 + config.control.period).milliseconds / 4)
        return [
            "  inverter \(unit.id): where each answer takes more than \(each) ms it drops out again and again at a",
            "    poll of \(Int(modbus.poll.milliseconds)) ms; such a device wants a longer poll_ms",
        ]
    }

    /// How long another power of ten of its registers can have its way: the next look at it, and two
    /// exchanges; on a serial line a reading of each that stands there, and what is under way. Where answers
    /// come more slowly than declared, a reading goes before the look at the scale, and another exchange may
    /// be under way: a write, a reading, the look, and zero.
    private func scaleBound(_ unit: UnitConfig) -> [String] {
        let modbus = unit.inverter
        guard modbus.driver == nil else { return [] }
        var look = modbus.poll
        if case .tcp = modbus.endpoint { look = min(look, .milliseconds(250)) }
        var exchanges = modbus.turnaround * 2
        let line = config.busLoads.first { $0.endpoint == modbus.endpoint }
        if modbus.endpoint.isSerial, let line {
            exchanges += line.devices.reduce(line.allSafe) { $0 + $1.read }
        }
        let time = max(look, .milliseconds(100)) + exchanges + config.control.period
        let (bound, answer) = (Int(time.milliseconds.rounded(.up)), Int(modbus.turnaround.milliseconds))
        // Slower ones drop out: `answerBound`.
        let slowest = (modbus.poll * 3 + config.control.period).milliseconds / 3
        let slow = Int((slowest * 4 + config.control.period.milliseconds).rounded(.up))
        return [
            "  inverter \(unit.id): numbers that come to mean ten times as much are told zero within \(bound) ms,",
            "    where each answer takes \(answer) ms (turnaround_ms); where answers are slower, within four of them,",
            "    \(slow) ms at the \(Int(slowest)) ms at which it drops out",
        ]
    }

    private func pressBound(_ unit: UnitConfig) -> [String] {
        guard let module = unit.ioModule, module.has(.emergencyStop),
            let row = config.interlocks.rules.first(where: { $0.signal == .emergencyStopInput })
        else { return [] }
        let time = module.modbus.poll * 2 + row.debounce
        let gap = Int((time + module.modbus.timeout).milliseconds)
        return [
            "  emergency stop \(unit.id): seen where it stands for \(Int(time.milliseconds)) ms, and for \(gap) ms",
            "    where an answer of its module is lost: wire a button that latches (ISO 13850)",
        ]
    }

    /// The cause-and-effect matrix for other programs.
    public var json: String { InterlockMatrix(self).json }

    /// Writes the cause-and-effect matrix as a page that a safety engineer can print and sign.
    public func writeHTML(to path: String) throws(Daemon.StartFailure) {
        do throws(SystemError) {
            try OutputFile.write(Array(InterlockMatrix(self).html.utf8), to: path)
        } catch {
            throw Daemon.StartFailure(description: "\(path): \(error)")
        }
    }
}
