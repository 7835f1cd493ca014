import DeviceCodecs
import Glibc
import LinuxIO
import SiteConfig

/// A folder in which the programs of a site run beside whatever else runs on this machine: the site's file
/// with free ports, with its state and its socket in the folder, and with absolute paths of what it names
/// beside itself.
struct SiteFolder {
    private static let aggregatorPlace: UInt16 = 15_080
    /// What tells our folder from anybody else's, before all that is in it goes.
    private static let mark = ".ballast-run"

    let path: String
    /// The site's file in it.
    let site: String
    /// Where a site's aggregator listens.
    let aggregatorPort: UInt16

    var controlSocket: String { path + "/run/control.sock" }
    var plantSocket: String { path + "/run/sim.sock" }

    /// - Parameters:
    ///   - path: absolute; made, and what a former run left in it is removed. Anybody else's folder is
    ///     refused unless it is empty.
    ///   - original: absolute path of the site's file.
    init(at path: String, site original: String, config: SiteConfig) throws {
        self.path = path
        if access(path + "/" + Self.mark, F_OK) == 0 {
            Self.remove(path)
        } else if !Self.isEmpty(path) {
            throw LiveFailure(description: "\(path) is not empty and no folder of a run: name another")
        }
        try DurableFile.createDirectories(path + "/run")
        try DurableFile.replace(path + "/" + Self.mark, with: [])
        let ports = try Self.freePorts(for: config.loopbackPorts + [Self.aggregatorPlace])
        aggregatorPort = ports[Self.aggregatorPlace] ?? Self.aggregatorPlace
        var text = try SimulationFiles.text(of: original)
        text = Self.replaceNumbers(in: text, ports)
        text = Self.replacePaths(in: text)
        text = Self.replaceFiles(in: text, of: Self.folder(of: original))
        site = path + "/" + Self.name(of: original)
        try DurableFile.replace(site, with: Array(text.utf8))
    }

    /// Takes the folder away.
    func remove() { Self.remove(path) }

    // MARK: The text

    /// Numbers that stand alone; what is part of a longer number or word stays.
    static func replaceNumbers(in text: String, _ ports: [UInt16: UInt16]) -> String {
        replaceWords(in: text, alsoOf: "_.") { word in UInt16(word).flatMap { ports[$0] }.map { "\($0)" } }
    }

    /// Names of files that are there, relative to the original's folder, become absolute.
    static func replaceFiles(in text: String, of folder: String) -> String {
        replaceWords(in: text, alsoOf: "_-./") { word in
            let isName = word.contains(".") && word.contains { $0.isLetter } && !word.hasPrefix("/")
            return isName && access(folder + "/" + word, R_OK) == 0 ? folder + "/" + word : nil
        }
    }

    /// - Parameter other: what belongs to a word besides letters and digits.
    private static func replaceWords(
        in text: String, alsoOf other: String, by change: (String) -> String?
    ) -> String {
        var result = ""
        var word = ""
        for character in text {
            if character.isLetter || character.isNumber || other.contains(character) {
                word.append(character)
                continue
            }
            result += change(word) ?? word
            word = ""
            result.append(character)
        }
        return result + (change(word) ?? word)
    }

    /// State and socket go into the folder: a section of its own, in the place of the file's.
    static func replacePaths(in text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if let first = lines.firstIndex(where: { $0.hasPrefix("paths:") }) {
            let rest =
                lines[(first + 1)...].firstIndex { !$0.isEmpty && !$0.hasPrefix(" ") } ?? lines.endIndex
            lines.removeSubrange(first..<rest)
        }
        return lines.joined(separator: "\n")
            + "\npaths: {state_directory: ./run/state, control_socket: ./run/control.sock}\n"
    }

    // MARK: Files and ports

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    private static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// Asks the kernel for a port for each; all are held until the last is there, so that they differ.
    private static func freePorts(for ports: [UInt16]) throws -> [UInt16: UInt16] {
        var result: [UInt16: UInt16] = [:]
        var held: [CInt] = []
        defer { for number in held { close(number) } }
        for port in ports {
            let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard listener >= 0 else { throw SystemError.last("socket") }
            held.append(listener)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            let isBound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isBound, let free = NetworkSocket.localPort(listener) else {
                throw SystemError.last("bind")
            }
            result[port] = free
        }
        return result
    }

    /// One that is not there is empty.
    private static func isEmpty(_ path: String) -> Bool {
        guard let names = try? Folder.list(path) else { return access(path, F_OK) != 0 }
        return names.isEmpty
    }

    private static func remove(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        if status.st_mode & S_IFMT == S_IFDIR {
            for name in Folder.names(path) { remove(path + "/" + name) }
        }
        Glibc.remove(path)
    }
}

extension SiteConfig {
    /// Every port of this machine that a program of the site or its simulator listens on.
    var loopbackPorts: [UInt16] {
        var ports: [UInt16] = []
        func add(_ host: String, _ port: UInt16) {
            if ["127.0.0.1", "localhost"].contains(host), !ports.contains(port) { ports.append(port) }
        }
        func add(_ endpoint: ModbusEndpoint) {
            if case .tcp(let host, let port) = endpoint { add(host, port) }
        }
        for unit in units {
            switch unit.battery.transport {
            case .cannelloni(let host, let port), .cannelloniListen(let host, let port): add(host, port)
            case .slcan, .socketCAN: break
            }
            add(unit.inverter.endpoint)
            if let module = unit.ioModule { add(module.modbus.endpoint) }
        }
        if let meter = gridMeter { add(meter.modbus.endpoint) }
        for phasor in gridIntegration.phasors { add(phasor.host, phasor.port) }
        return ports
    }
}
