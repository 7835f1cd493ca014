import DeviceCodecs
import Glibc
import LinuxIO
import Quantities
import Testing

@testable import CANBus

/// Two connected datagram sockets: one stands for SocketCAN's, with the same bytes, stamps and drop counts.
struct SocketStandIn: ~Copyable {
    private(set) var transport: CANTransport
    let peer: FileDescriptor

    init(queue: CInt? = nil) throws {
        let ours = try NetworkSocket.stand(.datagram, at: NetworkAddress("127.0.0.1", 0))
        let theirs = try NetworkSocket.stand(.datagram, at: NetworkAddress("127.0.0.1", 0))
        try Self.connect(ours.number, to: theirs.number)
        try Self.connect(theirs.number, to: ours.number)
        CANSocket.describe(ours.number)
        if let queue { NetworkSocket.set(ours.number, SOL_SOCKET, SO_RCVBUF, queue) }
        transport = CANTransport(.socketCAN, .up, ours)
        peer = theirs
    }

    private static func connect(_ number: CInt, to other: CInt) throws {
        let port = try #require(NetworkSocket.localPort(other))
        let address = try NetworkAddress("127.0.0.1", port)
        let result = address.withPointer { Glibc.connect(number, $0, $1) }
        try #require(result == 0)
    }

    func put(_ bytes: [UInt8]) {
        let count = Glibc.send(peer.number, bytes, bytes.count, 0)
        #expect(count == bytes.count)
    }

    func put(_ frame: CANFrame) { put(SocketCANCodec.encode(frame).withUnsafeBytes { Array($0) }) }

    /// What waits, until nothing does.
    mutating func takeAll() throws -> [CANArrival] {
        var all: [CANArrival] = []
        while try transport.receiveArrivals(timeout: .zero, { all.append($0) }) > 0 {}
        return all
    }

    /// Until `count` frames have come; datagrams on one machine need no time that we could name.
    mutating func take(_ count: Int) throws -> [CANArrival] {
        var all: [CANArrival] = []
        let end = MonotonicTime.now() + Bench.patience
        while all.count < count, MonotonicTime.now() < end {
            try transport.receiveArrivals(timeout: .milliseconds(10)) { all.append($0) }
        }
        return all
    }

    mutating func send(_ frame: CANFrame) throws { try transport.send(frame) }
}

@Suite struct SocketTests {
    @Test func `frames keep their identity through the socket, and what is no frame is counted`() throws {
        var socket = try SocketStandIn()
        var flexible = CANFrame(0x123, isFlexible: true)
        for byte in 0..<UInt8(64) { flexible.append(byte) }
        socket.put(stateOfCharge)
        socket.put([1, 2, 3])
        socket.put(CANFrame(0x355, isExtended: true))
        socket.put(CANFrame(0x355, kind: .remote))
        socket.put([UInt8](repeating: 0, count: 20))
        socket.put(flexible)
        socket.put(CANFrame(0x40, kind: .error))
        let frames = try socket.take(5).map(\.frame)
        #expect(frames.map(\.identifier) == [0x355, 0x355, 0x355, 0x123, 0x40])
        #expect(frames.map(\.isExtended) == [false, true, false, false, false])
        #expect(frames.map(\.kind) == [.data, .data, .remote, .data, .error])
        #expect(frames.map(\.isFlexible) == [false, false, false, true, false])
        #expect(bytes(frames[0]) == [0x58, 0, 0x5E, 0] && bytes(frames[3]) == (0..<64).map { UInt8($0) })
        let unusable = socket.transport.counts.unusableFrames
        #expect(unusable == 2)
    }

    @Test func `what we send is a frame of the kernel's own form`() throws {
        var socket = try SocketStandIn()
        try socket.send(stateOfCharge)
        try socket.send(CANFrame(0x12345, isExtended: true))
        var buffer = [UInt8](repeating: 0xAA, count: 128)
        let isReady = socket.peer.wait(timeout: Bench.patience)
        let count = recv(socket.peer.number, &buffer, buffer.count, 0)
        #expect(isReady && count == 16, "struct can_frame")
        #expect(buffer.prefix(12) == [0x55, 3, 0, 0, 4, 0, 0, 0, 0x58, 0, 0x5E, 0])
        #expect(recv(socket.peer.number, &buffer, buffer.count, 0) == 16)
        #expect(buffer.prefix(5) == [0x45, 0x23, 0x01, 0x80, 0], "the flag of 29 bits")
    }

    @Test func `a frame that waited is dated by the kernel's stamp, not by when we looked`() throws {
        var socket = try SocketStandIn()
        let end = MonotonicTime.now() + Bench.patience
        var isStamped = false
        // The kernel begins to stamp a little after it was asked to, and until then dates by the reading.
        while !isStamped, MonotonicTime.now() < end {
            _ = try socket.takeAll()
            socket.put(stateOfCharge)
            let sent = MonotonicTime.now()
            // The thread is away.
            (sent + .milliseconds(20)).sleep()
            let arrival = try #require(try socket.take(1).first)
            #expect(arrival.time <= MonotonicTime.now())
            isStamped = arrival.time < sent + .milliseconds(10)
        }
        #expect(isStamped)
    }

    @Test func `frames that find no room are counted by the kernel`() throws {
        var socket = try SocketStandIn(queue: 4_096)
        for _ in 0..<200 { socket.put(stateOfCharge) }
        let taken = try socket.takeAll().count
        #expect(taken > 0 && taken < 200)
        // The count comes with the next frame that finds room.
        socket.put(stateOfCharge)
        let last = try socket.take(1).count
        #expect(last == 1)
        let dropped = socket.transport.counts.droppedFrames
        #expect(dropped == UInt64(200 - taken))
    }

    // swift-format-ignore
    static let failures: [(call: CANError.Call, code: CInt, error: CANError, why: Comment)] = [
        (.write, ENOBUFS,  .full,            "the interface's queue is full"),
        (.write, EAGAIN,   .full,            "the socket's is"),
        (.write, ENETDOWN, .interfaceDown,   "taken down"),
        (.read,  ENETDOWN, .interfaceDown,   "taken down while we listen"),
        (.read,  ENODEV,   .noSuchInterface, "unplugged"),
        (.write, ENXIO,    .noSuchInterface, "unplugged"),
        (.write, EINVAL,   .notExpressible,  "CAN FD on a classic interface"),
        (.read,  EINVAL,   .system(.read, errno: EINVAL), "not of a read"),
    ]

    @Test(arguments: failures)
    func `a refusal of the kernel is told by what it means`(
        call: CANError.Call, code: CInt, error: CANError, why: Comment
    ) {
        #expect(CANSocket.failure(call, code) == error, why)
        #expect(error.endsSession == !(error == .full || error == .notExpressible), why)
    }

    @Test func `a receive filter tells 11 bits from 29, and lets requests through`() {
        let standard = CANSocket.filter(CANIdentifier(0x351))
        #expect(standard.can_id == 0x351 && standard.can_mask == 0x8000_07FF)
        let extended = CANSocket.filter(CANIdentifier(0x4210, isExtended: true))
        #expect(extended.can_id == 0x8000_4210 && extended.can_mask == 0x9FFF_FFFF)
        for (word, isStandard, isExtended) in [
            (0x351, true, false), (0x4000_0351, true, false), (0x352, false, false),
            (0x8000_0351, false, false), (0x8000_4210, false, true), (0x210, false, false),
        ] as [(UInt32, Bool, Bool)] {
            #expect((word & standard.can_mask == standard.can_id) == isStandard)
            #expect((word & extended.can_mask == extended.can_id) == isExtended)
        }
        let battery = builtIn
        #expect(battery.allIdentifiers.contains(CANIdentifier(0x351)))
        #expect(battery.allIdentifiers.contains(CANIdentifier(0x305)), "or nobody sees a second sender")
    }

    @Test func `any control messages are read or passed over`() {
        var state = UInt64.random(in: 0...UInt64.max)
        print("seed \(state)")
        func next(below limit: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % limit
        }
        for _ in 0..<20_000 {
            let size = Int(next(below: 201))
            var bytes = (0..<size).map { _ in UInt8(next(below: 256)) }
            // Lengths that are nearly true go deepest.
            if size >= 16 {
                for place in 1..<16 where place != 8 && place != 12 { bytes[place] = 0 }
                bytes[0] = UInt8(next(below: 210))
                bytes[8] = UInt8(SOL_SOCKET)
                bytes[12] = [35, 37, 40][Int(next(below: 3))]
            }
            _ = bytes.withUnsafeBytes { CANControlMessages($0) }
        }
    }

    @Test func `the carrier and the state of an interface are read where the kernel shows them`() throws {
        var template = Array("/tmp/ballast-net-XXXXXX".utf8CString)
        let root = try #require(mkdtemp(&template).map { String(cString: $0) })
        #expect(mkdir(root + "/can0", 0o700) == 0)
        defer {
            for name in ["/can0/flags", "/can0/carrier"] { unlink(root + name) }
            rmdir(root + "/can0")
            rmdir(root)
        }
        let interface = CANInterface("can0", root: root)
        #expect(interface.isUp == nil && interface.hasCarrier == nil, "nothing is told: nothing is known")
        for (flags, carrier, isUp, hasCarrier) in [
            ("0x40080\n", "", false, nil), ("0x400c1\n", "1\n", true, true),
            ("0x400c1\n", "0\n", true, false),
            ("\n", "7\n", nil, nil),
        ] as [(String, String, Bool?, Bool?)] {
            for (name, text) in [("flags", flags), ("carrier", carrier)] {
                try DurableFile.replace("\(root)/can0/\(name)", with: Array(text.utf8))
            }
            #expect(interface.isUp == isUp && interface.hasCarrier == hasCarrier)
        }
    }

    @Test func `a serial line has one reader`() throws {
        let pty = try PseudoTerminal()
        var first: CANTransport? = try CANTransport.open(.slcan(device: pty.path))
        #expect(throws: CANError.inUse) { _ = try CANTransport.open(.slcan(device: pty.path)) }
        #expect(throws: CANError.unusableBitRate) {
            _ = try CANTransport.open(
                .slcan(device: pty.path), CANLinkSettings(rates: CANBitRates(nominal: 123_456)))
        }
        let isOpen = first != nil
        #expect(isOpen)
        first = nil
        _ = try CANTransport.open(.slcan(device: pty.path))
    }
}
