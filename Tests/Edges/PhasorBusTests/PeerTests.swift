import DeviceCodecs
import Foundation
import LinuxIO
import PhasorBus
import Quantities
import Testing

/// A Python script of `Tests/Peers`; killed when it goes out of scope.
private final class Peer {
    private let process = Process()
    private let output = Pipe()
    private var received = Data()

    init(_ script: String, _ arguments: [String]) throws {
        let interpreter = try #require(
            ProcessInfo.processInfo.environment["BALLAST_PYTHON"],
            "BALLAST_PYTHON is not set: run hil/test, which installs the peers")
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        process.executableURL = URL(filePath: interpreter)
        process.arguments = ["-u", tests.appending(path: "Peers/\(script)").path] + arguments
        process.standardOutput = output
        try process.run()
        let number = output.fileHandleForReading.fileDescriptor
        try #require(fcntl(number, F_SETFL, O_NONBLOCK) == 0)
    }

    deinit {
        // A process that never began has the number 0, which would be this test's whole group.
        guard process.processIdentifier > 0 else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The first whole line, once it has come.
    func line() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = read(output.fileHandleForReading.fileDescriptor, &buffer, buffer.count)
        if count > 0 { received.append(contentsOf: buffer[..<count]) }
        return received.firstIndex(of: 0x0A).map { String(decoding: received[..<$0], as: UTF8.self) }
    }
}

/// Against the PyPI package synchrophasor, which nobody here wrote.
@Suite(.serialized) struct PeerTests {
    private static func freePort() throws -> UInt16 { try Station().server.port }

    @Test(arguments: [("int", 49.987), ("float", 50.125)])
    func `the package's PMU is read`(format: String, expected: Double) throws {
        let port = try Self.freePort()
        let peer = try Peer("phasor_server.py", [format, "\(port)"])
        // The package writes a float FREQ as a deviation.
        var bench = Bench(
            .tcp(host: "127.0.0.1", port: port), Bench.settings(floatIsDeviation: format == "float"))
        #expect(bench.run { $0.status.samples >= 20 }, "\(peer.line() ?? "no READY")")
        let seen = bench.frequency
        let frequency = try #require(seen)
        #expect((frequency - Hertz(expected)).magnitude < Hertz(1e-6))
        #expect(bench.status.rejected == 0 && bench.status.garbageBytes == 0)
        #expect(bench.status.configurations >= 1)
    }

    @Test func `a PMU that is commanded by TCP and sends by UDP is read, and nobody else's datagrams are`()
        throws
    {
        let (port, dataPort) = (try Self.freePort(), try Self.freePort())
        let peer = try Peer("phasor_mixed.py", ["\(port)", "\(dataPort)"])
        var bench = Bench(.mixed(host: "127.0.0.1", port: port, dataPort: dataPort))
        #expect(bench.run { $0.status.samples >= 20 }, "\(peer.line() ?? "no READY")")
        let first = bench.frequency
        #expect((try #require(first) - Hertz(49.987)).magnitude < Hertz(1e-6))
        #expect(bench.status.configurations >= 1 && bench.status.rejected == 0)
        // Another address tells 51 Hz in the same frames, and longer than the PMU itself.
        #expect(bench.run { $0.status.garbageBytes > 1_000 })
        let later = bench.frequency
        #expect((try #require(later) - Hertz(49.987)).magnitude < Hertz(1e-6))
        // The data ends with the commands.
        #expect(bench.run { !$0.status.isLinkUp && $0.linkFaults.contains(.peerClosed) })
    }

    @Test func `the package's client reads our PMU`() throws {
        var station = try Station(float: false)
        station.frequency = 49.987
        let peer = try Peer("phasor_client.py", ["\(station.server.port)", "7"])
        let end = MonotonicTime.now() + Bench.patience
        while peer.line() == nil, MonotonicTime.now() < end { station.turn() }
        let text = try #require(peer.line())
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object["station"] as? String == "NORTH")
        #expect(object["is_configuration"] as? Bool == true)
        #expect(object["rate"] as? Int == 50)
        #expect(object["nominal"] as? Int == 50)
        #expect(object["frequency"] as? Int == -13)
    }
}
