import Glibc
import LinuxIO
import ProgramSupport
import Quantities
import Testing

/// The test in the part of systemd: a datagram socket that the daemon notifies.
final class NotifySocket {
    let path: String
    private let socket: FileDescriptor

    init(in scratch: ScratchFolder) throws {
        path = scratch.path + "/notify"
        let number = Glibc.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if number < 0 { throw SystemError.last("socket") }
        socket = FileDescriptor(owning: number)
        try socket.setNonBlocking()
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        let result = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result != 0 { throw SystemError.last("bind") }
    }

    /// The next message; `nil` where none came within `time`.
    func next(within time: Duration) -> String? {
        guard socket.wait(timeout: time) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = recv(socket.number, &bytes, bytes.count, 0)
        return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Takes messages until one has `part` in it.
    func wait(for part: String, location: SourceLocation = #_sourceLocation) throws -> String {
        var found = ""
        try eventually("a message with \(part)", location: location) {
            while let message = next(within: .milliseconds(10)) {
                found = message
                if message.contains(part) { return true }
            }
            return false
        }
        return found
    }
}

extension BallastDaemonTests {
    @Suite struct ServiceManagerTests {
        @Test
        func `the service manager hears of readiness, state and life, and of no life while it stands still`()
            throws
        {
            let site = try RunningSite.small()
            let manager = try NotifySocket(in: site.scratch)
            try site.startPlant()
            try site.startDaemon(
                environment: ["NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=2000000"])

            #expect(try manager.wait(for: "READY=1").contains("STATUS=site test (simulation): 1 units"))
            _ = try manager.wait(for: "WATCHDOG=1")
            let state = try manager.wait(for: "BESS_01 running")
            #expect(state.hasPrefix("STATUS=50.0 Hz, setpoint 0.0 kW"), "\(state)")

            let daemon = try site.daemon
            daemon.send(SIGSTOP)
            try eventually("it stands still") { daemon.isStopped }
            while manager.next(within: .zero) != nil {}
            #expect(manager.next(within: .milliseconds(800)) == nil, "three feeds would have come")
            daemon.send(SIGCONT)
            _ = try manager.wait(for: "WATCHDOG=1")

            daemon.send(SIGTERM)
            _ = try manager.wait(for: "STOPPING=1")
            #expect(try daemon.exitStatus() == 0)
        }

        @Test func `a silent plant is no reason to stop feeding the watchdog`() throws {
            let site = try RunningSite.small()
            let manager = try NotifySocket(in: site.scratch)
            try site.startDaemon(
                environment: ["NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=2000000"])
            try site.waitForMode("offline")
            for _ in 0..<8 { _ = try manager.wait(for: "WATCHDOG=1") }
        }
    }
}
