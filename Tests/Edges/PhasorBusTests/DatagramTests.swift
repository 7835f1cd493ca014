import CLinux
import DeviceCodecs
import Glibc
import LinuxIO
import PhasorBus
import Quantities
import Testing

/// A UDP socket of a PMU.
private final class DatagramSocket {
    let descriptor: FileDescriptor
    let port: UInt16

    init() throws {
        let kind = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(AF_INET, kind, 0)
        if number < 0 { throw SystemError.last("socket") }
        descriptor = FileDescriptor(owning: number)
        var name = Self.local(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, size) == 0 && getsockname(number, $0, &size) == 0
            }
        }
        if !isBound { throw SystemError.last("bind") }
        port = UInt16(bigEndian: name.sin_port)
    }

    static func local(_ port: UInt16) -> sockaddr_in {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = inet_addr("127.0.0.1")
        return name
    }

    func send(_ bytes: [UInt8], to port: UInt16) {
        var name = Self.local(port)
        withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(
                    descriptor.number, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// The next datagram and where it came from; `nil` where none waits.
    func receive() -> (bytes: [UInt8], port: UInt16)? {
        var buffer = [UInt8](repeating: 0, count: 2_048)
        var name = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(descriptor.number, &buffer, buffer.count, 0, $0, &size)
            }
        }
        return count < 0 ? nil : (Array(buffer.prefix(count)), UInt16(bigEndian: name.sin_port))
    }
}

@Suite struct DatagramTests {
    private static let configuration = Station.configuration(float: true)

    private static func configurationFrame() -> [UInt8] {
        PhasorEncoder.configuration(configuration, idCode: 7, second: 1, fraction: 0)
    }

    private static func data(_ frequency: Double, _ step: Int) -> [UInt8] {
        PhasorEncoder.data(
            [PhasorEncoder.Measurement(frequency: frequency)], configuration, idCode: 7,
            second: UInt32(100 + step / 50), fraction: UInt32(step % 50 * 20_000))
    }

    private static func command(_ bytes: [UInt8]) -> PhasorCommand? {
        guard let header = try? PhasorHeader.checked(bytes.span), header.kind == .command else { return nil }
        return try? PhasorCommand(bytes.span)
    }

    @Test func `datagrams that come by themselves are read, and nothing is ever said`() throws {
        let far = try DatagramSocket()
        // A port that was free a moment ago; only this test listens on it.
        let port = try DatagramSocket().port
        var bench = Bench(.udpListen(host: "127.0.0.1", port: port))
        var step = 0
        let isSeen = bench.run { bench in
            far.send(Self.data(49.75, step), to: port)
            if step == 10 { far.send(Self.configurationFrame(), to: port) }
            if step == 20 { far.send([0xAA, 0x01, 0x00], to: port) }
            step += 1
            return bench.frequency == Hertz(49.75) && bench.status.rejected > 0
        }
        #expect(isSeen)
        #expect(bench.status.configurations == 1)
        #expect(bench.status.isLinkUp)
        #expect(far.receive() == nil)
    }

    @Test func `a PMU is commanded by datagrams and answers to where they came from`() throws {
        let far = try DatagramSocket()
        var bench = Bench(.udp(host: "127.0.0.1", port: far.port))
        var asked: [PhasorCommand] = []
        var client: UInt16 = 0
        var step = 0
        let isSeen = bench.run { bench in
            while let (bytes, port) = far.receive() {
                client = port
                guard let command = Self.command(bytes) else { continue }
                asked.append(command)
                if command == .sendConfiguration2 { far.send(Self.configurationFrame(), to: client) }
            }
            if asked.contains(.dataOn) {
                far.send(Self.data(50.5, step), to: client)
                far.send(Self.data(50.5, step), to: client)
            }
            step += 1
            return bench.frequency == Hertz(50.5) && bench.status.duplicates > 0
        }
        #expect(isSeen)
        #expect(asked.first == .sendConfiguration2)
    }
}
