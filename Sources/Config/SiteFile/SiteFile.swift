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

    /// `name` as a file at `path` means it: from its own folder, unless it is absolute.
    public static func beside(_ path: String, _ name: String) -> String {
        guard !name.hasPrefix("/"), let slash = path.lastIndex(of: "/") else { return name }
        return path[...slash] + name
    }
}
