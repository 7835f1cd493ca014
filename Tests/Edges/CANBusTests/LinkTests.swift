import DeviceCodecs
import Glibc
import LinuxIO
import Plant
import Quantities
import Testing

@testable import CANBus

/// A TCP peer that can misbehave.
struct RawPeer: ~Copyable {
    let socket: FileDescriptor
    private var received: [UInt8] = []

    init(port: UInt16) throws { socket = try TCPSocket.connect("127.0.0.1", port) }

    func send(_ bytes: [UInt8]) {
        let end = MonotonicTime.now() + Bench.patience
        while MonotonicTime.now() < end {
            let count = bytes.withUnsafeBytes {
                Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count == bytes.count { return }
        }
    }

    /// - Returns: how many bytes the kernel has taken; never waits.
    func push(_ bytes: ArraySlice<UInt8>) -> Int {
        max(
            0,
            bytes.withUnsafeBytes {
                Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            })
    }

    /// All that has come so far; never waits.
    mutating func take() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = read(socket.number, &buffer, buffer.count)
        if count > 0 { received += buffer[..<count] }
        return received
    }

    var isClosed: Bool {
        var byte: UInt8 = 0
        return recv(socket.number, &byte, 1, Int32(MSG_PEEK)) == 0
    }
}

@Suite(.serialized) struct LinkTests {
    static let greeting = Array("CANNELLONIv1".utf8)
    static let fullFrame: [UInt8] = [0, 0, 3, 0x55, 4, 0x58, 0, 0x5E, 0]

    // swift-format-ignore
    static let rows: [(bytes: [UInt8], fault: CANError, why: Comment)] = [
        (greeting + fullFrame + [0, 0, 3],              .stalled,                      "half a frame, then nothing"),
        (greeting + fullFrame + Array(repeating: 255, count: 9), .desynchronised(.length), "garbage"),
        (Array("GET / HTTP/1.1\r\n\r\n".utf8),          .desynchronised(.greeting),    "a web browser"),
        (Array("CANNE".utf8),                           .greetingTimedOut,             "half a greeting, then nothing"),
    ]

    @Test(arguments: rows)
    func `a peer that stalls or sends garbage is dropped and the next one is taken`(
        row: (bytes: [UInt8], fault: CANError, why: Comment)
    ) throws {
        let port = try freePort()
        var bench = Bench(.cannelloniListen(host: "127.0.0.1", port: port))
        #expect(bench.run { $0.status.heartbeat > 1 })
        let bad = try RawPeer(port: port)
        bad.send(row.bytes)
        #expect(bench.run { !$0.linkFaults.isEmpty }, row.why)
        #expect(bench.linkFaults.first == row.fault, row.why)
        #expect(!bench.status.isLinkUp)
        let before = bench.image.stateOfCharge
        let sample = bench.image.stateOfCharge.age(at: MonotonicTime(nanoseconds: 0))
        let aged = MonotonicTime.now() + .seconds(1)
        #expect(before.fresh(at: aged, within: .seconds(1)) == nil, "nothing refreshes it")
        let good = try RawPeer(port: port)
        good.send(Self.greeting + Self.fullFrame)
        let isBack = bench.run {
            $0.image.stateOfCharge.age(at: MonotonicTime(nanoseconds: 0)) != sample && $0.status.isLinkUp
        }
        #expect(isBack, row.why)
        #expect(bench.image.stateOfCharge.fresh(at: .now(), within: Bench.patience) == .percent(88))
    }

    @Test func `a second peer is refused while the first lives`() throws {
        let port = try freePort()
        var bench = Bench(.cannelloniListen(host: "127.0.0.1", port: port))
        #expect(bench.run { $0.status.heartbeat > 1 })
        let first = try RawPeer(port: port)
        first.send(Self.greeting)
        #expect(bench.run { $0.status.isLinkUp })
        let second = try RawPeer(port: port)
        let isRefused = bench.run { bench in
            bench.log.contains { if case .refusedPeer = $0.event { true } else { false } }
        }
        #expect(isRefused)
        let isClosed = second.isClosed
        #expect(isClosed)
        first.send(Self.fullFrame)
        #expect(bench.run { $0.status.frames == 1 })
    }

    @Test func `the BMS hears us only while the actuation holds`() throws {
        let port = try freePort()
        var bench = Bench(.cannelloniListen(host: "127.0.0.1", port: port))
        #expect(bench.run { $0.status.heartbeat > 1 })
        var peer = try RawPeer(port: port)
        peer.send(Self.greeting)
        #expect(bench.run { $0.status.isLinkUp })
        let turns = bench.status.heartbeat + 20
        #expect(bench.run { $0.status.heartbeat > turns })
        #expect(bench.status.keepAlives == 0, "nobody has decided anything yet")
        bench.permit(for: .seconds(-1))
        #expect(bench.run { $0.status.heartbeat > turns + 20 })
        #expect(bench.status.keepAlives == 0, "an expired decision is none")
        bench.permit()
        #expect(
            bench.run { _ in peer.take() == Self.greeting + [0, 0, 3, 5, 8] + Array(repeating: 0, count: 8) })
        #expect(bench.status.keepAlives == 1)
    }

    @Test func `our client reads our listener and comes back after it was lost`() throws {
        let port = try freePort()
        var bench = Bench(.cannelloni(host: "localhost", port: port))
        #expect(bench.run { $0.linkFaults == [.system(.connect, errno: ECONNREFUSED)] })
        for round in 1...2 {
            var server = try CANTransport.open(.cannelloniListen(host: "127.0.0.1", port: port))
            let isUp = try bench.run { bench in
                try server.receive(timeout: .zero) { _ in }
                return server.isUp && bench.status.isLinkUp
            }
            #expect(isUp && bench.linkUps == round)
            try server.send(stateOfCharge)
            #expect(bench.run { $0.status.frames == UInt64(round) })
        }
        #expect(bench.run { $0.linkFaults.contains(.peerClosed) })
    }

    @Test func `a BMS behind our own slcan adapter is read and the channel is closed at the end`() throws {
        let pty = try PseudoTerminal()
        var adapter = try CANTransport(slcanAdapter: FileDescriptor(owning: pty.takeController()))
        #expect(throws: CANError.notExpressible) {
            adapter.isChannelOpen = true
            try adapter.send(CANFrame(1, kind: .error))
        }
        adapter.isChannelOpen = false
        var heard: [UInt32] = []
        do {
            var bench = Bench(.slcan(device: pty.path))
            bench.permit()
            let isRead = try bench.run { bench in
                try adapter.receive(timeout: .zero) { heard.append($0.identifier) }
                if bench.status.frames == 0 { try adapter.send(stateOfCharge) }
                return bench.status.frames > 0 && !heard.isEmpty
            }
            let isOpen = adapter.isChannelOpen
            #expect(isRead && isOpen)
            #expect(heard == [0x305])
        }
        while adapter.isChannelOpen { try adapter.receive(timeout: .milliseconds(100)) { _ in } }
    }

    @Test func `garbage on a serial line is counted and the frames between it are read`() throws {
        let pty = try PseudoTerminal()
        let controller = FileDescriptor(owning: pty.takeController())
        var bench = Bench(.slcan(device: pty.path))
        #expect(bench.run { $0.status.isLinkUp })
        let noise = Array("#!?\u{1}t35580".utf8) + Array("t355458005E00\r".utf8)
        #expect(try noise.withUnsafeBytes { try controller.write($0) } == noise.count)
        #expect(bench.run { $0.status.frames == 1 && $0.status.garbageBytes == 10 })
        #expect(bench.image.stateOfCharge.fresh(at: .now(), within: Bench.patience) == .percent(88))
        let hasReport = bench.log.contains { if case .garbage = $0.event { true } else { false } }
        #expect(hasReport)
    }

    @Test func `a kernel without CAN says so, and one with it names the interface`() {
        let address = CANAddress.socketCAN(interface: "can-not-here")
        let expected: CANError = CANInterfaceSetup.isSupported() ? .noSuchInterface : .noKernelSupport
        #expect(throws: expected) { _ = try CANTransport.open(address) }
        var bench = Bench(address)
        #expect(bench.run { !$0.linkFaults.isEmpty })
        #expect(bench.linkFaults.first == expected)
        #expect(CANError.noKernelSupport.text(at: address).contains("this kernel has no AF_CAN (CONFIG_CAN)"))
        #expect(CANError.noSuchInterface.text(at: address).contains("can-not-here"))
        let failure: CANInterfaceSetup.Failure =
            CANInterfaceSetup.isSupported() ? .noSuchInterface("can-not-here") : .noKernelSupport
        #expect(throws: failure) {
            try CANInterfaceSetup.bringUp("can-not-here", bitRate: 500_000, restartMilliseconds: 100)
        }
    }

    @Test func `an address that needs a name look-up is refused at once`() {
        #expect(throws: CANError.hostNotNumeric) {
            _ = try CANTransport.open(.cannelloni(host: "bms.example", port: 20_000))
        }
        #expect(throws: CANError.system(.open, errno: ENOENT)) {
            _ = try CANTransport.open(.slcan(device: "/dev/no-such-adapter"))
        }
    }

    @Test func `a raised flag ends the thread's work`() {
        let stop = StopFlag()
        let bench = Bench(.cannelloni(host: "127.0.0.1", port: 1))
        stop.raise()
        bench.owner.run(until: stop)
        #expect(!bench.status.isLinkUp)
    }
}
