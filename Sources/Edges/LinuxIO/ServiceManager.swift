import CSystemd
import Glibc
import Quantities

/// Messages to the service manager; silent where there is none. None of them waits for a manager that does
/// not read, but `ready`, for a second.
public enum ServiceManager {
    /// Everything is up. `status` is one line for `systemctl status`.
    public static func ready(status: String) {
        let limit = MonotonicTime.now() + .seconds(1)
        while !send("READY=1\nSTATUS=\(status)"), MonotonicTime.now() < limit {
            (MonotonicTime.now() + .milliseconds(10)).sleep()
        }
    }

    public static func status(_ status: String) { _ = send("STATUS=\(status)") }
    /// The configuration is being read anew; `ready` ends it.
    public static func reloading() {
        _ = send("RELOADING=1\nMONOTONIC_USEC=\(MonotonicTime.now().nanoseconds / 1_000)")
    }
    public static func stopping() { _ = send("STOPPING=1") }

    /// How often the manager wants to be fed, in microseconds; `nil` where no watchdog is set.
    public static func watchdogMicroseconds() -> UInt64? {
        var microseconds: UInt64 = 0
        return sd_watchdog_enabled(0, &microseconds) > 0 ? microseconds : nil
    }

    /// - Returns: `false` where the manager's queue is full: later it may not be.
    private static func send(_ text: String) -> Bool {
        guard let socket = NotifySocket() else { return true }
        return socket.send(Array(text.utf8))
    }
}

/// The way to the service manager, open and with its address, so that a message costs one system call that
/// cannot block.
public struct NotifySocket: ~Copyable, Sendable {
    private let socket: FileDescriptor
    private let address: sockaddr_un
    private let length: socklen_t

    /// `nil` without a service manager (`NOTIFY_SOCKET`).
    public init?() {
        guard let name = getenv("NOTIFY_SOCKET").map({ Array(String(cString: $0).utf8) }),
            let first = name.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@")
        else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { place in
            place.copyBytes(from: name)
            // An abstract name.
            if first == UInt8(ascii: "@") { place[0] = 0 }
        }
        let type = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let number = Glibc.socket(AF_UNIX, type, 0)
        guard number >= 0 else { return nil }
        socket = FileDescriptor(owning: number)
        self.address = address
        let isAbstract = first == UInt8(ascii: "@")
        length = socklen_t(MemoryLayout<sa_family_t>.size + name.count + (isAbstract ? 0 : 1))
    }

    /// - Returns: `false` where the manager's queue is full.
    public func send(_ bytes: [UInt8]) -> Bool {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bytes.withUnsafeBytes {
                    sendto(
                        socket.number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL), address, length)
                        >= 0 || errno != EAGAIN
                }
            }
        }
    }
}
