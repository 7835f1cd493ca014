import Glibc
import LinuxIO
import Quantities
import Testing

@Suite struct NetworkTests {
    static let patience = Duration.seconds(30)

    @Test func `a listener gives its port, and each waiting peer once`() throws {
        let listener = try NetworkSocket.listen(at: NetworkAddress("127.0.0.1", 0))
        let port = try #require(NetworkSocket.localPort(listener.number))
        #expect(port != 0)
        let isNobody = try NetworkSocket.accept(listener.number) == nil
        #expect(isNobody)
        let client = try NetworkSocket.connect(.stream, to: NetworkAddress("localhost", port))
        let isReady = listener.wait(timeout: Self.patience)
        #expect(isReady)
        guard let server = try NetworkSocket.accept(listener.number) else {
            Issue.record("the peer is not there")
            return
        }
        let isConnected = client.wait(forWriting: true, timeout: Self.patience)
        #expect(isConnected && NetworkSocket.connectionError(client.number) == 0)
        let sent: [UInt8] = [1, 2, 3]
        #expect(send(client.number, sent, 3, 0) == 3)
        var bytes = [UInt8](repeating: 0, count: 8)
        let hasInput = server.wait(timeout: Self.patience)
        let count = recv(server.number, &bytes, 8, 0)
        #expect(hasInput && count == 3 && bytes.prefix(3) == [1, 2, 3])
        #expect(fcntl(server.number, F_GETFL) & O_NONBLOCK != 0, "an accepted peer never blocks")
        #expect(fcntl(server.number, F_GETFD) & FD_CLOEXEC != 0, "nor is it inherited")
    }

    @Test func `a refused connection is told by its error`() throws {
        let port = try Self.unusedPort()
        do {
            let client = try NetworkSocket.connect(.stream, to: NetworkAddress("127.0.0.1", port))
            _ = client.wait(forWriting: true, timeout: Self.patience)
            #expect(NetworkSocket.connectionError(client.number) == ECONNREFUSED)
        } catch {
            #expect(error == .system(.connect, errno: ECONNREFUSED))
        }
    }

    private static func unusedPort() throws -> UInt16 {
        let listener = try NetworkSocket.listen(at: NetworkAddress("127.0.0.1", 0))
        return try #require(NetworkSocket.localPort(listener.number))
    }

    // swift-format-ignore
    static let hosts: [(host: String, family: CInt?, isMulticast: Bool, why: Comment)] = [
        ("localhost",   AF_INET,  false, "the one name that needs no look-up"),
        ("10.0.0.7",    AF_INET,  false, "IPv4"),
        ("223.255.0.1", AF_INET,  false, "the last below the groups"),
        ("224.0.0.1",   AF_INET,  true,  "the first group"),
        ("239.255.0.1", AF_INET,  true,  "the last groups"),
        ("240.0.0.1",   AF_INET,  false, "above them"),
        ("::1",         AF_INET6, false, "IPv6"),
        ("bms.example", nil,      false, "a look-up has no bound in time"),
        ("",            nil,      false, "nothing"),
    ]

    @Test(arguments: hosts)
    func `only numbers are addresses`(
        host: String, family: CInt?, isMulticast: Bool, why: Comment
    ) throws {
        guard let family else {
            #expect(throws: NetworkError.hostNotNumeric, why) { _ = try NetworkAddress(host, 1) }
            return
        }
        let address = try NetworkAddress(host, 1)
        let found = (address.family, address.isMulticast)
        #expect(found == (family, isMulticast), why)
    }

    enum Event: BusEvent {
        case first, second
        static var filler: Event { .first }
        var kind: Int { self == .first ? 0 : 15 }
    }

    @Test func `a flood of reports is thinned out and counted`() {
        let queue = RingBuffer<BusReport<Event>>(capacity: 64, filler: .filler)
        var gate = ReportGate(queue)
        let start = MonotonicTime(nanoseconds: 0)
        for _ in 0..<1_000 { gate.report(.first, at: start) }
        gate.report(.second, at: start)
        gate.report(.first, at: start + .seconds(1))
        var counts: [UInt64] = []
        while let report = queue.pop() { counts.append(report.count) }
        #expect(counts == [1, 1, 1, 1, 998])
    }

    @Test func `what a full queue refuses is told with the next report`() {
        let queue = RingBuffer<BusReport<Event>>(capacity: 1, filler: .filler)
        var gate = ReportGate(queue)
        let start = MonotonicTime(nanoseconds: 0)
        for second in 0..<4 { gate.report(.first, at: start + .seconds(second)) }
        #expect(queue.pop()?.count == 1)
        gate.report(.first, at: start + .seconds(4))
        #expect(queue.pop()?.count == 4)
    }

    @Test func `back-off doubles to its bound and starts again once reset`() {
        var backOff = BackOff()
        let now = MonotonicTime(nanoseconds: 0)
        let delays = (0..<8).map { _ in
            backOff.schedule(after: now)
            return (backOff.next - now).milliseconds
        }
        #expect(delays == [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
        backOff.reset()
        backOff.schedule(after: now)
        #expect(backOff.next - now == .milliseconds(100))
    }
}
