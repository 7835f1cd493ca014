import DeviceCodecs
import Glibc
import LinuxIO
import Quantities

/// One CAN link: SocketCAN, cannelloni over TCP (either side) or slcan (either side). Nothing in it ever
/// blocks longer than the time it is given.
///
/// Opening only begins: connecting, accepting and greeting go on inside `receive`, and `isUp` says when
/// frames can flow. Belongs to one thread.
public struct CANTransport: ~Copyable, Sendable {
    enum Framing: Sendable { case socketCAN, cannelloni, slcanComputer, slcanAdapter }

    enum State: Sendable {
        /// Waiting for a peer to connect to us.
        case listening
        case connecting(until: MonotonicTime)
        case greeting(until: MonotonicTime)
        case up
    }

    /// A peer must connect, and greet, and finish a frame it has begun, each within this time.
    static let patience = Duration.seconds(1)
    /// Bytes and frames taken at most in one `receive`, so that a flood cannot keep the thread.
    static let readSize = 2_048
    static let readLimit = 4
    static let frameLimit = 256
    /// A thread that was away for longer does not know when what waits has come.
    static let absence = Duration.milliseconds(100)

    let framing: Framing
    let settings: CANLinkSettings
    /// The interface behind a SocketCAN link.
    let interface: CANInterface?
    var state: State
    var descriptor: FileDescriptor?
    let listener: FileDescriptor?
    var cannelloni = CannelloniDecoder()
    var slcan = SLCANDecoder()
    var buffer = [UInt8](repeating: 0, count: CANTransport.readSize)
    /// What the kernel did not take yet of the frame sent last.
    var unsent = CANWireBytes()
    var lastInput = MonotonicTime(nanoseconds: 0)
    var clock = CANArrivalClock(emptied: MonotonicTime.now())
    /// The kernel's count of lost frames, as it was said last.
    var lastDrops: UInt32 = 0
    /// As an slcan adapter: the computer has opened the channel.
    var isChannelOpen = false

    /// Since it was opened; what a slcan decoder holds is added when it is asked for.
    var tallies = CANTransportCounts()
    /// Times the slcan adapter refused what we asked (BEL).
    public internal(set) var adapterRefusals: UInt64 = 0
    /// The link has failed for good: open another. A listener outlives its peers.
    public internal(set) var isBroken = false

    /// Begins to open `address`.
    public static func open(
        _ address: CANAddress, _ settings: CANLinkSettings = CANLinkSettings()
    ) throws(CANError) -> CANTransport {
        switch address {
        case .socketCAN(let interface):
            return CANTransport(
                .socketCAN, .up, try CANSocket.open(interface, settings), settings,
                interface: CANInterface(interface))
        case .cannelloni(let host, let port):
            let limit = MonotonicTime.now() + patience
            let socket = try TCPSocket.connect(host, port)
            return CANTransport(.cannelloni, .connecting(until: limit), socket, settings)
        case .cannelloniListen(let host, let port):
            let socket = try TCPSocket.listen(host, port)
            return CANTransport(.cannelloni, .listening, nil, settings, listener: socket)
        case .slcan(let device):
            guard let rate = SLCANEncoder.BitRate(bitsPerSecond: settings.rates.nominal) else {
                throw .unusableBitRate
            }
            var transport = CANTransport(.slcanComputer, .up, try SerialPort.open(device), settings)
            try transport.openChannel(rate)
            return transport
        }
    }

    /// The adapter's side of slcan on a descriptor that is open already, such as the controlling side of a
    /// pty: answers commands, and drops frames sent while the computer has not opened the channel.
    public init(slcanAdapter descriptor: consuming FileDescriptor) throws(CANError) {
        do { try descriptor.setNonBlocking() } catch { throw .system(.terminal, errno: error.code) }
        try SerialPort.makeRaw(descriptor.number)
        self.init(.slcanAdapter, .up, descriptor)
    }

    init(
        _ framing: Framing, _ state: State, _ descriptor: consuming FileDescriptor?,
        _ settings: CANLinkSettings = CANLinkSettings(), listener: consuming FileDescriptor? = nil,
        interface: CANInterface? = nil
    ) {
        self.framing = framing
        self.settings = settings
        self.interface = interface
        self.state = state
        self.descriptor = descriptor
        self.listener = listener
    }

    deinit {
        guard case .slcanComputer = framing, let number = descriptor.openNumber else { return }
        // Best effort: an adapter that is gone cannot be closed, and the kernel must not wait for it on
        // close.
        if isBroken {
            tcflush(number, TCOFLUSH)
        } else {
            _ = SLCANEncoder.close.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
        }
    }

    /// Frames can flow: connected and greeted, or the interface or tty is open.
    public var isUp: Bool {
        if case .up = state { return !isBroken }
        return false
    }

    /// What it has counted since it was opened.
    public var counts: CANTransportCounts {
        var counts = tallies
        // A cannelloni stream ends at the first byte that belongs to no frame.
        counts.garbageBytes &+= slcan.garbageBytes
        return counts
    }

    /// The port a `cannelloniListen` address with port 0 got.
    public var localPort: UInt16? {
        guard let number = listener.openNumber else { return nil }
        return NetworkSocket.localPort(number)
    }

    /// Whether the interface has a carrier, which it loses in bus-off; `nil` where nobody tells.
    public var hasCarrier: Bool? { interface?.hasCarrier }

    private mutating func openChannel(_ rate: SLCANEncoder.BitRate) throws(CANError) {
        try transmit(SLCANEncoder.close)
        try transmit(SLCANEncoder.bitRate(rate))
        try transmit(settings.isListenOnly ? SLCANEncoder.listenOnly : SLCANEncoder.open)
    }

    /// Sends one frame, or refuses it whole: nothing is queued beyond what the kernel takes.
    public mutating func send(_ frame: CANFrame) throws(CANError) {
        guard isUp, !settings.isListenOnly, let number = descriptor.openNumber else { throw .notUp }
        do throws(CANError) {
            switch framing {
            case .socketCAN: try CANSocket.send(frame, number)
            case .cannelloni: try transmit(CannelloniEncoder.encode(frame))
            case .slcanComputer: try transmitLine(frame)
            case .slcanAdapter: if isChannelOpen { try transmitLine(frame) }
            }
        } catch {
            if error.endsSession { dropPeer() }
            throw error
        }
    }

    private mutating func transmitLine(_ frame: CANFrame) throws(CANError) {
        guard let line = SLCANEncoder.encode(frame) else { throw .notExpressible }
        try transmit(line)
    }

    mutating func transmit(_ bytes: CANWireBytes) throws(CANError) {
        try flush()
        guard unsent.isEmpty else { throw .full }
        unsent = bytes
        try flush()
        // Where the kernel took nothing at all, the frame is refused rather than kept.
        guard unsent.count < bytes.count || bytes.isEmpty else {
            unsent = CANWireBytes()
            throw .full
        }
    }

    /// Hands on what was left over; what the kernel still does not take stays.
    mutating func flush() throws(CANError) {
        guard !unsent.isEmpty, let number = descriptor.openNumber else { return }
        let isSocket = framing == .cannelloni
        let count = unsent.withUnsafeBytes { bytes in
            isSocket
                ? Glibc.send(number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                : Glibc.write(number, bytes.baseAddress, bytes.count)
        }
        if count < 0 {
            let code = errno
            if code == EAGAIN || code == EINTR { return }
            throw .system(.write, errno: code)
        }
        unsent.removeFirst(count)
    }

    /// Forgets the peer. A listener waits for the next one; any other link is broken.
    mutating func dropPeer() {
        tallies.garbageBytes &+= slcan.garbageBytes
        slcan = SLCANDecoder()
        cannelloni = CannelloniDecoder()
        unsent = CANWireBytes()
        isChannelOpen = false
        guard listener != nil else {
            isBroken = true
            // The device may be opened again before this link is gone.
            if let number = descriptor.openNumber { flock(number, LOCK_UN) }
            return
        }
        descriptor = nil
        state = .listening
    }
}
