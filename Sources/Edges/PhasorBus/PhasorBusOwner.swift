import DeviceCodecs
import Glibc
import LinuxIO
import Plant
import Quantities

/// One link to one PMU: connects, asks for the configuration and the data, decodes, publishes, reconnects.
///
/// Belongs to one thread. While the link is down nothing is published, so that every reading ages by its own
/// sample time.
public struct PhasorBusOwner: ~Copyable, Sendable {
    /// Longest stay in the kernel; the heartbeat's bound is twice this.
    public static let turnLimit = Duration.milliseconds(50)
    /// A connection must be made within this time.
    static let connectLimit = Duration.seconds(1)
    /// Without a sample for so long, a commanded PMU is connected anew.
    static let silenceLimit = Duration.seconds(5)
    /// Between two requests for the same thing.
    static let askPeriod = Duration.seconds(1)
    /// A frame that does not go on within this time is garbage.
    static let frameLimit = Duration.milliseconds(500)
    static let readSize = 65_535
    /// Reads in one turn, so that a flood cannot keep the thread.
    static let readLimit = 8

    /// Readable from any thread.
    public let status: PhasorBusStatus

    private enum Phase: Sendable {
        case connecting(until: MonotonicTime)
        case open
    }

    private let address: PhasorAddress
    /// Which PMU our commands name.
    private let commandID: UInt16
    private var stream: PhasorStream
    private var framer = PhasorFramer()
    private var images: TripleBufferWriter<PhasorImage>
    private var reporter: ReportGate<PhasorBusEvent>
    private var descriptor: FileDescriptor?
    /// Where its data comes, of one that sends it elsewhere than it is commanded.
    private var data: FileDescriptor?
    /// The one address that data is taken from, as the socket has it.
    private var dataSender: UInt32?
    private var phase = Phase.open
    private var backOff = BackOff()
    private var nextAsk = MonotonicTime(nanoseconds: 0)
    /// How often a stream that is not known was asked what it looks like.
    private var configurationAsks = 0
    private var lastSample = MonotonicTime(nanoseconds: 0)
    private var lastInput = MonotonicTime(nanoseconds: 0)
    private var seenGarbage: UInt64 = 0
    private var seenBadChecksums: UInt64 = 0
    private var buffer = [UInt8](repeating: 0, count: PhasorBusOwner.readSize)

    /// - Parameter commandID: IDCODE that our commands carry.
    public init(
        address: PhasorAddress, commandID: UInt16, stream: PhasorStream.Settings,
        images: consuming TripleBufferWriter<PhasorImage>, report: RingBuffer<PhasorBusReport>,
        status: PhasorBusStatus = PhasorBusStatus()
    ) {
        self.address = address
        self.commandID = commandID
        self.stream = PhasorStream(settings: stream)
        self.images = images
        self.status = status
        reporter = ReportGate<PhasorBusEvent>(report)
    }

    /// Goes round until `stop` is raised, then asks for no more data and closes; returns within 100 ms of it.
    public mutating func run(until stop: StopFlag) {
        while !stop.isRaised { turn() }
        if let number = descriptor.openNumber, status.isLinkUp, !address.isListening {
            // Best effort: the connection ends all the same.
            _ = try? PhasorSocket.send(command(.dataOff), number)
        }
        descriptor = nil
        data = nil
        status.setLink(up: false)
    }

    /// Goes round once: opens, or receives and asks; stays in the kernel at most `limit`.
    public mutating func turn(waitingAtMost limit: Duration = PhasorBusOwner.turnLimit) {
        status.beat()
        guard let number = descriptor.openNumber else { return openOrWait(limit) }
        do throws(PhasorError) {
            switch phase {
            case .connecting(let end): try connect(number, until: end, limit)
            case .open: try serve(number, limit)
            }
        } catch {
            lose(error)
        }
        countGarbage()
    }

    private mutating func openOrWait(_ limit: Duration) {
        let now = MonotonicTime.now()
        guard now >= backOff.next else { return min(backOff.next, now + limit).sleep() }
        backOff.schedule(after: now)
        do throws(PhasorError) {
            dataSender = try PhasorSocket.sender(address)
            data = try PhasorSocket.openData(address)
            descriptor = try PhasorSocket.open(address)
            if address.isStream { phase = .connecting(until: now + Self.connectLimit) } else { begin(now) }
        } catch {
            lose(error)
        }
    }

    private mutating func connect(
        _ number: CInt, until end: MonotonicTime, _ limit: Duration
    ) throws(PhasorError) {
        let now = MonotonicTime.now()
        guard now < end else { throw .connectTimedOut }
        let wait = min(limit, end - now)
        guard Self.poll(number, POLLOUT, wait) else { return }
        let code = NetworkSocket.connectionError(number)
        guard code == 0 else { throw .system(.connect, errno: code) }
        PhasorSocket.sendAtOnce(number)
        begin(MonotonicTime.now())
        // What a former client left running would come before the configuration.
        _ = try PhasorSocket.send(command(.dataOff), number)
    }

    private mutating func begin(_ now: MonotonicTime) {
        phase = .open
        framer = PhasorFramer()
        (seenGarbage, seenBadChecksums) = (0, 0)
        stream.restart()
        lastSample = now
        lastInput = now
        nextAsk = now
        configurationAsks = 0
    }

    /// A link is up once samples flow: a PMU that connects and says nothing is as good as none.
    private mutating func noteUp(_ now: MonotonicTime) {
        guard !status.isLinkUp else { return }
        status.setLink(up: true)
        reporter.report(.linkUp, at: now)
    }

    private mutating func serve(_ number: CInt, _ limit: Duration) throws(PhasorError) {
        try ask(number)
        if Self.poll(number, POLLIN, limit, besides: data.openNumber) {
            for _ in 0..<Self.readLimit { guard try read(number) else { break } }
            for _ in 0..<Self.readLimit { guard try readData() else { break } }
        }
        let now = MonotonicTime.now()
        if framer.isInsideFrame && now - lastInput >= Self.frameLimit {
            framer.giveUp()
            takeFrames()
        }
        if now - lastSample >= Self.silenceLimit {
            if address.isListening {
                if status.isLinkUp { lose(.silent, closing: false) }
            } else {
                throw .silent
            }
        }
        try ask(number)
    }

    /// Asks for what is missing: the configuration, then the data.
    private mutating func ask(_ number: CInt) throws(PhasorError) {
        let now = MonotonicTime.now()
        guard !address.isListening, now >= nextAsk else { return }
        let isDataMissing = now - lastSample >= Self.askPeriod
        guard stream.wantsConfiguration || isDataMissing else { return }
        // One that knows CFG-3 alone gets that question where CFG-2 was asked for in vain three times: old
        // ones take it badly.
        let isInVain = configurationAsks % 4 == 3
        let configuration = isInVain ? PhasorCommand.sendConfiguration3 : .sendConfiguration2
        configurationAsks = stream.wantsConfiguration ? configurationAsks + 1 : 0
        let wanted = stream.wantsConfiguration ? configuration : .dataOn
        if try PhasorSocket.send(command(wanted), number) { nextAsk = now + Self.askPeriod }
    }

    private func command(_ command: PhasorCommand) -> [UInt8] {
        let milliseconds = WallClock.nowMilliseconds()
        return PhasorEncoder.command(
            command, to: commandID, second: UInt32(clamping: milliseconds / 1_000), fraction: 0)
    }

    /// - Returns: whether there may be more to read.
    private mutating func read(_ number: CInt) throws(PhasorError) -> Bool {
        let count = buffer.withUnsafeMutableBytes { recv(number, $0.baseAddress, $0.count, 0) }
        if count < 0 {
            let code = errno
            if code == EAGAIN || code == EINTR { return false }
            throw .system(.read, errno: code)
        }
        if address.isStream {
            if count == 0 { throw .peerClosed }
            lastInput = MonotonicTime.now()
            buffer.withUnsafeBytes { framer.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            takeFrames()
            return count == buffer.count
        }
        // One datagram, one frame.
        note(Self.accept(buffer, count, by: &stream))
        return true
    }

    /// - Returns: whether there may be more to read.
    private mutating func readData() throws(PhasorError) -> Bool {
        guard let number = data.openNumber, let dataSender,
            let datagram = try PhasorSocket.receive(number, from: dataSender, into: &buffer)
        else { return false }
        // What somebody else sends here is nobody's frequency.
        guard datagram.isFromSender else {
            reporter.report(.garbage(bytes: UInt64(datagram.count)), at: MonotonicTime.now())
            status.addGarbage(UInt64(datagram.count))
            return true
        }
        note(Self.accept(buffer, datagram.count, by: &stream))
        return true
    }

    /// Apart, so that the stream alone is changed while the buffer is read.
    private static func accept(
        _ bytes: [UInt8], _ count: Int, by stream: inout PhasorStream
    ) -> PhasorStream.Outcome {
        stream.accept(bytes.span.extracting(first: count), at: MonotonicTime.now())
    }

    private mutating func takeFrames() {
        while let outcome = Self.take(from: &framer, by: &stream) { note(outcome) }
    }

    /// Apart, so that both are changed in place: a copy of either would allocate with each frame.
    private static func take(
        from framer: inout PhasorFramer, by stream: inout PhasorStream
    ) -> PhasorStream.Outcome? {
        framer.next { stream.accept($0, at: MonotonicTime.now()) }
    }

    private mutating func note(_ outcome: PhasorStream.Outcome) {
        let now = MonotonicTime.now()
        status.addFrame()
        status.add(outcome)
        switch outcome {
        case .sample:
            // A link that only brings what is long past is none.
            if (stream.image.frequency.age(at: now) ?? .zero) < Self.askPeriod { lastSample = now }
            backOff.reset()
            noteUp(now)
            images.publish(stream.image)
        case .configured(let isChange):
            let rate = stream.configuration?.rate ?? 0
            let units = stream.configuration?.blocks.count ?? 0
            reporter.report(.configured(rate: rate, units: units, isChange: isChange), at: now)
            // The data follows at once.
            nextAsk = now
            if !address.isListening { requestData() }
        case .rejected(let fault):
            reporter.report(.rejected(fault), at: now)
            images.publish(stream.image)
        case .duplicate, .outOfOrder: reporter.report(.outOfOrder, at: now)
        case .unconfigured, .ignored: break
        }
    }

    private mutating func requestData() {
        guard let number = descriptor.openNumber else { return }
        // What fails here fails again in the next turn, which then names it.
        if (try? PhasorSocket.send(command(.dataOn), number)) == true {
            nextAsk = MonotonicTime.now() + Self.askPeriod
        }
    }

    private mutating func lose(_ error: PhasorError, closing: Bool = true) {
        status.addLinkLoss()
        status.setLink(up: false)
        reporter.report(.linkDown(error), at: MonotonicTime.now())
        guard closing else { return }
        descriptor = nil
        data = nil
    }

    private mutating func countGarbage() {
        let garbage = framer.garbageBytes &- seenGarbage
        let badChecksums = framer.badChecksums &- seenBadChecksums
        (seenGarbage, seenBadChecksums) = (framer.garbageBytes, framer.badChecksums)
        if badChecksums > 0 {
            status.addBadChecksums(badChecksums)
            reporter.report(.rejected(.checksum), at: MonotonicTime.now())
        }
        if garbage > 0 {
            status.addGarbage(garbage)
            reporter.report(.garbage(bytes: garbage), at: MonotonicTime.now())
        }
    }

    private static func poll(
        _ number: CInt, _ events: CInt, _ limit: Duration, besides other: CInt? = nil
    ) -> Bool {
        let milliseconds = CInt(clamping: max(0, limit.nanoseconds / 1_000_000))
        // One that is not there has the number -1, which poll passes over.
        var entries = (
            pollfd(fd: number, events: Int16(events), revents: 0),
            pollfd(fd: other ?? -1, events: Int16(POLLIN), revents: 0)
        )
        return withUnsafeMutablePointer(to: &entries) { pointer in
            pointer.withMemoryRebound(to: pollfd.self, capacity: 2) { Glibc.poll($0, 2, milliseconds) > 0 }
        }
    }
}
