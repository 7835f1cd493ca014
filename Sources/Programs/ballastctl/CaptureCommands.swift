import ArgumentParser
import ControlSocket
import Glibc
import Incident
import LinuxIO
import SiteConfig
import SiteFile

/// Where the captures of a site stand.
struct CapturePlace: ParsableArguments {
    @Option(help: "The folder of the captures; otherwise the one of --config.")
    var captures: String?

    @Option(help: "The site's configuration file.")
    var config = "/etc/ballast/site.yaml"

    func directory() throws -> String {
        if let captures { return captures }
        return try SiteConfig.load(path: config).paths.stateDirectory + "/captures"
    }

    /// The oldest first; none where no folder is yet.
    func names() throws -> (directory: String, names: [String]) {
        let directory = try directory()
        do throws(SystemError) {
            return (directory, try Folder.list(directory).filter { $0.hasSuffix(".cycles") })
        } catch {
            if error.code == ENOENT { return (directory, []) }
            throw Refusal("\(directory): \(String(cString: strerror(error.code)))")
        }
    }

    /// The oldest first, each with what stands at its head.
    func kept() throws -> (directory: String, captures: [KeptCapture]) {
        let (directory, names) = try self.names()
        return (directory, names.map { KeptCapture(name: $0, head: Self.head(directory + "/" + $0)) })
    }

    /// The first KiB of a file; nothing where it cannot be read.
    static func head(_ path: String) -> [UInt8] {
        let number = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { return [] }
        defer { close(number) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(number, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }
}

struct CaptureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture",
        abstract: "Keep the last 30 s and the next 10 s of recorded cycles as one file.")
    @OptionGroup var reason: ReasonOption
    @OptionGroup var socket: SocketOption

    func run() throws {
        print(try socket.ask(ControlRequest(.capture, reason: reason.reason)).done ?? "")
    }
}

struct CapturesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "captures",
        abstract: "List the windows of cycles that were kept, the oldest first.",
        discussion:
            "Of each: when that was for which it was kept (UTC), what that was, how long the file is, and the file."
    )
    @OptionGroup var place: CapturePlace

    func run() throws {
        let (directory, captures) = try place.kept()
        for capture in captures {
            let path = directory + "/" + capture.name
            var status = stat()
            let size = stat(path, &status) == 0 ? "\(status.st_size) bytes" : "gone"
            print("\(capture.text)  \(size)  \(path)")
        }
        if captures.isEmpty { print("\(directory): no capture is there yet") }
    }
}
