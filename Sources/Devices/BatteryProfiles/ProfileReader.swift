import ConfigText
import DBC
import DeviceCodecs
import Plant
import Quantities
import SiteConfig

extension BatteryProfile {
    /// What a site may choose of a profile.
    public struct Options: Sendable, Equatable {
        /// Dialects of the file's own names, laid over it one after the other.
        public var dialects: [String]
        /// How many cells and temperatures there are; `nil` = as the profile says.
        public var cellCount: Int?
        public var temperatureCount: Int?
        /// Between two frames of a message of which nothing else is said; `nil` = as the profile says.
        public var period: Duration?

        public init(
            dialects: [String] = [], cellCount: Int? = nil, temperatureCount: Int? = nil,
            period: Duration? = nil
        ) {
            self.dialects = dialects
            self.cellCount = cellCount
            self.temperatureCount = temperatureCount
            self.period = period
        }
    }

    /// The profile that `tree` says, or everything that is wrong with it.
    ///
    /// - Parameters:
    ///   - file: the name that errors carry.
    ///   - load: gives the bytes of the DBC file that the profile names.
    public static func read(
        _ tree: ConfigNode, file: String, options: Options = Options(),
        dbc load: (String) throws(ConfigError) -> [UInt8]
    ) throws(ConfigErrors) -> BatteryProfile {
        let merged: ConfigNode
        do throws(ConfigError) {
            merged = try Dialects.apply(options.dialects, to: tree, file: file)
        } catch {
            throw ConfigErrors(error)
        }
        return try ConfigReader.read(merged, file: file) { reader in
            let name = reader.value(ProfileKeys.name)
            let period = reader.value(ProfileKeys.period).map { options.period ?? $0 }
            guard let database = Self.database(reader, load), let period, let name else {
                for key in reader.names { _ = reader.has(key) }
                return nil
            }
            do throws(DBCError) {
                let plan = try DecodePlan(database)
                var builder = ProfileBuilder(database, plan, period, options)
                return builder.profile(reader, name: name)
            } catch {
                reader.refuse("dbc", error.reason)
                return nil
            }
        }
    }

    /// Reads the profile at `path` and the DBC file beside it.
    ///
    /// - Parameters:
    ///   - dbc: another DBC file than the profile names.
    ///   - bytes: what stands in a file.
    ///   - parse: the tree in a file's bytes; is given the file's name.
    public static func load(
        path: String, options: Options = Options(), dbc: String? = nil,
        bytes: (String) throws(ConfigError) -> [UInt8],
        parse: ([UInt8], String) throws(ConfigError) -> ConfigNode
    ) throws(ConfigErrors) -> BatteryProfile {
        let tree: ConfigNode
        do throws(ConfigError) {
            tree = try parse(try bytes(path), path)
        } catch {
            throw ConfigErrors(error)
        }
        return try read(tree, file: path, options: options) { (name) throws(ConfigError) in
            try bytes(dbc ?? beside(path, name))
        }
    }

    private static func beside(_ path: String, _ name: String) -> String {
        guard !name.hasPrefix("/"), let slash = path.lastIndex(of: "/") else { return name }
        return path[...slash] + name
    }

    private static func database(
        _ reader: ConfigReader, _ load: (String) throws(ConfigError) -> [UInt8]
    ) -> DBCDatabase? {
        guard let name = reader.value(ProfileKeys.dbc) else { return nil }
        let bytes: [UInt8]
        do throws(ConfigError) { bytes = try load(name) } catch {
            reader.refuse("dbc", "\(error)")
            return nil
        }
        do throws(DBCError) {
            return try DBCDatabase.parse(bytes, file: name)
        } catch {
            reader.refuse("dbc", "\(error)")
            return nil
        }
    }
}

/// Lays a file's dialects over its base: mappings are merged key by key, everything else is replaced.
enum Dialects {
    static func apply(_ names: [String], to tree: ConfigNode, file: String) throws(ConfigError) -> ConfigNode
    {
        guard case .mapping(var entries) = tree.content,
            let index = entries.firstIndex(where: { $0.key == "dialects" })
        else {
            guard let name = names.first else { return tree }
            throw unknown(name, among: [], at: tree.position, file)
        }
        let place = entries[index].value.position
        guard case .mapping(let dialects) = entries.remove(at: index).value.content else {
            throw ConfigError(file: file, position: place, key: "dialects", message: "expected a mapping")
        }
        var result = ConfigNode(.mapping(entries), at: tree.position)
        for name in names {
            guard let dialect = dialects.first(where: { $0.key == name }) else {
                throw unknown(name, among: dialects.map(\.key), at: place, file)
            }
            result = merge(result, dialect.value)
        }
        return result
    }

    /// The names of a profile's dialects.
    static func names(of tree: ConfigNode) -> [String] {
        guard case .mapping(let entries) = tree.content,
            let dialects = entries.first(where: { $0.key == "dialects" }),
            case .mapping(let names) = dialects.value.content
        else { return [] }
        return names.map(\.key)
    }

    private static func unknown(
        _ name: String, among names: [String], at place: ConfigPosition, _ file: String
    ) -> ConfigError {
        let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
        return ConfigError(
            file: file, position: place, key: "dialects",
            message: "\(ConfigWording.quoted(name)) is no dialect of this profile; \(known)")
    }

    private static func merge(_ base: ConfigNode, _ over: ConfigNode) -> ConfigNode {
        guard case .mapping(var entries) = base.content, case .mapping(let changes) = over.content else {
            return over
        }
        for change in changes {
            if change.value.isNull {
                entries.removeAll { $0.key == change.key }
            } else if let index = entries.firstIndex(where: { $0.key == change.key }) {
                entries[index].value = merge(entries[index].value, change.value)
            } else {
                var added = change
                if case .mapping = change.value.content {
                    added.value = merge(ConfigNode(.mapping([]), at: change.value.position), change.value)
                }
                entries.append(added)
            }
        }
        return ConfigNode(.mapping(entries), at: base.position)
    }
}

extension ConfigNode {
    /// `~` or `null`: in a dialect, the key is not there.
    fileprivate var isNull: Bool {
        guard case .scalar(let text, isQuoted: false) = content else { return false }
        return text == "~" || text == "null"
    }
}

extension BatteryProfile {
    /// The names of the dialects that the profile in `tree` offers.
    public static func dialects(of tree: ConfigNode) -> [String] { Dialects.names(of: tree) }
}
