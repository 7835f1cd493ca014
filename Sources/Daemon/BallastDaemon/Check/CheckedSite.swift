import BatteryProfiles
import ConfigText
import LinuxIO
import SiteAudit
import SiteConfig
import SiteFile
import YAMLText

/// A configuration that was read and found good, with the names and hashes of the files it came from.
public struct CheckedSite: Sendable {
    public let config: SiteConfig
    /// `nil` where the site has none.
    let schedule: Schedule?
    /// By unit; `nil` where the built-in decoder reads the battery.
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
        profiles = try ProfileFiles.load(site, path: path) { path, bytes in
            files.append(File(path: path, bytes: bytes))
        }
        drivers = try DriverFiles(site, path: path) { path, bytes in
            files.append(File(path: path, bytes: bytes))
        }
        config = drivers.loaded(site)
        if let refusal = config.busLoads.lazy.compactMap(\.refusal).first {
            throw Daemon.StartFailure(description: "\(path): \(refusal)", isConfiguration: true)
        }
        if let host = config.foreignHosts.first {
            throw Daemon.StartFailure(
                description:
                    "\(path): \(host) is not this machine, and mode simulation drives no real device",
                isConfiguration: true)
        }
        self.files = files
        self.path = path
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
            [Daemon.summary(of: config, schedule)] + batteries + inverters + [InterlockMatrix(self).text]
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

    /// The cause-and-effect matrix for other programs.
    public var json: String { InterlockMatrix(self).json }

    /// Writes the cause-and-effect matrix as a page that a safety engineer can print and sign.
    public func writeHTML(to path: String) throws(Daemon.StartFailure) {
        do throws(SystemError) {
            try DurableFile.replace(path, with: Array(InterlockMatrix(self).html.utf8))
        } catch {
            throw Daemon.StartFailure(description: "\(path): \(error)")
        }
    }
}
