import CModbus
import DeviceCodecs
import Glibc
import LinuxIO
import Quantities

/// What a serial line needs besides its speed. Nothing of it concerns TCP.
public struct ModbusLineOptions: Sendable, Equatable {
    /// The port switches an RS-485 driver: asked of the kernel (TIOCSRS485) at each opening.
    public var isRS485: Bool
    /// The adapter hears itself: our own request comes back before the answer.
    public var echoes: Bool
    /// Received bytes are handed over at once where the driver can (ASYNC_LOW_LATENCY).
    public var isLowLatency: Bool
    /// Silence before each request; `nil` = t3.5. Never less than that.
    public var gap: Duration?

    public init(
        isRS485: Bool = false, echoes: Bool = false, isLowLatency: Bool = true, gap: Duration? = nil
    ) {
        self.isRS485 = isRS485
        self.echoes = echoes
        self.isLowLatency = isLowLatency
        self.gap = gap
    }
}

/// One Modbus connection, TCP or RTU. libmodbus opens, sets and closes it; every call is bounded.
///
/// Requests and answers are framed by `DeviceCodecs`, not by libmodbus: over a serial line libmodbus takes
/// a late answer for the next one's, and it cannot tell an echo, another unit's frame and a wrong check
/// sum apart. A frame that answers something else is skipped and counted, and the answer is waited for
/// until its time is over.
public struct ModbusClient: ~Copyable {
    private let context: OpaquePointer
    private let framing: ModbusFraming
    /// `nil` over TCP.
    public let timing: SerialTiming?
    public let options: ModbusLineOptions
    /// Longest wait for an answer to begin, or for a connection.
    public let timeout: Duration
    private var currentTimeout: Duration
    public private(set) var isConnected = false
    private var descriptor: CInt = -1
    private let input: UnsafeMutableBufferPointer<UInt8>
    private let output: UnsafeMutableBufferPointer<UInt8>
    private var received = 0
    /// TCP: bytes at the input's start that have been dealt with; those behind them are the next frame's.
    private var settled = 0
    private var transaction: UInt16 = 0
    /// Serial: nothing is sent before.
    private var quietUntil = MonotonicTime(nanoseconds: 0)
    private var gap: Duration
    /// How often received bytes did not fit, by `ModbusMismatch`.
    public private(set) var mismatches = ModbusMismatchCounts()
    /// Whose frame was skipped last: that unit is there, though it answers late.
    var stranger: UInt8?
    /// From the end of the last request to the end of its answer, without the answer's own time on the wire.
    private(set) var turnaround = Duration.zero
    /// What the kernel said to the line's options at the last opening; 0 = taken.
    private(set) var rs485Error: CInt = 0
    private(set) var lowLatencyError: CInt = 0

    public var isSerial: Bool { timing != nil }

    /// - Parameter timeout: 10 ms … 10 s; clamped.
    public init(
        _ address: ModbusAddress, timeout: Duration, options: ModbusLineOptions = ModbusLineOptions()
    ) throws(ModbusError) {
        context = try address.makeContext()
        timing = address.timing
        framing = address.timing == nil ? .tcp : .rtu
        self.options = options
        self.timeout = min(max(timeout, .milliseconds(10)), .seconds(10))
        currentTimeout = self.timeout
        gap = max(options.gap ?? .zero, address.timing?.frameGap ?? .zero)
        input = .allocate(capacity: 2 * ModbusFraming.limit)
        output = .allocate(capacity: ModbusFraming.limit)
        input.initialize(repeating: 0)
        output.initialize(repeating: 0)
        modbus_set_error_recovery(context, MODBUS_ERROR_RECOVERY_NONE)
    }

    deinit {
        if isConnected { modbus_close(context) }
        modbus_free(context)
        input.deallocate()
        output.deallocate()
    }

    // MARK: Session

    /// Opens the line or the connection; does nothing where it is open.
    ///
    /// - Parameter limit: longest wait for the connection; `nil` = the answer time-out.
    public mutating func connect(within limit: Duration? = nil) throws(ModbusError) {
        if isConnected { return }
        let microseconds = max(.milliseconds(1), limit ?? timeout).nanoseconds / 1_000
        modbus_set_response_timeout(
            context, UInt32(microseconds / 1_000_000), UInt32(microseconds % 1_000_000))
        if modbus_connect(context) != 0 {
            let error = ModbusError(errno: errno)
            modbus_close(context)
            throw error
        }
        isConnected = true
        (received, settled) = (0, 0)
        descriptor = modbus_get_socket(context)
        // libmodbus waits for a connection with select(), whose sets end there; a higher number aborts the
        // process.
        guard descriptor >= 0, descriptor < 1024 else {
            disconnect()
            throw .tooManyDescriptors
        }
        if isSerial { setLineOptions() } else { setTCPOptions() }
        modbus_flush(context)
        quietUntil = MonotonicTime.now() + gap
    }

    public mutating func disconnect() {
        if isConnected { modbus_close(context) }
        isConnected = false
        descriptor = -1
    }

    /// Drops what has arrived.
    public mutating func flush() {
        (received, settled) = (0, 0)
        if isConnected { modbus_flush(context) }
    }

    private func setTCPOptions() {
        var one: CInt = 1
        let size = socklen_t(MemoryLayout<CInt>.size)
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, size)
        setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &one, size)
        // Sent bytes that nobody acknowledges end the connection then: a dead link must not look alive.
        var patience = CInt(clamping: max(1_000, 2 * timeout.nanoseconds / 1_000_000))
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &patience, size)
    }

    /// A port that cannot do it works without, or not at all; both show.
    private mutating func setLineOptions() {
        (rs485Error, lowLatencyError) = (0, 0)
        if options.isRS485 {
            var settings = serial_rs485()
            settings.flags = ballast_rs485_enabled | ballast_rs485_rts_on_send
            if ballast_set_rs485(descriptor, &settings) != 0 { rs485Error = errno }
        }
        if options.isLowLatency {
            var settings = serial_struct()
            if ballast_get_serial(descriptor, &settings) == 0 {
                settings.flags |= ballast_low_latency
                if ballast_set_serial(descriptor, &settings) != 0 { lowLatencyError = errno }
            } else {
                lowLatencyError = errno
            }
        }
    }

    /// Sets the answer time-out of the next transactions; clamped to 1 ms … `timeout`.
    public mutating func setTimeout(_ wanted: Duration) {
        currentTimeout = min(max(wanted, .milliseconds(1)), timeout)
    }

    /// Serial: the silence before the next requests; never less than the options say.
    mutating func setGap(_ wanted: Duration) {
        gap = max(wanted, max(options.gap ?? .zero, timing?.frameGap ?? .zero))
    }

    // MARK: Transactions

    /// Asks and waits. For a write the values are given, for a read they stay in the input.
    ///
    /// - Returns: where the answer's values lie in the input.
    mutating func exchange(
        _ request: ModbusRequest, unit: UInt8,
        registers: UnsafeBufferPointer<UInt16> = UnsafeBufferPointer(start: nil, count: 0),
        bits: UnsafeBufferPointer<UInt8> = UnsafeBufferPointer(start: nil, count: 0)
    ) throws(ModbusError) -> UnsafeBufferPointer<UInt8> {
        guard isConnected else { throw .disconnected }
        transaction &+= 1
        let length = framing.encode(
            request, unit: unit, transaction: transaction, registers: registers, bits: bits, into: output)
        try keepQuiet()
        try send(length)
        let sent = MonotonicTime.now() + wire(length)
        let answer = wire(framing.frameLength(request.answerLength))
        let deadline = sent + currentTimeout + answer
        var echo = options.echoes && isSerial ? length : 0
        var strange: ModbusMismatch?
        while true {
            try dropEcho(&echo, of: length)
            let bytes = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(input)[0..<received])
            let verdict =
                echo > 0
                ? .incomplete
                : ModbusAnswer(bytes, to: request, unit: unit, transaction: transaction, framing: framing)
            switch verdict {
            case .incomplete: try fill(until: deadline, strange)
            case .values(let at, let count):
                ended(sent, answer, at + count)
                return UnsafeBufferPointer(rebasing: bytes[at..<(at + count)])
            case .exception(let code):
                ended(sent, answer, framing.frameLength(2))
                throw .exception(code)
            case .stranger(let mismatch, let count):
                // A write of one coil or register is answered by itself: there an echo looks like the answer.
                if isSerial, count == length, isOutput(from: 0, count) { throw broken(.echo) }
                strange = mismatch
                note(mismatch)
                drop(count)
            case .broken(let mismatch):
                let isEcho = isSerial && received >= length && isOutput(from: 0, length)
                throw broken(isEcho ? .echo : mismatch)
            }
        }
    }

    /// - Parameter echo: how many bytes of our own request are still to come back.
    private mutating func dropEcho(_ echo: inout Int, of length: Int) throws(ModbusError) {
        guard echo > 0, received > 0 else { return }
        let count = min(echo, received)
        guard isOutput(from: length - echo, count) else { throw broken(.echo) }
        drop(count)
        echo -= count
    }

    private func wire(_ bytes: Int) -> Duration { timing?.time(ofBytes: bytes) ?? .zero }

    private mutating func ended(_ sent: MonotonicTime, _ answer: Duration, _ length: Int) {
        let now = MonotonicTime.now()
        turnaround = max(.zero, now - sent - answer)
        quietUntil = now + gap
        settled = min(length, received)
    }

    private mutating func note(_ mismatch: ModbusMismatch) {
        mismatches.add(mismatch)
        if isSerial, mismatch != .length { stranger = input[0] }
        if !isSerial, mismatch == .transaction { stranger = input[6] }
    }

    private mutating func broken(_ mismatch: ModbusMismatch) -> ModbusError {
        mismatches.add(mismatch)
        // More of it may come.
        quietUntil = MonotonicTime.now() + max(gap, .milliseconds(5))
        return .badAnswer(mismatch)
    }

    private func isOutput(from start: Int, _ count: Int) -> Bool {
        (0..<count).allSatisfy { input[$0] == output[start + $0] }
    }

    private mutating func drop(_ count: Int) {
        for index in count..<max(count, received) { input[index - count] = input[index] }
        received -= count
    }

    // MARK: Bytes

    /// Serial: waits until the line has been silent for the gap; what comes meanwhile is late, and dropped.
    private mutating func keepQuiet() throws(ModbusError) {
        drop(settled)
        settled = 0
        guard isSerial else { return }
        received = 0
        let limit = MonotonicTime.now() + max(.milliseconds(100), gap * 4)
        while true {
            if try take() {
                quietUntil = MonotonicTime.now() + gap
                let bytes = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(input)[0..<received])
                // The sum over a frame with its own sum is zero.
                if received >= 5, ModbusCRC.of(bytes) == 0 { stranger = input[0] }
                received = 0
            }
            let now = MonotonicTime.now()
            if now >= quietUntil { return }
            if now >= limit { throw broken(.length) }
            min(quietUntil, limit).sleep()
        }
    }

    private mutating func send(_ length: Int) throws(ModbusError) {
        let bytes = UnsafeRawBufferPointer(UnsafeBufferPointer(output))
        let count =
            isSerial
            ? Glibc.write(descriptor, bytes.baseAddress, length)
            : Glibc.send(descriptor, bytes.baseAddress, length, CInt(MSG_NOSIGNAL))
        if count == length { return }
        // What is left of a request that the kernel took in part would be taken for the next one's head.
        throw count < 0 ? ModbusError(errno: errno) : .disconnected
    }

    /// Waits for more bytes; `strange` is why those before did not do.
    private mutating func fill(until deadline: MonotonicTime, _ strange: ModbusMismatch?) throws(ModbusError)
    {
        while true {
            let left = (deadline - MonotonicTime.now()).nanoseconds
            guard left > 0 else {
                if isSerial { quietUntil = MonotonicTime.now() + gap }
                throw strange.map { .badAnswer($0) } ?? .timeout
            }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let result = Glibc.poll(&entry, 1, CInt(clamping: (left + 999_999) / 1_000_000))
            if result < 0, errno != EINTR { throw ModbusError(errno: errno) }
            if result > 0, try take() { return }
        }
    }

    /// - Returns: whether bytes came.
    private mutating func take() throws(ModbusError) -> Bool {
        guard received < input.count, let base = input.baseAddress else { return false }
        let count = Glibc.read(descriptor, base + received, input.count - received)
        if count > 0 {
            received += count
            return true
        }
        if count < 0, errno == EAGAIN || errno == EINTR { return false }
        // A terminal without bytes reads as ended (VMIN 0); one that has gone says so to poll().
        if count == 0, isSerial, !hasHungUp { return false }
        throw count == 0 ? .disconnected : ModbusError(errno: errno)
    }

    private var hasHungUp: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0
    }
}

/// How often received bytes did not fit, by reason.
public struct ModbusMismatchCounts: Sendable, BitwiseCopyable {
    private var counts = InlineArray<8, UInt64>(repeating: 0)

    public subscript(_ mismatch: ModbusMismatch) -> UInt64 { counts[Int(mismatch.rawValue)] }
    mutating func add(_ mismatch: ModbusMismatch) { counts[Int(mismatch.rawValue)] &+= 1 }
}
