import CModbus
import Glibc
import LinuxIO
import Quantities

/// One Modbus connection, TCP or RTU, over libmodbus. Every call is bounded by the answer time-out.
///
/// libmodbus's own error recovery stays off: over a serial line it takes a late answer for the next one's,
/// over TCP it reconnects without end. Recovery is the caller's: `reset()` after every error that ends the
/// session.
public struct ModbusClient: ~Copyable {
    let context: OpaquePointer
    public let isSerial: Bool
    /// Longest wait for a whole answer, or for a connection.
    public let timeout: Duration
    private var currentTimeout: Duration
    public private(set) var isConnected = false
    private var selectedUnit: UInt8?

    /// - Parameter timeout: 10 ms … 10 s; clamped.
    public init(_ address: ModbusAddress, timeout: Duration) throws(ModbusError) {
        context = try makeContext(address)
        isSerial = address.isSerial
        self.timeout = min(max(timeout, .milliseconds(10)), .seconds(10))
        currentTimeout = .zero
        modbus_set_error_recovery(context, MODBUS_ERROR_RECOVERY_NONE)
        // Without a time-out between bytes the whole answer must come inside the answer time-out: a peer that
        // sends one byte now and then cannot hold us.
        modbus_set_byte_timeout(context, 0, 0)
        apply(self.timeout)
    }

    deinit {
        if isConnected { modbus_close(context) }
        modbus_free(context)
    }

    // MARK: Session

    /// Opens the line or the connection; does nothing where it is open.
    public mutating func connect() throws(ModbusError) {
        if isConnected { return }
        setTimeout(timeout)
        if modbus_connect(context) != 0 {
            let error = ModbusError(errno: errno)
            modbus_close(context)
            throw error
        }
        isConnected = true
        selectedUnit = nil
        let descriptor = modbus_get_socket(context)
        // libmodbus waits with select(), whose sets end there; a higher number aborts the process.
        guard descriptor >= 0, descriptor < 1024 else {
            disconnect()
            throw .tooManyDescriptors
        }
        if !isSerial { setTCPOptions(descriptor) }
        modbus_flush(context)
    }

    public mutating func disconnect() {
        if isConnected { modbus_close(context) }
        isConnected = false
    }

    /// Drops what has arrived: on a serial line after the quiet time, or before a request.
    public mutating func flush() {
        if isConnected { modbus_flush(context) }
    }

    private func setTCPOptions(_ descriptor: CInt) {
        var one: CInt = 1
        let size = socklen_t(MemoryLayout<CInt>.size)
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, size)
        setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &one, size)
        // Sent bytes that nobody acknowledges end the connection then: a dead link must not look alive.
        var patience = CInt(clamping: max(1_000, 2 * timeout.nanoseconds / 1_000_000))
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &patience, size)
    }

    /// Sets the answer time-out of the next transactions; clamped to 1 ms … `timeout`.
    public mutating func setTimeout(_ wanted: Duration) {
        let bounded = min(max(wanted, .milliseconds(1)), timeout)
        if bounded != currentTimeout { apply(bounded) }
    }

    private mutating func apply(_ time: Duration) {
        currentTimeout = time
        let microseconds = time.nanoseconds / 1_000
        modbus_set_response_timeout(
            context, UInt32(microseconds / 1_000_000), UInt32(microseconds % 1_000_000))
    }

    // MARK: Transactions

    /// Reads `registers.count` (1 … 125) holding registers. The buffer's contents mean nothing after an
    /// error.
    public mutating func read(
        unit: UInt8, address: UInt16, into registers: UnsafeMutableBufferPointer<UInt16>
    ) throws(ModbusError) {
        try select(unit)
        let count = CInt(registers.count)
        let result = modbus_read_registers(context, CInt(address), count, registers.baseAddress)
        if result == -1 { throw ModbusError(errno: errno) }
        if result != count { throw .badAnswer }
    }

    /// Writes `registers.count` (1 … 123) registers in one request (function 16).
    public mutating func write(
        unit: UInt8, address: UInt16, _ registers: UnsafeBufferPointer<UInt16>
    ) throws(ModbusError) {
        try select(unit)
        let count = CInt(registers.count)
        let result = modbus_write_registers(context, CInt(address), count, registers.baseAddress)
        if result == -1 { throw ModbusError(errno: errno) }
        if result != count { throw .badAnswer }
    }

    mutating func select(_ unit: UInt8) throws(ModbusError) {
        guard isConnected else { throw .disconnected }
        if isSerial { modbus_flush(context) }
        if selectedUnit == unit { return }
        if modbus_set_slave(context, CInt(unit)) != 0 { throw .unusableAddress }
        selectedUnit = unit
    }
}

private func makeContext(_ address: ModbusAddress) throws(ModbusError) -> OpaquePointer {
    let made: OpaquePointer?
    switch address {
    case .tcp(let host, let port):
        made = modbus_new_tcp_pi(try numericHost(host), String(port))
    case .serial(let device, let baud, let parity, let stopBits):
        guard let rate = CInt(exactly: baud), (1...2).contains(stopBits) else { throw .unusableAddress }
        made = modbus_new_rtu(device, rate, parity.letter, 8, CInt(stopBits))
    }
    guard let made else { throw .unusableAddress }
    return made
}

extension ModbusAddress {
    var isSerial: Bool {
        switch self {
        case .tcp: false
        case .serial: true
        }
    }
}

extension ModbusAddress.Parity {
    fileprivate var letter: CChar {
        switch self {
        case .none: CChar(UInt8(ascii: "N"))
        case .even: CChar(UInt8(ascii: "E"))
        case .odd: CChar(UInt8(ascii: "O"))
        }
    }
}

/// The address of a host as digits. Looked up here, before any thread depends on it: a name server that does
/// not answer must not hold up a bus thread at a reconnect.
private func numericHost(_ host: String) throws(ModbusError) -> String {
    var hints = addrinfo()
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0, let first = list else { throw .unusableAddress }
    defer { freeaddrinfo(list) }
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let result = getnameinfo(
        first.pointee.ai_addr, first.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    guard result == 0 else { throw .unusableAddress }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
