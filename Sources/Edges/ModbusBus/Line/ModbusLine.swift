import CModbus
import DeviceCodecs
import Glibc
import LinuxIO
import Quantities

/// What the kernel said to a line's options when it was opened.
public struct ModbusLineState: Sendable, Equatable {
    /// `errno`; 0 = taken, or not asked for.
    public var rs485Error: CInt = 0
    public var isLowLatency = false

    public init() {}
}

/// A serial port or TCP connection: libmodbus opens, sets and closes it; bytes go in and out as they are.
struct ModbusLine: ~Copyable {
    private let context: OpaquePointer
    /// `nil` over TCP.
    private let line: SerialLine?
    /// Over TCP.
    private let peer: (host: String, port: UInt16)?
    private(set) var isConnected = false
    private(set) var state = ModbusLineState()
    private var descriptor: CInt = -1

    private var isSerial: Bool { line != nil }

    init(_ endpoint: ModbusEndpoint) throws(ModbusError) {
        let peer = try endpoint.numericPeer()
        let context = try endpoint.makeContext(peer?.host)
        self.peer = peer
        self.context = context
        line = endpoint.line
        modbus_set_error_recovery(context, MODBUS_ERROR_RECOVERY_NONE)
    }

    deinit {
        if isConnected { close() }
        modbus_free(context)
    }

    /// Opens the line or the connection; does nothing where it is open.
    ///
    /// - Parameters:
    ///   - limit: longest wait for the connection.
    ///   - patience: sent bytes that nobody acknowledges for so long end a connection.
    ///   - meanwhile: called at least each `slice` of the wait.
    mutating func connect(
        within limit: Duration, patience: Duration, meanwhile: () -> Void = {}
    ) throws(ModbusError) {
        if isConnected { return }
        if let peer {
            modbus_set_socket(
                context, try Self.socket(to: peer.host, peer.port, within: limit, meanwhile: meanwhile))
        } else if modbus_connect(context) != 0 {
            let error = ModbusError(errno: errno)
            modbus_close(context)
            throw error
        }
        isConnected = true
        descriptor = modbus_get_socket(context)
        // libmodbus may wait with select(), whose sets end there; a higher number aborts the process.
        guard descriptor >= 0, descriptor < 1024 else {
            disconnect()
            throw .tooManyDescriptors
        }
        if let line { set(line) } else { setTCPOptions(patience) }
        modbus_flush(context)
    }

    private static let slice = Duration.milliseconds(100)

    /// libmodbus would wait for the connection in one piece, however long that is.
    private static func socket(
        to host: String, _ port: UInt16, within limit: Duration, meanwhile: () -> Void
    ) throws(ModbusError) -> CInt {
        let end = MonotonicTime.now() + limit
        do throws(NetworkError) {
            let socket = try NetworkSocket.connect(.stream, to: NetworkAddress(host, port))
            while true {
                let left = max(.milliseconds(1), min(end - MonotonicTime.now(), slice))
                // What cannot be sent yet can be read only after an error.
                if socket.wait(forWriting: true, timeout: left) {
                    let code = NetworkSocket.connectionError(socket.number)
                    guard code == 0 else { throw .system(.connect, errno: code) }
                    return socket.release()
                }
                guard MonotonicTime.now() < end else { throw .system(.connect, errno: ETIMEDOUT) }
                meanwhile()
            }
        } catch {
            switch error {
            case .hostNotNumeric: throw .unusableAddress
            case .system(_, let code): throw ModbusError(errno: code)
            }
        }
    }

    mutating func disconnect() {
        if isConnected { close() }
        isConnected = false
        descriptor = -1
    }

    /// A terminal that is closed waits until all has gone out, up to half a minute where its other end takes
    /// nothing: what is left is dropped first.
    private func close() {
        if isSerial, descriptor >= 0 { tcflush(descriptor, TCIOFLUSH) }
        modbus_close(context)
    }

    /// Drops what has arrived.
    mutating func flush() { if isConnected { modbus_flush(context) } }

    private func setTCPOptions(_ patience: Duration) {
        var one: CInt = 1
        let size = socklen_t(MemoryLayout<CInt>.size)
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, size)
        setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &one, size)
        // A dead link must not look alive.
        var milliseconds = CInt(clamping: patience.nanoseconds / 1_000_000)
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, size)
    }

    /// A port that cannot do it works without, or not at all; both show.
    private mutating func set(_ line: SerialLine) {
        state = ModbusLineState()
        if line.isRS485 {
            var settings = serial_rs485()
            settings.flags = ballast_rs485_enabled | ballast_rs485_rts_on_send
            if ballast_set_rs485(descriptor, &settings) != 0 { state.rs485Error = errno }
        }
        var settings = serial_struct()
        guard ballast_get_serial(descriptor, &settings) == 0 else { return }
        // A close does not wait for what the other end does not take.
        settings.closing_wait = ballast_no_closing_wait
        if line.isLowLatency { settings.flags |= ballast_low_latency }
        state.isLowLatency = ballast_set_serial(descriptor, &settings) == 0 && line.isLowLatency
    }

    // MARK: Bytes

    func send(_ bytes: UnsafeBufferPointer<UInt8>) throws(ModbusError) {
        guard isConnected else { throw .disconnected }
        let count =
            isSerial
            ? Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            : Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        if count == bytes.count { return }
        // What is left of a request that the kernel took in part would be taken for the next one's head.
        throw count < 0 ? ModbusError(errno: errno) : .disconnected
    }

    /// Waits for bytes, at most until `end`.
    ///
    /// - Returns: how many were put into `room`; 0 where none came in time.
    func receive(
        into room: UnsafeMutableBufferPointer<UInt8>, until end: MonotonicTime
    ) throws(ModbusError) -> Int {
        guard isConnected else { throw .disconnected }
        while true {
            let isReady = DescriptorWait.untilReadable(descriptor, until: end)
            if isReady {
                let count = try take(room)
                if count > 0 { return count }
            }
            if MonotonicTime.now() >= end { return 0 }
        }
    }

    private func take(_ room: UnsafeMutableBufferPointer<UInt8>) throws(ModbusError) -> Int {
        guard !room.isEmpty else { return 0 }
        let count = Glibc.read(descriptor, room.baseAddress, room.count)
        if count > 0 { return count }
        if count < 0, errno == EAGAIN || errno == EINTR { return 0 }
        // A terminal without bytes reads as ended (VMIN 0); one that has gone says so to poll().
        if count == 0, isSerial, !hasHungUp { return 0 }
        throw count == 0 ? .disconnected : ModbusError(errno: errno)
    }

    private var hasHungUp: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0
    }
}
