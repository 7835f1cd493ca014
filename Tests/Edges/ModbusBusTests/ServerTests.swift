import CLinux
import Glibc
import LinuxIO
import ModbusBus
import Testing

@Suite(.serialized) struct `Our Modbus server` {
    static var map: [UInt16] {
        var registers = [UInt16](repeating: 0, count: 98)
        registers.replaceSubrange(0..<6, with: [0x5375, 0x6E53, 1, 66, 0x4261, 0x6C6C])
        registers.replaceSubrange(70..<75, with: [120, 26, 4, 5_000, 1])
        registers[6] = 0x6173
        registers[7] = 0x7400
        registers.append(contentsOf: [0xFFFF, 0])
        return registers
    }

    /// Serves until the script has said `end`, and gives all that it said.
    static func lines(_ server: inout ModbusServer, _ arguments: [String]) throws -> [String] {
        server.addBlock(unit: 1, start: 40_000, registers: map)
        server.addBlock(unit: 2, start: 100, registers: Array(0..<10))
        server.addBits(.coils, unit: 3, start: 20, [Bool](repeating: false, count: 9))
        server.addBits(.discreteInputs, unit: 3, start: 20, (0..<9).map { $0 == 0 || $0 == 8 })
        let peer = try Peer("modbus_client.py", arguments, isServer: false)
        while peer.isRunning {
            server.poll(timeout: .milliseconds(20)) { $0.values == [666] ? 4 : nil }
        }
        return try peer.remainingLines()
    }

    static let expected = [
        "scan [1, 120]", "maker Ballast", "rating 50000.0", "read [0, 1, 2]", "input [1]",
        "written [7, 8, 9]",
        "gap exception 2", "refused exception 4", "kept [5]", "coils exception 1",
        "inputs 100000001", "switched 100100001", "part 10", "beyond exception 2",
    ]

    static func check(_ lines: [String]) {
        #expect(Array(lines.prefix(expected.count)) == expected)
        #expect(lines.last == "end")
    }

    @Test func `is read and written by pymodbus and scanned by pysunspec2 over TCP`() throws {
        var server = try ModbusServer(port: 0)
        Self.check(try Self.lines(&server, ["tcp", String(server.port)]))
    }

    @Test func `and over a pty`() throws {
        var (controller, device): (CInt, CInt) = (-1, -1)
        var name = [CChar](repeating: 0, count: 64)
        #expect(ballast_openpty(&controller, &device, &name, name.count) == 0)
        // Held open, so that the line stays up between two clients.
        let held = FileDescriptor(owning: device)
        var server = try ModbusServer(serial: FileDescriptor(owning: controller))
        let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        Self.check(try Self.lines(&server, ["rtu", path]))
        #expect(held.number >= 0)
    }

    // swift-format-ignore
    static let garbage: [(bytes: [UInt8], closes: Bool, why: Comment)] = [
        ([0, 1, 0, 0, 0, 6, 1, 3],                         false, "half a request: the rest may come"),
        ([0, 1, 0, 9, 0, 6, 1, 3, 0, 0, 0, 1],             true,  "another protocol"),
        ([0, 1, 0, 0, 255, 255, 1, 3, 0, 0, 0, 1],         true,  "an impossible length"),
        ([0, 1, 0, 0, 0, 1, 1],                            true,  "a length without a function"),
        (Array("GET / HTTP/1.1\r\n\r\n".utf8),             true,  "a web browser"),
    ]

    @Test(arguments: garbage)
    func `closes a client that does not speak Modbus, and serves the others`(
        bytes: [UInt8], closes: Bool, why: Comment
    ) throws {
        var server = try ModbusServer(port: 0)
        server.addBlock(unit: 1, start: 0, registers: [42])
        let bad = try Client(server.port)
        let good = try Client(server.port)
        bad.send(bytes)
        good.send([0, 5, 0, 0, 0, 6, 1, 3, 0, 0, 0, 1])
        try eventually("the good client is answered") {
            server.poll(timeout: .milliseconds(10)) { _ in nil }
            return good.received() == [0, 5, 0, 0, 0, 5, 1, 3, 2, 0, 42]
        }
        try eventually(why) {
            server.poll(timeout: .milliseconds(10)) { _ in nil }
            return server.connectionCount == (closes ? 1 : 2)
        }
    }

    @Test func `can keep silent, refuse, and answer several requests sent at once`() throws {
        var server = try ModbusServer(port: 0)
        server.addBlock(unit: 1, start: 0, registers: [42])
        let client = try Client(server.port)
        let request: [UInt8] = [0, 5, 0, 0, 0, 6, 1, 3, 0, 0, 0, 1]
        server.setBehaviour(.silent, unit: 1)
        client.send(request)
        try eventually("the request is seen") { server.poll(timeout: .milliseconds(10)) { _ in nil } == 1 }
        #expect(client.received() == [])
        server.setBehaviour(.exception(6), unit: 1)
        client.send(request + request)
        try eventually("both requests are refused") {
            server.poll(timeout: .milliseconds(10)) { _ in nil }
            return client.received() == [0, 5, 0, 0, 0, 3, 1, 0x83, 6, 0, 5, 0, 0, 0, 3, 1, 0x83, 6]
        }
    }

    /// A plain socket.
    final class Client {
        private let descriptor: FileDescriptor
        private var bytes: [UInt8] = []

        init(_ port: UInt16) throws {
            descriptor = FileDescriptor(owning: socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0))
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let number = descriptor.number
            let result = withUnsafeBytes(of: &name) {
                connect(number, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
            }
            if result != 0 { throw SystemError.last("connect") }
            try descriptor.setNonBlocking()
        }

        func send(_ bytes: [UInt8]) {
            let sent = bytes.withUnsafeBytes { Glibc.send(descriptor.number, $0.baseAddress, $0.count, 0) }
            #expect(sent == bytes.count)
        }

        /// Everything that has come so far.
        func received() -> [UInt8] {
            var buffer = [UInt8](repeating: 0, count: 512)
            let count = recv(descriptor.number, &buffer, buffer.count, 0)
            if count > 0 { bytes += buffer[0..<count] }
            return bytes
        }
    }
}
