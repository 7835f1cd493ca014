import ConfigText
import SiteConfig
import YAMLText

extension SiteConfig {
    /// Reads and checks a site's file, and the interlock table that it names (from the site's own folder).
    ///
    /// - Throws: `ConfigErrors` with everything that is wrong.
    public static func load(path: String) throws(ConfigErrors) -> SiteConfig {
        try load(path: path) { _, _ in }
    }

    /// - Parameter seen: is given each file's path and bytes, the site's own first.
    public static func load(
        path: String, seen: (_ path: String, _ bytes: [UInt8]) -> Void
    ) throws(ConfigErrors) -> SiteConfig {
        var table: (path: String, bytes: [UInt8])?
        let tree: ConfigNode
        do throws(ConfigError) {
            let bytes = try YAMLText.bytes(of: path)
            seen(path, bytes)
            tree = try YAMLText.parse(bytes, file: path)
        } catch {
            throw ConfigErrors(error)
        }
        let site = try SiteConfig.read(tree, file: path) { (name) throws(ConfigError) in
            let file = beside(path, name)
            let bytes = try YAMLText.bytes(of: file)
            table = (file, bytes)
            return try YAMLText.parse(bytes, file: file)
        }
        if let table { seen(table.path, table.bytes) }
        return site
    }

    /// The checked configuration that `tree` says, or everything that is wrong with it.
    ///
    /// - Parameters:
    ///   - file: the name that errors carry.
    ///   - load: gives the interlock table that the file names; without it such a file is refused.
    public static func read(
        _ tree: ConfigNode, file: String,
        table load: @escaping (String) throws(ConfigError) -> ConfigNode = refuseTable
    ) throws(ConfigErrors) -> SiteConfig {
        try read(
            tree, file: file,
            interlocks: InterlockSources(shipped: { InterlockRules.shipped(for: $0) }, own: load))
    }

    /// No table can be read.
    public static func refuseTable(_ path: String) throws(ConfigError) -> ConfigNode {
        throw ConfigError(
            file: path, position: ConfigPosition(line: 1, column: 1), key: "",
            message: "other files are not read here")
    }

    /// `name` as a file at `path` means it: from its own folder, unless it is absolute.
    public static func beside(_ path: String, _ name: String) -> String {
        guard !name.hasPrefix("/"), let slash = path.lastIndex(of: "/") else { return name }
        return path[...slash] + name
    }
}
