import CModbus
import Glibc

/// Where a Modbus device or line is reached.
public enum ModbusAddress: Sendable, Equatable, Hashable {
    public enum Parity: Sendable, Equatable, Hashable { case none, even, odd }
    /// A name is looked up once, when the client is made.
    case tcp(host: String, port: UInt16)
    case serial(device: String, baud: Int, parity: Parity, stopBits: Int)
}

extension ModbusAddress: CustomStringConvertible {
    /// `127.0.0.1:502`, or `/dev/ttyUSB0 19200 8N1`.
    public var description: String {
        switch self {
        case .tcp(let host, let port): return "\(host):\(port)"
        case .serial(let device, let baud, let parity, let stopBits):
            let letter =
                switch parity {
                case .none: "N"
                case .even: "E"
                case .odd: "O"
                }
            return "\(device) \(baud) 8\(letter)\(stopBits)"
        }
    }
}

/// A Modbus transaction or connection failed. Cases by what the caller will do.
public enum ModbusError: Error, Equatable, BitwiseCopyable, Sendable {
    /// The device answered, and refused: 1 illegal function, 2 illegal address, 3 illegal value, 4 device
    /// failure, 5 acknowledge, 6 busy, 10 gateway path unavailable, 11 gateway target silent.
    case exception(UInt8)
    /// No complete answer in time.
    case timeout
    /// Bytes that do not answer what was asked: checksum, length, unit, transaction.
    case badAnswer
    /// The other end, or the device file, is gone; or there was no connection.
    case disconnected
    /// The address cannot be used at all: unknown host, impossible line settings.
    case unusableAddress
    /// The process has so many descriptors open that libmodbus would abort (1024).
    case tooManyDescriptors
    /// Any other failed system call, with its `errno`.
    case system(CInt)

    /// The only place that decides whether a failure ends the session: then the state of the line is unknown,
    /// and an answer may still come. TCP closes; a serial line keeps quiet.
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

    /// From libmodbus's `errno`, read right after the call.
    init(errno code: CInt) {
        switch code {
        case ballast_EMBXILFUN...ballast_EMBXGTAR: self = .exception(UInt8(code - ballast_EMBXILFUN + 1))
        case ballast_EMBBADCRC...ballast_EMBBADSLAVE, EMSGSIZE: self = .badAnswer
        case ETIMEDOUT, EINPROGRESS, EAGAIN: self = .timeout
        case ECONNRESET, EPIPE, EBADF, ENOTCONN, ECONNREFUSED, ECONNABORTED, EHOSTUNREACH, ENETUNREACH, EIO,
            ENODEV, ENXIO, ENOENT, EHOSTDOWN, ENETDOWN:
            self = .disconnected
        // Every other number is a system error that we did not foresee.
        default: self = .system(code)
        }
    }
}
