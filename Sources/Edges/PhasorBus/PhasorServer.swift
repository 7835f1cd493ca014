import DeviceCodecs
import Glibc
import LinuxIO
import Quantities

/// A PMU's side of C37.118 over TCP, for simulated plants and tests: answers commands and sends data frames
/// to every client that has asked for them. Belongs to one thread.
public struct PhasorServer: ~Copyable, Sendable {
    static let clientLimit = 4

    /// One client, closed when it goes away.
    private final class Client: Sendable {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    private struct Session: Sendable {
        var client: Client
        var framer = PhasorFramer(longest: 1_024)
        var isSending = false
    }

    private let listener: FileDescriptor
    private let idCode: UInt16
    /// A change is told to nobody; clients ask for it, or are sent it by `announce`.
    public var configuration: PhasorConfiguration
    private var sessions: [Session] = []
    private var buffer = [UInt8](repeating: 0, count: 1_024)

    public init(
        listeningOn host: String, port: UInt16, idCode: UInt16, configuration: PhasorConfiguration
    ) throws(PhasorError) {
        listener = try PhasorSocket.listen(host, port)
        self.idCode = idCode
        self.configuration = configuration
    }

    /// The port it got, where it was asked for port 0.
    public var port: UInt16 { NetworkSocket.localPort(listener.number) ?? 0 }

    /// Serves commands until `end`.
    public mutating func serve(until end: MonotonicTime) {
        while true {
            let now = MonotonicTime.now()
            guard now < end else { return }
            var entries = [pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0)]
            for session in sessions {
                entries.append(
                    pollfd(fd: session.client.descriptor.number, events: Int16(POLLIN), revents: 0))
            }
            let milliseconds = CInt(clamping: (end - now).nanoseconds / 1_000_000 + 1)
            guard Glibc.poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { continue }
            for index in sessions.indices.reversed() where entries[index + 1].revents != 0 {
                if !read(index) { sessions.remove(at: index) }
            }
            if entries[0].revents != 0 { acceptClient() }
        }
    }

    /// Sends one data frame, stamped now, to everybody who wants data.
    public mutating func send(_ measurements: [PhasorEncoder.Measurement]) {
        let (second, fraction) = stamp()
        let frame = PhasorEncoder.data(
            measurements, configuration, idCode: idCode, second: second, fraction: fraction)
        send(raw: frame)
    }

    /// Sends bytes as they are to everybody who wants data.
    public mutating func send(raw bytes: [UInt8]) {
        for index in sessions.indices.reversed() where sessions[index].isSending {
            if !write(bytes, index) { sessions.remove(at: index) }
        }
    }

    /// Closes every connection; new ones are taken.
    public mutating func dropClients() { sessions = [] }

    private mutating func acceptClient() {
        // A peer that left again needs no answer.
        guard let descriptor = try? NetworkSocket.accept(listener.number) else { return }
        guard sessions.count < Self.clientLimit else { return }
        PhasorSocket.sendAtOnce(descriptor.number)
        sessions.append(Session(client: Client(descriptor)))
    }

    /// - Returns: whether the client is still there.
    private mutating func read(_ index: Int) -> Bool {
        let number = sessions[index].client.descriptor.number
        let count = buffer.withUnsafeMutableBytes { recv(number, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        buffer.withUnsafeBytes {
            sessions[index].framer.append(UnsafeRawBufferPointer(rebasing: $0[..<count]))
        }
        while let command = sessions[index].framer.next({ Self.command($0) }) {
            guard let command else { continue }
            guard answer(command, index) else { return false }
        }
        return true
    }

    private static func command(_ frame: borrowing Span<UInt8>) -> PhasorCommand? {
        guard let header = try? PhasorHeader.checked(frame), header.kind == .command else { return nil }
        // Other commands than the standard's are not answered.
        return try? PhasorCommand(frame)
    }

    private mutating func answer(_ command: PhasorCommand, _ index: Int) -> Bool {
        switch command {
        case .dataOff: sessions[index].isSending = false
        case .dataOn: sessions[index].isSending = true
        case .sendConfiguration1, .sendConfiguration2:
            let (second, fraction) = stamp()
            let kind: PhasorFrameKind = command == .sendConfiguration1 ? .configuration1 : .configuration2
            let frame = PhasorEncoder.configuration(
                configuration, kind: kind, idCode: idCode, second: second, fraction: fraction)
            return write(frame, index)
        case .sendHeader, .sendConfiguration3, .extended: break
        }
        return true
    }

    /// A client that does not take what it asked for is dropped.
    private func write(_ bytes: [UInt8], _ index: Int) -> Bool {
        (try? PhasorSocket.send(bytes, sessions[index].client.descriptor.number)) ?? false
    }

    private func stamp() -> (second: UInt32, fraction: UInt32) {
        let milliseconds = WallClock.nowMilliseconds()
        let fraction = Int64(configuration.timeBase) * (milliseconds % 1_000) / 1_000
        return (UInt32(clamping: milliseconds / 1_000), UInt32(clamping: fraction))
    }
}
