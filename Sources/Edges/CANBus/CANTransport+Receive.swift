import DeviceCodecs
import Glibc
import LinuxIO
import Quantities

extension CANTransport {
    /// As `receiveArrivals`, where it does not matter when a frame came.
    @discardableResult
    public mutating func receive(
        timeout: Duration, _ body: (CANFrame) -> Void
    ) throws(CANError) -> Int {
        try receiveArrivals(timeout: timeout) { body($0.frame) }
    }

    /// Waits in the kernel for at most `timeout`, hands over the frames that came, and moves the link on
    /// (connect, accept, greet).
    ///
    /// - Returns: the number of frames.
    /// - Throws: what ended the link. A listener (`isBroken` false) has dropped its peer and accepts the next
    ///   one.
    @discardableResult
    public mutating func receiveArrivals(
        timeout: Duration, _ body: (CANArrival) -> Void
    ) throws(CANError) -> Int {
        if isBroken { throw .notUp }
        do throws(CANError) {
            let ready = try wait(timeout)
            if ready.listener { try acceptPeer() }
            if ready.output { try flushOrConnect() }
            if !ready.input { clock.noteEmpty(at: MonotonicTime.now()) }
            let count = ready.input ? try read(body) : 0
            try checkPatience(hadInput: ready.input)
            return count
        } catch {
            dropPeer()
            throw error
        }
    }

    private struct Ready {
        var listener = false
        var input = false
        var output = false
    }

    private var isConnecting: Bool {
        if case .connecting = state { return true }
        return false
    }

    private func wait(_ timeout: Duration) throws(CANError) -> Ready {
        let wantsOutput = !unsent.isEmpty || isConnecting
        // poll() passes over negative numbers.
        var entries = (
            pollfd(fd: listener.openNumber ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(
                fd: descriptor.openNumber ?? -1, events: Int16(wantsOutput ? POLLIN | POLLOUT : POLLIN),
                revents: 0)
        )
        let limit = CInt(clamping: max(0, timeoutUntilPatienceEnds(timeout).nanoseconds / 1_000_000))
        let result = withUnsafeMutablePointer(to: &entries) { pair in
            pair.withMemoryRebound(to: pollfd.self, capacity: 2) { poll($0, 2, limit) }
        }
        if result < 0 && errno != EINTR { throw CANError.last(.poll) }
        guard result > 0 else { return Ready() }
        let peer = CInt(entries.1.revents)
        // An error or a hang-up is left to the call that then names it.
        return Ready(
            listener: entries.0.revents != 0, input: !isConnecting && peer & ~POLLOUT != 0,
            output: peer & POLLOUT != 0 || isConnecting && peer != 0)
    }

    private func timeoutUntilPatienceEnds(_ timeout: Duration) -> Duration {
        switch state {
        case .connecting(let end), .greeting(let end):
            min(timeout, end - MonotonicTime.now() + .milliseconds(1))
        case .up where cannelloni.isInsideFrame:
            min(timeout, lastInput + Self.patience - MonotonicTime.now() + .milliseconds(1))
        case .listening, .up: timeout
        }
    }

    private func checkPatience(hadInput: Bool) throws(CANError) {
        if hadInput { return }
        switch state {
        case .connecting(let end): if MonotonicTime.now() >= end { throw .connectTimedOut }
        case .greeting(let end): if MonotonicTime.now() >= end { throw .greetingTimedOut }
        case .up:
            if cannelloni.isInsideFrame && MonotonicTime.now() - lastInput >= Self.patience { throw .stalled }
        case .listening: return
        }
    }

    private mutating func acceptPeer() throws(CANError) {
        guard let number = listener.openNumber else { return }
        switch try TCPSocket.accept(number) {
        case .none: return
        case .some(let peer):
            guard case .listening = state else {
                tallies.refusedPeers &+= 1
                return
            }
            descriptor = consume peer
        }
        try greet()
    }

    private mutating func flushOrConnect() throws(CANError) {
        guard isConnecting else { return try flush() }
        guard let number = descriptor.openNumber else { return }
        let code = NetworkSocket.connectionError(number)
        guard code == 0 else { throw .system(.connect, errno: code) }
        try greet()
    }

    private mutating func greet() throws(CANError) {
        guard let number = descriptor.openNumber else { return }
        TCPSocket.setUp(number)
        state = .greeting(until: MonotonicTime.now() + Self.patience)
        try transmit(CannelloniEncoder.greeting)
    }

    private mutating func read(_ body: (CANArrival) -> Void) throws(CANError) -> Int {
        guard let number = descriptor.openNumber else { return 0 }
        let now = MonotonicTime.now()
        lastInput = now
        switch framing {
        case .socketCAN: return try readFrames(number, now, body)
        case .cannelloni, .slcanComputer, .slcanAdapter:
            let time = clock.time(now: now, limit: Self.absence)
            return try readBytes(number) { body(CANArrival($0, at: time)) }
        }
    }

    private mutating func readFrames(
        _ number: CInt, _ now: MonotonicTime, _ body: (CANArrival) -> Void
    ) throws(CANError) -> Int {
        let wall = WallClock.nowNanoseconds()
        for count in 0..<Self.frameLimit {
            guard let received = try CANSocket.receive(number) else {
                clock.noteEmpty(at: now)
                return count
            }
            noteDrops(received.messages.drops)
            guard let frame = received.frame else {
                tallies.unusableFrames &+= 1
                continue
            }
            let time =
                received.messages.arrival.map { clock.time(ofStamp: $0, wall: wall, now: now) }
                ?? clock.time(now: now, limit: Self.absence)
            body(
                CANArrival(
                    frame, at: time, isLocal: received.isLocal,
                    hardwareNanoseconds: received.messages.hardware))
        }
        return Self.frameLimit
    }

    private mutating func noteDrops(_ drops: UInt32?) {
        guard let drops else { return }
        tallies.droppedFrames &+= UInt64(drops &- lastDrops)
        lastDrops = drops
    }

    private mutating func readBytes(_ number: CInt, _ body: (CANFrame) -> Void) throws(CANError) -> Int {
        var frames = 0
        for _ in 0..<Self.readLimit {
            let count = buffer.withUnsafeMutableBytes { Glibc.read(number, $0.baseAddress, $0.count) }
            if count == 0 { throw .peerClosed }
            guard count > 0 else {
                let code = errno
                if code == EAGAIN || code == EINTR {
                    clock.noteEmpty(at: lastInput)
                    break
                }
                throw .system(.read, errno: code)
            }
            for index in 0..<count {
                let byte = buffer[index]
                let isFrame =
                    framing == .cannelloni ? try accept(cannelloni: byte, body) : accept(slcan: byte, body)
                if isFrame { frames += 1 }
            }
            if count < Self.readSize {
                clock.noteEmpty(at: lastInput)
                break
            }
        }
        return frames
    }

    private mutating func accept(
        cannelloni byte: UInt8, _ body: (CANFrame) -> Void
    ) throws(CANError) -> Bool {
        switch cannelloni.accept(byte) {
        case .more: return false
        case .greeted:
            state = .up
            return false
        case .frame(let frame):
            body(frame)
            return true
        case .desynchronised(let fault): throw .desynchronised(fault)
        }
    }

    private mutating func accept(slcan byte: UInt8, _ body: (CANFrame) -> Void) -> Bool {
        switch slcan.accept(byte) {
        case .more, .acknowledged, .garbage: return false
        case .refused:
            adapterRefusals &+= 1
            return false
        case .command(let command):
            answer(command)
            return false
        case .frame(let frame):
            if framing == .slcanAdapter { reply(SLCANEncoder.taken(frame)) }
            body(frame)
            return true
        }
    }

    /// As a computer we get no commands; what looks like one is an answer or an echo.
    private mutating func answer(_ command: SLCANDecoder.Command) {
        guard framing == .slcanAdapter else { return }
        switch command {
        case .open, .listenOnly: isChannelOpen = true
        case .close: isChannelOpen = false
        case .bitRate, .other: break
        }
        reply(SLCANEncoder.done)
    }

    private mutating func reply(_ bytes: CANWireBytes) {
        // Nobody waits for an answer; a tty that takes none shows itself at the next read.
        try? transmit(bytes)
    }
}
