import Quantities

/// Where Modbus devices are reached: one connection or one line, with whatever stands on it.
public enum ModbusEndpoint: Sendable, Equatable, Hashable {
    /// A name is looked up once, when the connection is made ready.
    case tcp(host: String, port: UInt16)
    case serial(device: String, line: SerialLine)

    /// `nil` over TCP.
    public var line: SerialLine? {
        switch self {
        case .tcp: nil
        case .serial(_, let line): line
        }
    }

    public var isSerial: Bool { line != nil }

    /// As people name it on a command line: `10.0.0.5:502`, `/dev/ttyUSB0`.
    public var name: String {
        switch self {
        case .tcp(let host, let port): "\(host):\(port)"
        case .serial(let device, _): device
        }
    }
}

extension ModbusEndpoint: CustomStringConvertible {
    /// `127.0.0.1:502`, or `/dev/ttyUSB0 19200 8N1`.
    public var description: String {
        line.map { "\(name) \($0.baud) 8\($0.parity.letter)\($0.stopBits)" } ?? name
    }
}

/// How characters go over a serial line, and what its adapter needs.
public struct SerialLine: Sendable, Equatable, Hashable {
    public enum Parity: String, Sendable, CaseIterable {
        case none, even, odd

        /// N, E or O.
        public var letter: Character {
            switch self {
            case .none: "N"
            case .even: "E"
            case .odd: "O"
            }
        }
    }

    /// Bits per second.
    public var baud: Int
    public var parity: Parity
    /// 1 or 2.
    public var stopBits: Int
    /// The port switches an RS-485 driver: asked of the kernel (TIOCSRS485) at each opening.
    public var isRS485 = false
    /// The adapter hears itself: our own request comes back before the answer.
    public var echoes = false
    /// Received bytes are handed over at once where the driver can (ASYNC_LOW_LATENCY).
    public var isLowLatency = true
    /// Silence before each request; `nil` = t3.5. Never less than that.
    public var gap: Duration?

    public init(baud: Int, parity: Parity = .none, stopBits: Int = 1) {
        self.baud = baud
        self.parity = parity
        self.stopBits = stopBits
    }

    public var timing: SerialTiming {
        SerialTiming(baud: baud, hasParity: parity != .none, stopBits: stopBits)
    }

    /// Silence before each request.
    public var requestGap: Duration { max(gap ?? .zero, timing.frameGap) }
}
