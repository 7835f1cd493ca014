import Glibc
import LinuxIO
import Quantities

/// Asks for CAN interfaces that stay off to be set up anew: writes a file for each, and
/// `ballast-can-restart@.path` starts the oneshot that has the right to do it. We only see and wait.
struct CANRestart {
    /// The driver's own restart comes first.
    static let patience = Duration.seconds(10)
    static let pause = Duration.seconds(60)

    private struct Bus {
        let interface: String
        let isOff: @Sendable () -> Bool
        var offSince: MonotonicTime?
        var next = MonotonicTime(nanoseconds: 0)
    }

    /// systemd's runtime directory; without one nobody watches.
    private let folder: String?
    private var buses: [Bus] = []

    init(folder: String?) { self.folder = folder }

    mutating func watch(_ interface: String, isOff: @escaping @Sendable () -> Bool) {
        buses.append(Bus(interface: interface, isOff: isOff))
    }

    /// - Returns: the interfaces that were asked for.
    mutating func tend(at now: MonotonicTime) -> [String] {
        guard let folder else { return [] }
        var asked: [String] = []
        for index in buses.indices {
            guard buses[index].isOff() else {
                buses[index].offSince = nil
                continue
            }
            let since = buses[index].offSince ?? now
            buses[index].offSince = since
            guard now - since >= Self.patience, now >= buses[index].next else { continue }
            buses[index].next = now + Self.pause
            if Self.touch("\(folder)/can-restart-\(buses[index].interface)") {
                asked.append(buses[index].interface)
            }
        }
        return asked
    }

    /// A file that is closed after writing is what systemd looks for.
    private static func touch(_ path: String) -> Bool {
        let number = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o640)
        guard number >= 0 else { return false }
        let file = FileDescriptor(owning: number)
        return write(file.number, "1\n", 2) == 2
    }
}
