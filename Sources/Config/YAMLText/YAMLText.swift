import Glibc
import ConfigText

/// Reads the part of YAML that a configuration needs: mappings, sequences and scalars, each with its line
/// and column.
///
/// What makes YAML surprising is refused and named with its line: anchors, aliases, tags, directives, several
/// documents, keys given twice, keys that are not text.
public enum YAMLText {
    /// The most bytes a configuration may have.
    public static let sizeLimit = 1 << 20
    /// The most mappings and sequences inside one another.
    public static let depthLimit = 16
    /// The most scalars, sequences and mappings in one file.
    public static let nodeLimit = 20_000

    /// The tree in `bytes`, or the first thing that is wrong with them; any bytes are allowed.
    ///
    /// - Parameters:
    ///   - file: the name that errors carry.
    ///   - values: the most scalars, sequences and mappings.
    public static func parse(
        _ bytes: [UInt8], file: String, values: Int = nodeLimit
    ) throws(ConfigError) -> ConfigNode {
        if bytes.count > sizeLimit { throw tooLarge(file) }
        return try bytes.withUnsafeBufferPointer { (buffer) throws(ConfigError) -> ConfigNode in
            let source = try YAMLEventSource(reading: buffer, file: file)
            var builder = YAMLTreeBuilder(source: source, file: file, limit: values)
            return try builder.document()
        }
    }

    /// Reads and parses the file at `path`; errors name `path` as it was given.
    public static func load(path: String) throws(ConfigError) -> ConfigNode {
        try parse(try bytes(of: path), file: path)
    }

    /// What stands in the regular file at `path`, at most `sizeLimit` bytes.
    public static func bytes(of path: String) throws(ConfigError) -> [UInt8] {
        // Non-blocking, so that a named pipe is refused below instead of waited for.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 { throw failure("cannot be opened", path) }
        defer { close(descriptor) }
        var status = stat()
        if fstat(descriptor, &status) != 0 { throw failure("cannot be examined", path) }
        if status.st_mode & S_IFMT != S_IFREG { throw whole(path, "is not a regular file") }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw failure("cannot be read", path)
            }
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            if bytes.count > sizeLimit { throw tooLarge(path) }
        }
    }

    private static func failure(_ what: String, _ path: String) -> ConfigError {
        whole(path, "\(what): \(String(cString: strerror(errno)))")
    }

    private static func tooLarge(_ file: String) -> ConfigError {
        whole(file, "is larger than \(sizeLimit) bytes")
    }

    private static func whole(_ file: String, _ message: String) -> ConfigError {
        ConfigError(file: file, position: ConfigPosition(line: 1, column: 1), key: "", message: message)
    }
}
