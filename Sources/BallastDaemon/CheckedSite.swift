import LinuxIO
import SiteConfig
import YAMLText

/// A configuration that was read and found good, with the names and hashes of the files it came from.
public struct CheckedSite: Sendable {
    public let config: SiteConfig
    let files: [File]

    /// One file, as it was read.
    struct File: Sendable, Equatable {
        var path: String
        var sha256: String
    }

    /// Reads and checks a configuration file.
    public init(path: String) throws(Daemon.StartFailure) {
        var files: [File] = []
        do throws(ConfigErrors) {
            config = try SiteConfig.load(path: path) { path, bytes in
                files.append(File(path: path, sha256: SHA256.hex(of: bytes)))
            }
        } catch {
            throw Daemon.StartFailure(description: "\(error)", isConfiguration: true)
        }
        self.files = files
    }

    /// For tests: no file was read.
    init(config: SiteConfig, files: [File]) {
        self.config = config
        self.files = files
    }

    /// What the configuration means, for a terminal of 120 columns.
    public var text: String { Daemon.summary(of: config) + "\n" + InterlockMatrix(self).text }

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
