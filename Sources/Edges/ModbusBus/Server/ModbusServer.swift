import Glibc
import LinuxIO
import Quantities

/// A Modbus server for simulated devices: registers, coils and discrete inputs of one or more units, over TCP
/// or an open serial descriptor. It does its work inside `poll`, on the caller's thread; requests to unknown
/// units get no answer.
public struct ModbusServer: ~Copyable {
    private final class Connection {
        let descriptor: FileDescriptor
        /// In digits.
        let client: String
        var input: [UInt8] = []
        var isDead = false
        var heardAt = MonotonicTime.now()

        init(_ descriptor: consuming FileDescriptor, client: String = "") {
            self.descriptor = descriptor
            self.client = client
        }
    }

    /// Makes answers over a serial line as slow as a real one; `nil` = at once.
    public var pace: ModbusServerPace?
    /// The port it listens on; 0 on a serial line.
    public let port: UInt16
    private let framing: ModbusServerFraming
    private let listener: Connection?
    private var connections: [Connection] = []
    private var units: [ModbusServedUnit] = []
    private let maximumConnections: Int
    private let idleLimit: Duration?

    /// Listens on an IPv4 address; port 0 takes a free one (see `port`).
    ///
    /// - Parameters:
    ///   - connections: at most so many clients; a further one is closed at once.
    ///   - idleLimit: a client that asks nothing for so long is closed; `nil` = never.
    public init(
        listeningOn address: String = "127.0.0.1", port: UInt16, connections: Int = 32,
        idleLimit: Duration? = nil
    ) throws(SystemError) {
        maximumConnections = connections
        self.idleLimit = idleLimit
        let descriptor = try listeningSocket(address, port)
        self.port = boundPort(descriptor.number)
        listener = Connection(descriptor)
        framing = .tcp
    }

    /// Serves RTU frames on an open descriptor, for example a pty's controlling end.
    public init(serial descriptor: consuming FileDescriptor) throws(SystemError) {
        try descriptor.setNonBlocking()
        maximumConnections = 1
        idleLimit = nil
        connections = [Connection(descriptor)]
        listener = nil
        port = 0
        framing = .rtu
    }

    // MARK: Registers

    /// Adds a block of registers to a unit; a unit may have several, and the gaps between answer exception 2.
    ///
    /// - Parameter start: protocol address (zero-based), for example 40000.
    public mutating func addBlock(unit: UInt8, start: UInt16, registers: [UInt16]) {
        let index = makeUnit(unit)
        units[index].blocks.append(ModbusServedUnit.Block(start: Int(start), values: registers))
    }

    /// Sets registers of a unit.
    ///
    /// - Returns: `false` where they do not all lie in one block; then nothing is changed.
    @discardableResult
    public mutating func set(_ values: [UInt16], unit: UInt8, at address: UInt16) -> Bool {
        guard let index = index(of: unit) else { return false }
        return ModbusServedUnit.put(values, at: Int(address), in: &units[index].blocks)
    }

    /// Registers of a unit as they stand; `nil` where they do not all lie in one block.
    public func registers(unit: UInt8, at address: UInt16, count: Int) -> [UInt16]? {
        index(of: unit).flatMap { ModbusServedUnit.get(units[$0].blocks, at: Int(address), count: count) }
    }

    /// Puts registers in the place of all that a unit had: those of function 3, and those of function 4 apart
    /// from them.
    public mutating func setTables(
        unit: UInt8, holding: [(start: UInt16, values: [UInt16])],
        input: [(start: UInt16, values: [UInt16])]
    ) {
        let index = makeUnit(unit)
        units[index].setTables(holding: holding, input: input)
    }

    // MARK: Bits

    /// Adds a run of coils or discrete inputs to a unit. One without any refuses their functions.
    public mutating func addBits(_ table: ModbusBitTable, unit: UInt8, start: UInt16, _ bits: [Bool]) {
        let index = makeUnit(unit)
        let block = ModbusServedUnit.Block(start: Int(start), values: bits)
        switch table {
        case .coils: units[index].coils.append(block)
        case .discreteInputs: units[index].discreteInputs.append(block)
        }
    }

    /// Sets coils or discrete inputs of a unit.
    ///
    /// - Returns: `false` where they do not all lie in one run; then nothing is changed.
    @discardableResult
    public mutating func setBits(
        _ table: ModbusBitTable, unit: UInt8, at address: UInt16, _ bits: [Bool]
    ) -> Bool {
        guard let index = index(of: unit) else { return false }
        switch table {
        case .coils: return ModbusServedUnit.put(bits, at: Int(address), in: &units[index].coils)
        case .discreteInputs:
            return ModbusServedUnit.put(bits, at: Int(address), in: &units[index].discreteInputs)
        }
    }

    /// Coils or discrete inputs of a unit as they stand; `nil` where they do not all lie in one run.
    public func bits(_ table: ModbusBitTable, unit: UInt8, at address: UInt16, count: Int) -> [Bool]? {
        guard let index = index(of: unit) else { return nil }
        switch table {
        case .coils: return ModbusServedUnit.get(units[index].coils, at: Int(address), count: count)
        case .discreteInputs:
            return ModbusServedUnit.get(units[index].discreteInputs, at: Int(address), count: count)
        }
    }

    /// Makes a unit answer, keep silent or refuse from now on.
    public mutating func setBehaviour(_ behaviour: ModbusServedBehaviour, unit: UInt8) {
        if let index = index(of: unit) { units[index].behaviour = behaviour }
    }

    private func index(of unit: UInt8) -> Int? { units.firstIndex { $0.id == unit } }

    private mutating func makeUnit(_ id: UInt8) -> Int {
        if let index = index(of: id) { return index }
        units.append(ModbusServedUnit(id: id))
        return units.count - 1
    }

    // MARK: Serving

    /// How many TCP clients are connected.
    public var connectionCount: Int { listener == nil ? 0 : connections.count }

    /// Waits until a client asks for something or `timeout` has passed, and handles all that is there.
    ///
    /// - Parameter refuses: sees each write that fits the registers before it is stored; `nil` lets it be
    ///   stored and acknowledged, an exception code refuses it.
    /// - Returns: number of requests seen.
    @discardableResult
    public mutating func poll(timeout: Duration, refuses: (ModbusWrite) -> UInt8?) -> Int {
        closeIdle()
        var entries = connections.map {
            pollfd(fd: $0.descriptor.number, events: Int16(POLLIN), revents: 0)
        }
        if let listening = listener?.descriptor.number {
            entries.append(pollfd(fd: listening, events: Int16(POLLIN), revents: 0))
        }
        let milliseconds = CInt(clamping: timeout.nanoseconds / 1_000_000)
        guard Glibc.poll(&entries, nfds_t(entries.count), milliseconds < 0 ? 0 : milliseconds) > 0 else {
            // A frame left unfinished on a serial line is over after a silence.
            if listener == nil, milliseconds > 0 { connections.first?.input.removeAll() }
            return 0
        }
        var requests = 0
        for (index, connection) in connections.enumerated() where entries[index].revents != 0 {
            requests += serve(connection, refuses)
        }
        pauseIfLineIsClosed(entries, milliseconds)
        connections.removeAll { $0.isDead }
        acceptAll()
        return requests
    }

    private mutating func closeIdle() {
        guard let idleLimit, listener != nil else { return }
        let now = MonotonicTime.now()
        connections.removeAll { now - $0.heardAt > idleLimit }
    }

    /// A pty without anybody at the other end reports a hang-up at once, every time: wait, do not spin.
    private func pauseIfLineIsClosed(_ entries: [pollfd], _ milliseconds: CInt) {
        guard listener == nil, let line = entries.first else { return }
        if Int32(line.revents) & POLLHUP != 0, Int32(line.revents) & POLLIN == 0, milliseconds > 0 {
            var nothing = pollfd(fd: -1, events: 0, revents: 0)
            _ = Glibc.poll(&nothing, 1, milliseconds)
        }
    }

    private mutating func acceptAll() {
        guard let listening = listener?.descriptor.number else { return }
        while true {
            var name = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let number = withUnsafeMutableBytes(of: &name) { bytes in
                accept(listening, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
            }
            guard number >= 0 else { return }
            let descriptor = FileDescriptor(owning: number)
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            guard connections.count < maximumConnections, fcntl(number, F_SETFL, O_NONBLOCK) == 0
            else { continue }
            var one: CInt = 1
            setsockopt(number, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
            connections.append(Connection(descriptor, client: digits(name.sin_addr)))
        }
    }

    private mutating func serve(_ connection: Connection, _ refuses: (ModbusWrite) -> UInt8?) -> Int {
        receive(connection)
        var count = 0
        while true {
            switch framing.cut(&connection.input) {
            case .incomplete: return count
            case .garbage:
                connection.input.removeAll()
                if listener != nil { connection.isDead = true }
                return count
            case .request(let request):
                count += 1
                connection.heardAt = MonotonicTime.now()
                guard let index = index(of: request.unit) else { continue }
                let answer = units[index].answer(request.body) { write in
                    var write = write
                    write.client = connection.client
                    return refuses(write)
                }
                guard let answer else { continue }
                send(answer, to: request, behaviour: units[index].behaviour, on: connection)
            }
        }
    }

    private func receive(_ connection: Connection) {
        let isTCP = listener != nil
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { buffer in
            while true {
                let count = Glibc.read(connection.descriptor.number, buffer.baseAddress, buffer.count)
                if count > 0 {
                    connection.input.append(contentsOf: buffer[0..<count])
                    if connection.input.count > 65_536 { connection.isDead = isTCP }
                    continue
                }
                let code = errno
                // On a pty EIO says that nobody has the other end open: not an end of the line.
                if isTCP, count == 0 || (code != EAGAIN && code != EINTR) { connection.isDead = true }
                return
            }
        }
    }

    private func send(
        _ answer: [UInt8], to request: ModbusServerRequest, behaviour: ModbusServedBehaviour,
        on connection: Connection
    ) {
        if let pace, listener == nil {
            let bytes = framing.frame(answer, to: request).count + request.body.count + 3
            (connection.heardAt + pace.timing.time(ofBytes: bytes) + pace.turnaround).sleep()
        }
        switch behaviour {
        case .answers, .silent, .exception: send(framing.frame(answer, to: request), on: connection)
        case .slow(let delay):
            // The whole line waits, as it would.
            (MonotonicTime.now() + delay).sleep()
            send(framing.frame(answer, to: request), on: connection)
        case .half:
            let frame = framing.frame(answer, to: request)
            send(Array(frame.prefix(max(1, frame.count / 2))), on: connection)
        case .wrongUnit:
            let other = ModbusServerRequest(
                unit: request.unit &+ 1, body: request.body, transaction: request.transaction)
            send(framing.frame(answer, to: other), on: connection)
        }
    }

    private func send(_ frame: [UInt8], on connection: Connection) {
        let isTCP = listener != nil
        let number = connection.descriptor.number
        let sent = frame.withUnsafeBytes {
            isTCP
                ? Glibc.send(number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
                : Glibc.write(number, $0.baseAddress, $0.count)
        }
        // A client that does not take its answers loses its connection; a serial line loses the frame.
        if isTCP, sent != frame.count { connection.isDead = true }
    }
}

private func digits(_ address: in_addr) -> String {
    let number = UInt32(bigEndian: address.s_addr)
    return "\(number >> 24).\(number >> 16 & 0xFF).\(number >> 8 & 0xFF).\(number & 0xFF)"
}

private func listeningSocket(_ address: String, _ port: UInt16) throws(SystemError) -> FileDescriptor {
    let flags = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    let number = socket(AF_INET, CInt(flags), 0)
    if number < 0 { throw SystemError.last("socket") }
    let descriptor = FileDescriptor(owning: number)
    var one: CInt = 1
    setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    guard inet_pton(AF_INET, address, &name.sin_addr) == 1 else {
        throw SystemError("inet_pton", code: EINVAL)
    }
    let result = withUnsafeBytes(of: &name) { bytes -> CInt in
        guard let raw = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
        return bind(number, raw, socklen_t(bytes.count))
    }
    if result != 0 { throw SystemError.last("bind") }
    if listen(number, 16) != 0 { throw SystemError.last("listen") }
    return descriptor
}

private func boundPort(_ number: CInt) -> UInt16 {
    var name = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutableBytes(of: &name) { bytes in
        guard let raw = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return }
        _ = getsockname(number, raw, &size)
    }
    return UInt16(bigEndian: name.sin_port)
}
