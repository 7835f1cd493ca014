import BatteryProfiles
import ConfigText
import CycleRecord
import Quantities
import SiteConfig
import SiteFile
import YAMLText

/// A site out of the files that a recording carries; nothing of this machine is read.
struct RecordedSite {
    var config: SiteConfig
    var profiles: [BatteryProfile?]

    init(config: SiteConfig, profiles: [BatteryProfile?]) {
        self.config = config
        self.profiles = profiles
    }

    /// - Parameter files: the site's own first.
    init(_ files: [(path: String, bytes: [UInt8])]) throws(ConfigErrors) {
        guard let first = files.first else {
            throw ConfigErrors(Self.lacking("recording", "it carries no site"))
        }
        func bytes(_ path: String) throws(ConfigError) -> [UInt8] {
            guard let file = files.first(where: { $0.path == path }) else {
                throw Self.lacking(path, "the recording does not carry it")
            }
            return file.bytes
        }
        let tree: ConfigNode
        do throws(ConfigError) {
            tree = try YAMLText.parse(first.bytes, file: first.path)
        } catch {
            throw ConfigErrors(error)
        }
        config = try SiteConfig.read(tree, file: first.path) { (name) throws(ConfigError) in
            let path = SiteConfig.beside(first.path, name)
            return try YAMLText.parse(try bytes(path), file: path)
        }
        profiles = []
        for unit in config.units {
            guard let choice = unit.battery.profile else {
                profiles.append(nil)
                continue
            }
            let options = BatteryProfile.Options(
                dialects: choice.dialects, cellCount: choice.cellCount,
                temperatureCount: choice.temperatureCount)
            profiles.append(
                try BatteryProfile.load(
                    path: SiteConfig.beside(first.path, choice.file), options: options,
                    bytes: { (path) throws(ConfigError) in try bytes(path) },
                    parse: { (bytes, file) throws(ConfigError) in try YAMLText.parse(bytes, file: file) }))
        }
        config = config.paced(by: profiles)
    }

    /// The files that a recording carries before its first cycle; what is damaged there is passed over.
    static func files(_ bytes: [UInt8]) throws(RecordingFault) -> [(path: String, bytes: [UInt8])] {
        var reader = try RecordingReader(bytes)
        var files: [(path: String, bytes: [UInt8])] = []
        while true {
            do throws(RecordingFault) {
                switch try reader.next() {
                case .file(let path, let bytes): files.append((path, bytes))
                case .about, .capture, .fields, .instant: continue
                case .start, .checkpoint, .command, .cycle, .endAsked, .end, nil: return files
                }
            } catch {
                guard reader.skipDamage() else { throw error }
            }
        }
    }

    private static func lacking(_ file: String, _ text: String) -> ConfigError {
        ConfigError(file: file, position: ConfigPosition(line: 1, column: 1), key: "", message: text)
    }
}
