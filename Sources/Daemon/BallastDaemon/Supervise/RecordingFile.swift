import CycleRecord
import Glibc
import LinuxIO
import Quantities
import SiteConfig

/// Where recordings stand, and how much of them.
struct BlackBoxPlaces: Sendable {
    var directory: String
    /// All files together.
    var bytesMax: Int
    /// What is written is on the disk a second later, and outlives a power cut.
    var isSynced = false
    /// What may be written to the disk in a day; beyond it recordings stand in `spare` until the day is over.
    var bytesADayMax = Int.max
    /// Memory; `nil` = there is none, and nothing is recorded then.
    var spare: String?

    init(directory: String, bytesMax: Int) {
        self.directory = directory
        self.bytesMax = bytesMax
    }

    /// One file: small, so that who puts a capture together has little in memory at once and little goes when
    /// the oldest makes room; but no more than five hundred of them.
    var fileBytesMax: Int { max(min(bytesMax / 8, 500_000), bytesMax / 500) }

    /// What a sync writes beside the data: the rest of its last page, the file's length, the file system's
    /// journal. Of ext4; what a card makes of it inside is its own.
    static let bytesASync = 16_384
}

extension BlackBoxPlaces {
    /// In the runtime folder, which a restart of the machine empties; without one, or where a setting says
    /// so, in the state folder.
    init(_ paths: PathConfig) {
        let runtime = getenv("RUNTIME_DIRECTORY").flatMap {
            String(cString: $0).split(separator: ":").first.map(String.init)
        }
        let folder = paths.recordsOnDisk ? paths.stateDirectory : runtime ?? paths.stateDirectory
        self.init(directory: folder + "/cycles", bytesMax: paths.recordingMegabytes * 1_000_000)
        guard paths.recordsOnDisk else { return }
        isSynced = true
        bytesADayMax = paths.recordingDiskMegabytesADay * 1_000_000
        spare = runtime.map { $0 + "/cycles" }
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

/// The newest of a row of recordings: written as it comes, so that it outlives the process at once, and the
/// machine where the folder does.
struct RecordingFile: ~Copyable {
    static let ending = ".cycles"
    /// However short they are.
    private static let mostFiles = 1_000

    private let places: BlackBoxPlaces
    private let sync: RecordingSync?
    private var file: FileDescriptor?
    private var path: String?
    private var written = 0
    private var number: UInt64
    private var wear: DiskWear
    /// The newest file stands in memory, since the day's share of the disk is used up.
    private(set) var isSpared = false

    init(_ places: BlackBoxPlaces, sync: RecordingSync? = nil) {
        self.places = places
        self.sync = sync
        wear = DiskWear(bytesADayMax: places.bytesADayMax)
        number = Self.paths(places).compactMap(Self.number).max() ?? 0
    }

    var isFull: Bool { written >= places.fileBytesMax }

    /// Ends it without what could not be written; one that holds nothing is taken away.
    mutating func drop() {
        file = nil
        if written == 0, let path { unlink(path) }
        path = nil
    }

    /// Begins another one, and makes room for it.
    mutating func renew(at now: MonotonicTime) throws(SystemError) {
        file = nil
        path = nil
        isSpared = !wear.hasRoom(at: now)
        let directory = isSpared ? places.spare : places.directory
        written = 0
        guard let directory else { return }
        try DurableFile.createDirectories(directory)
        makeRoom()
        number += 1
        let text = String(number)
        let zeros = String(repeating: "0", count: max(0, 12 - text.utf8.count))
        let path = directory + "/" + zeros + text + Self.ending
        let opened = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
        guard opened >= 0 else { throw SystemError.last("open") }
        self.path = path
        file = FileDescriptor(owning: opened)
        sync?.follow(isSpared ? nil : opened)
    }

    /// For one whole file more. By bytes: a restart begins a file too, and a loop of them must not drop what
    /// came before the first.
    private func makeRoom() {
        var files = Self.paths(places).map { path in
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

    mutating func append(_ bytes: [UInt8], at now: MonotonicTime) throws(SystemError) {
        // What has no room is let go; the next file begins with the controller's state again.
        guard let number = file?.number else { return written += isSpared ? bytes.count : 0 }
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
        if !isSpared { wear.wrote(bytes.count, syncs: sync?.takeCount() ?? 0, at: now) }
    }

    /// The file must not go on where it stands.
    mutating func isWorn(at now: MonotonicTime) -> Bool { wear.hasRoom(at: now) == isSpared }

    /// The oldest first, of both places.
    static func paths(_ places: BlackBoxPlaces) -> [String] {
        let all = ([places.directory] + (places.spare.map { [$0] } ?? [])).flatMap { directory in
            names(directory).map { (name: $0, path: directory + "/" + $0) }
        }
        return all.sorted { $0.name < $1.name }.map(\.path)
    }

    private static func number(_ path: String) -> UInt64? {
        path.split(separator: "/").last.flatMap { UInt64($0.dropLast(ending.count)) }
    }

    /// The oldest first.
    static func names(_ directory: String, _ ending: String = ending) -> [String] {
        Folder.names(directory).filter { $0.hasSuffix(ending) }
    }
}

/// What a day's recordings have written to a disk that wears by it; counted since the program's start.
struct DiskWear: Sendable {
    let bytesADayMax: Int
    private var day = 0
    private var bytes = 0

    init(bytesADayMax: Int) { self.bytesADayMax = bytesADayMax }

    mutating func wrote(_ count: Int, syncs: Int, at now: MonotonicTime) {
        turn(now)
        bytes += count + syncs * BlackBoxPlaces.bytesASync
    }

    /// Whether more may be written on this day.
    mutating func hasRoom(at now: MonotonicTime) -> Bool {
        turn(now)
        return bytes < bytesADayMax
    }

    private mutating func turn(_ now: MonotonicTime) {
        let today = Int(now.nanoseconds / 86_400_000_000_000)
        if today != day { (day, bytes) = (today, 0) }
    }
}
