import CModbus
import DeviceCodecs
import Glibc
import LinuxIO
import Quantities

extension ModbusEndpoint {
    /// Over TCP the host as digits, and the port.
    func numericPeer() throws(ModbusError) -> (host: String, port: UInt16)? {
        switch self {
        case .tcp(let host, let port): (try numericHost(host), port)
        case .serial: nil
        }
    }

    /// Nothing is opened yet.
    ///
    /// - Parameter host: as digits, over TCP.
    func makeContext(_ numeric: String?) throws(ModbusError) -> OpaquePointer {
        let made: OpaquePointer?
        switch self {
        case .tcp(let host, let port):
            made = modbus_new_tcp_pi(numeric ?? host, String(port))
        case .serial(let device, let line):
            guard let rate = CInt(exactly: line.baud), (1...2).contains(line.stopBits),
                let letter = line.parity.letter.asciiValue
            else { throw .unusableAddress }
            made = modbus_new_rtu(device, rate, CChar(letter), 8, CInt(line.stopBits))
        }
        guard let made else { throw .unusableAddress }
        return made
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

/// A Modbus transaction or connection failed. Cases by what the caller will do.
public enum ModbusError: Error, Equatable, BitwiseCopyable, Sendable {
    /// The device answered, and refused: 1 illegal function, 2 illegal address, 3 illegal value, 4 device
    /// failure, 5 acknowledge, 6 busy, 10 gateway path unavailable, 11 gateway target silent.
    case exception(UInt8)
    /// No complete answer in time.
    case timeout
    /// Bytes that do not answer what was asked.
    case badAnswer(ModbusMismatch)
    /// The other end, or the device file, is gone; or there was no connection.
    case disconnected
    /// The address cannot be used at all: unknown host, impossible line settings.
    case unusableAddress
    /// The process has so many descriptors open that libmodbus would abort (1024).
    case tooManyDescriptors
    /// Any other failed system call, with its `errno`.
    case system(CInt)

    /// Whether an answer may still come, or nobody knows where the next one begins.
    public var endsSession: Bool {
        switch self {
        case .exception: false
        case .timeout, .badAnswer, .disconnected, .unusableAddress, .tooManyDescriptors, .system: true
        }
    }

    /// Whether a gateway says that the device behind it does not answer.
    var isAbsence: Bool { self == .exception(10) || self == .exception(11) }

    /// Whether the device refuses these registers, rather than being unable to answer now.
    var isRefusal: Bool { self == .exception(1) || self == .exception(2) || self == .exception(3) }

    /// Whether the device may have been restarted since, so that what we know of it must be read again.
    var forgetsDevice: Bool {
        switch self {
        case .disconnected, .system, .unusableAddress, .tooManyDescriptors: true
        case .exception, .timeout, .badAnswer: false
        }
    }

    /// From `errno`, read right after the call.
    init(errno code: CInt) {
        switch code {
        case ETIMEDOUT, EINPROGRESS, EAGAIN: self = .timeout
        case ECONNRESET, EPIPE, EBADF, ENOTCONN, ECONNREFUSED, ECONNABORTED, EHOSTUNREACH, ENETUNREACH, EIO,
            ENODEV, ENXIO, ENOENT, EHOSTDOWN, ENETDOWN:
            self = .disconnected
        // Every other number is a system error that we did not foresee.
        default: self = .system(code)
        }
    }
}

extension ModbusError: CustomStringConvertible {
    /// In words a person understands.
    public var description: String {
        switch self {
        case .exception(let code): "exception \(code)"
        case .timeout: "no answer in time"
        case .badAnswer(let mismatch): "an answer that does not fit: \(mismatch)"
        case .disconnected: "not connected"
        case .unusableAddress: "the address cannot be used"
        case .tooManyDescriptors: "too many open files"
        case .system(let code): SystemError("modbus", code: code).description
        }
    }
}
