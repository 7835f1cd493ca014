import CycleRecord
import Glibc
import LinuxIO
import SiteConfig

/// Where recordings stand, and how much of them.
struct BlackBoxPlaces: Sendable {
    var directory: String
    /// All files together.
    var bytesMax: Int

    /// One file; so that there are some to make room.
    var fileBytesMax: Int { bytesMax / 8 }
}

extension BlackBoxPlaces {
    /// In the runtime folder, which a restart of the machine empties; without one, or where a setting says
    /// so, in the state folder.
    init(_ paths: PathConfig) {
        let runtime = getenv("RUNTIME_DIRECTORY").flatMap {
            String(cString: $0).split(separator: ":").first.map(String.init)
        }
        let folder = paths.recordsOnDisk ? paths.stateDirectory : runtime ?? paths.stateDirectory
        directory = folder + "/cycles"
        bytesMax = paths.recordingMegabytes * 1_000_000
    }
}

/// Which program this is: only the very same one can take up a controller's state as it lay in memory.
enum ProgramIdentity {
    /// A digest of the file that runs; looked at once.
    static let own: String = {
        guard let bytes = try? DurableFile.read("/proc/self/exe", limit: 1 << 30) else { return "unknown" }
        // FNV-1a over words of eight bytes, in four lanes: 100 MB in some ten milliseconds.
        var lanes: InlineArray<4, UInt64> = InlineArray(repeating: 0xCBF2_9CE4_8422_2325)
        bytes.withUnsafeBytes { all in
            for (index, word) in all.bindMemory(to: UInt64.self).enumerated() {
                lanes[index & 3] = (lanes[index & 3] ^ word) &* 0x0000_0100_0000_01B3
            }
        }
        var sum = Checksum()
        for lane in 0..<4 { sum.add(lanes[lane]) }
        for byte in bytes.suffix(bytes.count % 8) { sum.add(UInt64(byte)) }
        return "\(bytes.count) bytes, digest \(sum.text)"
    }()
}

/// The newest of a row of recordings: written as it comes, never synced, so that it outlives the process at
/// once, and the machine where the folder does.
struct RecordingFile: ~Copyable {
    static let ending = ".cycles"
    /// However short they are.
    private static let mostFiles = 1_000

    private let places: BlackBoxPlaces
    private var file: FileDescriptor?
    private var written = 0
    private var number: UInt64

    init(_ places: BlackBoxPlaces) {
        self.places = places
        number = Self.names(places.directory).last.flatMap { UInt64($0.dropLast(Self.ending.count)) } ?? 0
    }

    var isFull: Bool { written >= places.fileBytesMax }

    mutating func close() { file = nil }

    /// Begins another one, and makes room for it.
    mutating func renew() throws(SystemError) {
        file = nil
        try DurableFile.createDirectories(places.directory)
        makeRoom()
        number += 1
        let text = String(number)
        let path = places.directory + "/" + String(repeating: "0", count: max(0, 12 - text.utf8.count)) + text
        let opened = open(path + Self.ending, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
        guard opened >= 0 else { throw SystemError.last("open") }
        file = FileDescriptor(owning: opened)
        written = 0
    }

    /// For one whole file more. By bytes: a restart begins a file too, and a loop of them must not drop what
    /// came before the first.
    private func makeRoom() {
        var files = Self.names(places.directory).map { name in
            let path = places.directory + "/" + name
            var status = stat()
            return (path: path, bytes: stat(path, &status) == 0 ? Int(status.st_size) : 0)
        }
        var sum = files.reduce(0) { $0 + $1.bytes }
        while let oldest = files.first,
            sum > places.bytesMax - places.fileBytesMax || files.count >= Self.mostFiles
        {
            unlink(oldest.path)
            sum -= oldest.bytes
            files.removeFirst()
        }
    }

    mutating func append(_ bytes: [UInt8]) throws(SystemError) {
        guard let number = file?.number else { return }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[done...])
                return Glibc.write(number, rest.baseAddress, rest.count)
            }
            guard count > 0 else { throw SystemError.last("write") }
            done += count
        }
        written += bytes.count
    }

    /// The oldest first.
    static func names(_ directory: String) -> [String] {
        guard let folder = opendir(directory) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(Self.ending) { names.append(name) }
        }
        return names.sorted()
    }
}
